//! AdmissionConfiguration files: what configures which plugin, and the manifests of all of them.

mod enabled;
mod ignored;
mod kubeconfig;
mod open;
mod plugin;
mod source;
mod typed;

use std::io;
use std::path::Path;

use crate::load::options::Options;
use crate::load::set::ManifestSet;
use crate::parse::Parsed;
use crate::plugin::Plugin;
use crate::position::Location;
use crate::problem::{Failure, LoadErrors};
use crate::read::directory::{self, ManifestFile};
use crate::read::path::path_text;
pub use enabled::{EnabledPlugins, GivenConfiguration, StartPlugin, StartedPlugin};
pub use ignored::{IgnoredPlugin, IgnoredReason};
pub use kubeconfig::{KubeConfigError, KubeConfigIssue, load_kube_config};
use open::{OpenedConfiguration, open, open_content};
use pratique_types::admission_plugins::BUILT_IN;
use pratique_types::{FileError, KubeConfig};
pub use typed::{
    ConfigurationFault, ConfigurationKind, DecodedConfiguration, Strictness, decode_plugin_configuration,
    invalid_configuration,
};

/// How to load an AdmissionConfiguration.
#[derive(Clone, Copy)]
pub struct ConfigurationOptions<'a> {
    /// How to load the manifests that it names.
    pub manifests: Options<'a>,
    /// The feature gate `ManifestBasedAdmissionControlConfig`, on since 1.37.
    pub manifest_gate: bool,
}

/// An AdmissionConfiguration and the manifests that it names.
#[derive(Clone, Debug, Default)]
pub struct LoadedConfiguration {
    /// The plugins that have a static manifest directory or a kubeconfig, in the order in which they start.
    pub plugins: Vec<PluginConfiguration>,
    /// The other plugins whose configuration was read.
    pub started: Vec<StartedPlugin>,
    /// The entries that the server ignores.
    pub ignored: Vec<IgnoredPlugin>,
    /// Text after the file's first document, which the server does not read.
    pub unread: Option<Location>,
}

/// One plugin's configuration and its manifests.
#[derive(Clone, Debug)]
pub struct PluginConfiguration {
    /// The plugin.
    pub plugin: Plugin,
    /// Its static manifest directory, if it has one.
    pub static_manifests_dir: Option<String>,
    /// The kubeconfig file that webhook plugins authenticate with, if there is one.
    pub kube_config_file: Option<String>,
    /// The kubeconfig, with the files that it names.
    pub kube_config: Option<KubeConfig>,
    /// The manifests of the directory.
    pub manifests: ManifestSet,
}

/// Why an AdmissionConfiguration does not load.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{errors}")]
pub struct ConfigurationErrors {
    /// All failures; the text of the first is what the server would stop with.
    pub errors: LoadErrors,
    /// The exit code of a server that stops with the first failure: 1, or 255 if it ends through `klog.Fatal`.
    pub exit_code: u8,
}

/// A failure and the exit code of a server that stops with it.
pub(crate) struct StartupFailure {
    pub(crate) failure: Failure,
    pub(crate) exit_code: u8,
}

impl From<Failure> for StartupFailure {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            exit_code: 1,
        }
    }
}

/// Loads an AdmissionConfiguration file and the manifests of every plugin that it configures.
///
/// The empty path stands for no file, which configures nothing.
///
/// # Errors
/// All failures.
pub fn load_configuration(
    path: &str,
    options: &ConfigurationOptions<'_>,
) -> Result<LoadedConfiguration, ConfigurationErrors> {
    load_configuration_below("", path, options)
}

/// Loads an AdmissionConfiguration of another machine whose files lie below the directory `root`: absolute paths in it, and in
/// the kubeconfigs that it names, begin there. The path of the file itself does not.
///
/// # Errors
/// As [`load_configuration`], with the paths below `root`.
pub fn load_configuration_below(
    root: &str,
    path: &str,
    options: &ConfigurationOptions<'_>,
) -> Result<LoadedConfiguration, ConfigurationErrors> {
    load_from(Root::below(root), path, options)
}

/// Loads an untrusted AdmissionConfiguration: of the files and directories that it names, and those that these name, only
/// those that `permit` accepts are opened. Its error is reported as the reason for which a file cannot be opened. The file
/// itself is opened without asking.
///
/// # Errors
/// As [`load_configuration`].
pub fn load_configuration_within(
    permit: &dyn Fn(&Path) -> io::Result<()>,
    path: &str,
    options: &ConfigurationOptions<'_>,
) -> Result<LoadedConfiguration, ConfigurationErrors> {
    load_from(Root { path: "", permit }, path, options)
}

/// Loads an AdmissionConfiguration as [`load_configuration_below`] does, and starts the other plugins that are on with
/// their configurations, one after the other.
///
/// # Errors
/// As [`load_configuration`], and with the failures of plugins that do not start.
pub fn load_configuration_of(
    root: &str,
    path: &str,
    options: &ConfigurationOptions<'_>,
    enabled: &EnabledPlugins<'_>,
) -> Result<LoadedConfiguration, ConfigurationErrors> {
    load_plugins(Root::below(root), path, options, enabled)
}

/// Loads an untrusted AdmissionConfiguration as [`load_configuration_within`] does, with its absolute paths below `root` as
/// [`load_configuration_below`], and starts the other plugins that are on, as [`load_configuration_of`].
///
/// # Errors
/// As [`load_configuration_of`].
pub fn load_configuration_of_within(
    root: &str,
    permit: &dyn Fn(&Path) -> io::Result<()>,
    path: &str,
    options: &ConfigurationOptions<'_>,
    enabled: &EnabledPlugins<'_>,
) -> Result<LoadedConfiguration, ConfigurationErrors> {
    load_plugins(Root { path: root, permit }, path, options, enabled)
}

/// Loads an AdmissionConfiguration whose text is given, as one that is not saved yet; what it names is read.
///
/// # Errors
/// As [`load_configuration_of`].
pub fn load_configuration_file(
    file: ManifestFile,
    options: &ConfigurationOptions<'_>,
    enabled: &EnabledPlugins<'_>,
) -> Result<LoadedConfiguration, ConfigurationErrors> {
    let opened = open_content(&file.path, file.content).map_err(|failure| finish(vec![failure.into()]))?;
    load_opened(Root::below(""), Some(&opened), options, enabled)
}

fn load_from(
    root: Root<'_>,
    path: &str,
    options: &ConfigurationOptions<'_>,
) -> Result<LoadedConfiguration, ConfigurationErrors> {
    let enabled = EnabledPlugins {
        is_on: &|_, _| true,
        start: &|_, _| Ok(()),
    };
    load_plugins(root, path, options, &enabled)
}

fn load_plugins(
    root: Root<'_>,
    path: &str,
    options: &ConfigurationOptions<'_>,
    enabled: &EnabledPlugins<'_>,
) -> Result<LoadedConfiguration, ConfigurationErrors> {
    let opened = match path {
        "" => None,
        path => Some(open(path).map_err(|failure| finish(vec![failure.into()]))?),
    };
    load_opened(root, opened.as_ref(), options, enabled)
}

fn load_opened(
    root: Root<'_>,
    opened: Option<&OpenedConfiguration>,
    options: &ConfigurationOptions<'_>,
    enabled: &EnabledPlugins<'_>,
) -> Result<LoadedConfiguration, ConfigurationErrors> {
    let parsed = opened.and_then(|opened| opened.parsed.as_ref());
    let mut loaded = LoadedConfiguration {
        ignored: opened
            .map(|opened| ignored::find(opened, enabled))
            .unwrap_or_default(),
        unread: parsed.and_then(Parsed::rest_location),
        ..LoadedConfiguration::default()
    };
    let mut failures = Vec::new();
    for built_in in &BUILT_IN {
        let name = built_in.name;
        let mut entries = opened.iter().flat_map(|opened| &opened.configuration.plugins);
        if !(enabled.is_on)(built_in, entries.any(|entry| entry.name == name)) {
            continue;
        }
        match (Plugin::from_name(name), opened) {
            (Some(plugin), Some(opened)) => match plugin::load(plugin, opened, options, root) {
                Ok(configuration) => loaded.plugins.extend(configuration),
                Err(found) => failures.extend(found),
            },
            (Some(_), None) => {}
            (None, opened) => match enabled::start(name, enabled, opened, root) {
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

fn finish(failures: Vec<StartupFailure>) -> ConfigurationErrors {
    let exit_code = failures.first().map_or(1, |failure| failure.exit_code);
    let failures = failures.into_iter().map(|failure| failure.failure).collect();
    ConfigurationErrors {
        errors: LoadErrors::new(failures),
        exit_code,
    }
}

/// The directory that stands for `/` (empty for `/` itself), and which files may be opened.
#[derive(Clone, Copy)]
struct Root<'a> {
    path: &'a str,
    permit: &'a dyn Fn(&Path) -> io::Result<()>,
}

impl<'a> Root<'a> {
    /// All files below a path are permitted.
    fn below(path: &'a str) -> Self {
        Root {
            path,
            permit: &|_| Ok(()),
        }
    }

    /// Checks that a file or directory may be opened.
    fn permit(self, path: &str) -> Result<(), FileError> {
        self.permit_path(Path::new(path), path.to_owned())
    }

    /// Checks that a directory and its files may be opened.
    fn permit_directory(self, path: &str) -> Result<(), FileError> {
        self.permit(path)?;
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        let mut entries = entries.map(|entry| entry.path());
        entries.try_for_each(|path| self.permit_path(&path, path_text(&path)))
    }

    fn permit_path(self, path: &Path, shown: String) -> Result<(), FileError> {
        (self.permit)(path).map_err(|error| FileError {
            call: "open",
            path: shown,
            reason: error.to_string(),
        })
    }

    /// The path below the root of a file; only absolute paths change.
    fn find(self, path: &str) -> String {
        match (self.path.is_empty(), path.starts_with('/')) {
            (false, true) => directory::clean_path(&format!("{}{path}", self.path)),
            _ => path.to_owned(),
        }
    }
}

/// Resolves a path that a file names, relative to that file's directory.
fn relative_to(path: &str, file: &str, root: Root<'_>) -> String {
    if path.starts_with('/') {
        return root.find(path);
    }
    let base = file
        .rsplit_once('/')
        .map_or(".", |(base, _)| if base.is_empty() { "/" } else { base });
    let base = if base == "." {
        directory::current()
    } else {
        base.to_owned()
    };
    directory::clean_path(&format!("{base}/{path}"))
}
