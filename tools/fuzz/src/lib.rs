//! Fuzzing: the targets of `fuzz`, by coverage or without.

mod coverage;
mod plain;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use pratique_fuzz::{FuzzTarget, TARGETS};
use pratique_harness::{ToolError, workspace};

/// Gives the fuzz targets inputs that no author has thought of.
#[derive(clap::Parser, Clone, Debug)]
#[command(bin_name = "cargo xtask fuzz")]
pub struct FuzzArguments {
    /// The targets; all of them if none is named.
    targets: Vec<String>,
    /// How long to run each, in seconds.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Change inputs at random, within this process. Otherwise libFuzzer does by what they cover, which needs a C++ compiler.
    #[arg(long)]
    plain: bool,
    /// Where random changes begin; a run prints the seed that it takes.
    #[arg(long, requires = "plain")]
    seed: Option<u64>,
    /// How many targets run at a time; 0 builds them only.
    #[arg(long, default_value_t = 1, conflicts_with = "plain")]
    jobs: usize,
}

/// Runs the targets; fails if an input failed.
pub fn run(arguments: &FuzzArguments) -> ExitCode {
    let time = Duration::from_secs(arguments.seconds);
    let ended = chosen(&arguments.targets).and_then(|targets| {
        if arguments.plain {
            plain::run(&targets, time, arguments.seed)
        } else {
            coverage::run(&targets, time, arguments.jobs)
        }
    });
    match ended {
        Ok(failed) if failed.is_empty() => ExitCode::SUCCESS,
        Ok(failed) => {
            for path in failed {
                println!("failed: {}", path.display());
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn chosen(names: &[String]) -> Result<Vec<&'static FuzzTarget>, ToolError> {
    if names.is_empty() {
        return Ok(TARGETS.iter().collect());
    }
    let find = |name: &String| {
        let all = || {
            TARGETS
                .iter()
                .map(|target| target.name)
                .collect::<Vec<_>>()
                .join(", ")
        };
        pratique_fuzz::target(name)
            .ok_or_else(|| ToolError::from(format!("no target {name:?}; there are {}", all())))
    };
    names.iter().map(find).collect()
}

/// Where fuzzing keeps what it builds and finds.
fn directory() -> PathBuf {
    workspace::target().join("fuzz")
}

/// The directory for inputs of a target that fail; there is one afterwards.
fn artifacts(target: &str) -> Result<PathBuf, ToolError> {
    made(directory().join("artifacts").join(target))
}

fn made(directory: PathBuf) -> Result<PathBuf, ToolError> {
    std::fs::create_dir_all(&directory).map_err(ToolError::file(&directory))?;
    Ok(directory)
}
