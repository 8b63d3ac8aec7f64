//! The files that a kubeconfig names: looked at before the client reads them, which would wait for a pipe and read a
//! device without end.

use std::path::{Path, PathBuf};
use std::{env, fs};

use kube::Config;
use kube::config::Kubeconfig;
use pratique::manifest::{MAX_CONFIGURATION_BYTES, read_regular};

use super::connect::ConnectError;

/// Where a system shows the open files of a process, among them the pipes that a shell gives it as `<(command)`.
const INHERITED: [&str; 3] = ["/dev/fd", "/dev/stdin", "/proc/self/fd"];

/// Checks a kubeconfig file, which may be a pipe of the shell: `<(command)` is waited for. A pipe with a name of its own is not,
/// as nobody may write to it.
pub(super) fn check_kubeconfig(path: &Path) -> Result<(), ConnectError> {
    let is_inherited = INHERITED.iter().any(|place| path.starts_with(place));
    let is_pipe = is_inherited && fs::metadata(path).is_ok_and(|metadata| is_pipe(&metadata));
    if is_pipe { Ok(()) } else { check_file(path) }
}

/// Checks the kubeconfig files that the environment names, or the usual one.
pub(super) fn check_default_kubeconfigs() -> Result<(), ConnectError> {
    let paths: Vec<PathBuf> = match env::var_os("KUBECONFIG") {
        Some(names) => env::split_paths(&names).collect(),
        None => env::home_dir()
            .map(|home| home.join(".kube").join("config"))
            .into_iter()
            .collect(),
    };
    let named = paths.iter().filter(|path| !path.as_os_str().is_empty());
    named.into_iter().try_for_each(|path| check_kubeconfig(path))
}

#[cfg(unix)]
fn is_pipe(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&metadata.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &fs::Metadata) -> bool {
    false
}

/// Checks the roots that a kubeconfig's clusters name.
pub(super) fn check_roots(file: &Kubeconfig) -> Result<(), ConnectError> {
    let clusters = file.clusters.iter().filter_map(|named| named.cluster.as_ref());
    clusters
        .filter_map(|cluster| cluster.certificate_authority.as_deref())
        .try_for_each(|path| check_file(Path::new(path)))
}

/// Checks the files of a configuration's credentials.
pub(super) fn check_credentials(config: &Config) -> Result<(), ConnectError> {
    let user = &config.auth_info;
    [&user.client_certificate, &user.client_key, &user.token_file]
        .into_iter()
        .flatten()
        .try_for_each(|path| check_file(Path::new(path)))
}

/// Checks a file. A missing one is left to the client, which knows whether it needs it.
fn check_file(path: &Path) -> Result<(), ConnectError> {
    match read_regular(path, MAX_CONFIGURATION_BYTES) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(ConnectError::File {
            path: PathBuf::from(path),
            error,
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn devices_are_not_read() {
        let mut config = Config::new("https://127.0.0.1:1".parse().unwrap());
        assert!(check_credentials(&config).is_ok());
        config.auth_info.token_file = Some("/dev/zero".to_owned());
        let error = check_credentials(&config).unwrap_err().to_string();
        assert_eq!(error, "cannot read /dev/zero: not a regular file");

        let error = check_kubeconfig(Path::new("/dev/zero")).unwrap_err().to_string();
        assert_eq!(error, "cannot read /dev/zero: not a regular file");
        assert!(check_kubeconfig(Path::new("/none")).is_ok());

        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("kubeconfig");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let error = check_kubeconfig(&pipe).unwrap_err().to_string();
        assert!(error.ends_with("kubeconfig: not a regular file"), "{error}");

        let text = "clusters: [{name: a, cluster: {certificate-authority: /dev/zero}}]";
        let file = Kubeconfig::from_yaml(text).unwrap();
        let error = check_roots(&file).unwrap_err().to_string();
        assert_eq!(error, "cannot read /dev/zero: not a regular file");
    }
}
