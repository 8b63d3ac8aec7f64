//! The step of the chain that made an object invalid.

use std::cell::LazyCell;
use std::collections::HashSet;

use pratique_json::Value;
use pratique_types::field::ErrorKind;
use pratique_validation::{Candidate, FieldFault, Validator};

use crate::chain::RecordedChange;
#[cfg(feature = "webhooks")]
use crate::chain::{DEFAULTING, ReviewStep, StepEffect};
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
    #[cfg(feature = "webhooks")]
    pub(crate) fn of_steps(steps: &'c [ReviewStep]) -> Vec<Self> {
        let changes = steps.iter().filter_map(|step| match &step.did {
            StepEffect::Changed {
                old_object,
                new_object,
            } if step.name != DEFAULTING => Some(ObjectChange {
                by: step.author(),
                before: old_object,
                after: new_object,
            }),
            _ => None,
        });
        changes.collect()
    }

    /// The changes that policies and webhooks made of an object, one after another.
    pub(crate) fn of_mutations(object: &'c Value<'static>, recorded: &'c [RecordedChange]) -> Vec<Self> {
        let befores = std::iter::once(object).chain(recorded.iter().map(|change| &change.object));
        let changes = befores.zip(recorded).map(|(old_object, change)| ObjectChange {
            by: change.author(),
            before: old_object,
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
        let (old_faults, new_faults) = (known(change.before), known(change.after));
        let fields = LazyCell::new(|| ChangedFields::between(change.before, change.after));
        for (fault, origin) in faults.iter().zip(&mut origins) {
            let fault_key = (fault.cause.field.clone(), fault.cause.message.clone());
            match (old_faults.contains(&fault_key), new_faults.contains(&fault_key)) {
                (false, true) => *origin = Some(describe(&change.by, &fields, fault)),
                (true, false) => *origin = None,
                _ => {}
            }
        }
    }
    origins
}

/// What a step did, as far as it bears upon a fault: what is nearest to the field.
fn describe(author: &str, changes: &ChangedFields<'_>, fault: &FieldFault) -> String {
    let field = FieldPath::parse(&fault.cause.field);
    let deeds = changes.nearest(&field, fault.kind == ErrorKind::NotFound);
    let mut told: Vec<String> = deeds.iter().take(MAX_DEEDS).map(|change| change.deed()).collect();
    if deeds.len() > MAX_DEEDS {
        told.push("…".to_owned());
    }
    format!("{author} {}", told.join(", "))
}

/// The fields that a step changed, in the order of their paths: many faults ask for what is near.
struct ChangedFields<'v> {
    all: Vec<FieldChange<'v>>,
    removals: Vec<FieldChange<'v>>,
}

impl<'v> ChangedFields<'v> {
    fn between(old: &'v Value<'v>, new: &'v Value<'v>) -> Self {
        let mut all = FieldChange::between(old, new);
        all.sort_by(|one, other| one.path.cmp(&other.path));
        let removals = all.iter().filter(|change| change.is_removal()).cloned().collect();
        ChangedFields { all, removals }
    }

    /// The changes that have most steps in common with a field; a removal of any is nearer to what dangles.
    fn nearest(&self, field: &FieldPath, is_dangling: bool) -> &[FieldChange<'v>] {
        let changes = if is_dangling && !self.removals.is_empty() {
            &self.removals
        } else {
            &self.all
        };
        // What has most in common stands beside the place that the field would have.
        let place = changes.partition_point(|change| change.path < *field);
        let beside = [place.checked_sub(1), Some(place)];
        let beside = beside.into_iter().filter_map(|at| changes.get(at?));
        let shared = beside.map(|change| field.shared_steps(&change.path)).max();
        let shared = shared.unwrap_or_default();
        let start = changes.partition_point(|change| change.path.head(shared) < field.head(shared));
        let end = changes.partition_point(|change| change.path.head(shared) <= field.head(shared));
        changes.get(start..end).unwrap_or_default()
    }
}
