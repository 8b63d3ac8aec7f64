//! Reads a schema from its definition.

use pratique_gotext::regexp::Regex;
use pratique_json::{Object, Value};
use pratique_types::field::{Error, ErrorList, Path};

use super::{AdditionalMembers, CompiledPattern, SchemaNode, SchemaRule, SchemaType, ValueConstraints};

/// What is wrong with a schema that is read.
#[derive(Debug, Default)]
pub(crate) struct ReadFaults {
    /// Members of other types than theirs, which a server does not decode.
    pub(crate) malformed: ErrorList,
    /// The first member that keeps a schema from being followed.
    pub(crate) unsupported: Option<&'static str>,
}

impl ReadFaults {
    pub(crate) fn is_empty(&self) -> bool {
        self.malformed.is_empty() && self.unsupported.is_none()
    }

    /// All of them, as errors of the schema at a path.
    pub(crate) fn into_errors(self, path: &Path<'_>) -> ErrorList {
        let mut errors = self.malformed;
        if let Some(detail) = self.unsupported {
            errors.push(Error::invalid(path, "", detail));
        }
        errors
    }

    fn unsupported(&mut self, message: &'static str) {
        self.unsupported.get_or_insert(message);
    }
}

/// Reads a schema, as far as it can be followed.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/convert.go, NewStructural
pub(crate) fn read(value: &Value<'_>, path: &Path<'_>, faults: &mut ReadFaults) -> SchemaNode {
    let Value::Object(object) = value else {
        let error = Error::type_invalid(path, value, "must be an object");
        faults.malformed.push(error);
        return SchemaNode::default();
    };
    let mut reader = SchemaReader { object, path, faults };
    reader.unsupported();
    let values = reader.values();
    let not = reader.nested("not").map(Box::new);
    let [all_of, any_of, one_of] = ["allOf", "anyOf", "oneOf"].map(|name| reader.list(name));
    let generic = reader.generic();
    let rules = reader.rules();
    let items = reader.items();
    let properties = reader
        .members("properties")
        .map(|members| {
            let at = path.child("properties");
            let read_one = |(name, value): (&str, &Value<'_>)| {
                (Box::from(name), read(value, &at.key(name), reader.faults))
            };
            members.iter().map(read_one).collect()
        })
        .unwrap_or_default();
    let additional = reader.additional();
    SchemaNode {
        items,
        properties,
        additional,
        values,
        all_of,
        any_of,
        one_of,
        not,
        rules,
        ..generic
    }
}

struct SchemaReader<'r, 'a> {
    object: &'r Object<'a>,
    path: &'r Path<'r>,
    faults: &'r mut ReadFaults,
}

impl<'r, 'a> SchemaReader<'r, 'a> {
    /// A member that is there and not null.
    fn non_null(&self, name: &str) -> Option<&'r Value<'a>> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    fn wrong(&mut self, name: &str, value: &Value<'_>, expected: &str) {
        self.faults.malformed.push(Error::type_invalid(
            self.path.child(name),
            value,
            &format!("must be {expected}"),
        ));
    }

    fn typed<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl Fn(&'r Value<'a>) -> Option<T>,
    ) -> Option<T> {
        let value = self.non_null(name)?;
        let read = read(value);
        if read.is_none() {
            self.wrong(name, value, expected);
        }
        read
    }

    fn read_text(&mut self, name: &str) -> Option<&'r str> {
        self.typed(name, "a string", Value::as_str)
    }

    fn flag(&mut self, name: &str) -> bool {
        self.typed(name, "a boolean", Value::as_bool).unwrap_or_default()
    }

    fn integer(&mut self, name: &str) -> Option<i64> {
        self.typed(name, "an integer", Value::as_int)
    }

    fn number(&mut self, name: &str) -> Option<f64> {
        self.typed(name, "a number", |value| match value {
            Value::Int(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        })
    }

    fn members(&mut self, name: &str) -> Option<&'r Object<'a>> {
        self.typed(name, "an object", Value::as_object)
    }

    fn texts(&mut self, name: &str) -> Vec<Box<str>> {
        let all = |value: &'r Value<'a>| {
            let texts = value.as_array()?.iter();
            texts.map(|text| text.as_str().map(Box::from)).collect()
        };
        self.typed(name, "a list of strings", all).unwrap_or_default()
    }

    // Upstream: apiextensions-apiserver/pkg/apiserver/schema/convert.go, validateUnsupportedFields
    fn unsupported(&mut self) {
        for (name, message) in UNSUPPORTED {
            if self.non_null(name).is_some_and(|value| !value.is_empty()) {
                self.faults.unsupported(message);
            }
        }
        // It may be a boolean.
        if self.non_null("additionalItems").is_some() {
            self.faults
                .unsupported("OpenAPIV3Schema 'additionalItems' is not supported");
        }
    }

    fn generic(&mut self) -> SchemaNode {
        let of = self.read_text("type").filter(|name| !name.is_empty());
        let preserves = self.typed(
            "x-kubernetes-preserve-unknown-fields",
            "a boolean",
            Value::as_bool,
        );
        if preserves == Some(false) {
            self.faults.unsupported(
                "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined",
            );
        }
        SchemaNode {
            of: of.map(SchemaType::named),
            of_text: of.unwrap_or_default().into(),
            nullable: self.flag("nullable"),
            default: self.non_null("default").map(owned),
            preserves_unknown: preserves == Some(true),
            is_embedded: self.flag("x-kubernetes-embedded-resource"),
            is_int_or_string: self.flag("x-kubernetes-int-or-string"),
            list_type: self.read_text("x-kubernetes-list-type").map(Box::from),
            list_map_keys: self.texts("x-kubernetes-list-map-keys"),
            map_type: self.read_text("x-kubernetes-map-type").map(Box::from),
            has_title: self.read_text("title").is_some_and(|text| !text.is_empty()),
            has_description: self.read_text("description").is_some_and(|text| !text.is_empty()),
            has_empty_lists: [
                "required",
                "x-kubernetes-list-map-keys",
                "x-kubernetes-validations",
            ]
            .iter()
            .any(|name| matches!(self.non_null(name), Some(Value::Array(list)) if list.is_empty())),
            has_examples: ["example", "externalDocs"]
                .iter()
                .any(|name| self.non_null(name).is_some()),
            ..SchemaNode::default()
        }
    }

    fn values(&mut self) -> ValueConstraints {
        let allowed = self.typed("enum", "a list", Value::as_array);
        let pattern = self.read_text("pattern").filter(|text| !text.is_empty());
        ValueConstraints {
            format: self.read_text("format").unwrap_or_default().into(),
            checked_format: self.read_text("format").unwrap_or_default().into(),
            ignores_ranges: false,
            maximum: self.number("maximum"),
            exclusive_maximum: self.flag("exclusiveMaximum"),
            minimum: self.number("minimum"),
            exclusive_minimum: self.flag("exclusiveMinimum"),
            multiple_of: self.number("multipleOf"),
            max_length: self.integer("maxLength"),
            min_length: self.integer("minLength"),
            pattern: pattern.map(|text| CompiledPattern {
                text: text.into(),
                regex: Regex::new(text),
            }),
            max_items: self.integer("maxItems"),
            min_items: self.integer("minItems"),
            max_properties: self.integer("maxProperties"),
            min_properties: self.integer("minProperties"),
            required: self.texts("required"),
            allowed: allowed.unwrap_or_default().iter().map(owned).collect(),
            unique_items: self.flag("uniqueItems"),
        }
    }

    fn items(&mut self) -> Option<Box<SchemaNode>> {
        let items = self.non_null("items")?;
        let path = self.path.child("items");
        if let Some(schemas) = items.as_array() {
            if !schemas.is_empty() {
                self.faults
                    .unsupported("OpenAPIV3Schema 'items' must be a schema, but is an array");
            }
            return None;
        }
        Some(Box::new(read(items, &path, self.faults)))
    }

    fn additional(&mut self) -> Option<AdditionalMembers> {
        let value = self.non_null("additionalProperties")?;
        if let Value::Bool(allowed) = value {
            return Some(AdditionalMembers::Allowed(*allowed));
        }
        let path = self.path.child("additionalProperties");
        Some(AdditionalMembers::Schema(Box::new(read(
            value,
            &path,
            self.faults,
        ))))
    }

    fn nested(&mut self, name: &str) -> Option<SchemaNode> {
        let schema = self.non_null(name)?;
        Some(read(schema, &self.path.child(name), self.faults))
    }

    fn list(&mut self, name: &str) -> Vec<SchemaNode> {
        let schemas = self.typed(name, "a list", Value::as_array).unwrap_or_default();
        let path = self.path.child(name);
        schemas
            .iter()
            .enumerate()
            .map(|(at, schema)| read(schema, &path.index(at), self.faults))
            .collect()
    }

    fn rules(&mut self) -> Vec<SchemaRule> {
        let name = "x-kubernetes-validations";
        let list = self.typed(name, "a list", Value::as_array).unwrap_or_default();
        let path = self.path.child(name);
        let mut rules = Vec::new();
        for (at, rule) in list.iter().enumerate() {
            let path = path.index(at);
            let Value::Object(object) = rule else {
                let error = Error::type_invalid(path, rule, "must be an object");
                self.faults.malformed.push(error);
                continue;
            };
            let mut reader = SchemaReader {
                object,
                path: &path,
                faults: self.faults,
            };
            rules.push(SchemaRule {
                rule: reader.read_text("rule").unwrap_or_default().into(),
                message: reader.read_text("message").unwrap_or_default().into(),
                message_expression: reader.read_text("messageExpression").unwrap_or_default().into(),
                reason: reader.read_text("reason").map(Box::from),
                field_path: reader.read_text("fieldPath").unwrap_or_default().into(),
                optional_old_self: reader.typed("optionalOldSelf", "a boolean", Value::as_bool),
            });
        }
        rules
    }
}

const UNSUPPORTED: [(&str, &str); 6] = [
    ("id", "OpenAPIV3Schema 'id' is not supported"),
    ("$schema", "OpenAPIV3Schema 'schema' is not supported"),
    ("$ref", "OpenAPIV3Schema '$ref' is not supported"),
    (
        "patternProperties",
        "OpenAPIV3Schema 'patternProperties' is not supported",
    ),
    ("dependencies", "OpenAPIV3Schema 'dependencies' is not supported"),
    ("definitions", "OpenAPIV3Schema 'definitions' is not supported"),
];

/// A copy with whole numbers as integers, as the API's reader has them.
fn owned(value: &Value<'_>) -> Value<'static> {
    value.rewritten("")
}
