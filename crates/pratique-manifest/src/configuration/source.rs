//! The value that configures a plugin: embedded in the AdmissionConfiguration, or a file of its own.

use pratique_gotext::strconv::quote;

use super::StartupFailure;
use super::open::OpenedConfiguration;
use super::root::{FileRoot, relative_to};
use crate::parse::ParsedContent;
use crate::problem::{Failure, Problem, Rule};
use crate::read::directory;
use crate::tree::NodeId;

/// The source of a plugin's configuration.
pub(super) enum ConfigurationSource<'a> {
    /// A value within the AdmissionConfiguration.
    Embedded(&'a ParsedContent, NodeId),
    /// A file, by its path, and its content.
    File(String, Vec<u8>),
}

/// Finds the configuration of a plugin; of several entries of a name the first counts. A server exits at once if it
/// cannot read the file.
// Upstream: apiserver/pkg/admission/config.go, GetAdmissionPluginConfigurationFor
pub(super) fn find<'a>(
    name: &str,
    opened: &'a OpenedConfiguration,
    root: FileRoot<'_>,
) -> Result<Option<ConfigurationSource<'a>>, StartupFailure> {
    let mut plugins = opened.configuration.plugins.iter().enumerate();
    let Some((index, configured)) = plugins.find(|(_, configured)| configured.name == name) else {
        return Ok(None);
    };
    if configured.configuration.is_some() {
        let embedded = opened.embedded(index);
        return Ok(embedded.map(|(parsed, id)| ConfigurationSource::Embedded(parsed, id)));
    }
    if configured.path.is_empty() {
        return Ok(None);
    }
    let path = relative_to(&configured.path, &opened.path, root);
    root.permit(&path)
        .map_err(|error| unreadable(error.to_string()))?;
    let bytes = directory::read_configuration(&path).map_err(|error| {
        let call = error.call;
        let reason = match error.error.raw_os_error() {
            Some(code) => format!("{code:#x}"),
            None => quote(&error.error.to_string()),
        };
        let text = format!(
            "Couldn't open admission plugin configuration {path}: &fs.PathError{{Op:{}, Path:{}, Err:{reason}}}",
            quote(call),
            quote(&path)
        );
        StartupFailure {
            failure: unreadable(text),
            exit_code: 255,
        }
    })?;
    Ok(Some(ConfigurationSource::File(path, bytes)))
}

fn unreadable(text: String) -> Failure {
    Problem::new(Rule::Unreadable, text).into()
}
