//! Short help: `-h` shows the flags that a first user needs, with a sentence for each. `--help` has all of them, whole, and grouped.
//!
//! Environment variables are named after the flags, which docs/configuration.md says once: no help repeats them.

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// The flags that short help shows, besides those without which a command does nothing.
const FIRST: &[(&str, &[&str])] = &[
    (
        "check",
        &["paths", "output", "deny", "kubernetes_version", "cluster"],
    ),
    (
        "review",
        &[
            "inputs",
            "policies",
            "objects",
            "chain",
            "render",
            "old",
            "kubernetes_version",
            "cluster",
            "output",
            "all",
            "fail_on",
            "exceptions",
        ],
    ),
    (
        "replay",
        &[
            "logs", "policies", "objects", "remember", "output", "page", "all", "fail_on",
        ],
    ),
    (
        "impact",
        &[
            "inputs", "old", "new", "old_rev", "policies", "objects", "output", "page", "fail_on",
        ],
    ),
    (
        "upgrade",
        &[
            "inputs", "to", "policies", "cluster", "snapshot", "output", "page", "fail_on",
        ],
    ),
    (
        "scan",
        &[
            "inputs",
            "policies",
            "objects",
            "cluster",
            "snapshot",
            "output",
            "files",
            "fail_on",
            "exceptions",
            "baseline",
        ],
    ),
    (
        "serve",
        &[
            "policies",
            "manifests",
            "admission_control_config_file",
            "follow",
            "listen",
            "tls_cert_file",
            "tls_private_key_file",
        ],
    ),
    ("snapshot", &["directory", "kubeconfig", "context", "force"]),
    (
        "test",
        &[
            "paths", "filter", "coverage", "update", "watch", "init", "verbose", "output",
        ],
    ),
];

/// The longest sentence of short help, in characters: it ends with the last word that fits.
const MAX_SENTENCE: usize = 60;

/// A command whose short help is short.
pub(super) fn with_short_help(command: Command) -> Command {
    command.mut_args(without_variable).mut_subcommands(|command| {
        let first = FIRST.iter().find(|(name, _)| *name == command.get_name());
        let command = command.mut_args(without_variable);
        let Some((_, first)) = first else { return command };
        let name = command.get_name().to_owned();
        command
            .mut_args(|argument| shortened(argument, first))
            .after_help(format!("All flags, whole and grouped: pratique {name} --help"))
            .after_long_help("")
    })
}

/// An argument without its variable. What all commands have is for few first users.
fn without_variable(argument: Arg) -> Arg {
    let is_global = argument.is_global_set();
    argument.hide_env(true).hide_short_help(is_global)
}

/// An argument that short help leaves out, or tells in a sentence.
fn shortened(argument: Arg, first: &[&str]) -> Arg {
    if !first.contains(&argument.get_id().as_str()) {
        return argument.hide_short_help(true);
    }
    let whole = argument.get_long_help().or(argument.get_help());
    let Some(whole) = whole.map(StyledStr::to_string) else {
        return argument;
    };
    argument.help(sentence(&whole)).long_help(whole)
}

/// The first sentence of a text, as far as it fits.
fn sentence(text: &str) -> String {
    let end = text.find(". ").or_else(|| text.find(": ")).unwrap_or(text.len());
    let sentence = text.get(..end).unwrap_or(text).trim_end_matches('.');
    if sentence.chars().count() <= MAX_SENTENCE {
        return sentence.to_owned();
    }
    let head: String = sentence.chars().take(MAX_SENTENCE).collect();
    let whole_words = head.rsplit_once(' ').map_or(head.as_str(), |(words, _)| words);
    format!("{} …", whole_words.trim_end_matches([',', ';', ':']))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::arguments::ProgramArguments;
    use crate::arguments::headings::with_headings;

    /// The most lines that short help has.
    const MAX_LINES: usize = 40;

    #[test]
    fn short_help_is_short_and_long_help_is_whole() {
        let mut command = with_headings(with_short_help(ProgramArguments::command()));
        command.build();
        for name in FIRST.iter().map(|(name, _)| *name) {
            let Some(section) = command.find_subcommand_mut(name) else {
                continue;
            };
            let (short, long) = (
                section.render_help().to_string(),
                section.render_long_help().to_string(),
            );
            assert!(short.lines().count() <= MAX_LINES, "{short}");
            assert!(!short.contains("[env") && !long.contains("[env"), "{name}");
            assert!(short.contains(&format!("pratique {name} --help")), "{short}");
            for argument in section.get_arguments().filter(|argument| !argument.is_hide_set()) {
                if let Some(flag) = argument.get_long() {
                    assert!(long.contains(&format!("--{flag}")), "{name} {flag}");
                }
            }
        }
    }

    #[test]
    fn first_flags_are_those_of_commands() {
        let command = ProgramArguments::command();
        for (name, first) in FIRST {
            let Some(section) = command.find_subcommand(name) else {
                continue;
            };
            for id in *first {
                let is_there = section.get_arguments().any(|argument| argument.get_id() == id);
                // A client of clusters is a feature.
                let is_of_client = ["cluster", "kubeconfig", "context", "follow"].contains(id);
                assert!(is_there || is_of_client, "{name} {id}");
            }
        }
    }

    #[test]
    fn sentences_end_with_a_word() {
        assert_eq!(sentence("A file. It is read."), "A file");
        assert_eq!(
            sentence("Release of the server: 1.36, 1.37"),
            "Release of the server"
        );
        assert_eq!(sentence("A file."), "A file");
        let long = sentence(&"word, ".repeat(40));
        assert!(
            long.ends_with("word …") && long.chars().count() <= MAX_SENTENCE + 2,
            "{long}"
        );
    }
}
