//! The work of a row done so many times and no more, by our side alone: for what counts instead of measuring.

use pratique_harness::ToolError;
use serde_json::Value;

use super::material::BoardMaterial;
use super::policies::PolicySet;
use super::rows::{BoardRow, EvaluatedObject, RowWork};
use super::{chain, plugins, validate};

/// Loads of more policies than this would take valgrind minutes.
const MOST: usize = 1_000;

/// A run of our side.
pub(super) struct CountedRun {
    pub(super) arguments: Vec<String>,
    /// How often it does the work.
    pub(super) times: u64,
    /// The function with which the work begins; the whole program where it is the work.
    pub(super) begins_with: Option<&'static str>,
}

impl CountedRun {
    /// The run of a row, which does its work `scale` times as often as suffices to count it; `None` where there is nothing to count.
    pub(super) fn new(
        row: &BoardRow,
        material: &BoardMaterial,
        scale: u64,
    ) -> Result<Option<Self>, ToolError> {
        let (command, setup) = match &row.work {
            RowWork::Evaluate { policies, object } => {
                return evaluate(row, policies, *object, material, scale).map(Some);
            }
            RowWork::Start(policies) if policies.count <= MOST => {
                let directory = material.policies(&row.name, policies)?;
                return Ok(Some(CountedRun {
                    arguments: ["start", "-alone", policies.plugin(), &directory]
                        .map(str::to_owned)
                        .into(),
                    times: 1,
                    begins_with: None,
                }));
            }
            RowWork::Plugins(case) => ("count-plugins", plugins::setup(case)?),
            RowWork::Validate(case) => ("count-validate", validate::setup(case)?),
            RowWork::Chain(case) => ("count-chain", chain::setup(&row.name, case, material)?),
            RowWork::Start(_) | RowWork::Reload(_) | RowWork::Keep(_) | RowWork::Serve(_) => return Ok(None),
        };
        // Often enough that the end of the program, which is counted as well, makes no difference.
        const TIMES: u64 = 500;
        repeat(row, (command, &setup), material, TIMES * scale, "run_counted").map(Some)
    }
}

fn evaluate(
    row: &BoardRow,
    policies: &PolicySet,
    object: EvaluatedObject,
    material: &BoardMaterial,
    scale: u64,
) -> Result<CountedRun, ToolError> {
    let setup = material.evaluated(&row.name, policies, object)?;
    // Often enough, as above.
    let times = (1_000 / policies.count.max(1)).clamp(2, 100) as u64;
    repeat(
        row,
        ("count", &setup),
        material,
        times * scale,
        "evaluate_counted",
    )
}

/// A command with a setup, without earlier runs that fill caches.
fn repeat(
    row: &BoardRow,
    (command, setup): (&str, &Value),
    material: &BoardMaterial,
    times: u64,
    begins_with: &'static str,
) -> Result<CountedRun, ToolError> {
    let setup = material.file(&format!("{}-setup.json", row.name), setup)?;
    Ok(CountedRun {
        arguments: vec![command.to_owned(), times.to_string(), setup],
        times,
        begins_with: Some(begins_with),
    })
}
