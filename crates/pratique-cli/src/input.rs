//! Files of objects, read as an API server and its clients read them.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use pratique_json::Value;
use pratique_manifest::{LoadErrors, Location, ManifestFile, Problem, read_documents};

use crate::exit::Trouble;
use crate::output::problems;
use pratique_suite::convert::{convert, items};

/// An object and where it is from.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) object: Value<'static>,
    pub(crate) location: Location,
}

/// The objects of a file.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    pub(crate) given: Vec<Given>,
    /// Keys that are given twice.
    pub(crate) doubts: Vec<Problem>,
    /// How many lists there are without items.
    pub(crate) empty_lists: usize,
}

/// Why a file gives no objects.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It does not open.
    Trouble(Trouble),
    /// It is larger than is read.
    TooLarge { path: String, mebibytes: u32 },
    /// It is no YAML or JSON.
    Invalid { file: ManifestFile, errors: LoadErrors },
    /// It has something that is not what it should be.
    Faulty { place: String, why: String },
}

/// The files that a path stands for: the manifests of a directory, by name, or the path itself.
pub(crate) fn files(path: &str) -> Result<Vec<String>, Trouble> {
    if !Path::new(path).is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |error| Trouble::Read {
        path: path.to_owned(),
        error,
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        if is_manifest(&file) && file.is_file() {
            files.push(file.to_string_lossy().into_owned());
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Whether a file's extension is one of YAML or JSON.
pub(crate) fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().map(OsStr::to_ascii_lowercase);
    extension.is_some_and(|extension| ["yaml", "yml", "json"].iter().any(|known| extension == *known))
}

/// Reads the objects of a file; `-` is standard input.
pub(crate) fn read(path: &str, mebibytes: u32) -> Result<Objects, Unread> {
    objects(&read_file(path, mebibytes)?)
}

/// The objects of a file that was read. Lists give their items, what is empty gives nothing.
pub(crate) fn objects(file: &ManifestFile) -> Result<Objects, Unread> {
    let invalid = |errors| Unread::Invalid {
        file: file.clone(),
        errors,
    };
    let mut objects = Objects::default();
    for document in read_documents(file).map_err(invalid)? {
        objects.doubts.extend(document.duplicates);
        let tree = document.source.tree();
        let items = items(&document.source);
        objects.empty_lists += usize::from(items.is_empty());
        for item in items {
            let location = document.source.document().location(tree.get(item.node).span);
            match convert(tree, item.node) {
                Value::Null => {}
                Value::Object(object) => objects.given.push(Given {
                    object: item.named(object),
                    location,
                }),
                _ => {
                    let why = "expected an object: a mapping with apiVersion and kind".to_owned();
                    return Err(Unread::Faulty {
                        place: problems::place(&location),
                        why,
                    });
                }
            }
        }
    }
    Ok(objects)
}

/// Reads a file; `-` is standard input.
pub(crate) fn read_file(path: &str, mebibytes: u32) -> Result<ManifestFile, Unread> {
    let limit = u64::from(mebibytes) << 20;
    let unreadable = |error| {
        Unread::Trouble(Trouble::Read {
            path: path.to_owned(),
            error,
        })
    };
    let mut content = Vec::new();
    let read = match path {
        "-" => io::stdin().lock().take(limit + 1).read_to_end(&mut content),
        _ => File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut content)),
    };
    let read = read.map_err(unreadable)?;
    let path = if path == "-" { "<stdin>" } else { path }.to_owned();
    if u64::try_from(read).unwrap_or(u64::MAX) > limit {
        return Err(Unread::TooLarge { path, mebibytes });
    }
    Ok(ManifestFile { path, content })
}
