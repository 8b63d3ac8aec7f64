//! The file as a revision of the repository has it, such as the target of a pull request: whoever proposes a change does not
//! say by which rules it is checked.

use std::path::PathBuf;

use pratique_manifest::{ManifestFile, path_text};

use super::{FILE, LARGEST, find};
use crate::exit::CliError;
use crate::input::git::{FileKind, PathRevision};

/// The file of a revision, and the directory that it is in; `None` if the revision has none.
///
/// # Errors
/// There is no such revision, or the file is none that is read.
pub(super) fn read(revision: &str) -> Result<Option<(PathBuf, ManifestFile)>, CliError> {
    for directory in find::places() {
        let path = directory.join(FILE);
        let resolved_revision = PathRevision::resolve(revision, &path)?;
        let files = resolved_revision.files()?;
        let Some(file) = files.iter().find(|file| file.path == path) else {
            continue;
        };
        let path = format!("{revision}:{}", path_text(&path));
        let unread = |why: &str| CliError::unread(&path, std::io::Error::other(why.to_owned()));
        let FileKind::Content { hash, size } = &file.kind else {
            return Err(unread("a link, which is not followed in a revision"));
        };
        if *size > LARGEST {
            return Err(unread("larger than 1 MiB"));
        }
        let content = resolved_revision.contents()?.read(hash, *size)?;
        return Ok(Some((directory, ManifestFile { path, content })));
    }
    Ok(None)
}
