//! Fields of configuration files: of the project file and of suites by their published schemas, of those of an API server by the
//! tables of built-in types.

use std::collections::BTreeSet;

use pratique_schema::{Release, Scalar, Schema, Shape, StructType, TypeId};
use pratique_suite::schema;
use serde_json::Value;

use super::markdown::{codes, escaped, table};
use crate::project::shape::SCHEMA;

pub(super) fn project_file() -> String {
    of_schema(
        "The project file",
        "The fields of `pratique.yaml`, which [a page of its own](../configuration.md) introduces. \
         [The schema](../pratique.schema.json) is for editors.",
        &SCHEMA,
    )
}

pub(super) fn suites() -> String {
    of_schema(
        "Suites",
        "The fields of suites, which [Testing policies](../test.md) introduces. [The schema](../suite.schema.json) is for editors.",
        schema(),
    )
}

/// The structures of a schema, from the first that is named on.
fn of_schema(title: &str, about: &str, schema: &Value) -> String {
    let mut text = format!("# {title}\n\n{about}\n");
    let mut named = vec![referred(schema).unwrap_or_default()];
    let mut at = 0;
    while let Some(name) = named.get(at).cloned() {
        at += 1;
        let definition = &schema["definitions"][&name];
        let properties = definition["properties"].as_object().unwrap();
        let required = definition["required"].as_array();
        let entries = properties.iter().map(|(field, value)| {
            let is_required = required.is_some_and(|names| names.iter().any(|name| name == field));
            let shape = shape(value, &mut named);
            let about = value["description"].as_str().unwrap_or_default();
            let must = if is_required { ", required" } else { "" };
            format!("- **`{field}`** ({shape}{must}) {}\n", escaped(about))
        });
        let entries: String = entries.collect();
        let about = escaped(definition["description"].as_str().unwrap_or_default());
        text += &format!("\n## {name}\n\n{about}\n\n{entries}");
    }
    text
}

/// The name of the structure that a schema refers to.
fn referred(schema: &Value) -> Option<String> {
    let reference = schema["$ref"].as_str()?;
    reference.strip_prefix("#/definitions/").map(str::to_owned)
}

/// The shape of a value; structures that it refers to are added to those that are shown.
fn shape(schema: &Value, named: &mut Vec<String>) -> String {
    if let Some(name) = referred(schema) {
        if !named.contains(&name) {
            named.push(name.clone());
        }
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(alternatives) = schema["allOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
        let shapes: Vec<String> = alternatives
            .iter()
            .map(|alternative| shape(alternative, named))
            .collect();
        return shapes.join(" or ");
    }
    if let Some(names) = schema["enum"].as_array() {
        return codes(names.iter().filter_map(Value::as_str));
    }
    match &schema["type"] {
        Value::Array(_) => "scalar".to_owned(),
        Value::String(name) if name == "array" => format!("list of {}", shape(&schema["items"], named)),
        Value::String(name) if name == "object" => match &schema["additionalProperties"] {
            Value::Object(_) => format!("map of {}", shape(&schema["additionalProperties"], named)),
            _ => "object".to_owned(),
        },
        Value::String(name) => name.clone(),
        _ => "anything".to_owned(),
    }
}

/// Files of an API server, by the types that they are decoded as: the file, and what plugins read.
const CONFIGURATION: [(&str, &str); 9] = [
    ("AdmissionConfiguration", "apiserver/v1.AdmissionConfiguration"),
    (
        "ValidatingAdmissionPolicyConfiguration",
        "policyconfig/v1.ValidatingAdmissionPolicyConfiguration",
    ),
    (
        "MutatingAdmissionPolicyConfiguration",
        "policyconfig/v1.MutatingAdmissionPolicyConfiguration",
    ),
    (
        "WebhookAdmissionConfiguration",
        "webhookadmission/v1.WebhookAdmission",
    ),
    ("PodSecurityConfiguration", "api/v1.PodSecurityConfiguration"),
    ("ResourceQuotaConfiguration", "resourcequota/v1.Configuration"),
    ("EventRateLimit", "eventratelimit/v1alpha1.Configuration"),
    (
        "PodTolerationRestriction",
        "podtolerationrestriction/v1alpha1.Configuration",
    ),
    ("kubeconfig", "api/v1.Config"),
];

pub(super) fn configuration() -> String {
    let mut text = "# Files of an API server

The fields of the AdmissionConfiguration, of what plugins are configured by, and of kubeconfigs, as they are decoded strictly.
[Run policies in the API server](../run-in-the-api-server.md) introduces them.
"
    .to_owned();
    // A page is about one release: that of a server of which nothing is said.
    let schema = Release::latest().schema();
    let mut described_types = BTreeSet::new();
    for (kind, name) in CONFIGURATION {
        text += &format!("\n## {kind}\n");
        let first = schema
            .named(name)
            .unwrap_or_else(|| panic!("there is no type {name}"));
        let mut wanted = vec![first];
        while let Some(id) = wanted.pop() {
            let of = schema.get(id);
            if !described_types.insert(of.name) {
                continue;
            }
            if of.name != name {
                text += &format!("\n### {}\n", of.name);
            }
            text += &format!("\n{}", table(&["field", "value"], rows(of, schema, &mut wanted)));
        }
    }
    text
}

fn rows(of: &StructType, schema: &'static Schema, wanted: &mut Vec<TypeId>) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for field in of.fields.iter() {
        rows.push(vec![
            format!("`{}`", field.name),
            shape_of(&field.shape, schema, wanted),
        ]);
    }
    rows
}

fn shape_of(shape: &Shape, schema: &'static Schema, wanted: &mut Vec<TypeId>) -> String {
    match shape {
        Shape::Scalar(scalar) => scalar_name(*scalar).to_owned(),
        Shape::Struct(id) => {
            wanted.push(*id);
            schema.get(*id).name.to_owned()
        }
        Shape::List(item) => format!("list of {}", shape_of(item, schema, wanted)),
        Shape::Map(item) => format!("map of {}", shape_of(item, schema, wanted)),
    }
}

fn scalar_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "boolean",
        Scalar::Int32 | Scalar::Int64 => "integer",
        Scalar::Float => "number",
        Scalar::String => "string",
        Scalar::Bytes => "bytes, in base64",
        Scalar::Quantity => "quantity",
        Scalar::IntOrString => "integer or string",
        Scalar::Time | Scalar::MicroTime => "time",
        Scalar::Duration => "duration",
        Scalar::Json => "anything",
    }
}
