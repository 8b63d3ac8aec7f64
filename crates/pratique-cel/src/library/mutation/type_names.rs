//! Whether the objects of a mutation have the types that their places ask for.

use std::fmt::{self, Display, Formatter};

use pratique_gotext::strconv::quote;
use pratique_json::Progress;

use super::is_object;
use crate::arena::Arena;
use crate::context::Context;
use crate::value::{Map, Value};

/// An object whose type is not the one that its place asks for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unexpected type name {}, expected {}, which matches field name path from root Object type",
    quote(name),
    quote(expected)
)]
pub struct TypeNameError {
    /// The name of its type.
    pub name: String,
    /// The name of the type for its place.
    pub expected: String,
}

/// All objects of a value whose types are not those that their places ask for: a line each, as Go's `errors.Join` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeNameErrors(pub Vec<TypeNameError>);

impl Display for TypeNameErrors {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let separator = if index > 0 { "\n" } else { "" };
            write!(formatter, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for TypeNameErrors {}

/// Checks that objects have the types that their places ask for: under `Object` the field `spec` holds an
/// `Object.spec`, under that `template` an `Object.spec.template`, and so on; lists and maps in between have no names.
///
/// # Errors
/// All that differ, up to where `progress` stops. `joins_values` tells whether the elements of lists that the expression joined are
/// looked at, as since Kubernetes 1.38.
///
/// Upstream: k8s.io/apiserver/pkg/cel/mutation/dynamic/objects.go, ObjectVal.CheckTypeNamesMatchFieldPathNames
pub fn check_type_names(
    value: &Value<'_>,
    joins_values: bool,
    progress: &Progress<'_>,
) -> Result<(), TypeNameErrors> {
    let Value::Struct(object) = value else {
        return Ok(());
    };
    let arena = Arena::new();
    let context = Context::new(&arena, u64::MAX);
    let mut errors = Vec::new();
    let mut left = vec![(*value, object.type_name().to_owned())];
    while let Some((value, expected)) = left.pop() {
        if !progress.nodes(1) {
            break;
        }
        match value {
            Value::Struct(object) if is_object(object.type_name()) => {
                let name = object.type_name();
                if name != expected {
                    errors.push(TypeNameError {
                        name: name.to_owned(),
                        expected: expected.clone(),
                    });
                }
                let fields = object.fields(&context).unwrap_or_default();
                left.extend(
                    fields
                        .iter()
                        .rev()
                        .filter(|(_, value)| has_parts(value))
                        .map(|(name, value)| (*value, format!("{expected}.{name}"))),
                );
            }
            Value::List(list) if list.is_of_values(joins_values) => {
                let elements: Vec<_> = list.iter().collect();
                left.extend(
                    elements
                        .into_iter()
                        .rev()
                        .filter(|element| has_parts(element) && progress.nodes(1))
                        .map(|element| (element, expected.clone())),
                );
            }
            Value::Map(Map::Entries(entries)) => {
                let values = entries.iter().rev().map(|(_, value)| *value);
                let values = values.filter(|value| has_parts(value) && progress.nodes(1));
                left.extend(values.map(|value| (value, expected.clone())));
            }
            Value::Optional(Some(value)) if matches!(value, Value::List(_) | Value::Map(_)) => {
                left.push((*value, expected));
            }
            _ => {}
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(TypeNameErrors(errors))
    }
}

/// Whether there may be objects in a value, or it is one.
fn has_parts(value: &Value<'_>) -> bool {
    matches!(
        value,
        Value::Struct(_) | Value::List(_) | Value::Map(_) | Value::Optional(_)
    )
}
