//! The fields of the file, made of the arguments of the commands: each argument has one.

use std::sync::LazyLock;

use clap::builder::ValueRange;
use clap::{Arg, ArgAction, Command, CommandFactory as _};
use pratique_suite::API_VERSION;
use pratique_suite::shape::{Field, Shape, Struct};

use super::KIND;
use crate::arguments::Arguments;

/// The commands that have a section in the file.
pub(crate) const COMMANDS: [&str; 8] = [
    "check", "review", "replay", "impact", "scan", "test", "serve", "snapshot",
];

/// A field beside the sections, which stands for arguments of several commands.
pub(crate) struct Common {
    pub(crate) name: &'static str,
    about: &'static str,
    /// The commands, and the ids of their arguments.
    pub(crate) arguments: &'static [(&'static str, &'static str)],
}

/// What is commonly said.
pub(crate) const COMMON: [Common; 7] = [
    Common {
        name: "policies",
        about: "Files and directories of policies, bindings and webhook configurations: `check` checks them, `review`, `scan` \
                and `replay` evaluate them.",
        arguments: &[
            ("check", "paths"),
            ("review", "policies"),
            ("scan", "policies"),
            ("replay", "policies"),
        ],
    },
    Common {
        name: "inputs",
        about: "Files and directories of objects that `review` reviews, such as rendered charts.",
        arguments: &[("review", "inputs")],
    },
    Common {
        name: "objects",
        about: "Files and directories of objects of the cluster: namespaces, params, roles.",
        arguments: &[
            ("review", "objects"),
            ("scan", "objects"),
            ("replay", "objects"),
            ("impact", "objects"),
        ],
    },
    Common {
        name: "suites",
        about: "Files of suites that `test` runs, or directories of them.",
        arguments: &[("test", "paths")],
    },
    Common {
        name: "allow",
        about: "Warnings that are not reported.",
        arguments: &[("check", "allow"), ("test", "allow")],
    },
    Common {
        name: "warn",
        about: "Warnings that are reported on request only.",
        arguments: &[("check", "warn"), ("test", "warn")],
    },
    Common {
        name: "deny",
        about: "Warnings that fail the commands; `warnings` stands for all.",
        arguments: &[("check", "deny"), ("test", "deny")],
    },
];

const TEXTS: Shape = Shape::List(&Shape::Scalar);

/// The shape of the file. It is made once, and lives as long as the process.
pub(crate) static PROJECT: LazyLock<&'static Struct> = LazyLock::new(|| {
    let command = Arguments::command();
    let mut fields = vec![
        Field {
            name: "apiVersion",
            about: "The version of this format.",
            shape: Shape::OneOf(&[API_VERSION]),
            required: true,
        },
        Field {
            name: "kind",
            about: "The kind of this format.",
            shape: Shape::OneOf(&[KIND]),
            required: true,
        },
    ];
    fields.extend(COMMON.iter().map(|common| Field {
        name: common.name,
        about: common.about,
        shape: TEXTS,
        required: false,
    }));
    let sections = COMMANDS.iter().filter_map(|name| command.find_subcommand(name));
    fields.extend(sections.map(|section| Field {
        name: leak(section.get_name().to_owned()),
        about: leak(about(section.get_about())),
        shape: Shape::Struct(leaked(section_of(section))),
        required: false,
    }));
    leaked(Struct {
        name: KIND,
        about: "What the commands of pratique are given in a repository. Paths are relative to the directory of the file; flags \
                and environment variables take precedence.",
        fields: Vec::leak(fields),
    })
});

/// The section of a command: a field for each of its arguments.
fn section_of(command: &Command) -> Struct {
    let fields: Vec<Field> = arguments(command)
        .map(|argument| Field {
            name: leak(field_name(argument)),
            about: leak(about(argument.get_help())),
            shape: shape(argument),
            required: false,
        })
        .collect();
    let name = command.get_name();
    Struct {
        name: leak(capitalized(name)),
        about: leak(format!("The arguments of `pratique {name}`.")),
        fields: Vec::leak(fields),
    }
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

fn shape(argument: &Arg) -> Shape {
    if is_switch(argument) {
        return Shape::Bool;
    }
    let several = argument.get_value_delimiter().is_some()
        || matches!(argument.get_action(), ArgAction::Append)
        || argument
            .get_num_args()
            .is_some_and(|count: ValueRange| count.max_values() > 1);
    if several {
        return TEXTS;
    }
    let possible = argument.get_possible_values();
    match possible.is_empty() {
        true => Shape::Scalar,
        false => {
            let names = possible.iter().map(|value| leak(value.get_name().to_owned()));
            let names: Vec<&'static str> = names.collect();
            // YAML has booleans of these names.
            match names.as_slice() {
                ["on", "off"] => Shape::OneOfOr(Vec::leak(names), &Shape::Bool),
                _ => Shape::OneOf(Vec::leak(names)),
            }
        }
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

fn leak(text: String) -> &'static str {
    text.leak()
}

fn leaked(of: Struct) -> &'static Struct {
    Box::leak(Box::new(of))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_flag_has_its_place() {
        let command = Arguments::command();
        let section = |name: &str| {
            let field = PROJECT.fields.iter().find(|field| field.name == name).unwrap();
            match field.shape {
                Shape::Struct(of) => of,
                _ => panic!("{name} is no section"),
            }
        };
        for subcommand in command.get_subcommands() {
            // What prints help, what makes the file, what people look at, and what works on reports is not told by the file.
            let alone = [
                "help",
                "init",
                "lsp",
                "playground",
                "completions",
                "man",
                "report",
            ];
            if alone.contains(&subcommand.get_name()) {
                continue;
            }
            let fields: Vec<&str> = section(subcommand.get_name())
                .fields
                .iter()
                .map(|field| field.name)
                .collect();
            for argument in subcommand.get_arguments() {
                let name = argument.get_long().unwrap_or(argument.get_id().as_str());
                if ["help", "version"].contains(&name) {
                    continue;
                }
                let mut camel = String::new();
                for word in name.split('-') {
                    let (first, rest) = word.split_at(1);
                    camel += &match camel.is_empty() {
                        true => word.to_owned(),
                        false => first.to_uppercase() + rest,
                    };
                }
                assert!(
                    fields.contains(&camel.as_str()),
                    "{} {name}",
                    subcommand.get_name()
                );
            }
        }
    }

    #[test]
    fn common_fields_are_those_of_commands() {
        let command = Arguments::command();
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
        let schema = pratique_suite::schema_of("Pratique project file", &PROJECT);
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
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
