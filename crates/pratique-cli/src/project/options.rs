//! How the file is to be used: what the command line and the environment say of it before it completes them.

use std::ffi::OsString;

use super::IGNORED;
use super::trust::FileTrust;

/// The flag with which a file may do what the command line can.
pub(super) const TRUSTED: &str = "--trust-project-file";

/// The flag that names the revision from which the file is read.
pub(super) const REVISION: &str = "--project-file-from";

/// The environment variables of the flags.
const IGNORED_VARIABLE: &str = "PRATIQUE_NO_PROJECT_FILE";
const TRUSTED_VARIABLE: &str = "PRATIQUE_TRUST_PROJECT_FILE";
const REVISION_VARIABLE: &str = "PRATIQUE_PROJECT_FILE_FROM";

/// How the file is to be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProjectOptions {
    pub(super) is_ignored: bool,
    pub(super) trust: FileTrust,
    /// The revision that the file is read from, instead of the working tree.
    pub(super) revision: Option<String>,
}

impl ProjectOptions {
    /// Those of a command line and of the environment.
    pub(super) fn read(arguments: &[OsString]) -> Self {
        Self::new(arguments, |name| std::env::var(name).ok())
    }

    fn new(arguments: &[OsString], variable: impl Fn(&str) -> Option<String>) -> Self {
        let flags: Vec<&OsString> = arguments
            .iter()
            .take_while(|argument| *argument != "--")
            .collect();
        let is_set = |flag: &str, name: &str| {
            flags.iter().any(|argument| *argument == flag)
                || variable(name).is_some_and(|value| !is_false(&value))
        };
        let mut named = flags.iter().enumerate().filter_map(|(index, argument)| {
            let argument = argument.to_str()?;
            match argument.strip_prefix(REVISION)? {
                "" => flags.get(index + 1)?.to_str().map(str::to_owned),
                value => value.strip_prefix('=').map(str::to_owned),
            }
        });
        ProjectOptions {
            is_ignored: is_set(IGNORED, IGNORED_VARIABLE),
            trust: if is_set(TRUSTED, TRUSTED_VARIABLE) {
                FileTrust::Trusted
            } else {
                FileTrust::Untrusted
            },
            revision: named
                .next_back()
                .or_else(|| variable(REVISION_VARIABLE))
                .filter(|revision| !revision.is_empty()),
        }
    }
}

/// Whether a command line has nothing but flags about the file: all that the file names is run then.
pub(crate) fn names_no_command(arguments: &[OsString]) -> bool {
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let argument = argument.to_string_lossy();
        let takes_value = argument == REVISION;
        if !takes_value && argument != TRUSTED && !argument.starts_with(&format!("{REVISION}=")) {
            return false;
        }
        if takes_value && arguments.next().is_none() {
            return false;
        }
    }
    true
}

/// Whether a variable says that its flag is not set, as the command line reads it.
fn is_false(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    ["", "n", "no", "f", "false", "off", "0"].contains(&value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, variables: &[(&str, &str)], expected: (bool, bool, Option<&str>)) {
        let line: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let variable = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let options = ProjectOptions::new(&line, variable);
        let is_trusted = options.trust == FileTrust::Trusted;
        let found = (options.is_ignored, is_trusted, options.revision.as_deref());
        assert_eq!(found, expected, "{line:?} {variables:?}");
    }

    #[test]
    fn without_a_command_there_are_flags_about_the_file() {
        for (line, expected) in [
            ("", true),
            ("--trust-project-file", true),
            ("--project-file-from a", true),
            ("--project-file-from=a --trust-project-file", true),
            ("--project-file-from", false),
            ("--project-file-from check review", false),
            ("check", false),
            ("--no-project-file", false),
        ] {
            let line: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            assert_eq!(names_no_command(&line), expected, "{line:?}");
        }
    }

    #[test]
    fn flags_and_variables_are_read() {
        check("pratique check", &[], (false, false, None));
        check("pratique --trust-project-file check", &[], (false, true, None));
        check(
            "pratique check -- --trust-project-file",
            &[],
            (false, false, None),
        );
        check("pratique --no-project-file", &[], (true, false, None));
        check(
            "pratique check --project-file-from main",
            &[],
            (false, false, Some("main")),
        );
        check(
            "pratique --project-file-from=a",
            &[(REVISION_VARIABLE, "b")],
            (false, false, Some("a")),
        );
        check("pratique", &[(REVISION_VARIABLE, "b")], (false, false, Some("b")));
        check("pratique", &[(REVISION_VARIABLE, "")], (false, false, None));
        for (value, expected) in [
            ("true", true),
            ("1", true),
            ("0", false),
            ("No", false),
            ("", false),
        ] {
            check("pratique", &[(TRUSTED_VARIABLE, value)], (false, expected, None));
            check("pratique", &[(IGNORED_VARIABLE, value)], (expected, false, None));
        }
    }
}
