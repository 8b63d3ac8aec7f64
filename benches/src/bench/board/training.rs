//! What a program that is built for the second time should know of its first: the work of the rows, done by our side without measuring.
//! `cargo xtask dist` asks for it, of other policies than those that are measured.

use std::path::Path;
use std::process::{Command, Stdio};

use super::counted_run::CountedRun;
use super::material::BoardMaterial;
use super::rows;
use crate::BenchArguments;
use pratique_harness::ToolError;

/// So often that how the program starts and ends does not count.
const SCALE: u64 = 100;

/// Does the work of the selected rows.
pub(super) fn run(arguments: &BenchArguments, ours: &Path) -> Result<(), ToolError> {
    let material = BoardMaterial::new(&ours.with_file_name("training-policies"), arguments.seed)?;
    for row in rows::wanted(&arguments.what)? {
        let Some(run) = CountedRun::new(&row, &material, SCALE)? else {
            continue;
        };
        let ended = Command::new(ours)
            .args(&run.arguments)
            .stdout(Stdio::null())
            .status()
            .map_err(ToolError::program(ours.display()))?;
        if !ended.success() {
            return Err(format!("{}: {} ended with {ended}", row.name, ours.display()).into());
        }
    }
    Ok(())
}
