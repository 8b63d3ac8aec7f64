//! Loading an AdmissionConfiguration, and what it names.

use std::io;
use std::path::Path;

use pratique_types::admission_plugins::BUILT_IN;

use super::open::{OpenedConfiguration, open, open_content};
use super::root::FileRoot;
use super::{
    ConfigurationErrors, ConfigurationOptions, EnabledPlugins, LoadedConfiguration, StartupFailure,
    enabled_plugins, ignored_entries, plugin,
};
use crate::parse::ParsedContent;
use crate::plugin::ManifestPlugin;
use crate::problem::LoadErrors;
use crate::read::directory::ManifestFile;

/// Loads AdmissionConfiguration files and the manifests of every plugin that they configure.
///
/// ```
/// use pratique_manifest::{ConfigurationLoader, ConfigurationOptions, LoadOptions, UncheckedExpressions};
/// use pratique_schema::FeatureGates;
///
/// let options = ConfigurationOptions {
///     manifests: LoadOptions::new(&UncheckedExpressions),
///     feature_gates: FeatureGates::default(),
/// };
/// let loaded = ConfigurationLoader::new(&options).load("")?;
/// assert!(loaded.plugins.is_empty(), "no file configures nothing");
/// let errors = ConfigurationLoader::new(&options).load("/nowhere.yaml").unwrap_err();
/// assert_eq!(errors.exit_code, 1);
/// # Ok::<(), pratique_manifest::ConfigurationErrors>(())
/// ```
#[derive(Clone, Copy)]
pub struct ConfigurationLoader<'a> {
    options: ConfigurationOptions<'a>,
    root: FileRoot<'a>,
    enabled: EnabledPlugins<'a>,
}

impl<'a> ConfigurationLoader<'a> {
    /// Loads the configurations of all plugins that have manifests; the other plugins are not started.
    #[must_use]
    pub fn new(options: &ConfigurationOptions<'a>) -> Self {
        ConfigurationLoader {
            options: *options,
            root: FileRoot {
                path: "",
                permit: &|_| Ok(()),
            },
            enabled: EnabledPlugins {
                is_on: &|_, _| true,
                start: &|_, _| Ok(()),
            },
        }
    }

    /// For a configuration of another machine whose files lie below a directory: absolute paths in it, and in the kubeconfigs
    /// that it names, begin there, and so do those of errors. The path of the file itself does not.
    #[must_use]
    pub fn below(self, root: &'a str) -> Self {
        let root = FileRoot {
            path: root,
            ..self.root
        };
        ConfigurationLoader { root, ..self }
    }

    /// For an untrusted configuration: of the files and directories that it names, and those that these name, only those that
    /// `permit` accepts are opened. Its error is reported as the reason for which a file cannot be opened. The file itself
    /// is opened without asking.
    #[must_use]
    pub fn within(self, permit: &'a dyn Fn(&Path) -> io::Result<()>) -> Self {
        let root = FileRoot { permit, ..self.root };
        ConfigurationLoader { root, ..self }
    }

    /// Starts the other plugins that are on with their configurations, one after the other.
    #[must_use]
    pub fn starting(self, enabled: EnabledPlugins<'a>) -> Self {
        ConfigurationLoader { enabled, ..self }
    }

    /// Loads a file. The empty path stands for no file, which configures nothing.
    ///
    /// # Errors
    /// All failures, with those of plugins that do not start.
    pub fn load(&self, path: &str) -> Result<LoadedConfiguration, ConfigurationErrors> {
        let opened = match path {
            "" => None,
            path => Some(
                open(path, self.options.feature_gates.release())
                    .map_err(|failure| finish(vec![failure.into()]))?,
            ),
        };
        self.load_opened(opened.as_ref())
    }

    /// Loads a file whose text is given, as one that is not saved yet; what it names is read.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_file(&self, file: ManifestFile) -> Result<LoadedConfiguration, ConfigurationErrors> {
        let opened = open_content(&file.path, file.content, self.options.feature_gates.release());
        let opened = opened.map_err(|failure| finish(vec![failure.into()]))?;
        self.load_opened(Some(&opened))
    }

    fn load_opened(
        &self,
        opened: Option<&OpenedConfiguration>,
    ) -> Result<LoadedConfiguration, ConfigurationErrors> {
        let ConfigurationLoader {
            options,
            root,
            enabled,
        } = self;
        let parsed = opened.and_then(|opened| opened.parsed.as_ref());
        let mut loaded = LoadedConfiguration {
            ignored: opened
                .map(|opened| ignored_entries::find(opened, enabled, options.feature_gates.release()))
                .unwrap_or_default(),
            unread: parsed.and_then(ParsedContent::rest_location),
            ..LoadedConfiguration::default()
        };
        let mut failures = Vec::new();
        let release = options.feature_gates.release().version();
        for built_in in BUILT_IN.iter().filter(|plugin| plugin.is_in(release)) {
            let name = built_in.name;
            let mut entries = opened.iter().flat_map(|opened| &opened.configuration.plugins);
            if !(enabled.is_on)(built_in, entries.any(|entry| entry.name == name)) {
                continue;
            }
            match (ManifestPlugin::from_name(name), opened) {
                (Some(plugin), Some(opened)) => match plugin::load(plugin, opened, options, *root) {
                    Ok(configuration) => loaded.plugins.extend(configuration),
                    Err(plugin_failures) => failures.extend(plugin_failures),
                },
                (Some(_), None) => {}
                (None, opened) => match enabled_plugins::start(name, enabled, opened, *root) {
                    Ok(started) => loaded.started.extend(started),
                    Err(failure) => failures.push(failure),
                },
            }
        }
        if failures.is_empty() {
            Ok(loaded)
        } else {
            Err(finish(failures))
        }
    }
}

fn finish(failures: Vec<StartupFailure>) -> ConfigurationErrors {
    let exit_code = failures.first().map_or(1, |failure| failure.exit_code);
    let failures = failures.into_iter().map(|failure| failure.failure).collect();
    ConfigurationErrors {
        errors: LoadErrors::new(failures),
        exit_code,
    }
}
