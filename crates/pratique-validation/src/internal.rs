//! Values as the JSON of the internal types of Kubernetes, as messages print them.
//!
//! An internal type has Go's names for its fields, in Go's order, and leaves nothing out: what is absent is `null`, `""`, 0 or
//! a struct of such. The types are a table that `tools/go/internaltypes` makes of the sources.

use std::collections::HashMap;

use pratique_json::{Value, escape_html};
use pratique_schema::Release;
use pratique_types::field::BadValue;

use crate::release_tables::{ReleaseTable, changes_of};

/// A type: its fields, or the type that it is.
enum InternalType {
    Struct(Vec<PrintedField>),
    Alias(&'static str),
}

struct PrintedField {
    /// The name that is printed; empty for an embedded type.
    name: &'static str,
    /// The name in objects, in whichever case.
    written: &'static str,
    is_optional: bool,
    type_name: &'static str,
}

/// A value as the JSON of an internal type of a release: `core.Toleration`, `[]core.Toleration`, `*core.Toleration`.
pub fn internal_json<'a>(release: &Release, type_name: &str, value: &Value<'_>) -> BadValue<'a> {
    BadValue::Prepared(internal_text(release, type_name, value).into())
}

/// The same as a text.
pub(crate) fn internal_text(release: &Release, type_name: &str, value: &Value<'_>) -> String {
    let mut writer = InternalWriter {
        types: TYPES.of_release(release),
        text: String::new(),
    };
    writer.write_value(type_name, value);
    escape_html(&writer.text).into_owned()
}

type InternalTypes = HashMap<&'static str, InternalType>;

static TYPES: ReleaseTable<InternalTypes> = ReleaseTable::new(
    include_str!("../data/1.37/internal.txt"),
    changes_of!("internal"),
    |table| table.lines().filter_map(parse_type).collect(),
);

struct InternalWriter {
    types: &'static InternalTypes,
    text: String,
}

fn parse_type(line: &'static str) -> Option<(&'static str, InternalType)> {
    if let Some((name, of)) = line.split_once(" = ") {
        return Some((name, InternalType::Alias(of)));
    }
    let mut words = line.split(' ');
    let name = words.next()?;
    let fields = words.filter_map(|word| {
        if let Some(type_name) = word.strip_prefix('+') {
            return Some(PrintedField {
                name: "",
                written: "",
                is_optional: false,
                type_name,
            });
        }
        let (name, type_name) = word.split_once(':')?;
        let (name, written) = name.split_once('=').unwrap_or((name, name));
        Some(PrintedField {
            name: name.trim_end_matches('?'),
            written: written.trim_end_matches('?'),
            is_optional: name.ends_with('?'),
            type_name,
        })
    });
    Some((name, InternalType::Struct(fields.collect())))
}

impl InternalWriter {
    /// Recursion follows the nesting of the types, or that of the value where a type contains itself.
    fn write_value(&mut self, type_name: &str, value: &Value<'_>) {
        if let Some(of) = type_name.strip_prefix('*') {
            if value.is_null() {
                self.text.push_str("null");
            } else {
                self.write_value(of, value);
            }
        } else if let Some(of) = type_name.strip_prefix("[]") {
            self.write_list(of, value);
        } else if let Some(of) = type_name.strip_prefix("{}") {
            self.write_map(of, value);
        } else {
            self.write_named(type_name, value);
        }
    }

    fn write_list(&mut self, of: &str, value: &Value<'_>) {
        let Some(elements) = value.as_array() else {
            // Bytes are text in base64.
            let is_bytes = value.as_str().is_some();
            self.text.push_str(&if is_bytes {
                value.to_string()
            } else {
                "null".to_owned()
            });
            return;
        };
        self.text.push('[');
        for (at, element) in elements.iter().enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            self.write_value(of, element);
        }
        self.text.push(']');
    }

    fn write_map(&mut self, of: &str, value: &Value<'_>) {
        let Some(members) = value.as_object() else {
            self.text.push_str("null");
            return;
        };
        self.text.push('{');
        for (at, (key, member)) in members.iter().enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            self.text.push_str(&Value::from(key).to_string());
            self.text.push(':');
            self.write_value(of, member);
        }
        self.text.push('}');
    }

    fn write_named(&mut self, type_name: &str, value: &Value<'_>) {
        let moved = (type_name == POD_SPEC && !self.has_field(POD_SPEC, "HostNetwork"))
            .then(|| with_host_in_context(value));
        let value = moved.as_ref().unwrap_or(value);
        match self.types.get(type_name) {
            Some(InternalType::Alias(of)) => self.write_value(of, value),
            Some(InternalType::Struct(fields)) if !is_scalar(type_name) => {
                self.text.push('{');
                self.write_fields(fields, value);
                self.text.push('}');
            }
            _ if !value.is_null() => self.text.push_str(&value.to_string()),
            _ => self.text.push_str(match type_name {
                "string" | "types.UID" => "\"\"",
                "bool" => "false",
                "resource.Quantity" => "\"0\"",
                "metav1.Time" | "metav1.MicroTime" | "any" | "runtime.Object" | "runtime.RawExtension" => {
                    "null"
                }
                _ => "0",
            }),
        }
    }

    fn write_fields(&mut self, fields: &[PrintedField], value: &Value<'_>) {
        for field in fields {
            if field.name.is_empty() {
                self.write_embedded(field.type_name, value);
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
            if !self.text.ends_with('{') {
                self.text.push(',');
            }
            self.text.push('"');
            self.text.push_str(field.name);
            self.text.push_str("\":");
            self.write_value(field.type_name, member);
        }
    }

    fn has_field(&self, type_name: &str, field: &str) -> bool {
        match self.types.get(type_name) {
            Some(InternalType::Struct(fields)) => fields.iter().any(|known| known.name == field),
            _ => false,
        }
    }

    /// The fields of a type that is embedded in another. Metadata, which are a member of the object, are no member here.
    fn write_embedded(&mut self, type_name: &str, value: &Value<'_>) {
        static ABSENT: Value<'static> = Value::Null;
        let value = match type_name {
            "metav1.TypeMeta" => return,
            "metav1.ObjectMeta" => value.get("metadata").unwrap_or(&ABSENT),
            _ => value,
        };
        if let Some(InternalType::Struct(fields)) = self.types.get(type_name) {
            self.write_fields(fields, value);
        }
    }
}

const POD_SPEC: &str = "core.PodSpec";

/// Before 1.37, what a Pod shares with its host were fields of its security context, which every specification then has.
// Upstream: pkg/apis/core/v1/conversion.go, Convert_v1_PodSpec_To_core_PodSpec
fn with_host_in_context(spec: &Value<'_>) -> Value<'static> {
    let mut spec = spec.owned_within("");
    let Value::Object(members) = &mut spec else {
        return spec;
    };
    let mut context = members.remove("securityContext").unwrap_or(Value::Null);
    if !matches!(context, Value::Object(_)) {
        context = pratique_json::Object::new().into();
    }
    if let Value::Object(context) = &mut context {
        for name in [
            "hostNetwork",
            "hostPID",
            "hostIPC",
            "shareProcessNamespace",
            "hostUsers",
        ] {
            if let Some(value) = members.remove(name) {
                context.insert(name, value);
            }
        }
    }
    members.insert("securityContext", context);
    spec
}

/// Whether a struct has a text or a number as its JSON.
fn is_scalar(type_name: &str) -> bool {
    matches!(
        type_name,
        "metav1.Time" | "metav1.MicroTime" | "metav1.Duration" | "metav1.FieldsV1"
    )
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
        let BadValue::Prepared(json) = internal_json(Release::latest(), type_name, &value) else {
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
            &format!(
                "{{\"labels\":{{\"a\":\"b\"}},\"Spec\":{}}}",
                internal_text(Release::latest(), "core.PodSpec", &Value::Null)
            ),
        );
    }
}
