//! `cargo xtask dist`: the programs that are shipped and measured, of the profile `dist`. They are built so that they count what they
//! execute, do the work of `src/lessons.rs`, and are built again: what ran often is compiled to be fast, and what did not to be small
//! (profile-guided optimization). A request takes about a fifth less time than in a build without, see `benches/README.md`.
//!
//! `cargo-pgo` of crates.io does the same for one program whose work is one command; here the work is that of three programs together.

mod lessons;
mod profile;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pratique_harness::{ToolError, cargo, workspace};

use profile::ProfileData;

/// The programs, with their packages.
const PROGRAMS: &[(&str, &str)] = &[
    ("pratique-cli", "pratique"),
    ("pratique-benches", "pratique-benches"),
    ("pratique-benches", "pratique-bench"),
    ("pratique-benches", "pratique-load"),
    ("pratique-load-test", "pratique-load-test"),
];

/// Builds `pratique` as a release has it, and what benchmarks measure: twice, the second time by what the first did.
#[derive(clap::Parser, Debug)]
#[command(bin_name = "cargo xtask dist")]
pub struct DistArguments {
    /// The platform to build for, whose programs this machine has to be able to run; that of the compiler by default.
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
}

/// Builds, and prints the path of `pratique`.
pub fn run(arguments: &DistArguments) -> ExitCode {
    match DistPrograms::build(arguments.target.as_deref()) {
        Ok(programs) => {
            println!("{}", programs.program("pratique").display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Programs that are built.
#[derive(Clone, Debug)]
pub struct DistPrograms {
    directory: PathBuf,
}

impl DistPrograms {
    /// Builds the programs for a platform, that of the compiler by default. What is built already is not built again.
    ///
    /// # Errors
    /// If something does not build, the compiler's component `llvm-tools` is not installed, or a program fails at its work.
    pub fn build(target: Option<&str>) -> Result<Self, ToolError> {
        let target = match target {
            Some(target) => target.to_owned(),
            None => cargo::host()?,
        };
        let directory = workspace::target().join("trained");
        let profile = ProfileData::new(&directory.join(format!("profile-{target}")))?;
        let first = compile(&directory.join("first"), &target, &profile.generate_flag())?;
        let trained = profile.record(&first.paths(), |counts| lessons::teach(&first, counts))?;
        compile(&directory, &target, &trained)
    }

    /// The path of a program.
    pub fn program(&self, name: &str) -> PathBuf {
        self.directory
            .join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    fn paths(&self) -> Vec<PathBuf> {
        PROGRAMS.iter().map(|(_, name)| self.program(name)).collect()
    }
}

/// Compiles the programs below a directory, with a flag for the compiler beside those of the environment.
fn compile(directory: &Path, target: &str, flag: &str) -> Result<DistPrograms, ToolError> {
    let mut flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    flags.push(' ');
    flags.push_str(flag);
    let mut command = cargo::command();
    command
        .current_dir(workspace::root())
        .env("RUSTFLAGS", flags.trim())
        .args(["build", "--locked", "--profile", "dist"])
        // With a target, build scripts and macros are compiled without the flag.
        .args(["--target", target])
        .arg("--target-dir")
        .arg(directory);
    for (package, program) in PROGRAMS {
        command.args(["--package", package, "--bin", program]);
    }
    let status = command.status().map_err(ToolError::program("cargo"))?;
    if !status.success() {
        return Err("the programs do not build".into());
    }
    Ok(DistPrograms {
        directory: directory.join(target).join("dist"),
    })
}
