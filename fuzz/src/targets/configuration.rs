//! Configuration files, which are read from a directory that has nothing else.

use std::path::Path;
use std::sync::OnceLock;

use pratique_manifest::{
    ConfigurationLoader, ConfigurationOptions, LoadOptions, UncheckedExpressions, load_kube_config,
};
use pratique_schema::{FeatureGates, Release};
use tempfile::TempDir;

/// An AdmissionConfiguration: loading it again gives the same, and what is wrong has a message. Absolute paths in it begin
/// at a directory that is empty but for the file.
pub fn admission_configuration(input: &[u8]) {
    let options = ConfigurationOptions {
        manifests: LoadOptions::new(&UncheckedExpressions),
        feature_gates: FeatureGates::default(),
    };
    with_file("admission.yaml", input, |root, path| {
        let load = || ConfigurationLoader::new(&options).below(root).load(path);
        match (load(), load()) {
            (Ok(first), Ok(again)) => {
                assert_eq!(first.plugins.len(), again.plugins.len());
                assert!(first.plugins.len() <= 4);
            }
            (Err(first), Err(again)) => {
                assert_eq!(first, again);
                assert!(!first.to_string().is_empty() && first.exit_code != 0);
            }
            (first, _) => assert!(first.is_err(), "loading is a function of the files"),
        }
    });
}

/// A kubeconfig: reading it again gives the same, and the users that it names are found.
pub fn kubeconfig(input: &[u8]) {
    with_file("kubeconfig", input, |_, path| {
        let release = Release::latest();
        let read = load_kube_config(path, release);
        assert_eq!(load_kube_config(path, release), read);
        match read {
            Ok(config) => {
                for authority in ["example.com:443", "*", ""] {
                    let config = config.as_ref();
                    let _ = config.and_then(|config| config.user_for(authority));
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
}

/// Calls a function with a directory and a file in it that holds an input. Inputs that leave the directory are passed over.
fn with_file(name: &str, input: &[u8], look: impl FnOnce(&str, &str)) {
    static DIRECTORY: OnceLock<Option<TempDir>> = OnceLock::new();
    if input.windows(2).any(|window| window == b"..") || input.contains(&b'\\') {
        return;
    }
    let directory = DIRECTORY.get_or_init(|| tempfile::tempdir().ok());
    let Some(root) = directory.as_ref().and_then(|directory| directory.path().to_str()) else {
        return;
    };
    let path = Path::new(root).join(format!("{:?}-{name}", std::thread::current().id()));
    if std::fs::write(&path, input).is_ok() {
        look(root, path.to_str().unwrap_or_default());
    }
}
