//! Reads the file strictly: its shape, the values as the command line takes them, and the paths.

use std::path::{Path, PathBuf};

use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::{Arg, Command, CommandFactory as _};
use pratique_manifest::{
    Entry, Location, ManifestFile, NodeId, ObjectSource, Problem, Rule, Value, path_text, read_documents,
};
use pratique_suite::{API_VERSION, Roots};

use super::KIND;
use super::setting::{Setting, SettingValue};
use super::shape::{COMMANDS, COMMON, FORMAT, arguments, field_name, is_switch};
use crate::arguments::Arguments;
use crate::input::STDIN;

/// The settings of a file; `None` if it is another program's.
///
/// # Errors
/// All problems, with their places.
pub(super) fn settings(file: &ManifestFile) -> Result<Option<Vec<Setting>>, Vec<Problem>> {
    let documents = read_documents(file).map_err(|errors| errors.problems().cloned().collect::<Vec<_>>())?;
    let mut documents = documents.into_iter();
    let Some(document) = documents.next() else {
        return Ok(Some(Vec::new()));
    };
    if is_foreign(&document.source) {
        return Ok(None);
    }
    let mut problems = document.duplicates;
    problems.extend(FORMAT.problems(&document.source, KIND));
    if documents.next().is_some() {
        let message = "the project file is one document".to_owned();
        problems.push(problem(message, document.source.locate(&[])));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut reader = Reader {
        source: &document.source,
        directory: Path::new(&file.path).parent().unwrap_or(Path::new("")),
        command: without_environment(Arguments::command()),
        settings: Vec::new(),
        problems: Vec::new(),
    };
    reader.read();
    reader.check_together();
    match reader.problems.is_empty() {
        true => Ok(Some(reader.settings)),
        false => Err(reader.problems),
    }
}

/// Whether a document is of another program: its version has another group.
fn is_foreign(source: &ObjectSource) -> bool {
    let Some(entry) = source.tree().entry(source.root(), "apiVersion") else {
        return false;
    };
    let group = |version: &str| version.split('/').next().unwrap_or_default().to_owned();
    match &source.tree().get(entry.value).value {
        Value::String(version, _) => group(version) != group(API_VERSION),
        _ => false,
    }
}

struct Reader<'a> {
    source: &'a ObjectSource,
    directory: &'a Path,
    command: Command,
    settings: Vec<Setting>,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn read(&mut self) {
        let root = self.source.root();
        for name in COMMANDS {
            let Some(section) = self.entry(root, name) else {
                continue;
            };
            let Some(command) = self.command.find_subcommand(name).cloned() else {
                continue;
            };
            for argument in arguments(&command) {
                if let Some(entry) = self.entry(section.value, &field_name(argument)) {
                    self.add(name, argument, &entry);
                }
            }
        }
        for common in &COMMON {
            let Some(entry) = self.entry(root, common.name) else {
                continue;
            };
            for (name, id) in common.arguments {
                let command = self.command.find_subcommand(name).cloned();
                let mut all = command.iter().flat_map(Command::get_arguments);
                let Some(argument) = all.find(|argument| argument.get_id() == id) else {
                    continue;
                };
                // What the section of a command says takes precedence.
                let is_same = |setting: &Setting| setting.command == *name && setting.argument == *id;
                if !self.settings.iter().any(is_same) {
                    self.add(name, argument, &entry);
                }
            }
        }
    }

    fn entry(&self, id: NodeId, name: &str) -> Option<Entry> {
        let entry = self.source.tree().entry(id, name)?;
        let is_null = matches!(self.source.tree().get(entry.value).value, Value::Null);
        (!is_null).then(|| entry.clone())
    }

    /// Adds the value of an argument, if the command line would take it.
    fn add(&mut self, command: &'static str, argument: &Arg, entry: &Entry) {
        let location = self.source.document().location(entry.key_span);
        let is_path = is_path(argument);
        let mut values = Vec::new();
        for (text, id) in self.texts(entry.value) {
            match is_path {
                true => values.extend(self.path(command, &text, id)),
                false => values.push(text),
            }
        }
        let setting = Setting {
            command,
            argument: argument.get_id().to_string(),
            flag: argument
                .get_long()
                .map(|long| format!("--{long}"))
                .unwrap_or_default(),
            is_positional: argument.is_positional(),
            values: match is_switch(argument) {
                true => SettingValue::Switch(values.first().is_some_and(|value| value == "true")),
                false => SettingValue::Values(values),
            },
            location,
        };
        let wrong = self.refusal(&setting, |kind| {
            matches!(kind, ErrorKind::InvalidValue | ErrorKind::ValueValidation)
        });
        match wrong {
            Some(message) => self.add_problem(problem(message, setting.location)),
            None => self.settings.push(setting),
        }
    }

    /// The texts of a value: of a scalar, or of a list of them.
    fn texts(&self, id: NodeId) -> Vec<(String, NodeId)> {
        let tree = self.source.tree();
        let text = |id: NodeId| match &tree.get(id).value {
            Value::String(text, _) => Some(text.to_string()),
            Value::Number(text) => Some(text.to_string()),
            Value::Bool(value) => Some(value.to_string()),
            _ => None,
        };
        match &tree.get(id).value {
            Value::List(items) => items
                .iter()
                .filter_map(|item| Some((text(*item)?, *item)))
                .collect(),
            _ => text(id).map(|text| (text, id)).into_iter().collect(),
        }
    }

    /// A path relative to the working directory. The file may come with an unreviewed change, and what is wrong in files that it
    /// names is printed; so those are below its root, except for what a server is given.
    fn path(&mut self, command: &str, text: &str, id: NodeId) -> Option<String> {
        if text == STDIN {
            return Some(text.to_owned());
        }
        let path: PathBuf = self.directory.join(text);
        if command != "serve" && !Roots::default().permit(self.directory, &path) {
            let message = format!(
                "{}: it is not below the root of the repository, as files that a project file names have to be",
                path_text(&path)
            );
            let location = self.source.document().location(self.source.tree().get(id).span);
            self.add_problem(problem(message, location));
            return None;
        }
        Some(path_text(&path))
    }

    /// Adds a problem, once: a field can stand for arguments of several commands.
    fn add_problem(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// The error of the command line for a setting.
    fn refusal(&self, setting: &Setting, counts: impl Fn(ErrorKind) -> bool) -> Option<String> {
        let mut line = vec!["pratique".into(), setting.command.into()];
        if setting.is_positional {
            line.push("--".into());
        }
        line.extend(setting.arguments());
        refusal(&self.command, line, counts)
    }

    /// Checks that the settings of each command go together.
    fn check_together(&mut self) {
        for name in COMMANDS {
            let of_command = || self.settings.iter().filter(|setting| setting.command == name);
            let Some(first) = of_command().next() else {
                continue;
            };
            let mut line = vec!["pratique".into(), name.into()];
            for setting in of_command().filter(|setting| !setting.is_positional) {
                line.extend(setting.arguments());
            }
            let wrong = refusal(&self.command, line, |kind| kind == ErrorKind::ArgumentConflict);
            if let Some(message) = wrong {
                self.problems.push(problem(message, first.location.clone()));
            }
        }
    }
}

/// The command line alone: whether the file is valid does not depend on who reads it.
fn without_environment(command: Command) -> Command {
    command.mut_subcommands(|command| command.mut_args(|argument| argument.env(Resettable::Reset)))
}

/// The error of the command line for arguments, on one line.
fn refusal(
    command: &Command,
    line: Vec<std::ffi::OsString>,
    counts: impl Fn(ErrorKind) -> bool,
) -> Option<String> {
    let error = command.clone().try_get_matches_from(line).err()?;
    if !counts(error.kind()) {
        return None;
    }
    let text = error.render().to_string();
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    let text = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    Some(text.strip_prefix("error: ").unwrap_or(&text).to_owned())
}

/// Whether the values of an argument are paths.
fn is_path(argument: &Arg) -> bool {
    let names = argument.get_value_names().unwrap_or_default();
    names
        .iter()
        .any(|name| ["PATH", "DIR", "FILE", "INPUT"].contains(&name.as_str()))
}

fn problem(message: String, location: Location) -> Problem {
    Problem::new(Rule::InvalidField, message).at(location)
}
