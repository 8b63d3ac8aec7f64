//! Writes a snapshot into a directory: one file a kind and namespace.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use pratique_json::Value;
use pratique_manifest::{path_text, read_regular};
use pratique_request::kind_of;
use pratique_schema::Release;
use pratique_state::snapshot::{FILE, SnapshotIndex};
use pratique_state::yaml;
use pratique_types::GroupVersionKind;
use tempfile::TempDir;

use super::{ClusterSnapshot, dropped_fields};
use crate::exit::CliError;
use crate::project::permit;
use crate::snapshot::snapshot_error::SnapshotError;

/// The largest index of a snapshot, in bytes.
const MAX_INDEX_BYTES: u64 = 256 << 20;

/// Where an object goes in its file: by version, then by name.
type FilePlace = (String, String);

/// Writes a snapshot. The directory is new or empty, or that of a snapshot, which is replaced; with `force`, it can have
/// other files, which stay. `is_param` holds for the kinds of params, `resource` the resource of a kind.
///
/// # Errors
/// The directory has other files, or cannot be written; it is then as it was before.
pub(super) fn write(
    target: &Path,
    force: bool,
    snapshot: &ClusterSnapshot,
    is_param: &dyn Fn(&GroupVersionKind) -> bool,
    resource: &dyn Fn(&GroupVersionKind) -> Option<String>,
) -> Result<(), CliError> {
    let unwritten = |error| CliError::unread(target, error);
    // The files that are not replaced would be moved from where it leads.
    if fs::symlink_metadata(target).is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(CliError::Snapshot(SnapshotError::Snapshot {
            path: path_text(target),
            why: "it is a link: name the directory that it leads to".to_owned(),
        }));
    }
    let existing_content = FoundDirectory::at(target).map_err(unwritten)?;
    if existing_content == FoundDirectory::Others && !force {
        return Err(CliError::Snapshot(SnapshotError::Snapshot {
            path: path_text(target),
            why: "the directory is not empty, and has no snapshot: --force replaces what is in it".to_owned(),
        }));
    }
    let mut files: BTreeMap<PathBuf, BTreeMap<FilePlace, String>> = BTreeMap::new();
    let release = snapshot.index.release();
    for object in &snapshot.objects {
        let Ok(kind) = kind_of(object) else { continue };
        let text = |field: &str| object.at(&["metadata", field]).and_then(Value::as_str);
        let (namespace, name) = (
            text("namespace").unwrap_or_default(),
            text("name").unwrap_or_default(),
        );
        let resource = resource(&kind).ok_or_else(|| {
            CliError::Snapshot(SnapshotError::Snapshot {
                path: path_text(target),
                why: format!("no file can be named for {kind}"),
            })
        })?;
        let path = file_of(&resource, &kind.group, namespace).ok_or_else(|| {
            CliError::Snapshot(SnapshotError::Snapshot {
                path: path_text(target),
                why: format!("no file can be named for {resource} in namespace {namespace:?}"),
            })
        })?;
        let place = (kind.api_version(), name.to_owned());
        let object = dropped_fields::stored(release, object.clone(), is_param(&kind));
        let text = yaml::block(&object, 0);
        files.entry(path).or_default().insert(place, text);
    }
    let index = snapshot.index.to_yaml().map_err(|error| {
        CliError::Snapshot(SnapshotError::Snapshot {
            path: FILE.to_owned(),
            why: error.to_string(),
        })
    })?;
    StagedDirectory::fill(target, &files, &index)
        .and_then(|staged| staged.replace(target, existing_content))
        .map_err(unwritten)
}

/// The directory that a snapshot is to replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FoundDirectory {
    Nothing,
    /// An empty directory, or one of a snapshot and nothing else.
    Snapshot,
    /// A directory with other files.
    Others,
}

impl FoundDirectory {
    fn at(target: &Path) -> io::Result<Self> {
        permit(target)?;
        let mut entries = match fs::read_dir(target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FoundDirectory::Nothing),
            entries => entries?,
        };
        if entries.next().is_none() || is_snapshot(target)? {
            Ok(FoundDirectory::Snapshot)
        } else {
            Ok(FoundDirectory::Others)
        }
    }
}

/// Whether a directory has the index of a snapshot, and besides it only YAML files of objects.
fn is_snapshot(target: &Path) -> io::Result<bool> {
    let index = match read_regular(target.join(FILE), MAX_INDEX_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        index => index?,
    };
    let file = pratique_manifest::ManifestFile {
        path: FILE.to_owned(),
        content: index,
    };
    // The index of snapshots is of no release.
    let objects = crate::input::objects(file, Release::latest()).objects;
    let has_index = objects.iter().any(|input| SnapshotIndex::is_index(&input.object));
    Ok(has_index && holds_only_yaml(target, 1)?)
}

/// Whether there are only YAML files in a directory, and in those in it down to a depth.
fn holds_only_yaml(directory: &Path, depth: usize) -> io::Result<bool> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let is_ours = if kind.is_dir() {
            depth > 0 && holds_only_yaml(&path, depth - 1)?
        } else {
            kind.is_file() && path.extension().is_some_and(|extension| extension == "yaml")
        };
        if !is_ours {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The file of a kind and namespace, if their names are names of files.
fn file_of(resource: &str, group: &str, namespace: &str) -> Option<PathBuf> {
    let is_plain = |text: &str| {
        let of_name =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'.';
        !text.is_empty() && text.len() <= 253 && text.bytes().all(of_name) && !text.starts_with('.')
    };
    let kind = match group {
        "" => resource.to_owned(),
        group => format!("{resource}.{group}"),
    };
    if !is_plain(&kind) || kind == "snapshot" {
        return None;
    }
    match namespace {
        "" => Some(PathBuf::from(format!("{kind}.yaml"))),
        namespace if is_plain(namespace) => Some(Path::new(&kind).join(format!("{namespace}.yaml"))),
        _ => None,
    }
}

/// A directory with a random name next to the one that is to be written, which only its owner can list; dropped, it is
/// removed. Nobody can have put a link there beforehand.
struct StagedDirectory(TempDir);

impl StagedDirectory {
    /// Writes all files.
    fn fill(
        target: &Path,
        files: &BTreeMap<PathBuf, BTreeMap<FilePlace, String>>,
        index: &str,
    ) -> io::Result<Self> {
        target
            .file_name()
            .ok_or_else(|| io::Error::other("the directory has no name"))?;
        let staged = directory_beside(target)?;
        for (path, objects) in files {
            let path = staged.path().join(path);
            if let Some(parent) = path.parent().filter(|parent| !parent.is_dir()) {
                create_directory(parent)?;
            }
            let mut file = create(&path)?;
            for text in objects.values() {
                file.write_all(b"---\n")?;
                file.write_all(text.as_bytes())?;
            }
            file.sync_all()?;
        }
        let mut file = create(&staged.path().join(FILE))?;
        file.write_all(index.as_bytes())?;
        file.sync_all()?;
        Ok(StagedDirectory(staged))
    }

    /// Puts the directory in the place of another, of which the files that are no snapshot's stay.
    fn replace(self, target: &Path, existing_content: FoundDirectory) -> io::Result<()> {
        if existing_content == FoundDirectory::Nothing {
            fs::rename(self.0.path(), target)?;
            // It has another name now.
            let _ = self.0.keep();
            return Ok(());
        }
        let outer = directory_beside(target)?;
        let aside = outer.path().join("before");
        fs::rename(target, &aside)?;
        // From here on it holds what was there, which no error may remove.
        let outer = outer.keep();
        if let Err(error) = fs::rename(self.0.path(), target) {
            fs::rename(&aside, target)?;
            fs::remove_dir(&outer)?;
            return Err(error);
        }
        let _ = self.0.keep();
        if existing_content == FoundDirectory::Others {
            for entry in fs::read_dir(&aside)? {
                let entry = entry?;
                let place = target.join(entry.file_name());
                if !place.exists() {
                    fs::rename(entry.path(), place)?;
                }
            }
        }
        fs::remove_dir_all(&outer)
    }
}

/// A new directory with a random name next to another.
fn directory_beside(target: &Path) -> io::Result<TempDir> {
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".pratique-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir_in(parent.unwrap_or(Path::new(".")))
}

/// Creates a file that only its owner can read.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Creates a directory that only its owner can list.
fn create_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
