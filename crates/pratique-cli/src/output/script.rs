//! Scripts for shells, which are made of the command line of this program alone: nothing untrusted is in them.

use clap::Command;
use clap_complete::Shell;

/// A script.
#[derive(Debug)]
pub(crate) struct Script(Vec<u8>);

impl Script {
    /// The script that completes a command.
    pub(crate) fn completions(mut command: Command, shell: Shell) -> Self {
        let name = command.get_name().to_owned();
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut command, name, &mut script);
        Script(script)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}
