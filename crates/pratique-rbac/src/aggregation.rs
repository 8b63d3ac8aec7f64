//! Aggregated ClusterRoles: their rules are those of the roles that their selectors select.

use std::collections::{BTreeMap, HashSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use pratique_json::Value;
use pratique_match::{Labels, Selector};

use crate::role::{PolicyRule, rules};

/// A ClusterRole.
#[derive(Clone, Debug)]
pub(crate) struct ClusterRole {
    pub(crate) rules: Vec<PolicyRule>,
    labels: Value<'static>,
    /// The selectors of an aggregated role; `None` if one of them is not valid, so that its rules stay as they are.
    selectors: Option<Vec<Selector>>,
}

/// How many comparisons of a role with a selector, and copies of a rule, aggregation may take.
const MAX_WORK: usize = 2_000_000;

impl ClusterRole {
    pub(crate) fn read(role: &Value<'_>) -> Self {
        let rule = role.get("aggregationRule").filter(|rule| !rule.is_null());
        let selectors = rule.map(|rule| {
            let selectors = rule.get("clusterRoleSelectors").and_then(Value::as_array);
            selectors
                .unwrap_or_default()
                .iter()
                .map(selector)
                .collect::<Option<Vec<_>>>()
        });
        let labels = role.at(&["metadata", "labels"]);
        ClusterRole {
            rules: rules(role),
            labels: labels.cloned().unwrap_or_default().into_owned(),
            selectors: selectors.flatten(),
        }
    }

    fn is_selected_by(&self, selector: &Selector) -> bool {
        selector.matches(Labels::new(&self.labels))
    }
}

/// Sets the rules of aggregated roles, as their controller does, until nothing changes; false if that takes too long.
// Upstream: kubernetes/pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go, syncClusterRole
pub(crate) fn aggregate(roles: &mut BTreeMap<String, ClusterRole>) -> bool {
    let aggregated = roles.iter().filter(|(_, role)| role.selectors.is_some());
    let aggregated: Vec<String> = aggregated.map(|(name, _)| name.clone()).collect();
    let mut work = MAX_WORK;
    loop {
        let mut is_settled = true;
        for name in &aggregated {
            let Some(rules) = aggregated_rules(name, roles, &mut work) else {
                return false;
            };
            if let Some(role) = roles.get_mut(name)
                && role.rules != rules
            {
                role.rules = rules;
                is_settled = false;
            }
        }
        if is_settled {
            return true;
        }
    }
}

/// The rules that a role aggregates; `None` once there is no work left.
fn aggregated_rules(
    name: &str,
    roles: &BTreeMap<String, ClusterRole>,
    work: &mut usize,
) -> Option<Vec<PolicyRule>> {
    let (mut rules, mut seen) = (Vec::new(), HashSet::new());
    let selectors = roles.get(name).and_then(|role| role.selectors.as_ref());
    for selector in selectors.into_iter().flatten() {
        for (other, role) in roles {
            *work = work.checked_sub(1)?;
            if other == name || !role.is_selected_by(selector) {
                continue;
            }
            *work = work.checked_sub(role.rules.len())?;
            rules.extend(role.rules.iter().filter(|rule| seen.insert(*rule)).cloned());
        }
    }
    Some(rules)
}

/// A selector; `None` if it is not valid.
fn selector(value: &Value<'_>) -> Option<Selector> {
    let texts = |value: &Value<'_>| -> Vec<String> {
        let list = value.as_array().unwrap_or_default();
        list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let text = |value: &Value<'_>, field: &str| {
        let text = value.get(field).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let labels = value.get("matchLabels").and_then(Value::as_object);
    let labels = labels.map(|labels| {
        let pairs = labels
            .iter()
            .map(|(key, value)| (key.to_owned(), value.as_str().unwrap_or_default().to_owned()));
        pairs.collect()
    });
    let expressions = value.get("matchExpressions").and_then(Value::as_array);
    let expressions = expressions.map(|expressions| {
        let requirement = |expression: &Value<'_>| LabelSelectorRequirement {
            key: text(expression, "key"),
            operator: text(expression, "operator"),
            values: expression.get("values").map(texts),
        };
        expressions.iter().map(requirement).collect()
    });
    let selector = LabelSelector {
        match_labels: labels,
        match_expressions: expressions,
    };
    Selector::compile(&selector).ok()
}
