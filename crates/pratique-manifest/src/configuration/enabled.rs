//! The configuration of plugins that are on and are not for policies or webhooks, which other crates have.

use super::open::OpenedConfiguration;
use super::source::{Source, find};
use super::typed::steps;
use super::{Root, StartupFailure};
use crate::problem::Failure;

/// The plugins that are on.
#[derive(Clone, Copy)]
pub struct EnabledPlugins<'a> {
    /// Their names, in the order in which the server starts them; those for policies and webhooks too.
    pub names: &'a [&'a str],
    /// Starts one that is not for policies or webhooks.
    pub start: &'a dyn Fn(&str, Option<&GivenConfiguration>) -> Result<(), Failure>,
}

/// What an AdmissionConfiguration gives a plugin to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenConfiguration {
    /// The file that it is from.
    pub path: String,
    /// The text: of the file, or the JSON of what is embedded in the AdmissionConfiguration.
    pub text: Vec<u8>,
}

/// Starts a plugin with its configuration.
// Upstream: apiserver/pkg/admission/plugins.go, InitPlugin
pub(super) fn start(
    name: &str,
    enabled: &EnabledPlugins<'_>,
    opened: Option<&OpenedConfiguration>,
    root: Root<'_>,
) -> Result<(), StartupFailure> {
    let source = match opened {
        Some(opened) => find(name, opened, root)?,
        None => None,
    };
    let given = match &source {
        None => None,
        Some(Source::Embedded(parsed, id)) => Some(GivenConfiguration {
            path: parsed.document.source.file().to_string(),
            text: parsed.raw_text(*id).into_bytes(),
        }),
        Some(Source::File(path, text)) => Some(GivenConfiguration {
            path: path.clone(),
            text: text.clone(),
        }),
    };
    let started = (enabled.start)(name, given.as_ref());
    started.map_err(|failure| match &source {
        Some(Source::Embedded(parsed, id)) => {
            let mut failure = failure;
            for problem in &mut failure.problems {
                let path = steps(problem.field.as_deref().unwrap_or_default());
                let span = parsed.tree().nearest_span(*id, &path);
                problem.location = Some(parsed.document.source.location(span));
            }
            failure.into()
        }
        _ => failure.into(),
    })
}
