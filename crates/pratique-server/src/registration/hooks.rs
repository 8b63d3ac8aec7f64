//! The webhooks of one phase: what is sent, by which failure policy, and on which conditions.

use serde_json::{Value, json};

use super::cells::{CellSet, RuleCell};
use super::rules::PhaseRules;

/// A webhook of a configuration, without what all have.
#[derive(Clone, Debug)]
pub(super) struct WebhookTemplate {
    /// The beginning of its name.
    pub(super) name: &'static str,
    pub(super) failure_policy: &'static str,
    pub(super) match_policy: &'static str,
    pub(super) side_effects: &'static str,
    pub(super) cells: CellSet,
    pub(super) conditions: Vec<Value>,
}

/// The match condition of requests that change the owners of an object.
const OWNERS_CHANGE: &str = "(object == null ? [] : object.?metadata.?ownerReferences.orValue([])) != \
    (oldObject == null ? [] : oldObject.?metadata.?ownerReferences.orValue([]))";

/// The webhooks of a phase, each with cells. As far as rules can say, no request is sent by two of them.
pub(super) fn hooks(rules: &PhaseRules) -> Vec<WebhookTemplate> {
    let fail = WebhookTemplate {
        name: "fail",
        failure_policy: "Fail",
        match_policy: "Equivalent",
        side_effects: "None",
        cells: rules.fail.clone(),
        conditions: Vec::new(),
    };
    let counted = rules.counted.without(&rules.fail);
    let side_effects = if rules.counted.is_empty() {
        "None"
    } else {
        "NoneOnDryRun"
    };
    let ignored = if counted.is_empty() {
        rules.ignore.clone()
    } else {
        rules.ignore.expanded()
    };
    let mut hooks = vec![
        WebhookTemplate {
            side_effects: if counted.len() == rules.counted.len() {
                "None"
            } else {
                // Some of the requests that are counted are sent by this one.
                side_effects
            },
            ..fail.clone()
        },
        WebhookTemplate {
            name: "ignore",
            failure_policy: "Ignore",
            cells: ignored.without(&rules.fail).without(&counted),
            ..fail.clone()
        },
        WebhookTemplate {
            name: "counted",
            match_policy: "Exact",
            side_effects,
            cells: counted.clone(),
            ..fail.clone()
        },
    ];
    if rules.owners {
        let mut all = CellSet::default();
        all.extend(["CREATE", "UPDATE"].into_iter().map(of_everything));
        let others: Vec<String> = rules.fail.iter().chain(counted.iter()).flat_map(keys).collect();
        hooks.push(WebhookTemplate {
            name: "owners",
            cells: all.without(&rules.fail),
            conditions: conditions(others),
            ..fail
        });
    }
    hooks.retain(|hook| !hook.cells.is_empty());
    hooks
}

fn of_everything(operation: &str) -> RuleCell {
    let [group, version, resource, operation, scope] = ["*", "*", "*/*", operation, "*"].map(str::to_owned);
    RuleCell {
        group,
        version,
        resource,
        operation,
        scope,
    }
}

fn conditions(mut sent: Vec<String>) -> Vec<Value> {
    let mut conditions = vec![json!({"name": "owners-change", "expression": OWNERS_CHANGE})];
    if !sent.is_empty() {
        sent.sort_unstable();
        sent.dedup();
        let expression = format!(
            "!([request.resource.group, request.resource.resource, request.?subResource.orValue(''), \
             request.operation].join('/') in ['{}'])",
            sent.join("', '")
        );
        conditions.push(json!({"name": "not-sent-already", "expression": expression}));
    }
    conditions
}

/// The requests of a cell, as the match condition names them; none where the cell has wildcards, which may send a request
/// twice.
fn keys(cell: &RuleCell) -> Vec<String> {
    let is_plain = |text: &String| !text.contains(['*', '\'', '\\']);
    if cell.scope != "*" || !is_plain(&cell.group) || !is_plain(&cell.resource) {
        return Vec::new();
    }
    let (resource, subresource) = cell.resource.split_once('/').unwrap_or((&cell.resource, ""));
    let operations: &[&str] = match cell.operation.as_str() {
        "*" => &["CREATE", "UPDATE"],
        operation => &[operation],
    };
    let key = |operation: &&str| format!("{}/{resource}/{subresource}/{operation}", cell.group);
    operations.iter().map(key).collect()
}
