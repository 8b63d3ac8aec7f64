//! The fields of the file, made of the arguments of the commands: each argument has one.

use std::any::TypeId;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, ValueRange};
use clap::{Arg, ArgAction, Command, CommandFactory as _};
use pratique_manifest::FileSchema;
use pratique_state::API_VERSION;
use serde_json::{Map, Value, json};

use super::KIND;
use crate::acceptance::exception_file;
use crate::arguments::{OUTPUT_VALUE, ProgramArguments};

/// The commands that have a section in the file.
pub(crate) const COMMANDS: [&str; 10] = [
    "check", "review", "replay", "impact", "upgrade", "scan", "test", "serve", "snapshot", "lsp",
];

/// The field of exceptions, which are those of the commands that take a file of them.
pub(crate) const EXCEPTIONS: &str = "exceptions";

/// A field next to the sections, which stands for arguments of several commands.
pub(crate) struct CommonField {
    pub(crate) name: &'static str,
    about: &'static str,
    /// The commands, and the ids of their arguments.
    pub(crate) arguments: &'static [(&'static str, &'static str)],
}

/// The fields that stand for arguments of several commands.
pub(crate) const COMMON: [CommonField; 9] = [
    CommonField {
        name: "policies",
        about: "Files and directories of policies, bindings and webhook configurations: `check` checks them, `review`, `scan`, \
                `replay` and `upgrade` evaluate them, and `impact` compares revisions of them.",
        arguments: &[
            ("check", "paths"),
            ("review", "policies"),
            ("scan", "policies"),
            ("replay", "policies"),
            ("upgrade", "policies"),
            ("impact", "policies"),
        ],
    },
    CommonField {
        name: "inputs",
        about: "Files and directories of objects that `review` reviews, and for which `impact` compares policies, such as rendered charts.",
        arguments: &[("review", "inputs"), ("impact", "inputs")],
    },
    CommonField {
        name: "objects",
        about: "Files and directories of objects of the cluster: namespaces, params, roles.",
        arguments: &[
            ("review", "objects"),
            ("scan", "objects"),
            ("replay", "objects"),
            ("impact", "objects"),
            ("upgrade", "objects"),
        ],
    },
    CommonField {
        name: "suites",
        about: "Files of suites that `test` runs, or directories of them.",
        arguments: &[("test", "paths")],
    },
    CommonField {
        name: "exclude",
        about: "Files and directories that no command reads: names at any depth, or paths from the directory of the file, as in a \
                `.gitignore`.",
        arguments: &[
            ("check", "exclude"),
            ("review", "exclude"),
            ("scan", "exclude"),
            ("replay", "exclude"),
            ("impact", "exclude"),
            ("upgrade", "exclude"),
            ("test", "exclude"),
            ("serve", "exclude"),
        ],
    },
    CommonField {
        name: "kubernetesVersion",
        about: "Release of Kubernetes that the server is of.",
        arguments: &[
            ("check", "kubernetes_version"),
            ("review", "kubernetes_version"),
            ("scan", "kubernetes_version"),
            ("replay", "kubernetes_version"),
            ("impact", "kubernetes_version"),
            ("upgrade", "kubernetes_version"),
            ("test", "kubernetes_version"),
            ("serve", "kubernetes_version"),
            ("snapshot", "kubernetes_version"),
            ("lsp", "kubernetes_version"),
        ],
    },
    CommonField {
        name: "allow",
        about: "Warnings that are not reported.",
        arguments: &[("check", "allow"), ("test", "allow")],
    },
    CommonField {
        name: "warn",
        about: "Warnings that are reported on request only.",
        arguments: &[("check", "warn"), ("test", "warn")],
    },
    CommonField {
        name: "deny",
        about: "Warnings that fail the commands; `warnings` stands for all.",
        arguments: &[("check", "deny"), ("test", "deny")],
    },
];

/// The JSON Schema of the file.
pub(crate) static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let command = ProgramArguments::command();
    let sections: Vec<&Command> = COMMANDS
        .iter()
        .filter_map(|name| command.find_subcommand(name))
        .collect();
    let mut definitions: Map<String, Value> = sections.iter().map(|section| definition(section)).collect();
    let mut fields = Map::new();
    for (name, about, only) in [
        ("apiVersion", "The version of this format.", API_VERSION),
        ("kind", "The kind of this format.", KIND),
    ] {
        fields.insert(
            name.to_owned(),
            described(json!({ "type": "string", "enum": [only] }), about),
        );
    }
    fields.extend(COMMON.iter().map(|common| {
        (
            common.name.to_owned(),
            described(common_shape(&command, common), common.about),
        )
    }));
    fields.insert(EXCEPTIONS.to_owned(), exception_file::list_schema());
    fields.extend(sections.iter().map(|section| {
        let reference = format!("#/definitions/{}", capitalized(section.get_name()));
        // Siblings of `$ref` are ignored.
        let schema = json!({ "allOf": [{ "$ref": reference }] });
        (
            section.get_name().to_owned(),
            described(schema, &about(section.get_about())),
        )
    }));
    let about = "What the commands of pratique are given in a repository. Paths are relative to the directory of the file; flags \
                 and environment variables take precedence.";
    let mut file = structure(about, fields);
    file.insert("required".to_owned(), json!(["apiVersion", "kind"]));
    definitions.insert(KIND.to_owned(), file.into());
    let of_exceptions = exception_file::definitions().into_iter();
    definitions.extend(of_exceptions.map(|(name, definition)| (name.to_owned(), definition)));
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Pratique project file",
        "$ref": format!("#/definitions/{KIND}"),
        "definitions": definitions,
    })
});

/// The format of the file.
pub(crate) static FORMAT: LazyLock<FileSchema> = LazyLock::new(|| FileSchema::new(&SCHEMA));

/// The section of a command: a field for each of its arguments.
fn definition(command: &Command) -> (String, Value) {
    let fields = arguments(command).map(|argument| {
        (
            field_name(argument),
            described(shape(argument), &about(argument.get_help())),
        )
    });
    let name = command.get_name();
    let about = format!("The arguments of `pratique {name}`.");
    (capitalized(name), structure(&about, fields.collect()).into())
}

fn structure(about: &str, fields: Map<String, Value>) -> Map<String, Value> {
    let schema = [
        ("type", "object".into()),
        ("description", about.into()),
        ("additionalProperties", false.into()),
        ("properties", fields.into()),
    ];
    schema
        .map(|(key, value)| (key.to_owned(), value))
        .into_iter()
        .collect()
}

fn described(mut schema: Value, about: &str) -> Value {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".to_owned(), about.into());
    }
    schema
}

/// Texts, as the command line takes them: a number or a boolean is one.
fn scalars() -> Value {
    json!({ "type": "array", "items": scalar() })
}

fn scalar() -> Value {
    json!({ "type": ["string", "number", "boolean"] })
}

/// The arguments of a command that have a field: all but those that print something instead.
pub(crate) fn arguments(command: &Command) -> impl Iterator<Item = &Arg> {
    let prints = |argument: &&Arg| {
        matches!(
            argument.get_action(),
            ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
        )
    };
    let is_global = |argument: &&Arg| argument.is_global_set();
    command
        .get_arguments()
        .filter(move |argument| !prints(argument) && !is_global(argument))
}

/// The name of an argument in the file: `--fail-on` is `failOn`.
pub(crate) fn field_name(argument: &Arg) -> String {
    let name = argument.get_long().unwrap_or(argument.get_id().as_str());
    let mut words = name.split(['-', '_']);
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &capitalized(word))
}

/// Whether an argument is a switch, without a value.
pub(crate) fn is_switch(argument: &Arg) -> bool {
    matches!(argument.get_action(), ArgAction::SetTrue | ArgAction::SetFalse)
}

/// Whether the values of an argument are paths.
pub(crate) fn is_path(argument: &Arg) -> bool {
    argument.get_value_parser().type_id() == TypeId::of::<PathBuf>()
        || names(argument)
            .iter()
            .any(|name| ["PATH", "DIR", "FILE", "INPUT"].contains(name))
}

/// Whether the values of an argument are outputs, which may name files.
pub(crate) fn is_output(argument: &Arg) -> bool {
    names(argument).contains(&OUTPUT_VALUE)
}

/// Whether the values of an argument are patterns of paths.
pub(crate) fn is_pattern(argument: &Arg) -> bool {
    names(argument).contains(&"GLOB")
}

/// What the values of an argument are called.
fn names(argument: &Arg) -> Vec<&str> {
    let names = argument.get_value_names().unwrap_or_default();
    names.iter().map(|name| name.as_str()).collect()
}

/// The shape of a field that stands for arguments of several commands, which have the same.
fn common_shape(command: &Command, common: &CommonField) -> Value {
    let argument = common.arguments.first().and_then(|(name, id)| {
        let section = command.find_subcommand(name)?;
        section.get_arguments().find(|argument| argument.get_id() == id)
    });
    argument.map_or_else(scalars, shape)
}

fn shape(argument: &Arg) -> Value {
    if is_switch(argument) {
        return json!({ "type": "boolean" });
    }
    let several = argument.get_value_delimiter().is_some()
        || matches!(argument.get_action(), ArgAction::Append)
        || argument
            .get_num_args()
            .is_some_and(|count: ValueRange| count.max_values() > 1);
    if several && is_output(argument) {
        // One output is a text, as it is of commands that have no other.
        return json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] });
    }
    if several {
        return scalars();
    }
    let possible = argument.get_possible_values();
    let names: Vec<&str> = possible.iter().map(PossibleValue::get_name).collect();
    let named = json!({ "type": "string", "enum": names });
    match names.as_slice() {
        [] => scalar(),
        // YAML has booleans of these names.
        ["on", "off"] | ["auto", "on", "off"] => json!({ "anyOf": [named, { "type": "boolean" }] }),
        _ => named,
    }
}

fn about(help: Option<&clap::builder::StyledStr>) -> String {
    help.map(ToString::to_string).unwrap_or_default()
}

fn capitalized(word: &str) -> String {
    let mut characters = word.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_flag_has_its_place() {
        let command = ProgramArguments::command();
        let section = |name: &str| &SCHEMA["definitions"][capitalized(name)]["properties"];
        for subcommand in command.get_subcommands() {
            // What prints help, what makes the file, what people look at, and what works on reports has no fields in the file.
            let alone = ["help", "init", "playground", "completions", "man", "report"];
            if alone.contains(&subcommand.get_name()) {
                continue;
            }
            let fields = section(subcommand.get_name());
            for argument in subcommand.get_arguments() {
                let name = argument.get_long().unwrap_or(argument.get_id().as_str());
                if ["help", "version"].contains(&name) {
                    continue;
                }
                let mut camel = String::new();
                for word in name.split('-') {
                    let (first, rest) = word.split_at(1);
                    camel += &if camel.is_empty() {
                        word.to_owned()
                    } else {
                        first.to_uppercase() + rest
                    };
                }
                assert!(fields.get(&camel).is_some(), "{} {name}", subcommand.get_name());
            }
        }
    }

    #[test]
    fn common_fields_are_those_of_commands() {
        let command = ProgramArguments::command();
        for common in COMMON {
            for (name, id) in common.arguments {
                let of = command.find_subcommand(name).unwrap();
                assert!(
                    of.get_arguments().any(|argument| argument.get_id() == id),
                    "{name} {id}"
                );
            }
        }
    }

    #[cfg(feature = "kube")]
    #[test]
    fn the_published_schema_is_that_of_the_commands() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pratique.schema.json");
        let text = serde_json::to_string_pretty(&*SCHEMA).unwrap() + "\n";
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let published = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            published == text,
            "docs/pratique.schema.json is not that of the commands"
        );
    }
}
