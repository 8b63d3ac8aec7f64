//! Static manifests as they were added, and loading them.

use std::sync::Arc;
use std::thread;

#[cfg(feature = "webhooks")]
use pratique_manifest::PluginConfiguration;
use pratique_manifest::{
    ConfigurationLoader, ConfigurationOptions, LoadOptions, Loader, ManifestFile, ManifestPlugin,
    ManifestSet, UnstableFile,
};
use pratique_schema::FeatureGates;
#[cfg(feature = "webhooks")]
use pratique_types::configuration::StaticOrder;
use pratique_workers::Workers;

use super::error::BuildError;
use crate::expressions::Expressions;

/// Static manifests, loaded or not.
#[derive(Debug)]
pub(super) enum ManifestInput {
    /// All that an AdmissionConfiguration file names.
    Configuration(String),
    /// A directory.
    Directory(String, ManifestPlugin),
    /// Files that were read.
    Files(Vec<ManifestFile>, ManifestPlugin),
    /// A set that was loaded, and the directory that it was loaded from, if any.
    #[cfg_attr(
        not(feature = "watch"),
        allow(dead_code, reason = "only what is watched is read again")
    )]
    Loaded(Arc<ManifestSet>, Option<(String, ManifestPlugin)>),
}

impl ManifestInput {
    pub(super) fn loaded(set: ManifestSet) -> Self {
        ManifestInput::Loaded(Arc::new(set), None)
    }

    /// The set, if it was loaded.
    pub(super) fn into_set(self) -> Option<Arc<ManifestSet>> {
        match self {
            ManifestInput::Loaded(set, _) => Some(set),
            ManifestInput::Configuration(_) | ManifestInput::Directory(..) | ManifestInput::Files(..) => None,
        }
    }
}

/// A directory to watch, and the index of its set of manifests.
#[cfg(feature = "watch")]
#[derive(Clone, Debug)]
pub(crate) struct WatchedDirectory {
    pub(crate) path: String,
    pub(crate) plugin: ManifestPlugin,
    pub(crate) place: usize,
}

/// The directories that sets were loaded from.
#[cfg(feature = "watch")]
pub(super) fn directories(inputs: &[ManifestInput]) -> Vec<WatchedDirectory> {
    let sets = inputs.iter().filter_map(|input| match input {
        ManifestInput::Loaded(_, directory) => Some(directory),
        ManifestInput::Configuration(_) | ManifestInput::Directory(..) | ManifestInput::Files(..) => None,
    });
    let directories = sets.enumerate().filter_map(|(place, directory)| {
        let (path, plugin) = directory.clone()?;
        Some(WatchedDirectory { path, plugin, place })
    });
    directories.collect()
}

/// A loaded input.
#[derive(Debug, Default)]
pub(super) struct LoadedInput {
    pub(super) inputs: Vec<ManifestInput>,
    /// The credentials for the webhooks of each plugin.
    #[cfg(feature = "webhooks")]
    pub(super) credentials: Vec<(ManifestPlugin, pratique_types::KubeConfig)>,
    /// When static mutating webhooks are called.
    #[cfg(feature = "webhooks")]
    pub(super) static_order: Option<StaticOrder>,
}

/// The settings that manifests are loaded with.
pub(super) struct LoadSettings<'a> {
    pub(super) expressions: &'a Expressions,
    pub(super) workers: &'a dyn Workers,
    pub(super) feature_gates: FeatureGates,
    /// Whether to wait for files of directories that are being written.
    pub(super) waits: bool,
}

impl LoadSettings<'_> {
    pub(super) fn load(&self, input: ManifestInput) -> Result<LoadedInput, BuildError> {
        let input = match input {
            ManifestInput::Configuration(path) => return self.configuration(&path),
            ManifestInput::Directory(path, plugin) => {
                let set = Loader::for_plugin(plugin, &self.options()).load_directory(&path)?;
                ManifestInput::Loaded(Arc::new(set), Some((path, plugin)))
            }
            ManifestInput::Files(files, plugin) => {
                ManifestInput::loaded(Loader::for_plugin(plugin, &self.options()).load_files(&files)?)
            }
            loaded @ ManifestInput::Loaded(..) => loaded,
        };
        Ok(LoadedInput {
            inputs: vec![input],
            ..LoadedInput::default()
        })
    }

    fn configuration(&self, path: &str) -> Result<LoadedInput, BuildError> {
        let options = ConfigurationOptions {
            manifests: self.options(),
            feature_gates: self.feature_gates,
        };
        let mut all = LoadedInput::default();
        for plugin in ConfigurationLoader::new(&options).load(path)?.plugins {
            #[cfg(feature = "webhooks")]
            if let Some(order) = static_order(&plugin) {
                all.static_order = Some(order);
                // Upstream: apiserver/pkg/admission/plugin/webhook/mutating/plugin.go, ValidateInitialization
                if self.feature_gates.release().at_least(1, 38) {
                    tracing::info!(
                        plugin = plugin.plugin.name(),
                        staticManifestsDir = plugin.static_manifests_dir,
                        staticOrder = order.as_str(),
                        "Configured mutating webhook merge order"
                    );
                }
            }
            let directory = plugin.static_manifests_dir.map(|path| (path, plugin.plugin));
            all.inputs
                .push(ManifestInput::Loaded(Arc::new(plugin.manifests), directory));
            #[cfg(feature = "webhooks")]
            if let Some(credentials) = plugin.kube_config {
                all.credentials.push((plugin.plugin, credentials));
            }
        }
        Ok(all)
    }

    fn options(&self) -> LoadOptions<'_> {
        let options = self.expressions.options().with_workers(self.workers);
        if self.waits {
            options.with_pause(&pause)
        } else {
            options
        }
    }
}

/// When the static webhooks of a plugin are called; `None` where it has none, or they mutate nothing.
#[cfg(feature = "webhooks")]
pub(super) fn static_order(plugin: &PluginConfiguration) -> Option<StaticOrder> {
    let is_mutating = plugin.plugin == ManifestPlugin::MutatingAdmissionWebhook;
    (is_mutating && plugin.static_manifests_dir.is_some()).then_some(plugin.static_order)
}

fn pause(file: &UnstableFile) {
    tracing::info!(reason = %file, "waiting for manifest config that may be unfinished");
    thread::sleep(file.retry_after);
}
