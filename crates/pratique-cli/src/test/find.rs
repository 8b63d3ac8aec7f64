//! Finds suites.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pratique_foreign::READER;
use pratique_manifest::{ManifestFile, Problem, ProblemList, Rule, path_text};
use pratique_review::may_have_object;
use pratique_suite::{Roots, Suite, read_file};
use pratique_types::ADMISSION_GROUP;

use crate::exit::CliError;
use crate::input::{FileSelection, PassReason, format_paths, named_inputs};
use crate::project::permit;
use crate::test::test_error::TestError;

/// A file with suites.
pub(super) struct SuiteFile {
    pub(super) path: PathBuf,
    pub(super) file: ManifestFile,
    pub(super) suites: Result<Vec<Suite>, ProblemList>,
}

/// The maximum size of a suite file, in bytes.
const LARGEST: u64 = 32 << 20;

/// Finds the suites of files, and of all files below directories.
///
/// Other programs look for theirs in hidden directories as well, where whole collections of policies have them: these are found.
/// Suites of our own are passed over there, as copies of repositories lie in such directories.
pub(super) fn suites(
    paths: &[PathBuf],
    roots: &Roots,
    selection: &FileSelection,
) -> Result<Vec<SuiteFile>, CliError> {
    let mut suites = Vec::new();
    let mut others = OtherContents::default();
    for path in paths {
        let is_directory = path.is_dir();
        for file in selection.suite_files(path)? {
            let file = file.strip_prefix(".").map(Path::to_path_buf).unwrap_or(file);
            let is_hidden = is_directory && is_below_hidden(path, &file);
            match open((file, is_directory), roots, selection, &mut others)? {
                Some(suite_file) if is_hidden && !is_foreign(&suite_file) => {
                    selection.pass(&suite_file.path, PassReason::Hidden, false);
                }
                suite_file => suites.extend(suite_file),
            }
        }
    }
    if suites.is_empty() {
        return Err(no_suite(paths, &format_paths(paths), others));
    }
    Ok(suites)
}

/// What there is in files without suites.
#[derive(Clone, Copy, Debug, Default)]
struct OtherContents {
    has_policies: bool,
    /// Objects that are no policies.
    has_objects: bool,
}

impl OtherContents {
    fn add(&mut self, path: &Path, content: &[u8]) {
        if !may_have_object(path, content) {
            return;
        }
        // By the group that each of their files names: it is a hint for a message.
        let text = String::from_utf8_lossy(content);
        if text.contains(ADMISSION_GROUP) {
            self.has_policies = true;
        } else {
            self.has_objects = true;
        }
    }
}

fn no_suite(paths: &[PathBuf], names: &[String], others: OtherContents) -> CliError {
    let (inputs, paths_text) = (names.join(" "), names.join(", "));
    CliError::Test(match others {
        OtherContents {
            has_objects: true, ..
        } => TestError::OnlyObjects {
            paths: paths_text,
            inputs,
        },
        OtherContents {
            has_policies: true, ..
        } => TestError::OnlyPolicies {
            paths: paths_text,
            directory: match paths {
                [path] if path.is_dir() => inputs.clone(),
                _ => "DIRECTORY".to_owned(),
            },
            inputs,
        },
        _ => TestError::NoSuite { paths: paths_text },
    })
}

/// Whether a file is in a hidden directory below another.
fn is_below_hidden(root: &Path, file: &Path) -> bool {
    let root = root.strip_prefix(".").unwrap_or(root);
    let below = file.strip_prefix(root).unwrap_or(file);
    let mut directories = below.parent().into_iter().flat_map(Path::components);
    directories.any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
}

/// Whether a file has suites of another program, or such that cannot be read.
fn is_foreign(suite_file: &SuiteFile) -> bool {
    match &suite_file.suites {
        Ok(suites) => suites.iter().any(Suite::is_foreign),
        Err(_) => READER.may_be_foreign(&suite_file.file.content),
    }
}

/// Reads a file; `None` for a file of a directory without suites, whose objects are noted.
fn open(
    (path, listed): (PathBuf, bool),
    roots: &Roots,
    selection: &FileSelection,
    others: &mut OtherContents,
) -> Result<Option<SuiteFile>, CliError> {
    let read = if listed {
        permit(&path).and_then(|()| read_file(&path))
    } else {
        // What the user names may be a pipe.
        named_inputs::read(&path, LARGEST).map(|content| ManifestFile {
            path: path_text(&path),
            content,
        })
    };
    let file = match read {
        Ok(file) => file,
        // There may be a suite that fails behind a link that leads out of its repository.
        Err(error) if listed && error.kind() == ErrorKind::PermissionDenied => {
            let suites = Err(vec![Problem::new(Rule::Unreadable, error.to_string())].into());
            let file = ManifestFile {
                path: path_text(&path),
                content: Vec::new(),
            };
            return Ok(Some(SuiteFile { path, file, suites }));
        }
        Err(_) if listed => {
            selection.pass(&path, PassReason::Unreadable, false);
            return Ok(None);
        }
        Err(error) => return Err(CliError::unread(&path, error)),
    };
    if listed && !READER.may_be_suite(&file.content) {
        others.add(&path, &file.content);
        return Ok(None);
    }
    let suites = READER.read(&path, &file, roots);
    match &suites {
        Ok(suites) if suites.is_empty() && listed => {
            others.add(&path, &file.content);
            Ok(None)
        }
        Ok(suites) if suites.is_empty() => {
            let mut of_file = OtherContents::default();
            of_file.add(&path, &file.content);
            Err(no_suite(&[path], &[file.path], of_file))
        }
        _ => Ok(Some(SuiteFile { path, file, suites })),
    }
}
