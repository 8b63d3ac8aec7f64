//! Fields that the `scale` subresource reads.

use pratique_json::Value;
use pratique_types::field::{Error, ErrorList, Path};

use crate::go_value::{go_text, go_type};

/// Where the `scale` subresource finds its fields: `.spec.replicas`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    /// The number of replicas that is wanted.
    pub spec_replicas_path: Box<str>,
    /// The number of replicas that there are.
    pub status_replicas_path: Box<str>,
    /// The selector of the replicas, as a string.
    pub label_selector_path: Option<Box<str>>,
}

/// Validates the fields of `scale`.
// Upstream: apiextensions-apiserver/pkg/registry/customresource/validator.go, ValidateScaleSpec, ValidateScaleStatus
pub(crate) fn validate(object: &Value<'_>, scale: &Scale, errors: &mut ErrorList) {
    replicas(object, &scale.spec_replicas_path, errors);
    validate_status(object, scale, errors);
}

/// Validates the fields of the status of `scale`.
pub(crate) fn validate_status(object: &Value<'_>, scale: &Scale, errors: &mut ErrorList) {
    replicas(object, &scale.status_replicas_path, errors);
    if let Some(path) = &scale.label_selector_path {
        let selector = nested(object, path).and_then(|member| match member {
            None | Some(Value::String(_)) => Ok(()),
            Some(other) => Err(wrong(&steps(path), other, "string")),
        });
        if let Err(fault) = selector {
            errors.push(Error::invalid(field(path), "", &fault));
        }
    }
}

fn replicas(object: &Value<'_>, path: &str, errors: &mut ErrorList) {
    let count = nested(object, path).and_then(|member| match member {
        None => Ok(0),
        Some(Value::Int(number)) => Ok(*number),
        Some(other) => Err(wrong(&steps(path), other, "int64")),
    });
    let (bad_value, fault) = match count {
        Err(fault) => (0, fault),
        Ok(number @ ..0) => (number, "should be a non-negative integer".to_owned()),
        Ok(number) if number > i64::from(i32::MAX) => {
            (number, format!("should be less than or equal to {}", i32::MAX))
        }
        Ok(_) => return,
    };
    errors.push(Error::invalid(field(path), bad_value, &fault));
}

/// The path is one name, dots and all.
fn field(path: &str) -> String {
    Path::new(path).to_string()
}

fn steps(path: &str) -> Vec<&str> {
    path.strip_prefix('.').unwrap_or(path).split('.').collect()
}

// Upstream: apimachinery/pkg/apis/meta/v1/unstructured/helpers.go, NestedFieldNoCopy
fn nested<'v, 'a>(object: &'v Value<'a>, path: &str) -> Result<Option<&'v Value<'a>>, String> {
    let steps = steps(path);
    let mut at = object;
    for (depth, name) in steps.iter().enumerate() {
        match at {
            Value::Null => return Ok(None),
            Value::Object(members) => match members.get(name) {
                Some(value) => at = value,
                None => return Ok(None),
            },
            other => {
                let walked = steps.get(..=depth).unwrap_or_default();
                return Err(wrong(walked, other, "map[string]interface{}"));
            }
        }
    }
    Ok(Some(at))
}

fn wrong(path: &[&str], value: &Value<'_>, expected: &str) -> String {
    format!(
        ".{} accessor error: {} is of the type {}, expected {expected}",
        path.join("."),
        go_text(value),
        go_type(value)
    )
}
