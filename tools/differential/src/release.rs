//! The release of Kubernetes that is compared.

use std::path::PathBuf;

use pratique_harness::{ToolError, go};
use pratique_schema::Release;

/// Which release is compared.
#[derive(Debug, Default, clap::Args)]
pub(super) struct ReleaseArguments {
    /// Compare with this release of Kubernetes, such as 1.36.3.
    #[arg(long, value_name = "VERSION")]
    kubernetes_version: Option<String>,
}

/// The release that is compared.
#[derive(Clone, Debug)]
pub(super) struct ComparedRelease {
    /// Its tables.
    pub(super) release: &'static Release,
    /// Its version, `1.36.3`; none where it is the latest one that is known.
    pub(super) version: Option<String>,
}

impl ReleaseArguments {
    /// The release that they name. One that is not known would be answered as the latest.
    pub(super) fn find(&self) -> Result<ComparedRelease, ToolError> {
        let Some(version) = &self.kubernetes_version else {
            return Ok(ComparedRelease::default());
        };
        Ok(ComparedRelease {
            release: Release::by_version(version).map_err(|error| error.to_string())?,
            version: Some(version.clone()),
        })
    }
}

impl Default for ComparedRelease {
    fn default() -> Self {
        ComparedRelease {
            release: Release::latest(),
            version: None,
        }
    }
}

impl ComparedRelease {
    /// The directory of its module `k8s.io/kubernetes`.
    pub(super) fn kubernetes(&self) -> Result<PathBuf, ToolError> {
        const KUBERNETES: &str = "k8s.io/kubernetes";
        match &self.version {
            Some(version) => go::dependency_at(version, "objects", KUBERNETES),
            None => go::dependency("objects", KUBERNETES),
        }
    }

    /// `1.36`
    pub(super) fn minor(&self) -> String {
        minor_of(self.release)
    }
}

/// `1.36`
pub(super) fn minor_of(release: &Release) -> String {
    let (major, minor) = release.version();
    format!("{major}.{minor}")
}
