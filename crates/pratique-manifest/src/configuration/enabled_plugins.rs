//! The configuration of plugins that are on and are not for policies or webhooks, which other crates have.

use pratique_types::admission_plugins::BuiltIn;

use super::StartupFailure;
use super::open::OpenedConfiguration;
use super::root::FileRoot;
use super::source::{ConfigurationSource, find};
use super::typed_configuration::steps;
use crate::parse::ParsedContent;
use crate::problem::Failure;
use crate::tree::NodeId;

/// The plugins that are on.
#[derive(Clone, Copy)]
pub struct EnabledPlugins<'a> {
    /// Whether a plugin is on, for policies and webhooks or not, and given whether the AdmissionConfiguration names it.
    pub is_on: &'a dyn Fn(&BuiltIn, bool) -> bool,
    /// Starts one that is not for policies or webhooks.
    pub start: &'a StartPlugin<'a>,
}

/// Starts the plugin of a name with its configuration, or returns why a server would not start.
pub type StartPlugin<'a> = dyn Fn(&str, Option<&GivenConfiguration>) -> Result<(), Failure> + 'a;

/// The configuration of a plugin in an AdmissionConfiguration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenConfiguration {
    /// The file that it is from.
    pub path: String,
    /// The text: of the file, or the JSON of what is embedded in the AdmissionConfiguration.
    pub text: Vec<u8>,
}

/// A plugin that would start with its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedPlugin {
    /// Its name.
    pub name: String,
    /// The file that its configuration is in.
    pub path: String,
}

/// Starts a plugin with its configuration, if it has one.
// Upstream: apiserver/pkg/admission/plugins.go, InitPlugin
pub(super) fn start(
    name: &str,
    enabled: &EnabledPlugins<'_>,
    opened: Option<&OpenedConfiguration>,
    root: FileRoot<'_>,
) -> Result<Option<StartedPlugin>, StartupFailure> {
    let source = match opened {
        Some(opened) => find(name, opened, root)?,
        None => None,
    };
    let configuration = match &source {
        None => None,
        Some(ConfigurationSource::Embedded(parsed, id)) => Some(GivenConfiguration {
            path: parsed.document.source.file().to_string(),
            text: parsed.raw_text(*id).into_bytes(),
        }),
        Some(ConfigurationSource::File(path, text)) => Some(GivenConfiguration {
            path: path.clone(),
            text: text.clone(),
        }),
    };
    let place = configuration
        .as_ref()
        .map(|configuration| configuration.path.clone());
    match (enabled.start)(name, configuration.as_ref()) {
        Ok(()) => Ok(place.map(|path| StartedPlugin {
            name: name.to_owned(),
            path,
        })),
        Err(failure) => Err(match &source {
            Some(ConfigurationSource::Embedded(parsed, id)) => within(failure, parsed, *id),
            _ => failure,
        }
        .into()),
    }
}

/// The failure with places in the file that a value is embedded in.
fn within(mut failure: Failure, parsed: &ParsedContent, id: NodeId) -> Failure {
    for problem in &mut failure.problems {
        let path = steps(problem.field.as_deref().unwrap_or_default());
        let span = parsed.tree().nearest_span(id, &path);
        problem.location = Some(parsed.document.source.location(span));
    }
    failure
}
