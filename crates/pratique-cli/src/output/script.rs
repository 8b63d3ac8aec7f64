//! Scripts that shells read. They are made of the command line of this program alone: nothing untrusted is in them.

use clap::Command;
use clap_complete::Shell;

/// A script.
#[derive(Debug)]
pub(crate) struct InlineScript(Vec<u8>);

impl InlineScript {
    /// The script that completes a command.
    pub(crate) fn completions(mut command: Command, shell: Shell) -> Self {
        let name = command.get_name().to_owned();
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut command, name, &mut script);
        InlineScript(script)
    }

    /// What a word may become, each with what it is, as programs report it to kubectl: a line each, and a number that says what a
    /// shell does besides. It completes file names where there is nothing else.
    pub(crate) fn candidates(candidates: &[(String, String)]) -> Self {
        const FILES: &str = ":0\n";
        const NO_FILES: &str = ":4\n";
        let mut lines = String::new();
        for (value, about) in candidates {
            // The first line, of which the rest is in the help.
            let about = about.lines().next().unwrap_or_default();
            lines.extend([value, "\t", about, "\n"]);
        }
        lines += if candidates.is_empty() { FILES } else { NO_FILES };
        InlineScript(lines.into_bytes())
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}
