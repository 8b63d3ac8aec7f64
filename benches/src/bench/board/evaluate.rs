//! Rows in which policies or plugins evaluate one request: both sides in a process of their own, with turns.

use std::path::Path;

use pratique_harness::ToolError;
use serde_json::Value;

use super::policies::PolicySet;
use super::rows::{EvaluatedObject, RowWork};
use super::{MeasuredRow, RowContext};
use crate::side::{SideProgram, start_both};

/// Checks that the sides have the same outcome, and measures them alternately.
pub(super) fn measure(
    context: &RowContext<'_>,
    policies: &PolicySet,
    object: EvaluatedObject,
) -> Result<MeasuredRow, ToolError> {
    let (row, material) = (context.row, context.material);
    let setup = material.evaluated(&row.name, policies, object)?;
    let less = match row.control.as_ref().map(|control| &control.work) {
        Some(RowWork::Evaluate { policies, object }) => {
            Some(material.evaluated(&format!("{}-control", row.name), policies, *object)?)
        }
        _ => None,
    };
    let theirs = context.programs.theirs.as_deref();
    EvaluatingSides::start(context, "admission", theirs, &setup, less.as_ref())?.take_turns(context)
}

/// Programs that evaluate a request each.
pub(super) struct EvaluatingSides {
    ours: SideProgram,
    theirs: Option<SideProgram>,
    /// Ours with the work of the control.
    less: Option<SideProgram>,
}

impl EvaluatingSides {
    /// Starts both sides with the same setup, and ours again with the setup of the control. `contest` is the name of ours.
    pub(super) fn start(
        context: &RowContext<'_>,
        contest: &str,
        theirs: Option<&Path>,
        setup: &Value,
        less: Option<&Value>,
    ) -> Result<Self, ToolError> {
        let program = &context.programs.ours;
        let theirs = theirs.map(|program| (program, &[][..]));
        let (ours, theirs) = start_both((program, &[contest]), theirs, setup, plain)?;
        let less = match less {
            None => None,
            Some(setup) => Some(SideProgram::start(program, &[contest], setup)?.0),
        };
        Ok(EvaluatingSides { ours, theirs, less })
    }

    /// Measures the programs alternately.
    pub(super) fn take_turns(mut self, context: &RowContext<'_>) -> Result<MeasuredRow, ToolError> {
        let (name, settings) = (&context.row.name, context.settings);
        let turn = |program: &mut SideProgram| program.evaluate(name, settings.turn, settings.processor);
        let mut measured = MeasuredRow::default();
        for _ in 0..settings.rounds {
            measured.ours.push(turn(&mut self.ours)?.each());
            if let Some(less) = &mut self.less {
                measured.control.push(turn(less)?.each());
            }
            if let Some(theirs) = &mut self.theirs {
                measured.theirs.push(turn(theirs)?.each());
            }
        }
        Ok(measured)
    }
}

/// The outcome of a request, without the fields that a Go type always prints.
fn plain(facts: &Value) -> Value {
    let mut outcome = facts.clone();
    if let Some(object) = outcome.get_mut("object").and_then(Value::as_object_mut) {
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
    outcome
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
