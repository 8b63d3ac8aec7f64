//! The feature gates of kube-apiserver that admission control depends on.

use std::str::FromStr;

/// The feature gates that matter here, by default as kube-apiserver 1.37 has them.
///
/// It is read from the value of `--feature-gates`: `NAME=true|false`, separated by commas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureGates {
    /// `ManifestBasedAdmissionControlConfig`: static manifests are read, and names that end in `.static.k8s.io` belong to
    /// them. On since 1.37.
    pub manifests: bool,
    /// `ExcludeAdmissionWebhookVirtualResources`: webhooks do not see the reviews of users and permissions. On since 1.37,
    /// which introduced it.
    pub excludes_virtual_resources: bool,
}

impl Default for FeatureGates {
    fn default() -> Self {
        FeatureGates {
            manifests: true,
            excludes_virtual_resources: true,
        }
    }
}

/// Why a list of feature gates is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeatureGatesError {
    /// A gate without a value.
    #[error("missing bool value for {0}")]
    MissingValue(String),
    /// A value that is no boolean.
    #[error("invalid value of {0}={1}: expected true or false")]
    InvalidValue(String, String),
    /// A gate that has nothing to do with admission control.
    #[error("unrecognized feature gate: {0}; known are {MANIFESTS} and {EXCLUDES}")]
    Unknown(String),
}

const MANIFESTS: &str = "ManifestBasedAdmissionControlConfig";
const EXCLUDES: &str = "ExcludeAdmissionWebhookVirtualResources";

impl FromStr for FeatureGates {
    type Err = FeatureGatesError;

    fn from_str(text: &str) -> Result<Self, FeatureGatesError> {
        let mut gates = FeatureGates::default();
        for gate in text.split(',').map(str::trim).filter(|gate| !gate.is_empty()) {
            let (name, value) = gate
                .split_once('=')
                .ok_or_else(|| FeatureGatesError::MissingValue(gate.to_owned()))?;
            let invalid = |_| FeatureGatesError::InvalidValue(name.to_owned(), value.to_owned());
            let on = value.to_ascii_lowercase().parse::<bool>().map_err(invalid)?;
            match name {
                MANIFESTS => gates.manifests = on,
                EXCLUDES => gates.excludes_virtual_resources = on,
                _ => return Err(FeatureGatesError::Unknown(name.to_owned())),
            }
        }
        Ok(gates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<(bool, bool), &str>) {
        let gates = text.parse::<FeatureGates>();
        let found = gates.map(|gates| (gates.manifests, gates.excludes_virtual_resources));
        assert_eq!(
            found.map_err(|error| error.to_string()),
            expected.map_err(str::to_owned)
        );
    }

    #[test]
    fn gates_are_read() {
        check("", Ok((true, true)));
        check("ManifestBasedAdmissionControlConfig=False", Ok((false, true)));
        check(
            "ExcludeAdmissionWebhookVirtualResources=false, ManifestBasedAdmissionControlConfig=true",
            Ok((true, false)),
        );
        check(
            "ManifestBasedAdmissionControlConfig",
            Err("missing bool value for ManifestBasedAdmissionControlConfig"),
        );
        check(
            "ManifestBasedAdmissionControlConfig=1",
            Err("invalid value of ManifestBasedAdmissionControlConfig=1: expected true or false"),
        );
        check(
            "X=true",
            Err(
                "unrecognized feature gate: X; known are ManifestBasedAdmissionControlConfig and \
                 ExcludeAdmissionWebhookVirtualResources",
            ),
        );
    }
}
