//! Requests that a server did not take up are sent again, as Go's client does.
//!
//! A server of HTTP/2 may refuse a stream, or leave and say which streams it still answers. The first repetition follows
//! at once, further ones after a second, two, four and so on, until the call's time is up.

use std::time::Duration;

use h2::Reason;
use reqwest::{Request, Response};
use tokio::time::{Instant, sleep, timeout_at};

use super::client::Client;
use super::failure::find;

/// Why a request has no response.
pub(super) enum Unanswered {
    /// It could not be made, or what came of it.
    Failed(reqwest::Error),
    /// Its time is up.
    Late,
}

/// How often a request is sent again that was not sent at all, as the connection was closed meanwhile. What the server
/// said last, such as a TLS alert, is heard by then at the latest.
const MOST_UNSENT: u32 = 2;

/// Sends a request until a server takes it up.
pub(super) async fn execute(
    client: &Client,
    mut request: Request,
    deadline: Instant,
) -> Result<Response, Unanswered> {
    for repeats in 0.. {
        let next = request.try_clone();
        let sent = timeout_at(deadline, client.http.execute(request)).await;
        let error = match sent.map_err(|_| Unanswered::Late)? {
            Ok(response) => return Ok(response),
            Err(error) => error,
        };
        request = match (next, wait(&error, repeats)) {
            (Some(next), Some(wait)) if wait.is_zero() => next,
            (Some(next), Some(wait)) => {
                let waited = timeout_at(deadline, sleep(wait)).await;
                waited.map_err(|_| Unanswered::Late)?;
                next
            }
            _ => return Err(Unanswered::Failed(error)),
        };
    }
    Err(Unanswered::Late)
}

/// How long to wait before a request is sent again; `None` if it is not.
fn wait(error: &reqwest::Error, repeats: u32) -> Option<Duration> {
    let Some(stream) = find::<h2::Error>(error) else {
        let unsent = find::<hyper::Error>(error).is_some_and(|http| http.is_canceled() || http.is_closed());
        return (unsent && repeats < MOST_UNSENT).then_some(Duration::ZERO);
    };
    let reason = stream.reason().filter(|_| stream.is_remote())?;
    let refused = stream.is_reset() && matches!(reason, Reason::REFUSED_STREAM | Reason::PROTOCOL_ERROR);
    let left = stream.is_go_away();
    // A server that sends GOAWAY for another reason may do so on each connection.
    if !refused && !(left && (reason == Reason::NO_ERROR || repeats == 0)) {
        return None;
    }
    let seconds = repeats
        .checked_sub(1)
        .map_or(0, |doublings| 1 << doublings.min(16));
    Some(Duration::from_secs(seconds))
}
