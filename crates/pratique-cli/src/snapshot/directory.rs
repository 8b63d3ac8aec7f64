//! Reads a snapshot from its directory.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pratique_json::Value;
use pratique_manifest::{Kind, ManifestFile, path_text};
use pratique_request::kind_of;
use pratique_schema::Release;
use pratique_state::snapshot::{FILE, SnapshotIndex};
use pratique_types::ADMISSION_GROUP;

use super::{ClusterSnapshot, kinds};
use crate::exit::CliError;
use crate::input::{self, InputError, read_directory, read_regular};
use crate::output::problems;
use crate::snapshot::snapshot_error::SnapshotError;

/// The maximum size of a file, in MiB.
const MEBIBYTES: u32 = 256;

/// The snapshot in a directory, if it has one: other directories have objects only.
///
/// # Errors
/// A file in it cannot be read.
pub(crate) fn found(directory: &Path) -> Result<Option<ClusterSnapshot>, CliError> {
    match index(directory)? {
        Some(index) => read_with(index, directory).map(Some),
        None => Ok(None),
    }
}

/// Reads a snapshot.
///
/// # Errors
/// The directory is none of a snapshot, or a file in it cannot be read.
pub(super) fn read(directory: &Path) -> Result<ClusterSnapshot, CliError> {
    let Some(index) = index(directory)? else {
        let why = format!("it is no snapshot: it has no {FILE}; --objects takes directories of objects");
        return Err(faulty(&path_text(directory), &why));
    };
    read_with(index, directory)
}

/// The index in a directory, if it has one. Its server's release decodes the objects, so it is read first.
fn index(directory: &Path) -> Result<Option<SnapshotIndex>, CliError> {
    let path = directory.join(FILE);
    // Of what is neither, such as a pipe, is said why it is not read.
    if !path.exists() || path.is_dir() {
        return Ok(None);
    }
    // The index itself is of no release.
    let read = input::objects(read_file(&path)?, Release::latest());
    let mut objects = read.objects.iter().map(|input| &input.object);
    match (
        objects.find(|object| SnapshotIndex::is_index(object)),
        read.faults.into_iter().next(),
    ) {
        (Some(index), _) => SnapshotIndex::read(index)
            .map(Some)
            .map_err(|error| faulty(&path_text(directory), &error.to_string())),
        // It may be broken.
        (None, Some(fault)) => Err(unread(&path_text(&path), fault)),
        (None, None) => Ok(None),
    }
}

/// Reads the objects of a snapshot as its server has stored them, whichever release they are reviewed by.
fn read_with(index: SnapshotIndex, directory: &Path) -> Result<ClusterSnapshot, CliError> {
    let display_path = path_text(directory);
    let release = index.release();
    let mut snapshot = ClusterSnapshot {
        index,
        ..ClusterSnapshot::default()
    };
    for path in files(directory)? {
        let file = read_file(&path)?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let has_policies = name.as_deref().is_some_and(is_of_policies);
        if has_policies {
            snapshot.policies.push(file.clone());
        }
        let read = input::objects(file, release);
        let inputs = read.whole().map_err(|error| unread(&display_path, error))?;
        for input in inputs {
            if SnapshotIndex::is_index(&input.object) {
                continue;
            }
            if let Err(why) = &input.received {
                return Err(faulty(&path_text(&path), why));
            }
            if !has_policies
                && snapshot.misplaced.is_none()
                && let Some(kind) = policy_kind(&input.object)
            {
                snapshot.misplaced = Some((problems::place(&input.location), kind.to_string()));
            }
            snapshot.objects.push(input.object);
        }
    }
    Ok(snapshot)
}

/// Whether a file of this name has policies, bindings or webhook configurations.
fn is_of_policies(name: &str) -> bool {
    let mut kinds = kinds::POLICIES.iter().chain(&kinds::WEBHOOKS);
    kinds.any(|(_, resource)| {
        name.strip_prefix(resource)
            .is_some_and(|rest| rest.starts_with('.'))
    })
}

/// The kind of an object that configures admission.
fn policy_kind(object: &Value<'_>) -> Option<Kind> {
    let kind = kind_of(object)
        .ok()
        .filter(|kind| kind.group == ADMISSION_GROUP)?;
    Kind::from_name(&kind.kind)
}

/// Reads a file of a snapshot. Nobody named it, so a pipe is not waited for.
fn read_file(path: &Path) -> Result<ManifestFile, CliError> {
    let display_path = path_text(path);
    match read_regular(path, u64::from(MEBIBYTES) << 20) {
        Ok(content) => Ok(ManifestFile {
            path: display_path,
            content,
        }),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => Err(CliError::TooLarge {
            path: display_path,
            mebibytes: MEBIBYTES,
        }),
        Err(error) => Err(CliError::Read {
            path: display_path,
            error,
        }),
    }
}

/// The YAML files of a snapshot: those in its directory, and those in the directories in it.
pub(super) fn files(directory: &Path) -> Result<Vec<PathBuf>, CliError> {
    let mut paths = Vec::new();
    for path in entries(directory)? {
        if path.is_dir() {
            paths.extend(entries(&path)?.into_iter().filter(|path| !path.is_dir()))
        } else {
            paths.push(path)
        }
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    Ok(paths)
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, CliError> {
    let unreadable = |error| CliError::unread(directory, error);
    let entries = read_directory(directory).map_err(unreadable)?;
    let entries = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut entries = entries.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    entries.sort_unstable();
    Ok(entries)
}

fn faulty(path: &str, why: &str) -> CliError {
    CliError::Snapshot(SnapshotError::Snapshot {
        path: path.to_owned(),
        why: why.to_owned(),
    })
}

fn unread(path: &str, error: InputError) -> CliError {
    match error {
        InputError::Cli(error) => error,
        InputError::TooLarge { path, mebibytes } => CliError::TooLarge { path, mebibytes },
        InputError::Unread { path, error } => CliError::Read { path, error },
        InputError::Faulty { place, why } => faulty(&place, &why),
        InputError::Invalid { file, errors, .. } => {
            let first = errors.failures().first().map(|failure| failure.text.clone());
            match first {
                Some(why) => faulty(&file.path, &why),
                None => faulty(path, "it cannot be read"),
            }
        }
    }
}
