//! Files that are not read though they are among what the user names: counted, and listed on request.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use pratique_manifest::path_text;
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

use crate::output::place::absolute_path;
use crate::output::text::{PrintableText, text};

/// Why a file or directory is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PassReason {
    /// Its name begins with a dot.
    Hidden,
    /// A `.gitignore` names it, and git does not track it.
    Ignored,
    /// Its name does not end as those of files that are read.
    Extension,
    /// The user excludes it.
    Excluded,
    /// An output of the command replaces it, and there is no object in it: it is what an earlier run wrote.
    Output,
    /// It is a link to a directory.
    Link,
    /// It is a pipe, a socket or a device.
    Special,
    /// It cannot be read.
    Unreadable,
}

impl PassReason {
    /// The name in JSON.
    fn name(self) -> &'static str {
        match self {
            PassReason::Hidden => "hidden",
            PassReason::Ignored => "ignored",
            PassReason::Extension => "otherExtensions",
            PassReason::Excluded => "excluded",
            PassReason::Output => "outputs",
            PassReason::Link => "linked",
            PassReason::Special => "special",
            PassReason::Unreadable => "unreadable",
        }
    }

    /// The words after a count.
    fn words(self) -> &'static str {
        match self {
            PassReason::Hidden => "hidden",
            PassReason::Ignored => "ignored by git",
            PassReason::Extension => "of other extensions",
            PassReason::Excluded => "excluded",
            PassReason::Output => "outputs of this command",
            PassReason::Link => "linked",
            PassReason::Special => "special",
            PassReason::Unreadable => "unreadable",
        }
    }
}

/// How many paths are kept.
const MAX_PATHS: usize = 100_000;

/// What was passed over: directories as one, with all in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct PassedOver {
    /// Each file once, however often it is come by, and by whichever path: the first one.
    paths: BTreeMap<PathBuf, (PassReason, bool)>,
    /// These paths by where they are.
    known: HashMap<PathBuf, PathBuf>,
    /// The counts of those that are not kept.
    others: BTreeMap<PassReason, usize>,
    /// Patterns of the user that exclude nothing.
    pub(super) unused_patterns: Vec<String>,
}

impl PassedOver {
    pub(super) fn add(&mut self, path: &Path, reason: PassReason, is_directory: bool) {
        let absolute = absolute_path(path);
        if let Some(known) = self.known.get(&absolute) {
            self.paths.insert(known.clone(), (reason, is_directory));
        } else if self.paths.len() < MAX_PATHS {
            self.known.insert(absolute, path.to_owned());
            self.paths.insert(path.to_owned(), (reason, is_directory));
        } else {
            *self.others.entry(reason).or_default() += 1;
        }
    }

    fn counts(&self) -> BTreeMap<PassReason, usize> {
        let mut counts = self.others.clone();
        for (reason, _) in self.paths.values() {
            *counts.entry(*reason).or_default() += 1;
        }
        counts
    }

    /// The counts on a line without its end; `None` if nothing was passed over.
    pub(crate) fn line(&self) -> Option<String> {
        let counts = self.counts();
        let counts = counts
            .iter()
            .map(|(reason, count)| format!("{count} {}", reason.words()));
        let counts = counts.collect::<Vec<_>>().join(", ");
        let patterns = self.unused_patterns.join(", ");
        match (counts.as_str(), patterns.as_str()) {
            ("", "") => None,
            (_, "") => Some(format!("passed over: {counts}")),
            ("", _) => Some(format!("passed over: nothing, also by --exclude {patterns}")),
            (_, _) => Some(format!("passed over: {counts}; nothing by --exclude {patterns}")),
        }
    }

    /// The counts, and with `lists` each path; empty if nothing was passed over.
    pub(crate) fn to_text(&self, lists: bool) -> PrintableText {
        let Some(line) = self.line() else {
            return PrintableText::new();
        };
        if self.paths.is_empty() && self.others.is_empty() {
            return text!("{}\n", line);
        }
        if !lists {
            return text!("{}; --verbose lists them\n", line);
        }
        let mut out = text!("{}\n", line);
        for (path, reason) in self.listed() {
            out.push(&text!("  {}: {}\n", path, reason.words()));
        }
        let others: usize = self.others.values().sum();
        if others > 0 {
            out.push(&text!("  and {} more\n", others));
        }
        out
    }

    /// For an output of JSON; `None` if nothing was passed over.
    pub(crate) fn json(&self, lists: bool) -> Option<PassedOverJson<'_>> {
        let is_something =
            !(self.paths.is_empty() && self.others.is_empty() && self.unused_patterns.is_empty());
        is_something.then_some(PassedOverJson {
            passed_over: self,
            lists,
        })
    }

    fn listed(&self) -> impl Iterator<Item = (String, PassReason)> {
        self.paths.iter().map(|(path, (reason, is_directory))| {
            let end = if *is_directory { "/" } else { "" };
            (path_text(path) + end, *reason)
        })
    }
}

/// The counts by reason, and the paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassedOverJson<'a> {
    passed_over: &'a PassedOver,
    lists: bool,
}

/// A path that was passed over.
#[derive(Serialize)]
struct PassedPath {
    path: String,
    why: &'static str,
}

impl Serialize for PassedOverJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (reason, count) in self.passed_over.counts() {
            map.serialize_entry(reason.name(), &count)?;
        }
        let unused = &self.passed_over.unused_patterns;
        if !unused.is_empty() {
            map.serialize_entry("unusedPatterns", unused)?;
        }
        if self.lists {
            let paths = self.passed_over.listed().map(|(path, reason)| PassedPath {
                path,
                why: reason.name(),
            });
            map.serialize_entry("paths", &paths.collect::<Vec<_>>())?;
        }
        map.end()
    }
}

/// A value of JSON with what was passed over beside its fields.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WithPassedOver<'a, T> {
    #[serde(flatten)]
    pub(crate) value: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) passed_over: Option<PassedOverJson<'a>>,
}

/// A line of JSON about what was passed over.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PassedOverLine<'a> {
    pub(crate) passed_over: PassedOverJson<'a>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_count_once() {
        let mut passed_over = PassedOver::default();
        assert_eq!(passed_over.line(), None);
        for _ in 0..2 {
            passed_over.add(Path::new("a/.b.yaml"), PassReason::Hidden, false);
            passed_over.add(Path::new("a/c"), PassReason::Ignored, true);
        }
        passed_over.add(Path::new("a/d.md"), PassReason::Extension, false);
        passed_over.add(Path::new("./a/d.md"), PassReason::Extension, false);
        assert_eq!(
            passed_over.to_text(true).as_str(),
            "passed over: 1 hidden, 1 ignored by git, 1 of other extensions\n  a/.b.yaml: hidden\n  a/c/: ignored by git\n  \
             a/d.md: of other extensions\n"
        );
        let json = serde_json::to_value(passed_over.json(true)).unwrap();
        assert_eq!(
            json,
            serde_json::json!({"hidden": 1, "ignored": 1, "otherExtensions": 1, "paths": [
                {"path": "a/.b.yaml", "why": "hidden"},
                {"path": "a/c/", "why": "ignored"},
                {"path": "a/d.md", "why": "otherExtensions"},
            ]})
        );
    }
}
