//! Groups with a type or two.

use pratique_json::{Object, Value};

use super::core::drop_annotations;
use crate::defaults::DefaultContext;
use crate::defaults::field::{absent, is_empty, members, part, pointer, text_member};

/// With it, a level of `v1beta3` has zero shares, which its field cannot say.
const PRESERVE_ZERO: &str = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";

pub(super) fn priority_level(object: &mut Object<'_>, _: &DefaultContext<'_>) {
    let has_zero = pointer(object, "spec")
        .and_then(|spec| pointer(spec, "limited"))
        .is_some_and(|limited| is_empty(limited, "nominalConcurrencyShares"));
    let annotations = members(members(object, "metadata"), "annotations");
    if !has_zero {
        if annotations.contains_key(PRESERVE_ZERO) {
            drop_annotations(object, &[PRESERVE_ZERO]);
        }
    } else if let Some(metadata) = part(object, "metadata")
        && let Some(annotations) = part(metadata, "annotations")
    {
        annotations.insert(PRESERVE_ZERO, "");
    }
}

/// In `v1beta1` an empty selector matches nothing; with this label, one matches all.
const EMPTY_MATCHES: &str = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

/// Until 1.36 the stable version loses the label, unless it requires that.
pub(super) fn stable_disruption_budget(object: &mut Object<'_>, _: &DefaultContext<'_>) {
    if let Some(selector) = selector(object)
        && !matches_by_label(selector, "Exists")
    {
        strip_label(selector);
    }
}

pub(super) fn disruption_budget(object: &mut Object<'_>, _: &DefaultContext<'_>) {
    let Some(selector) = selector(object) else { return };
    if is_plain(selector) || matches_by_label(selector, "DoesNotExist") {
        return;
    }
    strip_label(selector);
    if is_plain(selector) {
        let mut expression = Object::new();
        expression.insert("key", EMPTY_MATCHES);
        expression.insert("operator", "DoesNotExist");
        selector.insert("matchExpressions", vec![Value::Object(expression)]);
    }
}

fn selector<'o, 'a>(object: &'o mut Object<'a>) -> Option<&'o mut Object<'a>> {
    pointer(pointer(object, "spec")?, "selector")
}

fn is_plain(selector: &Object<'_>) -> bool {
    is_empty(selector, "matchLabels") && is_empty(selector, "matchExpressions")
}

/// Whether nothing but the label is required, by one operator.
fn matches_by_label(selector: &Object<'_>, operator: &str) -> bool {
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    let Some([expression]) = expressions else {
        return false;
    };
    let text = |name| expression.get(name).and_then(Value::as_str);
    is_empty(selector, "matchLabels")
        && text("key") == Some(EMPTY_MATCHES)
        && text("operator") == Some(operator)
        && expression.get("values").is_none_or(Value::is_empty)
}

fn strip_label(selector: &mut Object<'_>) {
    if let Some(Value::Array(expressions)) = selector.get_mut("matchExpressions") {
        let is_label =
            |expression: &Value<'_>| expression.get("key").and_then(Value::as_str) == Some(EMPTY_MATCHES);
        expressions.retain(|expression| !is_label(expression));
    }
    for field in ["matchLabels", "matchExpressions"] {
        if is_empty(selector, field) {
            selector.remove(field);
        }
    }
}

/// The internal version has the node of an endpoint in a field.
pub(super) fn endpoint(object: &mut Object<'_>, _: &DefaultContext<'_>) {
    let Some(node) = object.get("nodeName").filter(|node| !node.is_null()).cloned() else {
        return;
    };
    if let Some(topology) = part(object, "topology") {
        absent(topology, "kubernetes.io/hostname", node);
    }
}

/// The internal version has the group of a subject in place of its version.
pub(super) fn subject(object: &mut Object<'_>, _: &DefaultContext<'_>) {
    const GROUP: &str = "rbac.authorization.k8s.io";
    let kind = text_member(object, "kind");
    let version = match kind {
        "ServiceAccount" => "v1".to_owned(),
        "User" | "Group" => format!("{GROUP}/v1alpha1"),
        _ => match text_member(object, "apiVersion").split_once('/') {
            Some((group, version)) if !version.contains('/') && !group.is_empty() => format!("{group}/"),
            _ => String::new(),
        },
    };
    if kind == "User" && text_member(object, "name") == "*" {
        object.insert("kind", "Group");
        object.insert("name", "system:authenticated");
    }
    if version.is_empty() {
        object.remove("apiVersion")
    } else {
        object.insert("apiVersion", version)
    };
}
