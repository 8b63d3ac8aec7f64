//! What the project file said to this process.
//!
//! Its settings become part of the command line, of which there is one for the process; so is there one of what is to be
//! known of them afterwards: which paths came from the file, and what is to be told.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use pratique_manifest::ManifestFile;
use serde::Serialize;

use super::boundary::ProjectBoundary;
use super::weakened_settings::WeakenedSetting;
use crate::input::repository_links::permit_links;

static APPLIED: OnceLock<AppliedProject> = OnceLock::new();

/// A file whose settings are used.
#[derive(Debug)]
pub(super) struct AppliedProject {
    /// How the file is shown.
    pub(super) path: String,
    pub(super) boundary: ProjectBoundary,
    /// Kubeconfigs that it named, wherever they are.
    #[cfg_attr(
        not(feature = "kube"),
        allow(dead_code, reason = "nothing reads them without a client")
    )]
    pub(super) kubeconfigs: Vec<PathBuf>,
    pub(super) weakened: Vec<WeakenedSetting>,
    /// Inputs that it named and that are not trusted.
    pub(super) untrusted_inputs: Vec<PathBuf>,
    /// The file itself, of which a command reads what is no argument.
    pub(super) file: ManifestFile,
}

/// What JSON tells of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProjectReport {
    path: &'static str,
    /// The settings that may turn a refusal into an approval.
    pub(super) weakened: Vec<&'static WeakenedSetting>,
}

impl AppliedProject {
    /// Makes it known to the process, which uses one file.
    pub(super) fn publish(self) {
        // A second one would be of the same command line.
        let _ = APPLIED.set(self);
    }
}

/// Permits to open a path, unless the project file named it and its links lead out of the directory of the file, or a link of a
/// repository leads out of it.
///
/// # Errors
/// It leads out.
pub(crate) fn permit(path: &Path) -> io::Result<()> {
    permit_links(path)?;
    APPLIED
        .get()
        .map_or(Ok(()), |applied| applied.boundary.permit(path))
}

/// [`permit`] for a path that another file names: it has to be below the directory if the file itself came from the project
/// file.
///
/// # Errors
/// It leads out.
pub(crate) fn permit_referenced(by: &Path, path: &Path) -> io::Result<()> {
    match APPLIED.get() {
        Some(applied) if applied.boundary.covers(by) => applied.boundary.permit_any(path),
        _ => Ok(()),
    }
}

/// The project file whose settings are used, as it is shown.
pub(crate) fn project_path() -> Option<&'static Path> {
    APPLIED.get().map(|applied| Path::new(&applied.path))
}

/// The project file, if its settings are used and a path names it.
pub(crate) fn applied_file(path: &Path) -> Option<ManifestFile> {
    let applied = APPLIED.get()?;
    (Path::new(&applied.path) == path).then(|| applied.file.clone())
}

/// Whether a project file that is not trusted named an input.
pub(crate) fn is_untrusted_input(path: &Path) -> bool {
    let applied = APPLIED.get();
    applied.is_some_and(|applied| applied.untrusted_inputs.iter().any(|named| named == path))
}

/// Whether the project file named a kubeconfig.
#[cfg(feature = "kube")]
pub(crate) fn names_kubeconfig(path: &Path) -> bool {
    APPLIED
        .get()
        .is_some_and(|applied| applied.kubeconfigs.iter().any(|named| named == path))
}

/// What JSON tells of the file whose settings a command uses; `None` if there is nothing to tell.
pub(crate) fn report_of(command: &str) -> Option<ProjectReport> {
    let applied = APPLIED.get()?;
    let weakened = applied
        .weakened
        .iter()
        .filter(|setting| setting.command == command);
    let report = ProjectReport {
        path: &applied.path,
        weakened: weakened.collect(),
    };
    (!report.weakened.is_empty()).then_some(report)
}
