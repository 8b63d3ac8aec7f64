//! The program as a plugin of kubectl, which runs programs by their names: `kubectl-pratique` is `kubectl pratique`, and
//! `kubectl_complete-pratique` completes its words.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Command, ValueHint};
use clap_complete::engine::complete;

use crate::exit::CliError;
use crate::output::{self, script::InlineScript};

/// The name of the plugin.
const PLUGIN: &str = "kubectl-pratique";
/// The name under which kubectl asks for completions.
const COMPLETION: &str = "kubectl_complete-pratique";
/// The command as people type it.
const TYPED: &str = "kubectl pratique";

/// Whether the program was started under a name, `.exe` or not.
fn is_called(program: Option<&OsString>, name: &str) -> bool {
    let called = program.and_then(|program| Path::new(program).file_stem());
    called == Some(OsStr::new(name))
}

/// The command as it was typed: usages and examples of help begin with it.
pub(crate) fn as_typed(command: Command) -> Command {
    if is_called(std::env::args_os().next().as_ref(), PLUGIN) {
        command.bin_name(TYPED)
    } else {
        command
    }
}

/// The words that are to be completed, if that is what the program was started for. The last may be empty.
pub(crate) fn words_to_complete() -> Option<Vec<OsString>> {
    let mut arguments = std::env::args_os();
    is_called(arguments.next().as_ref(), COMPLETION).then(|| arguments.collect())
}

/// Prints what the last word may become, a line each, as kubectl reads it.
pub(crate) fn run(command: Command, words: Vec<OsString>) -> Result<(), CliError> {
    output::print_script(&InlineScript::candidates(&candidates(command, words)))
}

/// The candidates for the last word, each with its description.
fn candidates(command: Command, words: Vec<OsString>) -> Vec<(String, String)> {
    let asks_for_flags = words
        .last()
        .is_some_and(|word| word.as_encoded_bytes().starts_with(b"-"));
    let last = words.len();
    let line = [OsString::from(TYPED)].into_iter().chain(words).collect();
    // Where nothing fits there are no candidates.
    let completions = complete(&mut without_files(command), line, last, None).unwrap_or_default();
    completions
        .into_iter()
        .filter_map(|candidate| {
            let value = candidate.get_value().to_str()?.to_owned();
            let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
            (asks_for_flags || !value.starts_with('-')).then_some((value, help))
        })
        .collect()
}

/// The command without completion of file names: shells do that where there are no candidates.
fn without_files(command: Command) -> Command {
    command
        .mut_args(|argument| {
            if argument.get_action().takes_values() {
                argument.value_hint(ValueHint::Other)
            } else {
                argument
            }
        })
        .mut_subcommands(without_files)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::arguments::ProgramArguments;

    fn completed(line: &str) -> Vec<String> {
        let words = line.split(' ').map(OsString::from).collect();
        let found = candidates(ProgramArguments::command(), words);
        found.into_iter().map(|(value, _)| value).collect()
    }

    #[test]
    fn words_are_completed() {
        assert_eq!(completed("chec"), ["check"]);
        assert_eq!(completed("check --output sar"), ["sarif"]);
        assert_eq!(completed("check --output=sar"), ["--output=sarif"]);
        assert!(completed("check --out").contains(&"--output".to_owned()));
        assert!(completed("report ").contains(&"merge".to_owned()));
        // Files, which are there: the shell completes them.
        assert_eq!(completed("check "), [""; 0]);
        assert_eq!(completed("check Cargo"), [""; 0]);
    }

    #[test]
    fn program_names_are_recognized() {
        let called = |program: &str| {
            let program = Some(OsString::from(program));
            [PLUGIN, COMPLETION].map(|name| is_called(program.as_ref(), name))
        };
        assert_eq!(called("/usr/bin/pratique"), [false, false]);
        assert_eq!(called("/usr/bin/kubectl-pratique"), [true, false]);
        assert_eq!(called("kubectl-pratique.exe"), [true, false]);
        assert_eq!(called("./kubectl_complete-pratique"), [false, true]);
        assert!(!is_called(None, PLUGIN));
    }
}
