//! The command line of `pratique completions`.

use clap::Args;
use clap_complete::Shell;

/// Print a script that completes commands, flags and their values in a shell.
///
/// bash: pratique completions bash > /etc/bash_completion.d/pratique; zsh: a file _pratique in a directory of $fpath; fish: a file
/// pratique.fish in ~/.config/fish/completions. For `kubectl pratique`, a link kubectl_complete-pratique to this program on the path is
/// all that kubectl's own completions need.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}
