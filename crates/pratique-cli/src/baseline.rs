//! The default policies: the Pod Security Standards of `examples/pod-security`.

use clap::ValueEnum;
use pratique_manifest::ManifestFile;

/// A level of the Pod Security Standards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BaselineLevel {
    /// Prevents known privilege escalations.
    Baseline,
    /// Follows current best practice of hardening pods, besides what `baseline` prevents.
    Restricted,
}

/// Files of a directory of `examples/pod-security`, in the order of their names. A link within the crate leads there, so
/// that a package of the crate has them.
macro_rules! embedded {
    ($directory:literal: $($name:literal)*) => {
        &[$((
            concat!("examples/pod-security/", $directory, "/", $name),
            include_str!(concat!("../pod-security/", $directory, "/", $name)),
        )),*]
    };
}

const BASELINE: &[(&str, &str)] = embedded!("baseline":
    "app-armor.yaml"
    "capabilities.yaml"
    "host-namespaces.yaml"
    "host-path-volumes.yaml"
    "host-ports.yaml"
    "host-process.yaml"
    "privileged-containers.yaml"
    "probe-hosts.yaml"
    "proc-mount.yaml"
    "se-linux.yaml"
    "seccomp.yaml"
    "sysctls.yaml"
);

const RESTRICTED: &[(&str, &str)] = embedded!("restricted":
    "capabilities.yaml"
    "privilege-escalation.yaml"
    "proc-mount.yaml"
    "run-as-non-root.yaml"
    "run-as-user.yaml"
    "seccomp.yaml"
    "volume-types.yaml"
);

/// The manifests of a level.
pub(crate) fn files(level: BaselineLevel) -> Vec<ManifestFile> {
    let stricter = match level {
        BaselineLevel::Baseline => &[],
        BaselineLevel::Restricted => RESTRICTED,
    };
    let file = |(path, text): &(&str, &str)| ManifestFile {
        path: (*path).to_owned(),
        content: text.as_bytes().to_vec(),
    };
    BASELINE.iter().chain(stricter).map(file).collect()
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    #[test]
    fn every_example_is_embedded() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut names = Vec::new();
        for directory in [
            "examples/pod-security/baseline",
            "examples/pod-security/restricted",
        ] {
            for entry in fs::read_dir(examples.join(directory)).unwrap() {
                names.push(format!(
                    "{directory}/{}",
                    entry.unwrap().file_name().to_string_lossy()
                ));
            }
        }
        names.sort();
        let embedded: Vec<_> = files(BaselineLevel::Restricted)
            .into_iter()
            .map(|file| file.path)
            .collect();
        assert_eq!(embedded, names);
    }
}
