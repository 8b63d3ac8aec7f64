//! `cargo xtask release`: writes what package managers read of a release, from its checksums.

mod archive;
mod formula;
mod krew;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use pratique_harness::ToolError;

pub use archive::{ArchiveTarget, ReleaseArchive, TARGETS, archives};
pub use formula::formula;
pub use krew::plugin;

/// The repository, below which releases are.
const REPOSITORY: &str = "https://github.com/pratique/pratique";
/// The short description for package managers.
const ABOUT: &str = "Kubernetes admission control without a cluster";

/// Writes a formula of Homebrew, pratique.rb, and a manifest of krew, pratique.yaml.
#[derive(clap::Parser, Debug)]
#[command(bin_name = "cargo xtask release")]
pub struct ReleaseArguments {
    /// The version, without `v`.
    version: String,
    /// The checksums of the archives, as sha256sum prints them.
    checksums: PathBuf,
    /// The directory to write to.
    directory: PathBuf,
}

/// Writes both.
pub fn run(arguments: &ReleaseArguments) -> ExitCode {
    match write(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn write(arguments: &ReleaseArguments) -> Result<(), ToolError> {
    let checksums =
        fs::read_to_string(&arguments.checksums).map_err(ToolError::file(&arguments.checksums))?;
    let archives = archives(&arguments.version, &checksums)?;
    fs::create_dir_all(&arguments.directory).map_err(ToolError::file(&arguments.directory))?;
    for (name, text) in [
        ("pratique.rb", formula(&arguments.version, &archives)),
        ("pratique.yaml", plugin(&arguments.version, &archives)),
    ] {
        let path = arguments.directory.join(name);
        fs::write(&path, text).map_err(ToolError::file(&path))?;
        println!("{}", path.display());
    }
    Ok(())
}
