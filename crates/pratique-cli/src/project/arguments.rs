//! Completes the command line with the settings of the project file.

use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use super::options::REVISION;
use super::{CommandSetting, LoadedProject};

/// Arguments that stand for each other, besides those that conflict: who names policies names all.
const ALTERNATIVES: [&[&str]; 1] = [&["admission_control_config_file", "manifests", "policies", "level"]];

/// Arguments of commands that supply what others name: a cluster has objects without inputs.
const SUPPLIERS: [(&str, &[&str], &str); 1] = [(
    "impact",
    &["cluster", "kubeconfig", "context", "snapshot"],
    "inputs",
)];

/// A command line with settings of the file.
pub(crate) struct CompletedLine<'p> {
    pub(crate) line: Vec<OsString>,
    /// The settings that became part of it.
    pub(crate) used: Vec<&'p CommandSetting>,
}

/// The command line with the settings of the file that neither it nor the environment supplies; `None` if there are none.
pub(crate) fn completed<'p>(
    command: &Command,
    line: &[OsString],
    project: &'p LoadedProject,
) -> Option<CompletedLine<'p>> {
    // Without what is required, which the file may say.
    let lenient = command
        .clone()
        .mut_subcommands(|command| command.mut_args(|argument| argument.required(false)));
    let matches = lenient.try_get_matches_from(line).ok()?;
    let (name, matches) = matches.subcommand()?;
    let of = command.find_subcommand(name)?;
    let supplied_arguments = supplied(of, matches);
    let mut flags = Vec::new();
    let mut positional = Vec::new();
    let mut used = Vec::new();
    for setting in project.of_command(name) {
        if supplied_arguments.contains(&setting.argument) || setting.is_off() {
            continue;
        }
        used.push(setting);
        if setting.is_positional {
            positional.extend(setting.arguments())
        } else {
            flags.extend(setting.arguments())
        }
    }
    if flags.is_empty() && positional.is_empty() {
        return None;
    }
    let at = position(line, name)? + 1;
    let (words_up_to_command, after) = line.split_at_checked(at)?;
    let mut all = words_up_to_command.to_vec();
    all.extend(flags);
    all.extend(after.iter().cloned());
    if !positional.is_empty() {
        if !after.iter().any(|argument| argument == "--") {
            all.push("--".into());
        }
        all.extend(positional);
    }
    Some(CompletedLine { line: all, used })
}

/// Where a command line names its command. A revision can have the name of one.
fn position(line: &[OsString], name: &str) -> Option<usize> {
    let is_value = |index: usize| {
        let previous_argument = index
            .checked_sub(1)
            .and_then(|previous_index| line.get(previous_index));
        previous_argument.is_some_and(|argument| argument == REVISION)
    };
    let mut named = line.iter().enumerate();
    let (index, _) = named.find(|(index, argument)| *argument == name && !is_value(*index))?;
    Some(index)
}

/// The arguments that the user or the environment supplies, and those that they exclude.
fn supplied(command: &Command, matches: &ArgMatches) -> BTreeSet<String> {
    let is_supplied = |argument: &&Arg| {
        let source = matches.value_source(argument.get_id().as_str());
        matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable))
    };
    let mut argument_ids = BTreeSet::new();
    for argument in command.get_arguments().filter(is_supplied) {
        let id = argument.get_id().to_string();
        let conflicts = command.get_arg_conflicts_with(argument);
        argument_ids.extend(conflicts.into_iter().map(|other| other.get_id().to_string()));
        for alternatives in ALTERNATIVES {
            if alternatives.contains(&id.as_str()) {
                argument_ids.extend(alternatives.iter().map(|other| (*other).to_owned()));
            }
        }
        for (name, suppliers, other) in SUPPLIERS {
            if command.get_name() == name && suppliers.contains(&id.as_str()) {
                argument_ids.insert(other.to_owned());
            }
        }
        argument_ids.insert(id);
    }
    argument_ids
}
