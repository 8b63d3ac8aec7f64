//! Reads files of objects, as API servers and their clients do.

pub(crate) mod named;

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pratique_json::Value;
use pratique_manifest::{
    Document, LoadErrors, Location, ManifestFile, Problem, TreeNode, path_text, read_contents,
};
use pratique_suite::convert::{Item, convert, items};
use pratique_suite::is_manifest;
use pratique_suite::request::{kind_of, review};
use pratique_typed::decode::received;

use crate::exit::CliError;
use crate::output::problems;

/// The path that stands for standard input.
pub(crate) const STDIN: &str = "-";

/// An object and its location.
#[derive(Clone, Debug)]
pub(crate) struct InputObject {
    pub(crate) object: Value<'static>,
    pub(crate) location: Location,
    /// The warnings of an API server that decodes the object, or its error.
    pub(crate) received: Result<Vec<String>, String>,
}

/// The objects of a file.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    pub(crate) given: Vec<InputObject>,
    /// Duplicate keys outside of objects, in lists.
    pub(crate) duplicate_keys: Vec<Problem>,
    /// The number of empty lists.
    pub(crate) empty_lists: usize,
    /// What could not be read.
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
    Invalid { file: ManifestFile, errors: LoadErrors },
    /// A document is not what was expected.
    Faulty { place: String, why: String },
}

impl Objects {
    /// The objects, or the first error.
    pub(crate) fn whole(self) -> Result<Vec<InputObject>, InputError> {
        match self.faults.into_iter().next() {
            None => Ok(self.given),
            Some(fault) => Err(fault),
        }
    }
}

/// The files of a path: the YAML and JSON files of a directory, sorted by name, or the path itself.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>, CliError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |error| CliError::Read {
        path: path_text(path),
        error,
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        // A link that leads nowhere is told when it is read.
        let may_be_file = fs::metadata(&file).map_or(true, |found| found.is_file());
        if (is_manifest(&file) || is_lines_of_json(&file)) && may_be_file {
            files.push(file);
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Whether a file has an extension of JSON lines, which servers do not read.
fn is_lines_of_json(path: &Path) -> bool {
    has_extension(path, &["ndjson", "jsonl"])
}

fn has_extension(path: &Path, known: &[&str]) -> bool {
    let extension = path.extension().map(OsStr::to_ascii_lowercase);
    extension.is_some_and(|extension| known.iter().any(|known| extension == *known))
}

/// Checks that a path of the user exists: a missing file is not an error of the policies.
pub(crate) fn openable(path: &str) -> Result<(), CliError> {
    let unreadable = |error| CliError::Read {
        path: path.to_owned(),
        error,
    };
    fs::metadata(path).map(|_| ()).map_err(unreadable)
}

/// Reads the objects of a file; `-` is standard input.
pub(crate) fn read(path: &Path, mebibytes: u32) -> Result<Objects, InputError> {
    Ok(objects(read_file(path, mebibytes)?))
}

/// The objects of a file. Lists give their items, and errors do not affect the rest of the file.
pub(crate) fn objects(file: ManifestFile) -> Objects {
    let contents = read_contents(&file);
    let mut objects = Objects::default();
    for document in contents.documents {
        objects.add(&document);
    }
    if !contents.errors.failures().is_empty() {
        objects.faults.push(InputError::Invalid {
            file,
            errors: contents.errors,
        });
    }
    objects
}

impl Objects {
    fn add(&mut self, document: &Document) {
        let mut repeated = Repeated::new(document);
        let items = items(&document.source);
        self.empty_lists += usize::from(items.is_empty());
        for item in items {
            let span = document.source.tree().get(item.node).span;
            let location = document.source.document().location(span);
            match convert(document.source.tree(), item.node) {
                Value::Null => {}
                Value::Object(object) => {
                    let object = item.named(object);
                    let warnings = repeated.within(&location);
                    let received = received_as(&object, document, &item, warnings);
                    self.given.push(InputObject {
                        object,
                        location,
                        received,
                    });
                }
                _ => self.faults.push(InputError::Faulty {
                    place: problems::place(&location),
                    why: "expected an object: a mapping with apiVersion and kind".to_owned(),
                }),
            }
        }
        self.duplicate_keys.extend(repeated.rest());
    }
}

/// The duplicate keys of a YAML document, by location.
struct Repeated<'d>(Vec<RepeatedKey<'d>>);

struct RepeatedKey<'d> {
    offset: usize,
    problem: &'d Problem,
    warning: &'d str,
    is_within: bool,
}

impl<'d> Repeated<'d> {
    fn new(document: &'d Document) -> Self {
        let keys = document.duplicates.iter().zip(&document.duplicate_warnings);
        let mut keys: Vec<_> = keys
            .map(|(problem, warning)| RepeatedKey {
                offset: problem
                    .location
                    .as_ref()
                    .map_or(0, |location| location.start.offset),
                problem,
                warning,
                is_within: false,
            })
            .collect();
        keys.sort_by_key(|key| key.offset);
        Repeated(keys)
    }

    /// The server's messages for those within an object.
    fn within(&mut self, location: &Location) -> Vec<String> {
        let place = |offset| self.0.partition_point(|key| key.offset < offset);
        let range = place(location.start.offset)..place(location.end.offset);
        let keys = self.0.get_mut(range).unwrap_or_default();
        keys.iter_mut().for_each(|key| key.is_within = true);
        keys.iter().map(|key| key.warning.to_owned()).collect()
    }

    /// Those outside of objects.
    fn rest(self) -> impl Iterator<Item = Problem> {
        let rest = self.0.into_iter().filter(|key| !key.is_within);
        rest.map(|key| key.problem.clone())
    }
}

/// The server's warnings for an object. AdmissionReviews are not decoded, nor are objects without a kind.
fn received_as(
    object: &Value<'static>,
    document: &Document,
    item: &Item,
    duplicates: Vec<String>,
) -> Result<Vec<String>, String> {
    let mut warnings = duplicates;
    if let (false, Ok(kind)) = (review::is_review(object), kind_of(object)) {
        warnings.extend(received(&kind, TreeNode::new(document.source.tree(), item.node))?);
    }
    Ok(warnings)
}

/// Reads a file; `-` is standard input.
pub(crate) fn read_file(path: &Path, mebibytes: u32) -> Result<ManifestFile, InputError> {
    let shown = match path == Path::new(STDIN) {
        true => "<stdin>".to_owned(),
        false => path_text(path),
    };
    match named::read(path, u64::from(mebibytes) << 20) {
        Ok(content) => Ok(ManifestFile { path: shown, content }),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => Err(InputError::TooLarge {
            path: shown,
            mebibytes,
        }),
        Err(error) => Err(InputError::Cli(CliError::Read { path: shown, error })),
    }
}
