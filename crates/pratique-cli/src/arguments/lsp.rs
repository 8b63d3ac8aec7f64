//! The command line of `pratique lsp`.

use clap::Args;

use super::GateArguments;

/// Serve an editor: the Language Server Protocol on standard input and output.
///
/// Problems and warnings are those of `pratique check` over the directory of each open file; within expressions there are
/// completion, types, definitions and renaming. docs/editors.md says how editors start it.
#[derive(Debug, Args)]
pub(crate) struct LspArguments {
    #[command(flatten)]
    pub(crate) gates: GateArguments,
}
