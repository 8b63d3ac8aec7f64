//! What can be done about the fields for which an object is refused.

use std::collections::HashSet;

use pratique_gotext::suggest::{did_you_mean, nearest};
use pratique_json::Value;
use pratique_schema::FeatureGates;
use pratique_types::field::ErrorKind;
use pratique_validation::{Candidate, FieldFault, Validator};

use super::reference;
use crate::field_path::FieldPath;
use crate::validator::new_validator;

/// What can be done about a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CauseHelp {
    pub(super) text: String,
    /// What stands in the place of the value where the help says what is meant.
    pub(super) replacement: Option<String>,
}

impl CauseHelp {
    pub(super) fn with_replacement(meant: &str, text: String) -> Self {
        CauseHelp {
            text,
            replacement: Some(meant.to_owned()),
        }
    }

    pub(super) fn without_replacement(text: String) -> Self {
        CauseHelp {
            text,
            replacement: None,
        }
    }
}

/// How many causes get help: it compares a name with all that are there.
const MAX_HELPED: usize = 100;

/// For each fault of an object, what can be done about it, if that is known. The object is validated beside an old one by a server with
/// feature gates.
pub(super) fn find_helps(
    change: (Candidate<'_>, &Value<'_>),
    gates: FeatureGates,
    faults: &[FieldFault],
) -> Vec<Option<CauseHelp>> {
    let (candidate, _) = change;
    let mut helps: Vec<Option<CauseHelp>> = faults
        .iter()
        .enumerate()
        .map(|(at, fault)| {
            let value_help = || find_value_help(fault, candidate.object);
            (at < MAX_HELPED).then(value_help).flatten()
        })
        .collect();
    add_gate_helps(change, gates, faults, &mut helps);
    helps
}

/// Help about the value of a field.
fn find_value_help(fault: &FieldFault, object: &Value<'_>) -> Option<CauseHelp> {
    let path = FieldPath::parse(&fault.cause.field);
    match fault.kind {
        ErrorKind::NotSupported => {
            let value = path.value(object)?;
            // The error about an alternative may be one about the struct that names it.
            let text = value.as_str().or_else(|| value.get("type")?.as_str())?;
            let meant = nearest(text, fault.supported.iter().map(String::as_str))?;
            // What is supported only with a feature may be listed.
            (meant != text).then(|| CauseHelp::with_replacement(meant, did_you_mean(meant)))
        }
        ErrorKind::NotFound => reference::help(&path, object),
        _ => None,
    }
}

/// Adds to the faults without help that a server with another feature gate does not find which one that is.
fn add_gate_helps(
    (candidate, old): (Candidate<'_>, &Value<'_>),
    gates: FeatureGates,
    faults: &[FieldFault],
    helps: &mut [Option<CauseHelp>],
) {
    let is_about_value = |fault: &FieldFault| {
        matches!(
            fault.kind,
            ErrorKind::NotSupported | ErrorKind::Forbidden | ErrorKind::Invalid
        )
    };
    let is_open = |(fault, help): (&FieldFault, &Option<CauseHelp>)| help.is_none() && is_about_value(fault);
    // For each fault, whether a server with other gates does not find it.
    let is_gone = |changed: FeatureGates| -> Vec<bool> {
        let others = new_validator(changed).faults(&candidate, old);
        let others: HashSet<_> = others.iter().map(fault_key).collect();
        let is_gone = faults.iter().map(|fault| !others.contains(&fault_key(fault)));
        is_gone.collect()
    };
    let turn = |gates: FeatureGates, gate: &str| gates.with(gate, !gates.is_on(gate));
    // Nearly always no gate matters, and there are dozens: that is known of all at once.
    let all_turned = Validator::GATES.iter().fold(gates, |all, gate| turn(all, gate));
    let may_help = is_gone(all_turned);
    let is_helped = |(at, (fault, help)): (usize, (&FieldFault, &Option<CauseHelp>))| {
        is_open((fault, help)) && may_help.get(at) == Some(&true)
    };
    for gate in Validator::GATES {
        if !faults.iter().zip(helps.iter()).enumerate().any(is_helped) {
            return;
        }
        let changed = turn(gates, gate);
        // The release does not have the gate: the whole object would be validated in vain.
        if changed == gates {
            continue;
        }
        let is_on = changed.is_on(gate);
        for ((fault, help), is_gone) in faults.iter().zip(helps.iter_mut()).zip(is_gone(changed)) {
            if is_open((fault, help)) && is_gone {
                *help = Some(CauseHelp::without_replacement(format!(
                    "a server with --feature-gates={gate}={is_on} does not refuse it"
                )));
            }
        }
    }
}

/// The field, and why it is refused. The words may depend on the gate, too.
fn fault_key(fault: &FieldFault) -> (&str, ErrorKind) {
    (fault.cause.field.as_str(), fault.kind)
}
