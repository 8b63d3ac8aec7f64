//! The command line of `pratique init`.

use std::path::PathBuf;

use clap::Args;

/// Write a first project file, pratique.yaml, from the policies, suites, objects and params that there are in a directory.
///
/// With that file, `pratique` without arguments checks, reviews and tests what it names. A file that is there already is left
/// as it is: docs/configuration.md describes it.
#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// The directory: the top of a repository.
    #[arg(default_value = ".", value_name = "DIR")]
    pub(crate) directory: PathBuf,
}
