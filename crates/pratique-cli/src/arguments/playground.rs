//! The command line of `pratique playground`.

use std::path::PathBuf;

use clap::Args;

use super::ListenAddress;

/// Serve the playground: a page that evaluates policies in the browser as one types.
///
/// The page and the engine, as WebAssembly, are static files; what is typed never leaves the browser. The program was
/// built with them inside, or is given the directory that `cargo xtask playground` makes. Standard output has the address.
#[derive(Debug, Args)]
pub(crate) struct PlaygroundArguments {
    /// The address to listen on; port 0 is any free one.
    #[arg(
        long,
        env = "PRATIQUE_PLAYGROUND_LISTEN",
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8480"
    )]
    pub(crate) listen: ListenAddress,
    /// The directory of a playground that was built, instead of the one in this program.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}
