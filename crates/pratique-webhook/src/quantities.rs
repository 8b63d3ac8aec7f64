//! Numbers that a patch gives for quantities keep the digits that they were written with.
//!
//! Upstream: `k8s.io/apimachinery/pkg/api/resource/quantity.go`, `Quantity.UnmarshalJSON`: it reads the text of a
//! number, so that a quantity is not rounded as a float is.

use std::collections::BTreeMap;

use pratique_json::Value;
use pratique_merge::json_patch::{Operation, Text};
use pratique_schema::{Scalar, Schema, Shape};
use pratique_types::GroupVersionKind;
use serde_json::value::RawValue;

use crate::patch::RecordedPatch;

/// Longer values are read as any JSON: each level is looked at again.
const LONGEST: usize = 64 * 1024;

/// Replaces the floats that operations give for quantities of a kind by their text in the patch.
pub(crate) fn keep_digits(
    schema: &Schema,
    patch: &[u8],
    operations: &mut [Operation<'static>],
    kind: &GroupVersionKind,
) {
    let mut values = operations.iter().filter_map(|operation| operation.value.as_ref());
    if !values.any(has_floats) {
        return;
    }
    let Some(root) = schema.kind(kind).map(Shape::Struct) else {
        return;
    };
    let written = RecordedPatch::read(patch);
    for (operation, members) in operations.iter_mut().zip(written.operations()) {
        let written = members.as_ref().and_then(|members| members.get("value"));
        let (Text::Given(path), Some(value), Some(written)) =
            (&operation.path, operation.value.as_mut(), written)
        else {
            continue;
        };
        if let Some(shape) = shape_at(schema, &root, path) {
            keep(value, written, (schema, shape));
        }
    }
}

fn has_floats(value: &Value<'_>) -> bool {
    match value {
        Value::Float(_) => true,
        Value::Array(elements) => elements.iter().any(has_floats),
        Value::Object(members) => members.iter().any(|(_, value)| has_floats(value)),
        _ => false,
    }
}

/// The type at the place that a JSON pointer names.
fn shape_at<'s>(schema: &'s Schema, root: &'s Shape, pointer: &str) -> Option<&'s Shape> {
    let mut tokens = pointer.split('/').skip(1);
    tokens.try_fold(root, |shape, token| match shape {
        Shape::Struct(id) => {
            let name = token.replace("~1", "/").replace("~0", "~");
            Some(&schema.get(*id).field(&name)?.shape)
        }
        Shape::List(inner) | Shape::Map(inner) => Some(&**inner),
        Shape::Scalar(_) => None,
    })
}

fn keep(value: &mut Value<'static>, written: &RawValue, (schema, shape): (&Schema, &Shape)) {
    let text = written.get();
    if text.len() > LONGEST {
        return;
    }
    match (value, shape) {
        (value @ Value::Float(_), Shape::Scalar(Scalar::Quantity)) => *value = text.to_owned().into(),
        (Value::Array(elements), Shape::List(inner)) => {
            let written: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
            for (element, written) in elements.iter_mut().zip(written) {
                keep(element, written, (schema, inner));
            }
        }
        (Value::Object(members), Shape::Struct(_) | Shape::Map(_)) => {
            let written: BTreeMap<String, &RawValue> = serde_json::from_str(text).unwrap_or_default();
            for (name, written) in written {
                let inner = match shape {
                    Shape::Struct(id) => schema.get(*id).field(&name).map(|field| &field.shape),
                    Shape::Map(inner) => Some(&**inner),
                    Shape::List(_) | Shape::Scalar(_) => None,
                };
                if let (Some(inner), Some(member)) = (inner, members.get_mut(&name)) {
                    keep(member, written, (schema, inner));
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use pratique_schema::Release;

    use super::*;
    use crate::patch::decode;

    #[track_caller]
    fn check(path: &str, value: &str, expected: &str) {
        let patch = format!(r#"[{{"op":"add","path":"{path}","value":{value}}}]"#);
        let mut operations = decode(patch.as_bytes(), Release::latest()).unwrap();
        let kind = GroupVersionKind::new("", "v1", "Pod");
        keep_digits(
            Release::latest().schema(),
            patch.as_bytes(),
            &mut operations,
            &kind,
        );
        let value = operations.pop().and_then(|operation| operation.value).unwrap();
        assert_eq!(value.to_string(), expected);
    }

    #[test]
    fn quantities_are_not_rounded() {
        let cpu = "/spec/containers/0/resources/limits/cpu";
        check(cpu, "9223372036854775808", r#""9223372036854775808""#);
        check(cpu, "12", "12");
        check(
            "/spec/containers",
            r#"[{"image":1.5},{"resources":{"limits":{"a~b":0.12345678901234567890,"x":"1"}}}]"#,
            r#"[{"image":1.5},{"resources":{"limits":{"a~b":"0.12345678901234567890","x":"1"}}}]"#,
        );
        check("/spec/overhead/a~1b", "1e3", r#""1e3""#);
    }

    #[test]
    fn what_is_no_quantity_is_read_as_any_number() {
        check("/spec/priority", "9223372036854775808", "9223372036854776000");
        check("/spec/priority/x", "1.50", "1.5");
        check("", "1.50", "1.5");
    }
}
