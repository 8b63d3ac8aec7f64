//! `apps`, and what was in `extensions` before.

use pratique_gotext::strconv::parse_int;
use pratique_json::{Object, Value};

use super::core::drop_annotations;
use crate::defaults::field::{is_empty, members, part, text_member};
use crate::defaults::{DefaultContext, DefaultFunction};

const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";
const ROLLBACK_TO: &str = "deprecated.deployment.rollback.to";

pub(super) fn function(of: &str) -> Option<DefaultFunction> {
    Some(match of {
        "DaemonSet" => daemon_set,
        "Deployment" => deployment,
        "ScaleStatus" => scale_status,
        _ => return None,
    })
}

fn annotation<'o>(object: &'o Object<'_>, name: &str) -> Option<&'o str> {
    members(members(object, "metadata"), "annotations")
        .get(name)?
        .as_str()
}

fn annotate(object: &mut Object<'_>, name: &'static str, value: String) {
    if let Some(metadata) = part(object, "metadata")
        && let Some(annotations) = part(metadata, "annotations")
    {
        annotations.insert(name, value);
    }
}

/// The internal version has the generation of the template in a field.
fn daemon_set(object: &mut Object<'_>, context: &DefaultContext<'_>) {
    let generation = match annotation(object, TEMPLATE_GENERATION).map(parse_int) {
        None => 0,
        Some(Ok(generation)) => generation,
        Some(Err(error)) => return context.fault(error.to_string()),
    };
    annotate(object, TEMPLATE_GENERATION, generation.to_string());
}

/// The internal version has the revision to roll back to in a field.
fn deployment(object: &mut Object<'_>, context: &DefaultContext<'_>) {
    let Some(revision) = annotation(object, ROLLBACK_TO) else {
        return;
    };
    if revision.is_empty() {
        return drop_annotations(object, &[ROLLBACK_TO]);
    }
    match parse_int(revision) {
        Ok(revision) => annotate(object, ROLLBACK_TO, revision.to_string()),
        Err(error) => {
            context.fault(format!(
                "failed to parse annotation[{ROLLBACK_TO}]={revision} as int64: {error}"
            ));
        }
    }
}

/// The internal version has one selector, as a text.
fn scale_status(object: &mut Object<'_>, _: &DefaultContext<'_>) {
    if is_empty(object, "targetSelector") {
        let labels = members(object, "selector").iter();
        let pairs = labels.map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()));
        let selector = pairs.collect::<Vec<_>>().join(",");
        if selector.is_empty() {
            object.remove("selector");
            return;
        }
        object.insert("targetSelector", selector);
    }
    match labels(text_member(object, "targetSelector")) {
        Some(labels) if !labels.is_empty() => object.insert("selector", labels),
        _ => object.remove("selector"),
    };
}

/// The labels that a selector requires, if it requires nothing but labels.
fn labels(selector: &str) -> Option<Object<'static>> {
    let pair = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let value = value.strip_prefix('=').unwrap_or(value);
        let is_plain = !name.contains(['!', '(', ')']) && !value.contains(['(', ')']);
        let pair = || {
            (
                name.trim().to_owned().into(),
                Value::from(value.trim().to_owned()),
            )
        };
        is_plain.then(pair)
    };
    selector.split(',').map(pair).collect()
}
