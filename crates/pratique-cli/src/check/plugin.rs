//! Derives the plugin of manifests from their kinds.
//!
//! Only the text is searched, so that manifests with syntax errors have a plugin as well.

use pratique_manifest::is_manifest;
use pratique_manifest::{Kind, ManifestPlugin};

use crate::check::check_error::CheckError;
use crate::exit::CliError;
use crate::input::{read_directory, read_regular};
use crate::memory;

/// The plugin of the manifests in a directory.
pub(crate) fn plugin_of(path: &str) -> Result<ManifestPlugin, CliError> {
    let unreadable = |error| CliError::unread(path, error);
    let mut plugins = Vec::new();
    for entry in read_directory(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        // Errors are reported when the directory is loaded.
        if let Some(content) = is_manifest(&file)
            .then(|| read_regular(&file, memory::manifests()).ok())
            .flatten()
        {
            plugins.extend(plugins_of(&content));
        }
    }
    plugins.sort_unstable();
    plugins.dedup();
    match plugins.as_slice() {
        [plugin] => Ok(*plugin),
        [] => Err(CliError::Check(CheckError::NoPlugin {
            path: path.to_owned(),
        })),
        several => {
            let names: Vec<_> = several.iter().map(|plugin| plugin.name()).collect();
            Err(CliError::Check(CheckError::SeveralPlugins {
                path: path.to_owned(),
                plugins: names.join(" and "),
            }))
        }
    }
}

/// The plugins that accept the kinds in a text, each once.
pub(super) fn plugins_of(content: &[u8]) -> Vec<ManifestPlugin> {
    let text = String::from_utf8_lossy(content);
    let kinds = text.split("kind").skip(1).filter_map(named_kind);
    let mut plugins: Vec<ManifestPlugin> = kinds.map(Kind::plugin).collect();
    plugins.sort_unstable();
    plugins.dedup();
    plugins
}

/// The kind in the text after the word `kind`.
fn named_kind(after: &str) -> Option<Kind> {
    let quote = ['"', '\''];
    let value = after.trim_start_matches(quote).trim_start().strip_prefix(':')?;
    let value = value.trim_start().trim_start_matches(quote);
    let name = value
        .split(|character: char| !character.is_ascii_alphanumeric())
        .next()?;
    Kind::from_name(name).or_else(|| Kind::from_name(name.strip_suffix("List")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[ManifestPlugin]) {
        assert_eq!(plugins_of(text.as_bytes()), expected, "{text}");
    }

    #[test]
    fn kinds_identify_plugins() {
        check(
            "kind: ValidatingAdmissionPolicy\n---\nkind: ValidatingAdmissionPolicyBinding\n",
            &[ManifestPlugin::ValidatingAdmissionPolicy],
        );
        check(
            r#"{"kind": "MutatingWebhookConfigurationList"}"#,
            &[ManifestPlugin::MutatingAdmissionWebhook],
        );
        check(
            "kind: List\nitems:\n- 'kind' : \"MutatingAdmissionPolicy\"",
            &[ManifestPlugin::MutatingAdmissionPolicy],
        );
        check(
            "kind: AdmissionConfiguration\nplugins:\n- name: ValidatingAdmissionPolicy",
            &[],
        );
        check("kind: Pod", &[]);
        check(
            "}{ kind: ValidatingAdmissionPolicy\nkind: MutatingAdmissionPolicy",
            &[
                ManifestPlugin::MutatingAdmissionPolicy,
                ManifestPlugin::ValidatingAdmissionPolicy,
            ],
        );
    }
}
