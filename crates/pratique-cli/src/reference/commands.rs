//! A page for each command, with all of its flags.

use std::collections::BTreeMap;

use clap::builder::{PossibleValue, StyledStr};
use clap::{Arg, ArgAction, Command, CommandFactory as _};

use super::markdown::{codes, escaped};
use crate::arguments::ProgramArguments;
use crate::project::shape;

/// The pages by their names, and one with what holds for all commands.
pub(super) fn pages() -> BTreeMap<String, String> {
    let mut program = ProgramArguments::command();
    program.build();
    let mut pages = BTreeMap::new();
    let mut list = format!("# Commands\n\n{}\n", paragraphs(about(&program)));
    for command in program
        .get_subcommands()
        .filter(|command| command.get_name() != "help")
    {
        let name = command.get_name();
        let first = command.get_about().map(ToString::to_string).unwrap_or_default();
        list += &format!("\n- [`pratique {name}`]({name}.md): {}", escaped(&first));
        pages.insert(format!("{name}.md"), page(command));
    }
    list += "\n\n## Flags of all commands\n\n";
    for argument in program.get_arguments().filter(|argument| !prints(argument)) {
        list += &entry(argument, None);
    }
    pages.insert("commands.md".to_owned(), list);
    pages
}

/// The page of a command, with those below it.
fn page(command: &Command) -> String {
    let mut text = format!("# `pratique {}`\n\n", command.get_name());
    describe(command, &mut text);
    let below = command
        .get_subcommands()
        .filter(|command| command.get_name() != "help");
    for command in below {
        text += &format!("\n## `{}`\n\n", command.get_bin_name().unwrap_or_default());
        describe(command, &mut text);
    }
    text
}

fn describe(command: &Command, text: &mut String) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    *text += &format!("{}\n\n```text\n{usage}\n```\n", paragraphs(about(command)));
    let section = shape::COMMANDS
        .contains(&command.get_name())
        .then(|| command.get_name());
    let arguments = arguments(command, section);
    if !arguments.is_empty() {
        *text += &format!("\n{arguments}");
    }
}

fn about(command: &Command) -> Option<&StyledStr> {
    command.get_long_about().or_else(|| command.get_about())
}

fn paragraphs(text: Option<&StyledStr>) -> String {
    escaped(&text.map(ToString::to_string).unwrap_or_default())
}

/// The arguments of a command itself: those of all commands are on a page of their own.
fn arguments(command: &Command, section: Option<&str>) -> String {
    let own_arguments = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set() && !prints(argument) && !argument.is_global_set());
    own_arguments.map(|argument| entry(argument, section)).collect()
}

/// Whether an argument prints something about the program instead.
fn prints(argument: &Arg) -> bool {
    matches!(
        argument.get_action(),
        ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
    )
}

/// An argument: how it is written, what it does, and where else it can be given.
fn entry(argument: &Arg, section: Option<&str>) -> String {
    let help = argument.get_long_help().or_else(|| argument.get_help());
    let help = paragraphs(help).replace("\n\n", "\n\n  ");
    let mut notes = Vec::new();
    let values = argument.get_possible_values();
    let values = values.iter().filter(|value| !value.is_hide_set());
    let values: Vec<String> = values.map(value).collect();
    if !values.is_empty() && !shape::is_switch(argument) {
        notes.push(format!("Values: {}.", values.join(", ")));
    }
    let defaults = argument
        .get_default_values()
        .iter()
        .filter_map(|value| value.to_str().filter(|value| !value.is_empty()));
    let defaults: Vec<&str> = defaults.collect();
    if !defaults.is_empty() && !shape::is_switch(argument) {
        notes.push(format!("Default: {}.", codes(defaults)));
    }
    if let Some(variable) = argument.get_env().and_then(|name| name.to_str()) {
        notes.push(format!("Environment: `{variable}`."));
    }
    if let Some(section) = section {
        notes.push(format!(
            "Project file: `{section}.{}`.",
            shape::field_name(argument)
        ));
    }
    let notes = match notes.as_slice() {
        [] => String::new(),
        notes => format!("\n\n  {}", notes.join(" ")),
    };
    format!("- **`{}`** {help}{notes}\n", written(argument))
}

/// A value, and what it stands for where that is said.
fn value(value: &PossibleValue) -> String {
    let name = value.get_name();
    match value.get_help() {
        Some(help) => format!("`{name}` ({})", escaped(&help.to_string())),
        None => format!("`{name}`"),
    }
}

/// An argument as it is written: `-o, --output <OUTPUT>`.
fn written(argument: &Arg) -> String {
    let names = [
        argument.get_short().map(|short| format!("-{short}")),
        argument.get_long().map(|long| format!("--{long}")),
    ];
    let names: Vec<String> = names.into_iter().flatten().collect();
    if names.is_empty() {
        argument.to_string()
    } else {
        // How the value is written stands behind the name.
        let whole = argument.to_string();
        let value = whole.find([' ', '[', '=']).map_or("", |at| whole.split_at(at).1);
        names.join(", ") + value
    }
}
