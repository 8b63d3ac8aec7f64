//! Rows in which policies evaluate one request: both sides in a process of their own, with turns.

use pratique_harness::Error;
use serde_json::Value;

use super::policies::Policies;
use super::rows::Object;
use super::{Bench, Measured};
use crate::side::Program;

/// Sees that the sides evaluate the same, and lets them take turns.
pub(super) fn measure(bench: &Bench<'_>, policies: &Policies, object: Object) -> Result<Measured, Error> {
    let (row, material, settings) = (bench.row, bench.material, bench.settings);
    let setup = material.evaluated(row.name, policies, object)?;
    let (mut ours, found) = Program::start(&bench.programs.ours, &["admission"], &setup)?;
    let mut theirs = match &bench.programs.theirs {
        None => None,
        Some(program) => {
            let (theirs, other) = Program::start(program, &[], &setup)?;
            if plain(&found) != plain(&other) {
                return Err(format!("{}: the sides differ: ours {found}, theirs {other}", row.name).into());
            }
            Some(theirs)
        }
    };
    let mut less = match &row.beside {
        None => None,
        Some(beside) => {
            let setup = material.evaluated(&format!("{}-beside", row.name), &beside.policies, object)?;
            Some(Program::start(&bench.programs.ours, &["admission"], &setup)?.0)
        }
    };
    let mut measured = Measured::default();
    for _ in 0..settings.rounds {
        measured
            .ours
            .push(ours.evaluate(row.name, settings.turn, settings.processor)?.each());
        if let Some(less) = &mut less {
            let sample = less.evaluate(row.name, settings.turn, settings.processor)?;
            measured.beside.push(sample.each());
        }
        if let Some(theirs) = &mut theirs {
            let sample = theirs.evaluate(row.name, settings.turn, settings.processor)?;
            measured.theirs.push(sample.each());
        }
    }
    Ok(measured)
}

/// What came of a request, without what a Go type prints of fields that are not there.
fn plain(found: &Value) -> Value {
    let mut found = found.clone();
    if let Some(object) = found.get_mut("object").and_then(Value::as_object_mut) {
        object.remove("apiVersion");
        object.remove("kind");
        if object
            .get("status")
            .and_then(Value::as_object)
            .is_some_and(serde_json::Map::is_empty)
        {
            object.remove("status");
        }
        remove_empty_resources(object);
    }
    found
}

fn remove_empty_resources(object: &mut serde_json::Map<String, Value>) {
    let containers = object
        .get_mut("spec")
        .and_then(|spec| spec.get_mut("containers"))
        .and_then(Value::as_array_mut);
    for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
        let resources = container.get("resources").and_then(Value::as_object);
        if resources.is_some_and(serde_json::Map::is_empty) {
            container.remove("resources");
        }
    }
}
