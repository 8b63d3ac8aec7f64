//! The subjects of a check with several paths: what is applied together is checked as one set, as if it were in one directory.

use std::path::{Path, PathBuf};

use pratique::expressions::Expressions;
use pratique_manifest::{ManifestFile, ManifestPlugin, path_text};
use pratique_review::sorted_objects::{ObjectGroup, SortedPolicies};

use super::sorted_input;
use super::subject::CheckSubject;
use crate::exit::CliError;
use crate::input::{FileSelection, STDIN, format_paths, named_inputs};
use crate::memory;
use crate::policies::{self, OriginName};

/// What some paths refer to, with the paths. AdmissionConfigurations, and directories that a server loads as they are, are by
/// themselves; all others are one set.
pub(super) fn of_paths(
    paths: &[PathBuf],
    plugin: Option<ManifestPlugin>,
    origin: Option<OriginName>,
    files: &FileSelection,
    expressions: &Expressions,
) -> Result<Vec<(Vec<PathBuf>, CheckSubject)>, CliError> {
    if let [path] = paths {
        let subject = CheckSubject::inspect(path, plugin, origin, files, expressions)?;
        return Ok(vec![(vec![path.clone()], subject)]);
    }
    let mut subjects = Vec::new();
    let mut together = Vec::new();
    for path in paths {
        if is_one_of_set(path, plugin, origin, files)? {
            together.push(path.clone());
        } else {
            subjects.push((
                vec![path.clone()],
                CheckSubject::inspect(path, plugin, origin, files, expressions)?,
            ));
        }
    }
    if !together.is_empty() {
        let subject = set(&together, plugin, origin, files)?;
        subjects.push((together, subject));
    }
    Ok(subjects)
}

/// Whether a path is checked together with others.
fn is_one_of_set(
    path: &Path,
    plugin: Option<ManifestPlugin>,
    origin: Option<OriginName>,
    files: &FileSelection,
) -> Result<bool, CliError> {
    if path == Path::new(STDIN) {
        return Ok(true);
    }
    if path.is_dir() {
        let is_static = plugin.is_some() || origin == Some(OriginName::Static);
        return Ok(!is_static && !has_only_static(&policies::read(&[path], origin, files)?));
    }
    if plugin.is_some() {
        return Ok(true);
    }
    let content =
        named_inputs::read(path, memory::manifests()).map_err(|error| CliError::unread(path, error))?;
    Ok(!may_be_configuration(&content))
}

/// Whether a directory has nothing but static manifests of one plugin.
fn has_only_static(sorted: &SortedPolicies) -> bool {
    let groups = sorted.groups();
    matches!(groups.as_slice(), [ObjectGroup::Static(_)])
        && sorted.others().is_empty()
        && sorted.sources().is_empty()
}

/// Whether a text may be an AdmissionConfiguration, complete or not.
fn may_be_configuration(content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    [
        "AdmissionConfiguration",
        "apiserver.config.k8s.io/",
        "apiserver.k8s.io/",
    ]
    .iter()
    .any(|word| text.contains(word))
}

/// The set of some paths.
fn set(
    paths: &[PathBuf],
    plugin: Option<ManifestPlugin>,
    origin: Option<OriginName>,
    files: &FileSelection,
) -> Result<CheckSubject, CliError> {
    if let Some(plugin) = plugin {
        let files = paths.iter().map(|path| read(path));
        return Ok(CheckSubject::Manifests(files.collect::<Result<_, _>>()?, plugin));
    }
    let display_paths = format_paths(paths).join(", ");
    let sorted = policies::read(paths, origin, files)?;
    sorted_input::require_manifests(&display_paths, &sorted)?;
    Ok(CheckSubject::Sorted(display_paths, sorted))
}

fn read(path: &Path) -> Result<ManifestFile, CliError> {
    if path == Path::new(STDIN) {
        return sorted_input::read_file();
    }
    let content =
        named_inputs::read(path, memory::manifests()).map_err(|error| CliError::unread(path, error))?;
    Ok(ManifestFile {
        path: path_text(path),
        content,
    })
}
