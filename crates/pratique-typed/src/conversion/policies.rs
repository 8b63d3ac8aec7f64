//! Budgets of disruptions, and subjects of role bindings. The hubs are the first stable versions.

use pratique_json::{Object, Value};

use super::{
    ApiVersion, ConversionError, ConversionFamily, any, is_v1alpha1, is_v1beta1, part, parts, read_text,
};

pub(super) const POD_DISRUPTION_BUDGET: ConversionFamily =
    ConversionFamily::new(any, budget_to_hub, budget_from_hub);
pub(super) const ROLE_BINDING: ConversionFamily =
    ConversionFamily::new(is_v1alpha1, binding_to_hub, binding_from_hub);

/// A label that no pod has. An empty selector selects nothing in `v1beta1` and everything in other versions,
/// so each expresses the other's meaning by this label.
const MATCH_LABEL: &str = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

/// A selector that requires the label, or its absence.
fn by_label(operator: &'static str) -> Value<'static> {
    let requirement = [("key", MATCH_LABEL), ("operator", operator)];
    let requirement = requirement.map(|(key, value)| (key.into(), Value::from(value)));
    let requirements = Value::Array(vec![Value::Object(requirement.into_iter().collect())]);
    Value::Object([("matchExpressions".into(), requirements)].into_iter().collect())
}

fn everything() -> Value<'static> {
    Value::Object(Object::new())
}

fn budget_to_hub(version: ApiVersion<'_>, budget: &mut Object<'_>) -> Result<(), ConversionError> {
    let Some(selector) = part(budget, "spec").and_then(|spec| spec.get_mut("selector")) else {
        return Ok(());
    };
    let (exists, misses) = (by_label("Exists"), by_label("DoesNotExist"));
    if is_v1beta1(version.name) && *selector == everything() {
        *selector = exists;
    } else if is_v1beta1(version.name) && *selector == misses {
        *selector = everything();
    } else if is_v1beta1(version.name) {
        let requirements = selector.get_mut("matchExpressions");
        if let Some(Value::Array(requirements)) = requirements {
            let key = |of: &Value<'_>| of.get("key").and_then(Value::as_str) == Some(MATCH_LABEL);
            requirements.retain(|requirement| !key(requirement));
            if let (true, Value::Object(selector)) = (requirements.is_empty(), selector) {
                selector.remove("matchExpressions");
            }
        }
    }
    Ok(())
}

fn budget_from_hub(version: ApiVersion<'_>, budget: &mut Object<'_>) -> Result<(), ConversionError> {
    let selector = part(budget, "spec").and_then(|spec| spec.get_mut("selector"));
    if let (true, Some(selector)) = (is_v1beta1(version.name), selector) {
        if *selector == by_label("Exists") {
            *selector = everything();
        } else if *selector == everything() {
            *selector = by_label("DoesNotExist");
        }
    }
    Ok(())
}

const RBAC: &str = "rbac.authorization.k8s.io";
const RBAC_ALPHA: &str = "rbac.authorization.k8s.io/v1alpha1";

fn binding_to_hub(_: ApiVersion<'_>, binding: &mut Object<'_>) -> Result<(), ConversionError> {
    for subject in parts(binding, "subjects") {
        let version = subject.remove("apiVersion");
        let group = match read_text(subject, "kind") {
            "ServiceAccount" => "",
            "User" | "Group" => RBAC,
            _ => group_of(version.as_ref().and_then(Value::as_str).unwrap_or_default()),
        };
        let is_everybody = read_text(subject, "kind") == "User" && read_text(subject, "name") == "*";
        let group = group.to_owned();
        subject.insert("apiGroup", Value::from(group));
        if is_everybody {
            subject.insert("kind", Value::from("Group"));
            subject.insert("name", Value::from("system:authenticated"));
        }
    }
    Ok(())
}

/// The group of a version; `""` for a text that is none.
fn group_of(version: &str) -> &str {
    match version.split_once('/') {
        Some((group, version)) if !version.contains('/') => group,
        _ => "",
    }
}

fn binding_from_hub(_: ApiVersion<'_>, binding: &mut Object<'_>) -> Result<(), ConversionError> {
    for subject in parts(binding, "subjects") {
        let group = subject.remove("apiGroup");
        let group = group.as_ref().and_then(Value::as_str).unwrap_or_default();
        let version = match (read_text(subject, "kind"), group) {
            ("ServiceAccount", "") => "v1".to_owned(),
            ("User" | "Group", RBAC) => RBAC_ALPHA.to_owned(),
            (_, "") => String::new(),
            (_, group) => format!("{group}/"),
        };
        subject.insert("apiVersion", Value::from(version));
    }
    Ok(())
}
