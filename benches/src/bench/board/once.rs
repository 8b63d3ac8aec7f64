//! Rows in which every measurement is a process of its own: loading, reloading, and memory.

use std::path::Path;

use pratique_harness::ToolError;
use serde::Deserialize;
use serde_json::Value;

use super::policies::PolicySet;
use super::{MeasuredRow, RowContext};
use crate::{shot, table};
use pratique_harness::SampleSpread;

/// The time until policies can be evaluated.
pub(super) fn start(context: &RowContext<'_>, policies: &PolicySet) -> Result<MeasuredRow, ToolError> {
    let directory = context.material.policies(&context.row.name, policies)?;
    // So that a round takes seconds, whatever the number.
    let times = (1_000 / policies.count.max(1)).clamp(1, 10).to_string();
    let mut arguments = vec!["start"];
    arguments.extend(context.settings.processor.then_some("-processor"));
    arguments.extend(["-n", &times, policies.plugin(), &directory]);
    rounds(context, rounds_of(context, policies), |program| {
        median(program, &arguments)
    })
}

/// Changes in a round of reloads.
const CHANGES: usize = 20;

/// From the rename of a file until its policy evaluates: ours follows the directory, and knows what did not change. Theirs is
/// a load of the directory, which is what the reference does for every change; that it looks for changes once a minute,
/// where it is not told of them, is left out.
pub(super) fn reload(context: &RowContext<'_>, policies: &PolicySet) -> Result<MeasuredRow, ToolError> {
    let directory = context.material.policies(&context.row.name, policies)?;
    rounds(context, context.settings.rounds, |program| {
        if program != context.programs.ours {
            return median(program, &["start", policies.plugin(), &directory]);
        }
        let [file, others] = context.material.others(&context.row.name, policies, CHANGES)?;
        median(program, &["reload", "replace", &file, &others])
    })
}

/// The memory that policies keep, in bytes.
pub(super) fn keep(context: &RowContext<'_>, policies: &PolicySet) -> Result<MeasuredRow, ToolError> {
    let name = &context.row.name;
    let directory = context.material.policies(name, policies)?;
    let few = PolicySet {
        count: 1,
        matching: None,
        ..*policies
    };
    let small = context.material.policies(&format!("{name}-small"), &few)?;
    let arguments = ["keep", policies.plugin(), &small, &directory];
    let mut heaps = Vec::new();
    let mut measured = rounds(context, rounds_of(context, policies), |program| {
        let kept: Value = shot::run(program, &arguments)?;
        let kib = |name: &str| kept.get(name).and_then(Value::as_f64);
        heaps.extend(kib("heap_kib").map(|kib| kib * 1024.0));
        kib("resident_kib")
            .map(|kib| kib.max(1.0) * 1024.0)
            .ok_or_else(|| ToolError::from(format!("no resident_kib in {kept}")))
    })?;
    if let Some(heap) = SampleSpread::from_numbers(heaps) {
        measured.note = Some(format!("their live heap: {}", table::bytes(heap.median)));
    }
    Ok(measured)
}

/// Measurements that take the reference minutes are not repeated often.
fn rounds_of(context: &RowContext<'_>, policies: &PolicySet) -> usize {
    match policies.count * policies.bindings.max(10) {
        ..=20_000 => context.settings.rounds,
        _ => context.settings.rounds.min(2),
    }
}

/// Measures the sides alternately.
fn rounds(
    context: &RowContext<'_>,
    count: usize,
    mut measure: impl FnMut(&Path) -> Result<f64, ToolError>,
) -> Result<MeasuredRow, ToolError> {
    let mut measured = MeasuredRow::default();
    for _ in 0..count {
        measured.ours.push(measure(&context.programs.ours)?);
        if let Some(theirs) = &context.programs.theirs {
            measured.theirs.push(measure(theirs)?);
        }
    }
    Ok(measured)
}

/// The median of the times that a program prints, in nanoseconds.
fn median(program: &Path, arguments: &[&str]) -> Result<f64, ToolError> {
    #[derive(Deserialize)]
    struct RunTimes {
        nanos: Vec<u64>,
    }
    let RunTimes { nanos } = shot::run(program, arguments)?;
    let spread = SampleSpread::from_numbers(nanos.iter().map(|nanos| *nanos as f64));
    spread
        .map(|spread| spread.median)
        .ok_or_else(|| ToolError::from(format!("{} measured nothing", program.display())))
}
