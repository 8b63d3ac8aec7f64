//! What two releases make of the same request, compared.

use std::collections::{BTreeMap, BTreeSet};

use pratique_explain::PolicyCost;
use pratique_json::Value;
use pratique_report::Action;
use pratique_review::changed_fields;

use super::finding::{UpgradeFinding, UpgradeRule};
use crate::impact::change::DecisionChange;
use crate::replay::decision::ReplayDecision;

/// How many changed fields of an object are named.
const MAX_FIELDS: usize = 8;

/// What a server of one release makes of a request.
#[derive(Debug)]
pub(super) struct SideReview {
    pub(super) decision: ReplayDecision,
    /// The object as it is to be stored, if that is allowed.
    pub(super) object: Option<Value<'static>>,
    pub(super) costs: Vec<PolicyCost>,
    /// What can be said of a kind that is not served.
    pub(super) unserved: Option<String>,
    /// Whether the release does not serve the kind any more, whatever is switched on.
    pub(super) is_gone: bool,
    /// The server's messages about fields that it does not know.
    pub(super) unknown_fields: BTreeSet<String>,
}

/// What the new release makes otherwise of a request; `kind` is the version and kind of its object.
pub(super) fn compare(old: &SideReview, new: &SideReview, kind: &str) -> Vec<UpgradeFinding> {
    // What only has to be switched on may be so in the server of now.
    let was_served = old.unserved.is_none() || (new.is_gone && !old.is_gone);
    if let (Some(help), true) = (&new.unserved, was_served) {
        return vec![UpgradeRule::RemovedVersion.about(kind, help.as_str())];
    }
    let change = DecisionChange::compare(old.decision.decision, new.decision.decision);
    let mut findings: Vec<UpgradeFinding> = of_decision(change, old, new, kind).into_iter().collect();
    findings.extend(of_fields(old, new, kind));
    if change == DecisionChange::Same {
        findings.extend(of_policies(&old.decision, &new.decision));
        findings.extend(of_object(old, new, kind));
    }
    findings.extend(of_costs(&old.costs, &new.costs));
    findings
}

fn of_decision(
    change: DecisionChange,
    old: &SideReview,
    new: &SideReview,
    kind: &str,
) -> Option<UpgradeFinding> {
    let message = |side: &SideReview| side.decision.message.clone().unwrap_or_default();
    let is_refused = old.decision.decision.denies();
    match change {
        DecisionChange::NewlyRefused | DecisionChange::Accepted => {
            Some(UpgradeRule::NewlyRefused.about(refused_by(&new.decision, kind), message(new)))
        }
        DecisionChange::NewlyAllowed => {
            let message = old.unserved.clone().unwrap_or_else(|| message(old));
            let message = format!("refused now: {message}");
            Some(UpgradeRule::NewlyAllowed.about(refused_by(&old.decision, kind), message))
        }
        DecisionChange::Same if is_refused && message(old) != message(new) => {
            let text = format!("{}; now: {}", message(new), message(old));
            Some(UpgradeRule::RefusedOtherwise.about(refused_by(&new.decision, kind), text))
        }
        DecisionChange::Same => None,
        DecisionChange::Undecided => {
            let undecided = new.decision.undecided.iter().chain(&old.decision.undecided);
            let first = undecided.into_iter().next();
            let (about, message) = match first {
                Some(first) => (first.source().to_owned(), first.message.clone()),
                None => (kind.to_owned(), "the log does not have enough of it".to_owned()),
            };
            Some(UpgradeRule::Undecided.about(about, message))
        }
    }
}

/// The policy that refuses a request, or else the kind, of which the server itself refuses the object.
fn refused_by(decision: &ReplayDecision, kind: &str) -> String {
    let findings = decision.findings();
    let policy = findings.iter().find(|finding| finding.action == Action::Deny);
    match policy.map(|finding| finding.policy) {
        None | Some("") => kind.to_owned(),
        Some(policy) => policy.to_owned(),
    }
}

/// Fields that only one of the releases knows.
fn of_fields(old: &SideReview, new: &SideReview, kind: &str) -> Vec<UpgradeFinding> {
    let unknown = new.unknown_fields.difference(&old.unknown_fields);
    let unknown = unknown.map(|message| UpgradeRule::UnknownField.about(kind, message.as_str()));
    let known = old.unknown_fields.difference(&new.unknown_fields);
    let known = known.map(|message| {
        let message = format!("{message} now, which is dropped: the new server knows it");
        UpgradeRule::KnownField.about(kind, message)
    });
    unknown.chain(known).collect()
}

/// What policies decide otherwise that does not change the decision on the request.
fn of_policies(old: &ReplayDecision, new: &ReplayDecision) -> Vec<UpgradeFinding> {
    let [old, new] = [old, new].map(decisions);
    let keys: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let changed = keys.into_iter().filter_map(|key| {
        let (old_message, new_message) = (old.get(key), new.get(key));
        let (policy, binding, action) = key;
        let message = match (old_message, new_message) {
            (old_message, new_message) if old_message == new_message => return None,
            (None, Some(new_message)) => {
                format!("{action} by binding {binding:?}, which it does not now: {new_message}")
            }
            (Some(old_message), None) => {
                format!("no {action} by binding {binding:?}, as it is now: {old_message}")
            }
            (old_message, new_message) => format!(
                "{action} by binding {binding:?} says {:?}; now: {:?}",
                new_message.map(String::as_str).unwrap_or_default(),
                old_message.map(String::as_str).unwrap_or_default()
            ),
        };
        Some(UpgradeRule::PolicyDecision.about(policy.as_str(), message))
    });
    changed.collect()
}

/// The policy, the binding and the action.
type DecisionKey = (String, String, &'static str);

fn decisions(of: &ReplayDecision) -> BTreeMap<DecisionKey, String> {
    let decisions = of.policies.iter().map(|decision| {
        let action = match decision.action {
            Action::Deny => "denial",
            Action::Warn => "warning",
            Action::Audit => "audit annotation",
            Action::Ignore => "ignored error",
            Action::Undecided => "missing input",
            Action::Accepted => "accepted finding",
        };
        let key = (decision.policy.clone(), decision.binding.clone(), action);
        (key, decision.message.clone())
    });
    decisions.collect()
}

/// Fields that the new release sets otherwise.
fn of_object(old: &SideReview, new: &SideReview, kind: &str) -> Option<UpgradeFinding> {
    let (Some(old_object), Some(new_object)) = (&old.object, &new.object) else {
        return None;
    };
    // What follows from a field that only one of them knows is told there.
    let told = old.unknown_fields.symmetric_difference(&new.unknown_fields);
    let told: Vec<String> = told.filter_map(|message| path_of(message)).collect();
    let mut changes = changed_fields(old_object, new_object);
    changes.retain(|change| {
        let change = without_indexes(change);
        !told.iter().any(|path| change.contains(path.as_str()))
    });
    if changes.is_empty() {
        return None;
    }
    let more = changes.len().saturating_sub(MAX_FIELDS);
    changes.truncate(MAX_FIELDS);
    let mut message = changes.join(", ");
    if more > 0 {
        message.push_str(&format!(" and {more} more"));
    }
    Some(UpgradeRule::ChangedObject.about(kind, message))
}

/// The path in `unknown field "spec.volumes[0].x"`, without indexes.
fn path_of(message: &str) -> Option<String> {
    let path = message.split('"').nth(1)?;
    Some(without_indexes(path))
}

/// A text without what stands in brackets: elements of lists have indexes in some messages, and names in others.
fn without_indexes(text: &str) -> String {
    let mut depth = 0_usize;
    let kept = text.chars().filter(|letter| {
        let is_inside = depth > 0;
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => return !is_inside,
        }
        depth == 0 || !is_inside
    });
    kept.collect()
}

fn of_costs(old: &[PolicyCost], new: &[PolicyCost]) -> Vec<UpgradeFinding> {
    let [old, new] = [old, new].map(|costs| {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        for PolicyCost { policy, cost } in costs {
            let sum = sums.entry(policy).or_default();
            *sum = sum.saturating_add(*cost);
        }
        sums
    });
    let both = old
        .iter()
        .filter_map(|(policy, old)| Some((policy, old, new.get(policy)?)));
    let changed = both.filter(|(_, old, new)| old != new);
    changed
        .map(|(policy, old, new)| {
            let message = format!("its expressions cost {new}, and {old} now");
            UpgradeRule::PolicyCost.about(*policy, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use pratique_report::Decision;
    use pratique_review::PolicyDecision;

    use super::*;

    fn review(decision: Decision, message: &str) -> SideReview {
        SideReview {
            decision: ReplayDecision {
                message: Some(message.to_owned()),
                ..ReplayDecision::without_policies(decision)
            },
            object: None,
            costs: Vec::new(),
            unserved: None,
            is_gone: false,
            unknown_fields: BTreeSet::new(),
        }
    }

    fn object(text: &str) -> SideReview {
        let object = pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        SideReview {
            object: Some(object),
            ..review(Decision::Allowed, "")
        }
    }

    #[track_caller]
    fn check(old: &SideReview, new: &SideReview, expected: &[&str]) {
        let findings = compare(old, new, "v1 Pod").into_iter();
        let texts: Vec<String> = findings
            .map(|finding| format!("{} {}: {}", finding.rule.name(), finding.about, finding.message))
            .collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn decisions_are_compared() {
        use Decision::{Allowed, Denied, Undecided};
        let (allowed, denied) = (review(Allowed, ""), review(Denied, "no"));
        check(&allowed, &denied, &["newly-refused v1 Pod: no"]);
        check(&denied, &allowed, &["newly-allowed v1 Pod: refused now: no"]);
        check(
            &denied,
            &review(Denied, "never"),
            &["refused-otherwise v1 Pod: never; now: no"],
        );
        check(&denied, &denied, &[]);
        let undecided = review(Undecided, "");
        check(
            &allowed,
            &undecided,
            &["undecided v1 Pod: the log does not have enough of it"],
        );
        let unserved = SideReview {
            unserved: Some("gone since 1.37".to_owned()),
            ..review(Denied, "not found")
        };
        check(&allowed, &unserved, &["removed-version v1 Pod: gone since 1.37"]);
        check(&unserved, &unserved, &[]);
        let gone = SideReview {
            unserved: Some("gone since 1.37".to_owned()),
            is_gone: true,
            ..review(Denied, "not found")
        };
        check(&unserved, &gone, &["removed-version v1 Pod: gone since 1.37"]);
        check(&gone, &unserved, &[]);
        check(
            &unserved,
            &allowed,
            &["newly-allowed v1 Pod: refused now: gone since 1.37"],
        );
    }

    #[test]
    fn objects_are_compared() {
        check(
            &object(r#"{"spec":{"a":1}}"#),
            &object(r#"{"spec":{"a":1,"b":2}}"#),
            &["changed-object v1 Pod: set spec.b to 2"],
        );
        let unknown = |text: &str| SideReview {
            unknown_fields: BTreeSet::from([r#"unknown field "spec.volumes[0].mode""#.to_owned()]),
            ..object(text)
        };
        let (without, with) = (
            r#"{"spec":{"volumes":[{"name":"v"}]}}"#,
            r#"{"spec":{"volumes":[{"name":"v","mode":1}]}}"#,
        );
        check(
            &unknown(without),
            &object(with),
            &[
                "known-field v1 Pod: unknown field \"spec.volumes[0].mode\" now, which is dropped: the new server knows it",
            ],
        );
        check(
            &object(with),
            &unknown(without),
            &["unknown-field v1 Pod: unknown field \"spec.volumes[0].mode\""],
        );
    }

    #[test]
    fn policies_are_compared() {
        let review = |message: &str, cost| SideReview {
            decision: ReplayDecision {
                policies: vec![PolicyDecision {
                    policy: "p".to_owned(),
                    binding: "b".to_owned(),
                    validation: None,
                    action: Action::Warn,
                    failed: false,
                    is_step: false,
                    message: message.to_owned(),
                }],
                ..ReplayDecision::without_policies(Decision::Allowed)
            },
            costs: vec![PolicyCost {
                policy: "p".to_owned(),
                cost,
            }],
            ..review(Decision::Allowed, "")
        };
        check(
            &review("one", 3),
            &review("two", 4),
            &[
                "policy-decision p: warning by binding \"b\" says \"two\"; now: \"one\"",
                "policy-cost p: its expressions cost 4, and 3 now",
            ],
        );
        let none = super::tests::review(Decision::Allowed, "");
        check(
            &none,
            &review("two", 4),
            &["policy-decision p: warning by binding \"b\", which it does not now: two"],
        );
    }
}
