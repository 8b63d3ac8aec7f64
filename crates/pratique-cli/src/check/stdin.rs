//! Manifests on standard input, among objects of other kinds: `helm template … | pratique check -`.

use std::collections::BTreeMap;
use std::path::Path;

use pratique::expressions::Expressions;
use pratique_json::Value;
use pratique_manifest::{
    Contents, Document, Failure, Kind, LoadErrors, ManifestFile, Options, Plugin, Problem, Rule,
    content_hash, load_among, read_contents,
};
use pratique_suite::convert::{convert, items};

use super::loaded::{Loaded, LoadedPlugins, Refusal};
use crate::exit::CliError;
use crate::input::{self, InputError, STDIN};
use crate::output;
use crate::output::text::text;

/// The name of standard input in locations.
pub(super) const DISPLAY_NAME: &str = "<stdin>";

/// The maximum size of the input, in MiB, as for objects that are reviewed: of small objects, a byte takes up to 16 of memory.
pub(super) const MEBIBYTES: u32 = 32;

/// The content of standard input.
pub(super) struct Stdin {
    file: ManifestFile,
    documents: Vec<Document>,
    /// The plugins of the manifests.
    plugins: Vec<Plugin>,
    /// The number of objects of other kinds, by kind.
    others: BTreeMap<String, usize>,
    /// What could not be read.
    failures: Vec<Failure>,
}

/// Reads standard input.
pub(super) fn read_file() -> Result<ManifestFile, CliError> {
    input::read_file(Path::new(STDIN), MEBIBYTES).map_err(|unread| match unread {
        InputError::Cli(error) => error,
        _ => CliError::TooLarge {
            path: DISPLAY_NAME.to_owned(),
            mebibytes: MEBIBYTES,
        },
    })
}

impl Stdin {
    /// Sorts the documents by plugin.
    pub(super) fn new(file: ManifestFile) -> Result<Self, CliError> {
        let Contents { documents, errors } = read_contents(&file);
        let mut stdin = Stdin {
            file,
            documents: Vec::new(),
            plugins: Vec::new(),
            others: BTreeMap::new(),
            failures: errors.into_failures(),
        };
        for document in documents {
            if stdin.sort(&document) {
                stdin.documents.push(document);
            }
        }
        stdin.plugins.sort_unstable();
        stdin.plugins.dedup();
        if stdin.others.contains_key("AdmissionConfiguration") {
            return Err(CliError::ConfigurationOnStdin);
        }
        if stdin.plugins.is_empty() && stdin.failures.is_empty() {
            return Err(CliError::NoManifests {
                path: DISPLAY_NAME.to_owned(),
                count: stdin.others.values().sum(),
            });
        }
        Ok(stdin)
    }

    /// Counts the kinds of a document's objects; true if a plugin's are among them.
    fn sort(&mut self, document: &Document) -> bool {
        let mut has_manifests = false;
        for item in items(&document.source) {
            let tree = document.source.tree();
            let object = match convert(tree, item.node) {
                // A comment, as templates leave them.
                Value::Null => continue,
                Value::Object(object) => item.named(object),
                other => other,
            };
            let Some(name) = object
                .get("kind")
                .and_then(Value::as_str)
                .filter(|kind| !kind.is_empty())
            else {
                let location = document.source.document().location(tree.get(item.node).span);
                let message = "Object 'Kind' is missing".to_owned();
                self.failures.push(Failure {
                    text: message.clone(),
                    problems: vec![Problem {
                        rule: Rule::MissingKind,
                        message,
                        field: None,
                        object: None,
                        location: Some(location),
                        help: None,
                        summary: None,
                    }],
                });
                continue;
            };
            match Kind::from_name(name).and_then(plugin_of) {
                Some(plugin) => {
                    self.plugins.push(plugin);
                    has_manifests = true;
                }
                None => *self.others.entry(name.to_owned()).or_default() += 1,
            }
        }
        has_manifests
    }

    /// Reports what is checked for which plugin, and what is skipped.
    pub(super) fn report(&self) {
        let plugins: Vec<&str> = self.plugins.iter().map(|plugin| plugin.name()).collect();
        if !plugins.is_empty() {
            output::note(&text!(
                "{}: checked as static manifests of {}\n",
                DISPLAY_NAME,
                plugins.join(", ")
            ));
        }
        if !self.others.is_empty() {
            let count: usize = self.others.values().sum();
            let objects = if count == 1 { "object" } else { "objects" };
            let kinds = self
                .others
                .iter()
                .map(|(kind, count)| format!("{kind} ({count})"));
            let shown: Vec<String> = kinds.take(MOST_KINDS).collect();
            let more = match self.others.len().saturating_sub(MOST_KINDS) {
                0 => String::new(),
                more => format!(" and {more} more kinds"),
            };
            output::note(&text!(
                "{}: skipped {} {} of other kinds: {}{}\n",
                DISPLAY_NAME,
                count,
                objects,
                shown.join(", "),
                more,
            ));
        }
    }

    /// Loads the manifests of each plugin as a directory of their own.
    pub(super) fn load(&self, expressions: &Expressions) -> Result<LoadedPlugins, Refusal> {
        let options = expressions.options();
        let mut failures = self.failures.clone();
        let mut plugins = Vec::new();
        for plugin in &self.plugins {
            match self.load_plugin(*plugin, &options) {
                Ok(loaded) => plugins.push(loaded),
                Err(errors) => failures.extend(errors.into_failures()),
            }
        }
        if failures.is_empty() {
            return Ok(LoadedPlugins::of(plugins));
        }
        let place = |failure: &Failure| {
            let location = failure.problems.first()?.location.as_ref()?;
            Some(location.start)
        };
        failures.sort_by_key(place);
        Err(Refusal {
            errors: LoadErrors::new(failures),
            exit_code: 1,
        })
    }

    fn load_plugin(&self, plugin: Plugin, options: &Options<'_>) -> Result<Loaded, LoadErrors> {
        let mut set = load_among(&self.documents, plugin, options)?;
        if self.plugins.len() == 1 && self.others.is_empty() {
            // A directory with this as its only file would have the same.
            set.hash = content_hash(std::slice::from_ref(&self.file));
        }
        Ok(Loaded::new(plugin, None, set))
    }

    /// The text that was read.
    pub(super) fn into_file(self) -> ManifestFile {
        self.file
    }
}

/// The maximum number of kinds that are listed.
const MOST_KINDS: usize = 20;

fn plugin_of(kind: Kind) -> Option<Plugin> {
    Plugin::START_ORDER
        .into_iter()
        .find(|plugin| plugin.accepts(kind))
}
