//! Rows in which every measurement is a process of its own: loading, and memory.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::Value;

use super::material::Material;
use super::policies::Policies;
use super::rows::Row;
use super::{Measured, Programs, Settings};

/// The time until policies can judge.
pub(super) fn start(
    row: &Row,
    policies: &Policies,
    material: &Material,
    programs: &Programs,
    settings: &Settings,
) -> Result<Measured, String> {
    #[derive(Deserialize)]
    struct Start {
        nanos: Vec<u64>,
    }
    let directory = material.policies(row.name, policies)?;
    // So that a round takes seconds, whatever the number.
    let times = (1_000 / policies.count.max(1)).clamp(1, 10).to_string();
    let mut arguments = vec!["start"];
    arguments.extend(settings.processor.then_some("-processor"));
    arguments.extend(["-n", &times, policies.plugin(), &directory]);
    rounds(programs, rounds_of(policies, settings), |program| {
        let mut nanos = run::<Start>(program, &arguments)?.nanos;
        nanos.sort_unstable();
        Ok(nanos.get(nanos.len() / 2).copied().unwrap_or_default() as f64)
    })
}

/// What policies keep, in bytes.
pub(super) fn keep(
    row: &Row,
    policies: &Policies,
    material: &Material,
    programs: &Programs,
    settings: &Settings,
) -> Result<Measured, String> {
    let directory = material.policies(row.name, policies)?;
    let few = Policies {
        count: 1,
        matching: 1,
        ..*policies
    };
    let small = material.policies(&format!("{}-small", row.name), &few)?;
    let arguments = ["keep", policies.plugin(), &small, &directory];
    let mut heaps = Vec::new();
    let mut measured = rounds(programs, rounds_of(policies, settings), |program| {
        let kept: Value = run(program, &arguments)?;
        let kib = |name: &str| kept.get(name).and_then(Value::as_f64);
        heaps.extend(kib("heap_kib").map(|kib| kib * 1024.0));
        kib("resident_kib")
            .map(|kib| kib.max(1.0) * 1024.0)
            .ok_or_else(|| format!("no resident_kib in {kept}"))
    })?;
    if let Some(heap) = crate::bench::statistics::Spread::of(heaps) {
        measured.note = Some(format!(
            "their live heap: {}",
            crate::bench::table::bytes(heap.median)
        ));
    }
    Ok(measured)
}

/// What takes the reference minutes is not repeated often.
fn rounds_of(policies: &Policies, settings: &Settings) -> usize {
    match policies.count * policies.bindings.max(10) {
        ..=20_000 => settings.rounds,
        _ => settings.rounds.min(2),
    }
}

/// The sides take turns.
pub(super) fn rounds(
    programs: &Programs,
    count: usize,
    mut measure: impl FnMut(&Path) -> Result<f64, String>,
) -> Result<Measured, String> {
    let mut measured = Measured::default();
    for _ in 0..count {
        measured.ours.push(measure(&programs.ours)?);
        if let Some(theirs) = &programs.theirs {
            measured.theirs.push(measure(theirs)?);
        }
    }
    Ok(measured)
}

/// Runs a program that prints one line of JSON.
pub(super) fn run<T: for<'de> Deserialize<'de>>(program: &Path, arguments: &[&str]) -> Result<T, String> {
    let name = program.display();
    let output = Command::new(program)
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    match output.status.success() {
        true => serde_json::from_slice(&output.stdout).map_err(|error| format!("{name}: {error}")),
        false => Err(format!("{name} {arguments:?}: {}", output.status)),
    }
}
