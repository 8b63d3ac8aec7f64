//! Values as the JSON of the internal types of Kubernetes, as messages print them.
//!
//! An internal type has Go's names for its fields, in Go's order, and leaves nothing out: what is absent is `null`, `""`, 0 or
//! a struct of such. The types are a table that `tools/go/internaltypes` makes of the sources.

use std::collections::HashMap;
use std::sync::OnceLock;

use pratique_json::{Value, escape_html};
use pratique_types::field::BadValue;

/// A type: its fields, or the type that it is.
enum InternalType {
    Struct(Vec<Field>),
    Alias(&'static str),
}

struct Field {
    /// The name that is printed; empty for an embedded type.
    name: &'static str,
    /// The name in objects, in whichever case.
    written: &'static str,
    is_optional: bool,
    type_name: &'static str,
}

/// A value as the JSON of an internal type: `core.Toleration`, `[]core.Toleration`, `*core.Toleration`.
pub fn internal_json<'a>(type_name: &str, value: &Value<'_>) -> BadValue<'a> {
    BadValue::Prepared(internal_text(type_name, value).into())
}

/// The same as a text.
pub(crate) fn internal_text(type_name: &str, value: &Value<'_>) -> String {
    let mut text = String::new();
    write_value(type_name, value, &mut text);
    escape_html(&text).into_owned()
}

fn types() -> &'static HashMap<&'static str, InternalType> {
    static TYPES: OnceLock<HashMap<&'static str, InternalType>> = OnceLock::new();
    TYPES.get_or_init(|| {
        let lines = include_str!("../data/internal.txt").lines();
        lines.filter_map(parse_type).collect()
    })
}

fn parse_type(line: &'static str) -> Option<(&'static str, InternalType)> {
    if let Some((name, of)) = line.split_once(" = ") {
        return Some((name, InternalType::Alias(of)));
    }
    let mut words = line.split(' ');
    let name = words.next()?;
    let fields = words.filter_map(|word| {
        if let Some(type_name) = word.strip_prefix('+') {
            return Some(Field {
                name: "",
                written: "",
                is_optional: false,
                type_name,
            });
        }
        let (name, type_name) = word.split_once(':')?;
        let (name, written) = name.split_once('=').unwrap_or((name, name));
        Some(Field {
            name: name.trim_end_matches('?'),
            written: written.trim_end_matches('?'),
            is_optional: name.ends_with('?'),
            type_name,
        })
    });
    Some((name, InternalType::Struct(fields.collect())))
}

/// Recursion follows the nesting of the types, or that of the value where a type contains itself.
fn write_value(type_name: &str, value: &Value<'_>, text: &mut String) {
    if let Some(of) = type_name.strip_prefix('*') {
        if value.is_null() {
            text.push_str("null");
        } else {
            write_value(of, value, text);
        }
    } else if let Some(of) = type_name.strip_prefix("[]") {
        write_list(of, value, text);
    } else if let Some(of) = type_name.strip_prefix("{}") {
        write_map(of, value, text);
    } else {
        write_named(type_name, value, text);
    }
}

fn write_list(of: &str, value: &Value<'_>, text: &mut String) {
    let Some(elements) = value.as_array() else {
        // Bytes are text in base64.
        let is_bytes = value.as_str().is_some();
        text.push_str(&if is_bytes {
            value.to_string()
        } else {
            "null".to_owned()
        });
        return;
    };
    text.push('[');
    for (at, element) in elements.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        write_value(of, element, text);
    }
    text.push(']');
}

fn write_map(of: &str, value: &Value<'_>, text: &mut String) {
    let Some(members) = value.as_object() else {
        text.push_str("null");
        return;
    };
    text.push('{');
    for (at, (key, member)) in members.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(&Value::from(key).to_string());
        text.push(':');
        write_value(of, member, text);
    }
    text.push('}');
}

fn write_named(type_name: &str, value: &Value<'_>, text: &mut String) {
    match types().get(type_name) {
        Some(InternalType::Alias(of)) => write_value(of, value, text),
        Some(InternalType::Struct(fields)) if !is_scalar(type_name) => {
            text.push('{');
            write_fields(fields, value, text);
            text.push('}');
        }
        _ if !value.is_null() => text.push_str(&value.to_string()),
        _ => text.push_str(match type_name {
            "string" | "types.UID" => "\"\"",
            "bool" => "false",
            "resource.Quantity" => "\"0\"",
            "metav1.Time" | "metav1.MicroTime" | "any" | "runtime.Object" | "runtime.RawExtension" => "null",
            _ => "0",
        }),
    }
}

/// Whether a struct has a text or a number as its JSON.
fn is_scalar(type_name: &str) -> bool {
    matches!(
        type_name,
        "metav1.Time" | "metav1.MicroTime" | "metav1.Duration" | "metav1.FieldsV1"
    )
}

fn write_fields(fields: &[Field], value: &Value<'_>, text: &mut String) {
    for field in fields {
        if field.name.is_empty() {
            write_embedded(field.type_name, value, text);
            continue;
        }
        let member = member(value, field.written);
        // A pointer to a zero value is not left out.
        let is_empty = if field.type_name.starts_with('*') {
            member.is_null()
        } else {
            member.is_empty()
        };
        if field.is_optional && is_empty {
            continue;
        }
        if !text.ends_with('{') {
            text.push(',');
        }
        text.push('"');
        text.push_str(field.name);
        text.push_str("\":");
        write_value(field.type_name, member, text);
    }
}

/// The fields of a type that is embedded in another. Metadata, which are a member of the object, are no member here.
fn write_embedded(type_name: &str, value: &Value<'_>, text: &mut String) {
    static ABSENT: Value<'static> = Value::Null;
    let value = match type_name {
        "metav1.TypeMeta" => return,
        "metav1.ObjectMeta" => value.get("metadata").unwrap_or(&ABSENT),
        _ => value,
    };
    if let Some(InternalType::Struct(fields)) = types().get(type_name) {
        write_fields(fields, value, text);
    }
}

/// The member that becomes a field: most names differ in case only.
fn member<'v>(value: &'v Value<'v>, name: &str) -> &'v Value<'v> {
    static ABSENT: Value<'static> = Value::Null;
    let Some(members) = value.as_object() else {
        return &ABSENT;
    };
    let mut members = members.iter();
    members
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map_or(&ABSENT, |(_, member)| member)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(type_name: &str, text: &str, expected: &str) {
        let value = pratique_json::parse(text.as_bytes()).unwrap();
        let BadValue::Prepared(json) = internal_json(type_name, &value) else {
            panic!("not prepared");
        };
        assert_eq!(json, expected);
    }

    #[test]
    fn nothing_is_left_out() {
        check(
            "core.SeccompProfile",
            r#"{"type":"<"}"#,
            r#"{"Type":"\u003c","LocalhostProfile":null}"#,
        );
        check(
            "core.ResourceRequirements",
            r#"{"limits":{"cpu":"1"}}"#,
            r#"{"Limits":{"cpu":"1"},"Requests":null,"Claims":null}"#,
        );
        check("[]core.Toleration", "null", "null");
    }

    #[test]
    fn pointers_to_zero_values_are_values() {
        check(
            "metav1.OwnerReference",
            r#"{"controller":false}"#,
            r#"{"apiVersion":"","kind":"","name":"","uid":"","controller":false}"#,
        );
    }

    #[test]
    fn fields_may_be_written_otherwise() {
        check(
            "core.AzureDiskVolumeSource",
            r#"{"diskName":"n","diskURI":"u"}"#,
            r#"{"DiskName":"n","DataDiskURI":"u","CachingMode":null,"FSType":null,"ReadOnly":null,"Kind":null}"#,
        );
    }

    #[test]
    fn embedded_types_are_part_of_theirs() {
        check(
            "core.PodTemplateSpec",
            r#"{"metadata":{"labels":{"a":"b"},"name":""},"spec":null}"#,
            &format!("{{\"labels\":{{\"a\":\"b\"}},\"Spec\":{}}}", {
                let mut text = String::new();
                write_value("core.PodSpec", &Value::Null, &mut text);
                text
            }),
        );
    }
}
