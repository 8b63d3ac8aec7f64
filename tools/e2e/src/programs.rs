//! The programs: the cluster's and the store from their Go modules, and `pratique`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pratique_harness::{ToolError, cargo, go, workspace};
use pratique_schema::{FeatureGates, Release};

/// The gate of static manifests.
const READS_MANIFESTS: &str = "ManifestBasedAdmissionControlConfig";

/// The programs that are of a release of Kubernetes; a folder of its own has them.
const OF_RELEASE: [&str; 2] = [SERVER, CONTROLLERS];
const SERVER: &str = "apiserver";
const CONTROLLERS: &str = "controller-manager";

/// The paths of the programs.
#[derive(Clone, Debug)]
pub(super) struct ProgramPaths {
    folder: PathBuf,
    pratique: PathBuf,
    release: &'static Release,
}

impl ProgramPaths {
    /// Builds those that every part needs, with the server of a release; `pratique` with a profile of cargo's, unless there is
    /// one already.
    pub(super) fn build(
        pratique: Option<&Path>,
        profile: &str,
        release: &'static Release,
    ) -> Result<Self, ToolError> {
        let pratique = cargo::pratique(pratique, profile)?;
        let folder = workspace::target().join("e2e");
        for package in ["etcd", "kubectl"] {
            go::build_changed("e2e", &format!("./{package}"), &folder)?;
        }
        let programs = ProgramPaths {
            folder,
            pratique,
            release,
        };
        programs.build_of_release(SERVER)?;
        Ok(programs)
    }

    /// The same with the server of another release, which is built.
    pub(super) fn with_release(&self, release: &'static Release) -> Result<Self, ToolError> {
        let programs = ProgramPaths {
            release,
            ..self.clone()
        };
        programs.build_of_release(SERVER)?;
        Ok(programs)
    }

    /// Builds the store.
    pub(super) fn add_store(&self) -> Result<(), ToolError> {
        let package = "github.com/versity/versitygw/cmd/versitygw";
        go::build_changed("s3", package, &self.folder).map(drop)
    }

    /// Builds the controllers of the release.
    pub(super) fn add_controllers(&self) -> Result<(), ToolError> {
        self.build_of_release(CONTROLLERS)
    }

    fn build_of_release(&self, name: &str) -> Result<(), ToolError> {
        let version = self.release.patch_version();
        let package = format!("./{name}");
        go::build_release(version, "e2e", &package, &self.folder.join(version)).map(drop)
    }

    /// The release of the server.
    pub(super) fn release(&self) -> &'static Release {
        self.release
    }

    /// The feature gate by which the server reads static manifests, where it exists and is off by itself.
    pub(super) fn manifest_gate(&self) -> Option<String> {
        let is_off = !FeatureGates::new(self.release).is_on(READS_MANIFESTS);
        (self.reads_manifests() && is_off).then(|| format!("{READS_MANIFESTS}=true"))
    }

    /// Whether the server can read static manifests.
    pub(super) fn reads_manifests(&self) -> bool {
        self.release.gates().get(READS_MANIFESTS).is_some()
    }

    /// The folder of the cluster's programs.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// `pratique`, which does what the server of the release does.
    pub(super) fn pratique(&self) -> Command {
        let mut command = Command::new(&self.pratique);
        // It follows the latest release by itself.
        if self.release != Release::latest() {
            command.env(RELEASE_VARIABLE, self.release.to_string());
        }
        if let Some(gate) = self.manifest_gate() {
            command.env("PRATIQUE_FEATURE_GATES", gate);
        }
        command
    }

    /// A program by its name, such as etcd.
    pub(super) fn cluster(&self, name: &str) -> Command {
        let folder = if OF_RELEASE.contains(&name) {
            self.folder.join(self.release.patch_version())
        } else {
            self.folder.clone()
        };
        Command::new(folder.join(name))
    }
}

/// The variable that names the release which `pratique` follows.
pub(super) const RELEASE_VARIABLE: &str = "PRATIQUE_KUBERNETES_VERSION";

/// The output of a command that succeeds, or how it failed.
pub(super) fn succeeds(command: &mut Command) -> Result<String, ToolError> {
    let output = command
        .output()
        .map_err(ToolError::program(command.get_program().display()))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("{command:?}: {}", describe(&output)).into())
    }
}

/// The exit status and the output of a command.
pub(super) fn describe(output: &Output) -> String {
    let [out, errors] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{}\n{out}{errors}", output.status)
}
