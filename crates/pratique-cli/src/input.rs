//! Files of objects, read as an API server and its clients read them.

pub(crate) mod named;

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pratique_json::Value;
use pratique_manifest::{Document, LoadErrors, Location, ManifestFile, Problem, path_text, read_contents};
use pratique_suite::request::{kind_of, review};
use pratique_typed::decode::received;

use crate::exit::CliError;
use crate::output::problems;
use pratique_suite::convert::{Item, WrittenNode, convert, items};

/// The path that stands for standard input.
pub(crate) const STDIN: &str = "-";

/// An object and where it is from.
#[derive(Clone, Debug)]
pub(crate) struct InputObject {
    pub(crate) object: Value<'static>,
    pub(crate) location: Location,
    /// What an API server would warn of if it were sent the object; or why it could not decode it.
    pub(crate) received: Result<Vec<String>, String>,
}

/// The objects of a file.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    pub(crate) given: Vec<InputObject>,
    /// Keys that are given twice outside of objects: in lists of them.
    pub(crate) duplicate_keys: Vec<Problem>,
    /// How many lists there are without items.
    pub(crate) empty_lists: usize,
    /// What could not be read.
    pub(crate) faults: Vec<InputError>,
}

/// Why a file, or something in it, gives no objects.
#[derive(Debug)]
pub(crate) enum InputError {
    /// It does not open.
    Cli(CliError),
    /// It is larger than is read.
    TooLarge { path: String, mebibytes: u32 },
    /// Documents are no YAML or JSON.
    Invalid { file: ManifestFile, errors: LoadErrors },
    /// It has something that is not what it should be.
    Faulty { place: String, why: String },
}

impl Objects {
    /// The objects, if everything could be read.
    pub(crate) fn whole(self) -> Result<Vec<InputObject>, InputError> {
        match self.faults.into_iter().next() {
            None => Ok(self.given),
            Some(fault) => Err(fault),
        }
    }
}

/// The files that a path stands for: those of a directory that are YAML or JSON, by name, or the path itself.
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
        if (is_manifest(&file) || is_lines_of_json(&file)) && file.is_file() {
            files.push(file);
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Whether a file's extension is one of YAML or JSON.
pub(crate) fn is_manifest(path: &Path) -> bool {
    has_extension(path, &["yaml", "yml", "json"])
}

/// Whether a file's extension is one of JSON values on lines of their own. No server reads such files.
fn is_lines_of_json(path: &Path) -> bool {
    has_extension(path, &["ndjson", "jsonl"])
}

fn has_extension(path: &Path, known: &[&str]) -> bool {
    let extension = path.extension().map(OsStr::to_ascii_lowercase);
    extension.is_some_and(|extension| known.iter().any(|known| extension == *known))
}

/// Reads the objects of a file; `-` is standard input.
pub(crate) fn read(path: &Path, mebibytes: u32) -> Result<Objects, InputError> {
    Ok(objects(read_file(path, mebibytes)?))
}

/// The objects of a file that was read. Lists give their items, what is empty gives nothing; what cannot be read costs
/// nothing else of the file.
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

/// The keys that a YAML document gives twice, by their places.
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

    /// What a server says of those within an object.
    fn within(&mut self, location: &Location) -> Vec<String> {
        let place = |offset| self.0.partition_point(|key| key.offset < offset);
        let range = place(location.start.offset)..place(location.end.offset);
        let keys = self.0.get_mut(range).unwrap_or_default();
        keys.iter_mut().for_each(|key| key.is_within = true);
        keys.iter().map(|key| key.warning.to_owned()).collect()
    }

    /// Those that are in no object.
    fn rest(self) -> impl Iterator<Item = Problem> {
        let rest = self.0.into_iter().filter(|key| !key.is_within);
        rest.map(|key| key.problem.clone())
    }
}

/// What a server says of an object. Reviews are not what it is sent, and what does not say what it is cannot be decoded.
fn received_as(
    object: &Value<'static>,
    document: &Document,
    item: &Item,
    duplicates: Vec<String>,
) -> Result<Vec<String>, String> {
    let mut warnings = duplicates;
    if let (false, Ok(kind)) = (review::is_review(object), kind_of(object)) {
        warnings.extend(received(&kind, WrittenNode::new(&document.source, item.node))?);
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
