//! Entries of an AdmissionConfiguration that the server ignores silently.

use pratique_schema::Release;
use pratique_types::admission_plugins::built_in;
use pratique_types::configuration::AdmissionPluginConfiguration;

use super::enabled_plugins::EnabledPlugins;
use super::open::OpenedConfiguration;
use crate::plugin::ManifestPlugin;
use crate::position::Location;
use crate::tree::PathStep;

/// An entry without effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredPlugin {
    /// The plugin's name, as it is written.
    pub name: String,
    /// The place of the name.
    pub location: Location,
    /// Why it has none.
    pub reason: IgnoredReason,
    /// The release of the server, with its major and minor version.
    pub release: (u32, u32),
}

/// Why an entry has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IgnoredReason {
    /// An earlier entry has the same name.
    Duplicate,
    /// No plugin of the release has the name.
    Unknown,
    /// The plugin is not on.
    Off,
    /// The release reads no configuration of the plugin, which is one for policies.
    Unread,
}

/// The entries that have no effect.
pub(super) fn find(
    opened: &OpenedConfiguration,
    enabled: &EnabledPlugins<'_>,
    release: &Release,
) -> Vec<IgnoredPlugin> {
    let Some(parsed) = &opened.parsed else {
        return Vec::new();
    };
    let plugins = &opened.configuration.plugins;
    let entry = |(index, plugin): (usize, &AdmissionPluginConfiguration)| {
        let mut earlier_plugins = plugins.iter().take(index);
        let known = built_in(&plugin.name).filter(|plugin| plugin.is_in(release.version()));
        let reason = match known {
            _ if earlier_plugins.any(|earlier_plugin| earlier_plugin.name == plugin.name) => {
                IgnoredReason::Duplicate
            }
            None => IgnoredReason::Unknown,
            Some(built_in) if (enabled.is_on)(built_in, true) => {
                // Upstream: plugin/policy/{mutating,validating}/plugin.go, NewPlugin, which read nothing before 1.36.
                let is_policy =
                    ManifestPlugin::from_name(built_in.name).is_some_and(ManifestPlugin::is_policy);
                if release.at_least(1, 36) || !is_policy {
                    return None;
                }
                IgnoredReason::Unread
            }
            Some(_) => IgnoredReason::Off,
        };
        let field = |name: &str| PathStep::Field(name.to_owned());
        let path = [field("plugins"), PathStep::Index(index), field("name")];
        let span = parsed.tree().nearest_span(parsed.root, &path);
        Some(IgnoredPlugin {
            name: plugin.name.clone(),
            location: parsed.document.source.location(span),
            reason,
            release: release.version(),
        })
    };
    plugins.iter().enumerate().filter_map(entry).collect()
}
