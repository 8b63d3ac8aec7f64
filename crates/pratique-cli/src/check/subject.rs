//! The subject of a check, and loading it.

use std::fs;
use std::path::Path;

use pratique::expressions::Expressions;
use pratique_manifest::{
    ConfigurationOptions, ManifestFile, Plugin, load_configuration_below, load_directory, load_files,
    path_text,
};
use pratique_types::FeatureGates;

use super::empty::{holds_only_empty_lists, is_empty_list};
use super::loaded::{Loaded, LoadedPlugins, Refusal, largest};
use super::plugin::{plugin_of, plugins_of};
use super::stdin::{self, Stdin};
use crate::exit::CliError;
use crate::input::{STDIN, named};

/// What a path refers to.
pub(super) enum Subject {
    /// An AdmissionConfiguration file.
    Configuration(String),
    /// A directory of static manifests.
    Directory(String, Plugin),
    /// A single static manifest.
    Manifest(ManifestFile, Plugin),
    /// Empty lists, which any plugin accepts.
    Nothing,
    /// Manifests of any plugins on standard input.
    Stdin(Stdin),
}

impl Subject {
    /// Inspects a path. A file is an AdmissionConfiguration unless its kind, or the plugin, makes it a manifest.
    pub(super) fn of(path: &Path, plugin: Option<Plugin>) -> Result<Self, CliError> {
        if path == Path::new(STDIN) {
            let file = stdin::read_file()?;
            return Ok(match plugin {
                Some(plugin) => Subject::Manifest(file, plugin),
                None => Subject::Stdin(Stdin::new(file)?),
            });
        }
        let shown = path_text(path);
        let unreadable = |error| CliError::Read {
            path: shown.clone(),
            error,
        };
        let text = || {
            let text = path.to_str().map(str::to_owned);
            text.ok_or_else(|| CliError::NoText { path: shown.clone() })
        };
        if fs::metadata(path).map_err(unreadable)?.is_dir() {
            let path = text()?;
            return match plugin.map_or_else(|| plugin_of(&path), Ok) {
                Err(CliError::NoPlugin { .. }) if holds_only_empty_lists(&path) => Ok(Subject::Nothing),
                plugin => Ok(Subject::Directory(path, plugin?)),
            };
        }
        let content = named::read(path, largest()).map_err(unreadable)?;
        let plugin = plugin.or_else(|| match plugins_of(&content).as_slice() {
            [plugin] => Some(*plugin),
            _ => None,
        });
        Ok(match plugin {
            Some(plugin) => Subject::Manifest(ManifestFile { path: shown, content }, plugin),
            None if is_empty_list(&shown, content) => Subject::Nothing,
            None => Subject::Configuration(text()?),
        })
    }

    /// Loads it as a server does.
    pub(super) fn load(
        &self,
        expressions: &Expressions,
        gates: FeatureGates,
        root: &str,
    ) -> Result<LoadedPlugins, Refusal> {
        let options = expressions.options();
        let refused = |errors| Refusal { errors, exit_code: 1 };
        match self {
            Subject::Nothing => Ok(LoadedPlugins::of(Vec::new())),
            Subject::Configuration(path) => configuration(path, expressions, gates, root),
            Subject::Directory(path, plugin) => {
                let set = load_directory(path, *plugin, &options).map_err(refused)?;
                Ok(LoadedPlugins::of(vec![Loaded::new(*plugin, None, set)]))
            }
            Subject::Manifest(file, plugin) => {
                let set = load_files(std::slice::from_ref(file), *plugin, &options).map_err(refused)?;
                Ok(LoadedPlugins::of(vec![Loaded::new(*plugin, None, set)]))
            }
            Subject::Stdin(stdin) => stdin.load(expressions),
        }
    }

    /// The text of an input that cannot be read again.
    pub(super) fn text(self) -> Option<ManifestFile> {
        match self {
            Subject::Stdin(stdin) => Some(stdin.into_file()),
            Subject::Manifest(file, _) => Some(file),
            Subject::Nothing | Subject::Configuration(_) | Subject::Directory(..) => None,
        }
    }
}

fn configuration(
    path: &str,
    expressions: &Expressions,
    gates: FeatureGates,
    root: &str,
) -> Result<LoadedPlugins, Refusal> {
    let options = ConfigurationOptions {
        manifests: expressions.options(),
        manifest_gate: gates.manifests,
    };
    let loaded = load_configuration_below(root, path, &options).map_err(|refused| Refusal {
        errors: refused.errors,
        exit_code: refused.exit_code,
    })?;
    let plugin = |plugin: pratique_manifest::PluginConfiguration| {
        let kube_config = plugin.kube_config;
        let loaded = Loaded::new(plugin.plugin, plugin.static_manifests_dir, plugin.manifests);
        Loaded {
            kube_config,
            ..loaded
        }
    };
    Ok(LoadedPlugins {
        plugins: loaded.plugins.into_iter().map(plugin).collect(),
        ignored: loaded.ignored,
        unread: loaded.unread,
    })
}
