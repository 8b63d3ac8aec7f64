//! AdmissionConfiguration files: which plugin reads which directory, and the manifests of all of them.

mod ignored;
mod kubeconfig;
mod open;
mod plugin;

use std::path::{Path, PathBuf};

use crate::load::options::Options;
use crate::load::set::ManifestSet;
use crate::parse::Parsed;
use crate::plugin::Plugin;
use crate::position::Location;
use crate::problem::{Failure, LoadErrors};
use crate::read::directory;
use crate::read::path::path_text;
pub use ignored::IgnoredPlugin;
pub use kubeconfig::load_kube_config;
use open::open;
use pratique_types::KubeConfig;

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
    /// The entries that the server passes over.
    pub ignored: Vec<IgnoredPlugin>,
    /// What follows the file's first document, which is the only one that the server reads.
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
    /// What the kubeconfig file says, and the files that it names.
    pub kube_config: Option<KubeConfig>,
    /// The manifests of the directory.
    pub manifests: ManifestSet,
}

/// Why an AdmissionConfiguration does not load.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{errors}")]
pub struct ConfigurationErrors {
    /// Everything that is wrong; the first failure's text is what the server would stop with.
    pub errors: LoadErrors,
    /// The exit code of the server that stops with the first failure: 1, or 255 where it does not even unwind.
    pub exit_code: u8,
}

/// A failure and the exit code that the server has with it.
pub(crate) struct Stop {
    pub(crate) failure: Failure,
    pub(crate) exit_code: u8,
}

impl From<Failure> for Stop {
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
/// All that is wrong with any of them.
pub fn load_configuration(
    path: &str,
    options: &ConfigurationOptions<'_>,
) -> Result<LoadedConfiguration, ConfigurationErrors> {
    load_configuration_below("", path, options)
}

/// Loads an AdmissionConfiguration of a machine whose files are here below another directory: absolute paths in it, and in
/// the kubeconfigs that it names, begin at `root`. The path of the file itself does not.
///
/// # Errors
/// As [`load_configuration`], with the paths that the files have here.
pub fn load_configuration_below(
    root: &str,
    path: &str,
    options: &ConfigurationOptions<'_>,
) -> Result<LoadedConfiguration, ConfigurationErrors> {
    let root = Root {
        path: root,
        permit: &|_| Ok(()),
    };
    load_from(root, path, options)
}

/// Loads an AdmissionConfiguration that others have written: of the files and directories that it names, and those that
/// these name, only such are looked at as `permit` lets through. What it says of the others is told as the reason for which
/// they cannot be opened. The file itself is opened as it is.
///
/// # Errors
/// As [`load_configuration`].
pub fn load_configuration_within(
    permit: &dyn Fn(&Path) -> Result<(), String>,
    path: &str,
    options: &ConfigurationOptions<'_>,
) -> Result<LoadedConfiguration, ConfigurationErrors> {
    load_from(Root { path: "", permit }, path, options)
}

fn load_from(
    root: Root<'_>,
    path: &str,
    options: &ConfigurationOptions<'_>,
) -> Result<LoadedConfiguration, ConfigurationErrors> {
    if path.is_empty() {
        return Ok(LoadedConfiguration::default());
    }
    let opened = open(path).map_err(|failure| finish(vec![failure.into()]))?;
    let mut loaded = LoadedConfiguration {
        ignored: ignored::find(&opened),
        unread: opened.parsed.as_ref().and_then(Parsed::rest_location),
        ..LoadedConfiguration::default()
    };
    let mut stops = Vec::new();
    for plugin in Plugin::START_ORDER {
        match plugin::load(plugin, &opened, options, root) {
            Ok(configuration) => loaded.plugins.extend(configuration),
            Err(found) => stops.extend(found),
        }
    }
    if stops.is_empty() {
        Ok(loaded)
    } else {
        Err(finish(stops))
    }
}

fn finish(stops: Vec<Stop>) -> ConfigurationErrors {
    let exit_code = stops.first().map_or(1, |stop| stop.exit_code);
    let failures = stops.into_iter().map(|stop| stop.failure).collect();
    ConfigurationErrors {
        errors: LoadErrors::new(failures),
        exit_code,
    }
}

/// The directory that stands for a machine's `/`, none if that is this machine's; and which files may be looked at.
#[derive(Clone, Copy)]
struct Root<'a> {
    path: &'a str,
    permit: &'a dyn Fn(&Path) -> Result<(), String>,
}

impl Root<'_> {
    /// Whether a file or directory may be looked at; an error says which, and why not.
    fn permit(self, path: &str) -> Result<(), String> {
        (self.permit)(Path::new(path)).map_err(|why| format!("open {path}: {why}"))
    }

    /// Whether a directory may be looked at, with all that is in it.
    fn permit_directory(self, path: &str) -> Result<(), String> {
        self.permit(path)?;
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        let mut entries = entries.map(|entry| entry.path());
        let permit =
            |path: PathBuf| (self.permit)(&path).map_err(|why| format!("open {}: {why}", path_text(&path)));
        entries.try_for_each(permit)
    }

    /// Where a file is that has an absolute path on the machine.
    fn find(self, path: &str) -> String {
        match (self.path.is_empty(), path.starts_with('/')) {
            (false, true) => directory::clean_path(&format!("{}{path}", self.path)),
            _ => path.to_owned(),
        }
    }
}

/// A path that a file names, which is relative to that file's directory.
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
