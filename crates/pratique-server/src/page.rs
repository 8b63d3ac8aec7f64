//! A page for people: what is judged by, and how that goes.

use http::StatusCode;

use crate::configz::Configuration;
use crate::respond::{Answer, text};
use crate::server::Shared;

/// The page.
pub(crate) fn answer(configuration: &Configuration, shared: &Shared) -> Answer {
    let _ = (configuration, &shared.recent);
    text(StatusCode::OK, "text/html; charset=utf-8", "")
}
