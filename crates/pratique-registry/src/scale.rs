//! The `scale` of controllers: how many replicas they have, as an object of its own.
// Upstream: pkg/registry/apps/deployment/storage/storage.go, ScaleREST

use pratique_json::{Object, Value};
use pratique_types::Status;

use crate::object;
use crate::registry::{Prepared, Received, Registry, check_version};
use crate::request::Attributes;
use crate::strategy::Strategy;
use crate::target::Target;

/// The scale of a controller.
// Upstream: pkg/registry/apps/deployment/storage/storage.go, scaleFromDeployment
pub(crate) fn of(target: &Target, controller: &Value<'static>) -> Value<'static> {
    let mut scale = Value::Object(Object::new());
    object::set(&mut scale, &["kind"], target.kind.kind.clone());
    object::set(&mut scale, &["apiVersion"], target.kind.api_version());
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        object::copy(&mut scale, controller, &["metadata", field]);
    }
    object::set(&mut scale, &["spec"], Object::new());
    object::set(
        &mut scale,
        &["status", "replicas"],
        object::number(controller, &["status", "replicas"]),
    );
    let replicas = object::number(controller, &["spec", "replicas"]);
    if replicas != 0 {
        object::set(&mut scale, &["spec", "replicas"], replicas);
    }
    let selector = selector(controller);
    if !selector.is_empty() {
        object::set(&mut scale, &["status", "selector"], selector);
    }
    scale
}

/// The scale of a controller with the entries of those who set its number of replicas, as mutating admission sees it.
// Upstream: apimachinery/pkg/util/managedfields/scalehandler.go, ToSubresource
pub(crate) fn managed(target: &Target, controller: &Value<'static>) -> Value<'static> {
    let mut scale = of(target, controller);
    let path: object::Path<'_> = &["metadata", "managedFields"];
    let entries = object::list(controller, path).iter();
    let entries = entries.filter(|entry| object::has(entry, &["fieldsV1", "f:spec", "f:replicas"]));
    let entries: Vec<Value<'static>> = entries
        .map(|entry| {
            let mut entry = entry.clone();
            object::set(&mut entry, &["apiVersion"], target.kind.api_version());
            object::set(&mut entry, &["fieldsV1"], Object::new());
            object::set(&mut entry, &["fieldsV1", "f:spec", "f:replicas"], Object::new());
            entry
        })
        .collect();
    if !entries.is_empty() {
        object::set(&mut scale, path, entries);
    }
    scale
}

/// The selector of a controller as a text.
// Upstream: apimachinery/pkg/apis/meta/v1/helpers.go, LabelSelectorAsSelector; labels/selector.go, String
fn selector(controller: &Value<'static>) -> String {
    let Some(selector) = controller.at(&["spec", "selector"]) else {
        return String::new();
    };
    // A ReplicationController has labels, the others have a selector.
    let is_selector = ["matchLabels", "matchExpressions"]
        .iter()
        .any(|field| selector.get(field).is_some());
    let labels = if is_selector {
        selector.get("matchLabels")
    } else {
        Some(selector)
    };
    let mut requirements: Vec<(String, String)> = Vec::new();
    for (name, value) in labels
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Object::iter)
    {
        let value = value.as_str().unwrap_or_default();
        requirements.push((name.to_owned(), format!("{name}={value}")));
    }
    for expression in object::list(selector, &["matchExpressions"]) {
        let key = object::text(expression, &["key"]).to_owned();
        let mut values: Vec<&str> = object::list(expression, &["values"])
            .iter()
            .filter_map(Value::as_str)
            .collect();
        values.sort_unstable();
        let values = values.join(",");
        let shown = match object::text(expression, &["operator"]) {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.clone(),
            _ => format!("!{key}"),
        };
        requirements.push((key, shown));
    }
    requirements.sort_by(|one, other| one.0.cmp(&other.0));
    let shown: Vec<String> = requirements.into_iter().map(|(_, shown)| shown).collect();
    shown.join(",")
}

/// The scale after its controller was updated.
// Upstream: pkg/registry/apps/deployment/storage/storage.go, scaleUpdatedObjectInfo.UpdatedObject
pub(crate) fn prepare(
    registry: &Registry<'_>,
    received: Received<'_>,
    strategy: &Strategy,
) -> Result<Prepared, Box<Status>> {
    let target = &received.request.target;
    let mut scale = received.attributes.object.clone();
    let old_scale = &received.attributes.old_object;
    check_version(&mut scale, old_scale, strategy, &received)?;
    let Some(old) = registry.stored_object(&received.request)? else {
        return Err(crate::refusal::not_found(&target.resource, &target.name));
    };
    let mut controller = old.clone();
    object::set(
        &mut controller,
        &["spec", "replicas"],
        object::number(&scale, &["spec", "replicas"]),
    );
    let mut context = registry.context(&received);
    strategy.prepare_for_update(&mut context, &mut controller, &old);
    let attributes = Attributes {
        object: of(target, &controller),
        old_object: of(target, &old),
        ..received.attributes.clone()
    };
    Ok(Prepared {
        stored: attributes.object.clone(),
        attributes,
        warnings: received.warnings,
    })
}
