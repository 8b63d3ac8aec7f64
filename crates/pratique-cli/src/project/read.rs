//! Reads the file strictly: its shape, the values as the command line takes them, and the paths.

use std::path::{Component, Path, PathBuf};

use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::{Arg, Command, CommandFactory as _};
use pratique_manifest::PathBoundary;
use pratique_manifest::{
    Entry, Location, ManifestFile, NodeId, ObjectSource, Problem, Rule, TreeValue, path_text, read_documents,
};
use pratique_s3::StoreLocation;
use pratique_state::API_VERSION;

use super::KIND;
use super::boundary::OutsideError;
use super::setting::{CommandSetting, SettingValue};
use super::shape::{
    COMMANDS, COMMON, EXCEPTIONS, FORMAT, arguments, field_name, is_output, is_path, is_pattern, is_switch,
};
use super::trust::{FileTrust, TrustClass, class_of};
use crate::arguments::ProgramArguments;
use crate::input::{STDIN, pattern_from};

/// The settings of a file in a directory; `None` if it is another program's.
///
/// # Errors
/// All problems, with their places.
pub(super) fn settings(
    file: &ManifestFile,
    directory: &Path,
    trust: FileTrust,
) -> Result<Option<Vec<CommandSetting>>, Vec<Problem>> {
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
    let mut reader = ProjectReader {
        source: &document.source,
        directory,
        boundary: PathBoundary::new(directory).ok(),
        trust,
        command: without_environment(ProgramArguments::command()),
        settings: Vec::new(),
        problems: Vec::new(),
    };
    reader.read();
    reader.add_exceptions();
    reader.check_together();
    if reader.problems.is_empty() {
        Ok(Some(reader.settings))
    } else {
        Err(reader.problems)
    }
}

/// Whether a document is of another program: its version has another group.
fn is_foreign(source: &ObjectSource) -> bool {
    let Some(entry) = source.tree().entry(source.root(), "apiVersion") else {
        return false;
    };
    let group = |version: &str| version.split('/').next().unwrap_or_default().to_owned();
    match &source.tree().get(entry.value).value {
        TreeValue::String(version, _) => group(version) != group(API_VERSION),
        _ => false,
    }
}

struct ProjectReader<'a> {
    source: &'a ObjectSource,
    directory: &'a Path,
    /// What paths have to be below; `None` if there is no such directory, and so nothing in it.
    boundary: Option<PathBoundary>,
    trust: FileTrust,
    command: Command,
    settings: Vec<CommandSetting>,
    problems: Vec<Problem>,
}

impl ProjectReader<'_> {
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
                let field = field_name(argument);
                if let Some(entry) = self.entry(section.value, &field) {
                    self.add(name, argument, format!("{name}.{field}"), &entry);
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
                let is_same = |setting: &CommandSetting| setting.command == *name && setting.argument == *id;
                if !self.settings.iter().any(is_same) {
                    self.add(name, argument, common.name.to_owned(), &entry);
                }
            }
        }
    }

    /// Exceptions are no values of an argument: those commands that take a file of them take this one.
    fn add_exceptions(&mut self) {
        let Some(entry) = self.entry(self.source.root(), EXCEPTIONS) else {
            return;
        };
        let location = self.source.document().location(entry.key_span);
        for command in COMMANDS {
            let section = self.command.find_subcommand(command);
            let mut arguments = section.into_iter().flat_map(Command::get_arguments);
            if !arguments.any(|argument| argument.get_id() == EXCEPTIONS) {
                continue;
            }
            let is_same =
                |setting: &CommandSetting| setting.command == command && setting.argument == EXCEPTIONS;
            if self.settings.iter().any(is_same) {
                continue;
            }
            self.settings.push(CommandSetting {
                command,
                argument: EXCEPTIONS.to_owned(),
                field: EXCEPTIONS.to_owned(),
                flag: format!("--{EXCEPTIONS}"),
                is_positional: false,
                is_path: false,
                values: SettingValue::Values(vec![location.file.to_string()]),
                location: location.clone(),
            });
        }
    }

    fn entry(&self, id: NodeId, name: &str) -> Option<Entry> {
        let entry = self.source.tree().entry(id, name)?;
        let is_null = matches!(self.source.tree().get(entry.value).value, TreeValue::Null);
        (!is_null).then(|| entry.clone())
    }

    /// Adds the value of an argument, if the command line would take it.
    fn add(&mut self, command: &'static str, argument: &Arg, field: String, entry: &Entry) {
        let location = self.source.document().location(entry.key_span);
        let is_path = is_path(argument);
        // Such a field is refused where it would be used, which is what its author has to know of it.
        let is_refused = self.trust == FileTrust::Untrusted
            && class_of(command, &field_name(argument)) == Some(TrustClass::ReachesOut);
        let mut values = Vec::new();
        for (text, id) in self.texts(entry.value) {
            // The command line would split it later, when nothing is checked any more.
            for part in parts(&text, argument) {
                if is_path && !is_refused {
                    values.extend(self.path(command, part, id));
                } else if let (true, Some((format, file))) = (is_output(argument), part.split_once('=')) {
                    // Who may write it is known by its class.
                    let file = path_text(&self.directory.join(file));
                    values.push(format!("{format}={file}"));
                } else if is_pattern(argument) {
                    values.push(pattern_from(self.directory, part));
                } else {
                    values.push(part.to_owned());
                }
            }
        }
        let setting = CommandSetting {
            command,
            argument: argument.get_id().to_string(),
            field,
            flag: argument
                .get_long()
                .map(|long| format!("--{long}"))
                .unwrap_or_default(),
            is_positional: argument.is_positional(),
            is_path,
            values: if is_switch(argument) {
                SettingValue::Switch(values.first().is_some_and(|value| value == "true"))
            } else {
                SettingValue::Values(values)
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
            TreeValue::String(text, _) => Some(text.to_string()),
            TreeValue::Number(text) => Some(text.to_string()),
            TreeValue::Bool(value) => Some(value.to_string()),
            _ => None,
        };
        match &tree.get(id).value {
            TreeValue::List(items) => items
                .iter()
                .filter_map(|item| Some((text(*item)?, *item)))
                .collect(),
            _ => text(id).map(|text| (text, id)).into_iter().collect(),
        }
    }

    /// A path relative to the working directory. The file may come with an unreviewed change, and what is wrong in files that it
    /// names is printed; so those are below its directory, except for what a server is given by a file that is trusted.
    fn path(&mut self, command: &str, text: &str, id: NodeId) -> Option<String> {
        if text == STDIN {
            return Some(text.to_owned());
        }
        let path: PathBuf = self.directory.join(text);
        let is_trusted = self.trust == FileTrust::Trusted;
        // Objects of stores have no directory; those who write them are known by the class of their field.
        if is_trusted && (command == "serve" || StoreLocation::is_meant(text)) {
            return Some(path_text(&path));
        }
        let is_below = goes_down(text)
            && !StoreLocation::is_meant(text)
            && self
                .boundary
                .as_ref()
                .is_some_and(|boundary| boundary.holds(&path));
        if !is_below {
            let why = self
                .boundary
                .as_ref()
                .map(|boundary| OutsideError::new(boundary).to_string());
            let why = why.unwrap_or_else(|| "the project file has no directory".to_owned());
            let display_path = path_text(Path::new(text));
            let location = self.source.document().location(self.source.tree().get(id).span);
            self.add_problem(problem(format!("{display_path}: {why}"), location));
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
    fn refusal(&self, setting: &CommandSetting, counts: impl Fn(ErrorKind) -> bool) -> Option<String> {
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

/// The values in a text, as the command line splits it.
fn parts<'t>(text: &'t str, argument: &Arg) -> impl Iterator<Item = &'t str> {
    let delimiter = argument.get_value_delimiter();
    text.split(move |character| Some(character) == delimiter)
}

/// Whether a path goes down only: neither up nor from the root, nor nowhere.
fn goes_down(text: &str) -> bool {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    !text.is_empty() && Path::new(text).components().all(is_plain)
}

fn problem(message: String, location: Location) -> Problem {
    Problem::new(Rule::InvalidField, message).at(location)
}
