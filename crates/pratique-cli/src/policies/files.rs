//! Reads the files that paths of policies name: files, directories with all below them, and standard input.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pratique_manifest::{FileContent, ManifestFile, path_text};
use pratique_review::sorted_objects::{SortedPolicies, is_meant_as_policy};
use pratique_review::{SourceFile, SourceFiles, SourceKind};
use pratique_stream::to_utf8;

use super::origin_name::OriginName;
use crate::exit::CliError;
use crate::input::sources::{recognize, tell_object};
use crate::input::{FileSelection, InputError, read_file, read_regular, read_with_state};
use crate::memory;
use crate::output::place::absolute_path;

/// Reads the files of paths, as far as they are selected, and sorts the objects in them by origin and plugin.
///
/// # Errors
/// A path cannot be read. What is wrong within files is reported when they are loaded.
pub(crate) fn read(
    paths: &[impl AsRef<Path>],
    origin: Option<OriginName>,
    files: &FileSelection,
) -> Result<SortedPolicies, CliError> {
    let mut reader = PolicyReader::new(origin, None);
    for path in paths {
        reader.add(path.as_ref(), files)?;
    }
    Ok(reader.sorted)
}

/// Reads the files of paths as [`read`] does, to be read again when they change: only regular files, with what tells
/// whether one is being written to.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_watched(
    paths: &[impl AsRef<Path>],
    origin: Option<OriginName>,
    files: &FileSelection,
) -> Result<(SortedPolicies, Vec<FileContent>), CliError> {
    let mut reader = PolicyReader::new(origin, Some(Vec::new()));
    for path in paths {
        reader.add(path.as_ref(), files)?;
    }
    Ok((reader.sorted, reader.contents.unwrap_or_default()))
}

/// Reads files, as long as they are not too large.
struct PolicyReader {
    sorted: SortedPolicies,
    /// What tells whether files are being written to, if that is asked for.
    contents: Option<Vec<FileContent>>,
    left: u64,
    sources: SourceFiles,
    /// The files that were read, from the root: one that is named twice, or named beside its directory, is read once.
    read: HashSet<PathBuf>,
}

impl PolicyReader {
    fn new(origin: Option<OriginName>, contents: Option<Vec<FileContent>>) -> Self {
        PolicyReader {
            sorted: SortedPolicies::new(origin.map(Into::into)),
            contents,
            left: memory::manifests(),
            sources: SourceFiles::default(),
            read: HashSet::new(),
        }
    }

    fn add(&mut self, path: &Path, files: &FileSelection) -> Result<(), CliError> {
        let is_stdin = path == Path::new(crate::input::STDIN);
        let is_directory = !is_stdin && path.is_dir();
        for path in files.policy_files(path)? {
            if !self.is_new(&path) {
                continue;
            }
            if let (false, Some(source)) = (is_stdin, self.source(&path)) {
                tell_object(&source, files);
                self.sorted.add_source(source);
            } else if is_directory {
                match self.listed(&path) {
                    Ok(file) => self.sorted.add(file, false),
                    Err(error) => self.add_unreadable(&path, &error),
                }
            } else {
                let file = match self.contents {
                    // A pipe in the place of a file would stop the thread that reads.
                    Some(_) => self.listed(&path)?,
                    None => self.file(&path)?,
                };
                self.sorted.add(file, true);
            }
        }
        Ok(())
    }

    fn add_unreadable(&mut self, path: &Path, error: &CliError) {
        let (path, error) = (path_text(path), error.to_string());
        let why = error.strip_prefix(&*path).and_then(|why| why.strip_prefix(": "));
        self.sorted.add_unreadable(&path, why.unwrap_or(&error));
    }

    /// Whether a file was not read before.
    fn is_new(&mut self, path: &Path) -> bool {
        self.read.insert(absolute_path(path))
    }

    /// What a file is, if it is no object of the API.
    fn source(&mut self, path: &Path) -> Option<SourceFile> {
        let source = recognize(&mut self.sources, path)?;
        let is_meant = || {
            let content = read_regular(path, self.left);
            content.is_ok_and(|content| is_meant_as_policy(&source, &content))
        };
        (source.kind != SourceKind::Template || !is_meant()).then_some(source)
    }

    /// Reads a file of a directory: the reader would wait for a pipe, which nothing there may ever write to.
    fn listed(&mut self, path: &Path) -> Result<ManifestFile, CliError> {
        let display_path = path_text(path);
        let read = match &mut self.contents {
            None => read_regular(path, self.left).map(|content| ManifestFile {
                path: display_path.clone(),
                content: to_utf8(content),
            }),
            Some(contents) => read_with_state(path, self.left).map(|(content, state)| {
                let file = ManifestFile {
                    path: display_path.clone(),
                    content: to_utf8(content),
                };
                contents.push(FileContent::new(&file, &state));
                file
            }),
        };
        match read {
            Ok(file) => {
                self.count(&file);
                Ok(file)
            }
            Err(error) if error.kind() == ErrorKind::FileTooLarge => Err(CliError::TooLarge {
                path: display_path,
                mebibytes: self.mebibytes(),
            }),
            Err(error) => Err(CliError::Read {
                path: display_path,
                error,
            }),
        }
    }

    /// Reads a file, a pipe or a device.
    fn file(&mut self, path: &Path) -> Result<ManifestFile, CliError> {
        let mebibytes = self.mebibytes();
        let file = read_file(path, mebibytes).map_err(|unread| match unread {
            InputError::Cli(error) => error,
            _ => CliError::TooLarge {
                path: path_text(path),
                mebibytes,
            },
        })?;
        self.count(&file);
        Ok(file)
    }

    /// How much may still be read.
    fn mebibytes(&self) -> u32 {
        memory::mebibytes(self.left).max(1)
    }

    fn count(&mut self, file: &ManifestFile) {
        let length = u64::try_from(file.content.len()).unwrap_or(u64::MAX);
        self.left = self.left.saturating_sub(length);
    }
}
