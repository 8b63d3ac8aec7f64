//! What a program that is built for the second time should know of its first: the work of the rows, done by our side without measuring.
//! `cargo xtask dist` asks for it, of other policies than those that are measured.

use std::path::Path;
use std::process::{Command, Stdio};

use super::counted_run::CountedRun;
use super::material::BoardMaterial;
use super::rows::{self, BoardRow, RowWork};
use crate::BenchArguments;
use pratique_harness::ToolError;

/// So often that how the program starts and ends does not count.
const SCALE: u64 = 100;
/// How often a directory is loaded again.
const RELOADS: usize = 50;

/// Does the work of the selected rows.
pub(super) fn run(arguments: &BenchArguments, ours: &Path) -> Result<(), ToolError> {
    let material = BoardMaterial::new(&ours.with_file_name("training-policies"), arguments.seed)?;
    for row in rows::wanted(&arguments.what)? {
        let Some(run) = arguments_of(&row, &material)? else {
            continue;
        };
        let ended = Command::new(ours)
            .args(&run)
            .stdout(Stdio::null())
            .status()
            .map_err(ToolError::program(ours.display()))?;
        if !ended.success() {
            return Err(format!("{}: {} ended with {ended}", row.name, ours.display()).into());
        }
    }
    Ok(())
}

/// What our side is told to do for a row; `None` where there is nothing that others do not do.
fn arguments_of(row: &BoardRow, material: &BoardMaterial) -> Result<Option<Vec<String>>, ToolError> {
    if let RowWork::Reload(policies) = &row.work {
        material.policies(&row.name, policies)?;
        let [file, others] = material.others(&row.name, policies, RELOADS)?;
        return Ok(Some(vec![
            "reload".to_owned(),
            "replace".to_owned(),
            file,
            others,
        ]));
    }
    let run = CountedRun::new(row, material, SCALE)?;
    Ok(run.map(|run| run.arguments))
}
