//! The work by which programs are built again. It is of the same kinds as that of their users and of the benchmarks, but of other
//! policies and objects than are measured, and as often as it is told: it is the same each time, or nearly so.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use pratique_harness::{ToolError, workspace};

use crate::DistPrograms;

/// What the policies and objects are made from: benchmarks have 1.
const SEED: &str = "20";

/// A run of a program.
struct TrainingRun {
    program: &'static str,
    arguments: &'static [&'static str],
    /// The option that is given another program, and that program.
    of: Option<(&'static str, &'static str)>,
}

/// All of them: the rows of the table, reviews of many Pods, a scan, reloads; the tests and checks of examples; and a server with few
/// and many connections over both versions of HTTP.
const RUNS: &[TrainingRun] = &[
    bench(&["--train", "--seed", SEED]),
    bench(&["review", "--seed", SEED, "--objects", "1000", "--rounds", "1"]),
    bench(&["scan", "--seed", SEED, "--objects", "5000", "--rounds", "1"]),
    command(&["test", "examples"]),
    command(&["check", "examples"]),
    command(&["review", "--explain", "examples/pods"]),
    TrainingRun {
        program: "pratique-load-test",
        arguments: &["--against", "nobody", "--rounds", "1", "--time", "8"],
        of: Some(("--pratique", "pratique")),
    },
];

const fn bench(arguments: &'static [&'static str]) -> TrainingRun {
    TrainingRun {
        program: "pratique-bench",
        arguments,
        of: Some(("--ours", "pratique-benches")),
    }
}

const fn command(arguments: &'static [&'static str]) -> TrainingRun {
    TrainingRun {
        program: "pratique",
        arguments,
        of: None,
    }
}

/// Has programs do the work, and add what they count to a file for each, which this pattern names.
pub(crate) fn teach(programs: &DistPrograms, counts: &Path) -> Result<(), ToolError> {
    for run in RUNS {
        let mut command = Command::new(programs.program(run.program));
        command
            .current_dir(workspace::root())
            .args(run.arguments)
            // Those that they start have it as well.
            .env("LLVM_PROFILE_FILE", counts);
        if let Some((option, program)) = run.of {
            command.args([OsString::from(option), programs.program(program).into()]);
        }
        eprintln!("{} {}", run.program, run.arguments.join(" "));
        let ended = command.output().map_err(ToolError::program(run.program))?;
        // Policies refuse some of the objects, with 1.
        if !matches!(ended.status.code(), Some(0 | 1)) {
            let told = String::from_utf8_lossy(&ended.stderr);
            let run = format!("{} {}", run.program, run.arguments.join(" "));
            return Err(format!("{run} ended with {}:\n{told}", ended.status).into());
        }
    }
    Ok(())
}
