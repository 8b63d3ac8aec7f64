//! The step of the chain that made an object invalid.

use std::cell::LazyCell;
use std::collections::HashSet;

use pratique_json::Value;
use pratique_types::field::ErrorKind;
use pratique_validation::{Candidate, FieldFault, Validator};

use crate::chain::{DEFAULTING, RecordedChange, Step, StepEffect};
use crate::field_change::FieldChange;
use crate::field_path::FieldPath;

/// A change of an object by a step of the chain.
#[derive(Clone, Debug)]
pub(crate) struct ObjectChange<'c> {
    /// Who changed it: `LimitRanger`, `policy add-proxy`.
    pub(crate) by: String,
    pub(crate) before: &'c Value<'static>,
    pub(crate) after: &'c Value<'static>,
}

impl<'c> ObjectChange<'c> {
    /// The changes of an object that recorded steps made, the first of which is the setting of defaults.
    pub(crate) fn of_steps(steps: &'c [Step]) -> Vec<Self> {
        let changes = steps.iter().filter_map(|step| match &step.did {
            StepEffect::Changed { before, after } if step.name != DEFAULTING => Some(ObjectChange {
                by: step.author(),
                before,
                after,
            }),
            _ => None,
        });
        changes.collect()
    }

    /// The changes that policies and webhooks made of an object, one after another.
    pub(crate) fn of_mutations(object: &'c Value<'static>, recorded: &'c [RecordedChange]) -> Vec<Self> {
        let befores = std::iter::once(object).chain(recorded.iter().map(|change| &change.object));
        let changes = befores.zip(recorded).map(|(before, change)| ObjectChange {
            by: change.author(),
            before,
            after: &change.object,
        });
        changes.collect()
    }
}

/// How many changed fields of a step are told.
const MAX_DEEDS: usize = 2;

/// For each fault of an object, the last step that made it so; `None` where it is as it was sent.
pub(super) fn origins(
    validator: &Validator,
    (candidate, old): (Candidate<'_>, &Value<'_>),
    faults: &[FieldFault],
    changes: &[ObjectChange<'_>],
) -> Vec<Option<String>> {
    let known = |object: &Value<'static>| -> HashSet<(String, String)> {
        let state = Candidate { object, ..candidate };
        let faults = validator.faults(&state, old).into_iter();
        faults
            .map(|fault| (fault.cause.field, fault.cause.message))
            .collect()
    };
    let mut origins = vec![None; faults.len()];
    for change in changes {
        let (before, after) = (known(change.before), known(change.after));
        let fields = LazyCell::new(|| FieldChange::between(change.before, change.after));
        for (fault, origin) in faults.iter().zip(&mut origins) {
            let fault_key = (fault.cause.field.clone(), fault.cause.message.clone());
            match (before.contains(&fault_key), after.contains(&fault_key)) {
                (false, true) => *origin = Some(describe(&change.by, &fields, fault)),
                (true, false) => *origin = None,
                _ => {}
            }
        }
    }
    origins
}

/// What a step did, as far as it bears upon a fault: what is nearest to the field.
fn describe(author: &str, changes: &[FieldChange<'_>], fault: &FieldFault) -> String {
    let field = FieldPath::parse(&fault.cause.field);
    let is_dangling = fault.kind == ErrorKind::NotFound;
    let rank = |change: &FieldChange<'_>| {
        let is_removal = is_dangling && change.is_removal();
        (is_removal, field.shared_steps(&change.path))
    };
    let nearest = changes.iter().map(rank).max();
    let deeds = changes.iter().filter(|change| Some(rank(change)) == nearest);
    let mut told: Vec<String> = deeds.take(MAX_DEEDS + 1).map(FieldChange::deed).collect();
    let more = if told.len() > MAX_DEEDS { ", …" } else { "" };
    told.truncate(MAX_DEEDS);
    format!("{author} {}{more}", told.join(", "))
}
