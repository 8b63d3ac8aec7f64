//! Files of the objects that are allowed, one for each, in a directory that is new.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pratique_json::Value;
use pratique_state::yaml;

use crate::destination::{self, FileReaders};
use crate::evaluation::record::DecisionRecord;
use crate::exit::CliError;
use crate::input::read_directory;
use crate::project::permit;

/// The longest name of a file, without its ending: file systems have 255 bytes.
const MAX_NAME: usize = 200;

/// An object that is allowed, as the server would have it.
pub(super) struct ResultObject {
    /// The name of its file, without what makes it different from others.
    name: String,
    text: String,
}

/// A directory that objects are written to.
pub(super) struct ObjectFiles {
    directory: PathBuf,
    /// How many objects had a name.
    names: BTreeMap<String, usize>,
}

impl ResultObject {
    /// The object of a decision.
    pub(super) fn new(record: &DecisionRecord, object: &Value<'_>) -> Self {
        let parts = [&record.namespace, &record.kind.to_lowercase(), &record.name];
        let parts: Vec<&str> = parts.into_iter().map(String::as_str).collect();
        let named: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        ResultObject {
            name: file_name(&named.join("_")),
            text: yaml::block(object, 0),
        }
    }

    /// How many bytes it has.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }
}

impl ObjectFiles {
    /// Makes the directory, unless it is there and empty.
    pub(super) fn create(directory: &Path) -> Result<Self, CliError> {
        let made = permit(directory).and_then(|()| fs::create_dir_all(directory));
        let entries = made.and_then(|()| read_directory(directory));
        let is_empty = entries.map(|mut entries| entries.next().is_none());
        let refusal = match is_empty {
            Ok(true) => None,
            Ok(false) => Some(io::Error::other(
                "it is not empty: objects are written to a new directory",
            )),
            Err(error) => Some(error),
        };
        match refusal {
            Some(error) => Err(CliError::unread(directory, error)),
            None => Ok(ObjectFiles {
                directory: directory.to_owned(),
                names: BTreeMap::new(),
            }),
        }
    }

    /// Writes an object.
    pub(super) fn write(&mut self, object: &ResultObject) -> Result<(), CliError> {
        let count = self.names.entry(object.name.clone()).or_default();
        *count += 1;
        // No name ends so by itself: parts of names have no `~`.
        let file = match *count {
            1 => format!("{}.yaml", object.name),
            count => format!("{}~{count}.yaml", object.name),
        };
        destination::write(&self.directory.join(file), &object.text, FileReaders::Usual)
    }
}

/// A name of a file that stays in its directory, whatever objects are called.
fn file_name(name: &str) -> String {
    let plain = name.chars().map(|character| {
        if character.is_ascii_alphanumeric() || "-_.".contains(character) {
            character
        } else {
            '-'
        }
    });
    let plain: String = plain.take(MAX_NAME).collect();
    match plain.trim_start_matches('.') {
        "" => "object".to_owned(),
        plain => plain.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_directory() {
        for (name, expected) in [
            ("shop_pod_web", "shop_pod_web"),
            ("../../etc/passwd", "-..-etc-passwd"),
            ("system:node", "system-node"),
            ("..", "object"),
            ("", "object"),
            ("a\n~2", "a--2"),
        ] {
            assert_eq!(file_name(name), expected, "{name}");
        }
        assert_eq!(file_name(&"a".repeat(1000)).len(), MAX_NAME);
    }
}
