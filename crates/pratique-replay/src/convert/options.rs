//! The options of requests, and objects that stand in an address.

use pratique_json::{Object, Value};
use pratique_schema::{Release, Scalar, Shape, TypeId};
use pratique_types::Operation;

use crate::uri::RequestUri;

const META: &str = "meta.k8s.io/v1";

/// The options of a request that writes. A patch has those of what it does.
// Upstream: apiserver/pkg/endpoints/handlers/patch.go, patchToUpdateOptions
pub(super) fn of_write(operation: Operation, uri: &RequestUri) -> Value<'static> {
    let kind = match operation {
        Operation::Create => "CreateOptions",
        Operation::Update => "UpdateOptions",
        _ => return Value::Null,
    };
    let mut options = named(kind);
    let dry_run = uri.values("dryRun");
    if !dry_run.is_empty() {
        let values = dry_run.iter().cloned().map(Value::from);
        options.insert("dryRun", values.collect::<Vec<_>>());
    }
    for name in ["fieldManager", "fieldValidation"] {
        if !uri.value(name).is_empty() {
            options.insert(name, uri.value(name).to_owned());
        }
    }
    options.into()
}

/// The options of a deletion: its body or, without one, its parameters.
// Upstream: apiserver/pkg/endpoints/handlers/delete.go, DeleteResource
pub(super) fn of_deletion(release: &'static Release, body: &Value<'_>, uri: &RequestUri) -> Value<'static> {
    let mut options = match body.clone().into_owned() {
        Value::Object(members) => members,
        _ => match release.schema().named("meta/v1.DeleteOptions") {
            Some(id) => of_parameters(release, id, uri),
            None => Object::new(),
        },
    };
    options.insert("kind", "DeleteOptions");
    options.insert("apiVersion", META);
    options.into()
}

fn named(kind: &'static str) -> Object<'static> {
    let mut options = Object::new();
    options.insert("kind", kind);
    options.insert("apiVersion", META);
    options
}

/// The object of a type of a release that parameters stand for.
// Upstream: apimachinery/pkg/runtime/conversion.go, Convert_Slice_string_To_bool and its like
pub(super) fn of_parameters(release: &'static Release, id: TypeId, uri: &RequestUri) -> Object<'static> {
    let mut object = Object::new();
    for field in release.schema().get(id).fields.iter() {
        let values = uri.values(field.name);
        let Some(first) = values.first() else { continue };
        if let Some(value) = parameter(&field.shape, first, values) {
            object.insert(field.name, value);
        }
    }
    object
}

fn parameter(shape: &Shape, first: &str, values: &[String]) -> Option<Value<'static>> {
    match shape {
        Shape::Scalar(Scalar::Bool) => Some((first != "0" && !first.eq_ignore_ascii_case("false")).into()),
        Shape::Scalar(Scalar::Int32 | Scalar::Int64) => first.parse::<i64>().ok().map(Value::from),
        Shape::Scalar(Scalar::String) => Some(first.to_owned().into()),
        Shape::List(of) => {
            let values = values.iter().filter_map(|value| parameter(of, value, values));
            Some(values.collect::<Vec<_>>().into())
        }
        _ => None,
    }
}
