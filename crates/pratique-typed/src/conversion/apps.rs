//! Workloads, and their scale. The hub of workloads has the fields of `extensions/v1beta1`, which stable versions keep in
//! annotations; that of scales is `autoscaling/v1`.

use pratique_gotext::strconv::parse_int;
use pratique_json::{Object, Value};

use super::{
    ApiVersion, ConversionError, ConversionFamily, annotate, annotation, any, drop_annotation, none, part,
    parts, put, read_text, take,
};

pub(super) const DAEMON_SET: ConversionFamily =
    ConversionFamily::new(annotates, daemon_set_to_hub, daemon_set_from_hub);
pub(super) const DEPLOYMENT: ConversionFamily =
    ConversionFamily::new(annotates, deployment_to_hub, deployment_from_hub);
pub(super) const STATEFUL_SET: ConversionFamily = ConversionFamily::new(any, none, stateful_set_from_hub);
pub(super) const SCALE: ConversionFamily = ConversionFamily::new(
    |version| version != "autoscaling/v1",
    scale_to_hub,
    scale_from_hub,
);

const ROLLBACK_TO: &str = "deprecated.deployment.rollback.to";
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Whether a version keeps deprecated fields in annotations.
fn annotates(version: &str) -> bool {
    matches!(version, "apps/v1" | "apps/v1beta2")
}

fn daemon_set_to_hub(_: ApiVersion<'_>, set: &mut Object<'_>) -> Result<(), ConversionError> {
    if let Some(generation) = annotation(set, TEMPLATE_GENERATION) {
        let generation = parse_int(generation)?;
        drop_annotation(set, TEMPLATE_GENERATION);
        if let Some(spec) = part(set, "spec") {
            spec.insert("templateGeneration", Value::Int(generation));
        }
    }
    Ok(())
}

fn daemon_set_from_hub(_: ApiVersion<'_>, set: &mut Object<'_>) -> Result<(), ConversionError> {
    let generation = part(set, "spec").and_then(|spec| take(spec, "templateGeneration"));
    let generation = generation.and_then(|value| value.as_int()).unwrap_or_default();
    annotate(set, TEMPLATE_GENERATION, generation.to_string());
    Ok(())
}

fn deployment_to_hub(_: ApiVersion<'_>, deployment: &mut Object<'_>) -> Result<(), ConversionError> {
    let Some(revision) = annotation(deployment, ROLLBACK_TO).filter(|revision| !revision.is_empty()) else {
        return Ok(());
    };
    let revision = parse_int(revision).map_err(|error| ConversionError::Annotation {
        annotation: ROLLBACK_TO,
        value: revision.to_owned(),
        error,
    })?;
    drop_annotation(deployment, ROLLBACK_TO);
    if let Some(spec) = part(deployment, "spec") {
        let rollback = Object::from_iter([("revision".into(), Value::Int(revision))]);
        spec.insert("rollbackTo", rollback);
    }
    Ok(())
}

fn deployment_from_hub(_: ApiVersion<'_>, deployment: &mut Object<'_>) -> Result<(), ConversionError> {
    match part(deployment, "spec").and_then(|spec| take(spec, "rollbackTo")) {
        Some(rollback) => {
            let revision = rollback.get("revision").and_then(Value::as_int);
            annotate(deployment, ROLLBACK_TO, revision.unwrap_or_default().to_string());
        }
        None => drop_annotation(deployment, ROLLBACK_TO),
    }
    Ok(())
}

fn stateful_set_from_hub(version: ApiVersion<'_>, set: &mut Object<'_>) -> Result<(), ConversionError> {
    if let Some(spec) = part(set, "spec") {
        for template in parts(spec, "volumeClaimTemplates") {
            template.insert("apiVersion", "v1");
            template.insert("kind", "PersistentVolumeClaim");
        }
    }
    // The first version can do without it, others cannot.
    if let (true, Some(status)) = (version.name == "apps/v1beta1", part(set, "status")) {
        let generation = take(status, "observedGeneration").unwrap_or(Value::Int(0));
        status.insert("observedGeneration", generation);
    }
    Ok(())
}

fn scale_to_hub(_: ApiVersion<'_>, scale: &mut Object<'_>) -> Result<(), ConversionError> {
    if let Some(status) = part(scale, "status") {
        let labels = take(status, "selector");
        let selector = match take(status, "targetSelector").filter(|selector| !selector.is_empty()) {
            Some(selector) => selector,
            None => Value::from(labels.as_ref().map(joined).unwrap_or_default()),
        };
        put(status, "selector", Some(selector));
    }
    Ok(())
}

/// Labels as a selector: `a=b,c=d`.
fn joined(labels: &Value<'_>) -> String {
    let labels = labels.as_object().into_iter().flat_map(Object::iter);
    let terms = labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
    terms.collect::<Vec<_>>().join(",")
}

fn scale_from_hub(_: ApiVersion<'_>, scale: &mut Object<'_>) -> Result<(), ConversionError> {
    if let Some(status) = part(scale, "status") {
        let selector = read_text(status, "selector").to_owned();
        status.remove("selector");
        if let Some(labels) = labels_of(&selector)? {
            status.insert("selector", labels);
        }
        status.insert("targetSelector", Value::from(selector));
    }
    Ok(())
}

/// The labels that a selector requires, if it requires nothing else.
fn labels_of(selector: &str) -> Result<Option<Object<'static>>, ConversionError> {
    let mut labels = Object::new();
    let mut only_labels = true;
    let mut rest = selector;
    while !rest.is_empty() {
        let (term, after) = first_term(rest);
        rest = after;
        let invalid = || ConversionError::Selector(selector.to_owned());
        match term.split_once('=').filter(|(key, _)| !key.ends_with('!')) {
            Some((key, value)) => {
                let value = value.strip_prefix('=').unwrap_or(value).trim();
                let key = key.trim();
                if !is_key(key) || !is_value(value) {
                    return Err(invalid());
                }
                labels.insert(key.to_owned(), Value::from(value.to_owned()));
            }
            None => {
                let key = term.trim_start_matches('!').trim_start();
                let end = key.find([' ', '!', '<', '>', '(']).unwrap_or(key.len());
                if !key.get(..end).is_some_and(is_key) {
                    return Err(invalid());
                }
                only_labels = false;
            }
        }
    }
    Ok(only_labels.then_some(labels))
}

/// The first term of a selector, and the rest: a comma within parentheses ends no term.
fn first_term(selector: &str) -> (&str, &str) {
    let mut within = false;
    let end = selector.find(|character| {
        within = (within || character == '(') && character != ')';
        character == ',' && !within
    });
    let (term, rest) = end
        .and_then(|end| selector.split_at_checked(end))
        .unwrap_or((selector, ""));
    (term.trim(), rest.strip_prefix(',').unwrap_or(rest))
}

fn is_key(key: &str) -> bool {
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    !name.is_empty() && is_value(name)
}

fn is_value(value: &str) -> bool {
    let alphanumeric = |character: char| character.is_ascii_alphanumeric();
    value
        .chars()
        .all(|character| alphanumeric(character) || "-_.".contains(character))
        && (value.is_empty() || value.starts_with(alphanumeric) && value.ends_with(alphanumeric))
}
