//! Reads files of objects, as API servers and their clients do.

mod columns;
mod exclusions;
pub(crate) mod fields;
pub(crate) mod git;
pub(crate) mod lexical_path;
pub(crate) mod named_inputs;
pub(crate) mod open;
mod passed_over;
pub(crate) mod permitted_paths;
pub(crate) mod piece;
mod place;
mod quick;
pub(crate) mod rendering;
pub(crate) mod repository_links;
mod selection;
pub(crate) mod sources;
pub(crate) mod spool;
pub(crate) mod standard_input;
mod walk;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use pratique_json::Value;
use pratique_manifest::convert::{Item, Items, convert, items};
use pratique_manifest::{
    LoadErrors, Location, ManifestFile, Problem, Rule, SourceDocument, TreeNode, path_text, read_contents,
};
use pratique_request::{kind_of, review};
use pratique_schema::Release;
use pratique_stream::{Limits, StreamError};
use pratique_typed::decode::received_in;

use crate::exit::CliError;
use crate::memory::mebibytes;
use crate::output::notice::InputNotice;
use crate::output::problems;

pub(crate) use exclusions::{PathPattern, pattern_from};
pub(crate) use passed_over::{PassReason, PassedOver, PassedOverLine, WithPassedOver};
pub(crate) use permitted_paths::{
    open_file, open_regular, permit_directory, read_directory, read_regular, read_with_state,
};
use rendering::ObjectOrigin;
pub(crate) use selection::FileSelection;
pub(crate) use standard_input::{STDIN, STDIN_FILENAME_COMMANDS, STDIN_NAME};
pub(crate) use walk::has_hidden_part;

/// What standard input stands for, where the user says it: there is one for the process.
static STDIN_FILE: OnceLock<String> = OnceLock::new();

/// Names what standard input stands for in messages and locations.
pub(crate) fn name_stdin(path: &Path) {
    // A second name would be of the same command line.
    let _ = STDIN_FILE.set(path_text(path));
}

/// How a path of the user is shown.
pub(crate) fn format_path(path: &Path) -> String {
    if path == Path::new(STDIN) {
        STDIN_FILE.get().map_or(STDIN_NAME, String::as_str).to_owned()
    } else {
        path_text(path)
    }
}

/// How paths of the user are shown.
pub(crate) fn format_paths(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| format_path(path)).collect()
}

/// An object of an input, and its location.
#[derive(Clone, Debug)]
pub(crate) struct InputObject<'t> {
    pub(crate) object: Value<'t>,
    pub(crate) location: Location,
    /// The warnings of an API server that decodes the object, or its error.
    pub(crate) received: Result<Vec<String>, String>,
    /// Its place among the items of its document, from 0.
    pub(crate) item: usize,
    /// What it was made of, if that is known.
    pub(crate) origin: Option<Arc<ObjectOrigin>>,
}

impl InputObject<'_> {
    /// Where it is shown to be: in its source, if that is known.
    pub(crate) fn place(&self) -> String {
        let origin = self.origin.as_ref();
        problems::place(origin.map_or(&self.location, |origin| origin.object()))
    }
}

/// The objects of a file.
#[derive(Debug, Default)]
pub(crate) struct ParsedObjects<'t> {
    pub(crate) objects: Vec<InputObject<'t>>,
    /// Warnings about how the input is read: duplicate keys, of which clients send the last, and lists of an unusual kind.
    pub(crate) reading_warnings: Vec<Problem>,
    /// The number of empty lists.
    pub(crate) empty_lists: usize,
    /// The errors of what could not be read.
    pub(crate) faults: Vec<InputError>,
}

/// Why a file, or a part of it, cannot be read.
#[derive(Debug)]
pub(crate) enum InputError {
    /// It cannot be opened.
    Cli(CliError),
    /// It exceeds the size limit.
    TooLarge { path: String, mebibytes: u32 },
    /// Documents are not YAML or JSON.
    Invalid {
        file: ManifestFile,
        /// The line of the input that the file begins with, from 1.
        line: u32,
        errors: LoadErrors,
    },
    /// A document is not what was expected.
    Faulty { place: String, why: String },
    /// A part of an input cannot be read, and what follows it is not.
    Unread { path: String, error: std::io::Error },
}

impl InputError {
    /// Why the rest of a stream is not read.
    pub(crate) fn of_stream(path: String, error: StreamError, limits: Limits) -> Self {
        match error {
            StreamError::TooLarge(_) => InputError::TooLarge {
                path,
                mebibytes: mebibytes(u64::try_from(limits.document).unwrap_or(u64::MAX)),
            },
            StreamError::Read(error) => InputError::Unread { path, error },
        }
    }
}

impl<'t> ParsedObjects<'t> {
    /// Warnings about how the input is read.
    pub(crate) fn reading_warnings(&self) -> impl Iterator<Item = InputNotice> {
        self.reading_warnings.iter().map(|problem| {
            let location = problem.location.as_ref();
            let place = location.map(problems::place).unwrap_or_default();
            let rule = if problem.rule == Rule::UnknownField {
                "unusual-list"
            } else {
                "duplicate-key"
            };
            InputNotice::new(rule, place, &problem.message)
        })
    }

    /// The objects, or the first error.
    pub(crate) fn whole(self) -> Result<Vec<InputObject<'t>>, InputError> {
        match self.faults.into_iter().next() {
            None => Ok(self.objects),
            Some(fault) => Err(fault),
        }
    }
}

/// Checks that a path of the user exists: a missing file is not an error of the policies.
pub(crate) fn openable(path: &str) -> Result<(), CliError> {
    let unreadable = |error| CliError::unread(path, error);
    fs::metadata(path).map(|_| ()).map_err(unreadable)
}

/// Reads the objects of a file, as a server of a release does; `-` is standard input.
pub(crate) fn read(
    path: &Path,
    mebibytes: u32,
    release: &'static Release,
) -> Result<ParsedObjects<'static>, InputError> {
    Ok(objects(read_file(path, mebibytes)?, release))
}

/// The objects of a file. Lists give their items, and errors do not affect the rest of the file.
pub(crate) fn objects(file: ManifestFile, release: &'static Release) -> ParsedObjects<'static> {
    objects_of(file, release, |document| items(&document.source))
}

/// The objects of the items that a file's documents consist of.
fn objects_of(
    file: ManifestFile,
    release: &'static Release,
    mut items: impl FnMut(&SourceDocument) -> Items,
) -> ParsedObjects<'static> {
    let contents = read_contents(&file);
    let mut objects = ParsedObjects::default();
    for document in contents.documents {
        let items = items(&document);
        objects.add(&document, items, release);
    }
    if !contents.errors.failures().is_empty() {
        objects.faults.push(InputError::Invalid {
            file,
            line: 1,
            errors: contents.errors,
        });
    }
    objects
}

impl ParsedObjects<'_> {
    fn add(&mut self, document: &SourceDocument, items: Items, release: &'static Release) {
        for list in items.unusual_lists {
            let tree = document.source.tree();
            let location = document.source.document().location(tree.get(list).span);
            let kind = convert(tree, list).get("kind").map(Value::to_string);
            self.add_unusual_list(kind.unwrap_or_default().trim_matches('"'), location);
        }
        self.empty_lists += usize::from(items.objects.is_empty());
        for (index, item) in items.objects.into_iter().enumerate() {
            let span = document.source.tree().get(item.node).span;
            let location = document.source.document().location(span);
            match convert(document.source.tree(), item.node) {
                Value::Null if !item.is_listed => {}
                Value::Object(object) => {
                    let object = item.named(object);
                    let received = received_as(&object, document, &item, release);
                    self.objects.push(InputObject {
                        object,
                        location,
                        received,
                        item: index,
                        origin: None,
                    });
                }
                _ => self.faults.push(InputError::Faulty {
                    place: problems::place(&location),
                    why: "expected an object: a mapping with apiVersion and kind".to_owned(),
                }),
            }
        }
        self.reading_warnings
            .extend(document.duplicates.iter().map(|duplicate| Problem {
                message: format!(
                    "{}: the last value counts, and clients send no other",
                    duplicate.message
                ),
                ..duplicate.clone()
            }));
    }

    /// Adds the warning about a list whose kind is not that of a list.
    fn add_unusual_list(&mut self, kind: &str, location: Location) {
        // Kinds with another sound than their first letter say are rare.
        let article = if kind.starts_with(['A', 'E', 'I', 'O']) {
            "an"
        } else {
            "a"
        };
        let message = format!(
            "{article} {kind} with `items` is a list, as it is to kubectl: its items are read, and its own fields are not"
        );
        self.reading_warnings
            .push(Problem::new(Rule::UnknownField, message).at(location));
    }
}

/// The warnings of a server of a release for an object. AdmissionReviews are not decoded, nor are objects without a kind.
fn received_as(
    object: &Value<'static>,
    document: &SourceDocument,
    item: &Item,
    release: &'static Release,
) -> Result<Vec<String>, String> {
    match kind_of(object) {
        Ok(kind) if !review::is_review(object) => {
            let node = TreeNode::new(document.source.tree(), item.node);
            received_in(release.schema(), &kind, node)
        }
        _ => Ok(Vec::new()),
    }
}

/// Reads a file; `-` is standard input.
pub(crate) fn read_file(path: &Path, mebibytes: u32) -> Result<ManifestFile, InputError> {
    let display_path = format_path(path);
    match named_inputs::read(path, u64::from(mebibytes) << 20) {
        Ok(content) => Ok(ManifestFile {
            path: display_path,
            content,
        }),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => Err(InputError::TooLarge {
            path: display_path,
            mebibytes,
        }),
        Err(error) => Err(InputError::Cli(CliError::Read {
            path: display_path,
            error,
        })),
    }
}
