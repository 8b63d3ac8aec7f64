//! The files that a kubeconfig names: looked at before the client reads them, which would wait for a pipe and read a
//! device without end.

use std::path::{Path, PathBuf};

use kube::Config;
use kube::config::Kubeconfig;
use pratique::manifest::{MAX_CONFIGURATION_BYTES, read_regular};

use super::connect::ConnectError;

/// Checks the roots that a kubeconfig's clusters name.
pub(super) fn check_roots(file: &Kubeconfig) -> Result<(), ConnectError> {
    let clusters = file.clusters.iter().filter_map(|named| named.cluster.as_ref());
    clusters
        .filter_map(|cluster| cluster.certificate_authority.as_deref())
        .try_for_each(|path| check(Path::new(path)))
}

/// Checks the files of a configuration's credentials.
pub(super) fn check_credentials(config: &Config) -> Result<(), ConnectError> {
    let user = &config.auth_info;
    [&user.client_certificate, &user.client_key, &user.token_file]
        .into_iter()
        .flatten()
        .try_for_each(|path| check(Path::new(path)))
}

/// Checks a file. A missing one is left to the client, which knows whether it needs it.
fn check(path: &Path) -> Result<(), ConnectError> {
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

        let text = "clusters: [{name: a, cluster: {certificate-authority: /dev/zero}}]";
        let file = Kubeconfig::from_yaml(text).unwrap();
        let error = check_roots(&file).unwrap_err().to_string();
        assert_eq!(error, "cannot read /dev/zero: not a regular file");
    }
}
