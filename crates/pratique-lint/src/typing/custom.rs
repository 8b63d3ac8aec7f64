//! The kinds of CustomResourceDefinitions as CEL types.

use std::collections::HashMap;
use std::sync::Arc;

use pratique_cel::{Type, TypeProvider};
use pratique_json::Value;
use pratique_sample::{CustomDefinition, CustomKinds};
use pratique_schema::Release;
use pratique_types::builtin::ServedResource;
use pratique_types::{GroupVersionKind, ObjectRef};

use crate::subject::RuleView;

/// The kinds of custom resources by their CustomResourceDefinitions, as values of them are at run time, and what the schemas
/// say about their fields.
#[derive(Debug, Default)]
pub struct CustomTypes {
    served: Vec<ServedResource>,
    by_name: HashMap<Arc<str>, Vec<CustomField>>,
    kinds: Arc<CustomKinds>,
}

#[derive(Debug)]
struct CustomField {
    name: Arc<str>,
    of: Type,
    description: Arc<str>,
}

/// The metadata of objects of any kind.
pub(crate) const OBJECT_META: &str = "meta/v1.ObjectMeta";
/// The maximum depth of schemas: deeper values are `dyn`.
const DEPTH: usize = 64;

impl CustomTypes {
    /// The types of the versions that definitions serve in a release. Values that are no definition, or have no schema, are left out.
    pub fn new(release: &'static Release, definitions: &[Value<'_>]) -> Self {
        let mut types = CustomTypes {
            kinds: Arc::new(CustomKinds::new(release, definitions)),
            ..CustomTypes::default()
        };
        for definition in Arc::clone(&types.kinds).definitions() {
            if ObjectRef::new(definition.value()).is_custom_resource_definition() {
                types.add(release, definition);
            }
        }
        types
    }

    fn add(&mut self, release: &Release, definition: &CustomDefinition) {
        for (served, schema) in definition.schemas() {
            if !release
                .resources()
                .may_be_custom(&served.resource, &served.kind.kind)
            {
                continue;
            }
            self.object(type_name(&served.kind), schema, true, 0);
            self.served.push(ServedResource::clone(served));
        }
    }

    /// The type of a schema, of which the objects are named after their place. Recursion is safe: its depth is bounded.
    fn of_schema(&mut self, name: &str, schema: &Value<'_>, depth: usize) -> Type {
        let is = |field: &str| schema.at(&[field]).and_then(Value::as_bool) == Some(true);
        if depth > DEPTH || is("x-kubernetes-int-or-string") || is("x-kubernetes-preserve-unknown-fields") {
            return Type::Dyn;
        }
        if is("x-kubernetes-embedded-resource") {
            return self.object(name.into(), schema, true, depth);
        }
        match schema.at(&["type"]).and_then(Value::as_str).unwrap_or_default() {
            "boolean" => Type::Bool,
            "integer" => Type::Int,
            // An integer among them is one at run time.
            "number" => Type::Dyn,
            "string" => Type::String,
            "array" => match schema.at(&["items"]) {
                Some(items) => Type::list(self.of_schema(&format!("{name}.items"), items, depth + 1)),
                None => Type::list(Type::Dyn),
            },
            "object" => match (schema.at(&["properties"]), schema.at(&["additionalProperties"])) {
                (Some(_), _) => self.object(name.into(), schema, false, depth),
                (None, Some(values)) => {
                    let values = self.of_schema(&format!("{name}.values"), values, depth + 1);
                    Type::map(Type::String, values)
                }
                (None, None) => Type::map(Type::String, Type::Dyn),
            },
            _ => Type::Dyn,
        }
    }

    fn object(&mut self, name: Arc<str>, schema: &Value<'_>, is_resource: bool, depth: usize) -> Type {
        let properties = schema.at(&["properties"]).and_then(Value::as_object);
        let mut fields = Vec::new();
        for (field, schema) in properties.into_iter().flat_map(|properties| properties.iter()) {
            if is_resource && ["apiVersion", "kind", "metadata"].contains(&field) {
                continue;
            }
            let description = schema.at(&["description"]).and_then(Value::as_str);
            fields.push(CustomField {
                of: self.of_schema(&format!("{name}.{field}"), schema, depth + 1),
                name: field.into(),
                description: description.unwrap_or_default().into(),
            });
        }
        if is_resource {
            let of_all = [
                ("apiVersion", Type::String),
                ("kind", Type::String),
                ("metadata", Type::Struct(OBJECT_META.into())),
            ];
            fields.extend(of_all.map(|(name, of)| CustomField {
                name: name.into(),
                of,
                description: "".into(),
            }));
        }
        self.by_name.insert(Arc::clone(&name), fields);
        Type::Struct(name)
    }

    /// The same kinds with their objects.
    pub(crate) fn kinds(&self) -> Arc<CustomKinds> {
        Arc::clone(&self.kinds)
    }

    /// The description of a field in the schema of its type; empty if it has none.
    pub fn description(&self, type_name: &str, field: &str) -> &str {
        let field = self.field_of(type_name, field);
        field.map_or("", |field| &field.description)
    }

    fn field_of(&self, type_name: &str, field: &str) -> Option<&CustomField> {
        let fields = self.by_name.get(type_name)?;
        fields.iter().find(|known| *known.name == *field)
    }

    /// The kinds that some rules match, with their types.
    pub(crate) fn matched<'t>(
        &'t self,
        rules: &'t [RuleView<'_>],
    ) -> impl Iterator<Item = (&'t GroupVersionKind, Type)> {
        let is_matched = |served: &&ServedResource| rules.iter().any(|rule| rule.matches(served));
        let matched = self.served.iter().filter(is_matched);
        matched.map(|served| (&served.kind, Type::Struct(type_name(&served.kind))))
    }
}

fn type_name(kind: &GroupVersionKind) -> Arc<str> {
    format!("{}/{}.{}", kind.group, kind.version, kind.kind).into()
}

impl TypeProvider for CustomTypes {
    fn has_type(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    fn has_namespace(&self, _: &str) -> bool {
        // Their names cannot be written in an expression.
        false
    }

    fn field(&self, type_name: &str, field: &str) -> Option<Type> {
        self.field_of(type_name, field).map(|field| field.of.clone())
    }

    fn field_names(&self, type_name: &str) -> Vec<Arc<str>> {
        let fields = self.by_name.get(type_name).into_iter().flatten();
        fields.map(|field| Arc::clone(&field.name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFINITION: &str = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
                "properties": {"spec": {"type": "object", "properties": {
                    "size": {"type": "integer", "description": "How large it is."},
                    "ratio": {"type": "number"},
                    "port": {"x-kubernetes-int-or-string": true},
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                    "rest": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                    "parts": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}
                }}}}}}]}}"#;

    #[test]
    fn fields_have_the_types_of_values() {
        let definition = pratique_json::parse(DEFINITION.as_bytes()).unwrap();
        let types = CustomTypes::new(Release::latest(), &[definition, Value::Null]);
        let of = |path: &str| -> String {
            let mut at = Type::Struct("example.com/v1.Widget".into());
            for name in path.split('.') {
                let Type::Struct(within) = &at else { panic!("{at}") };
                at = types.field(within, name).unwrap();
            }
            at.to_string()
        };
        for (path, expected) in [
            ("metadata", "meta/v1.ObjectMeta"),
            ("kind", "string"),
            ("spec.size", "int"),
            ("spec.ratio", "dyn"),
            ("spec.port", "dyn"),
            ("spec.labels", "map(string, string)"),
            ("spec.rest", "dyn"),
            ("spec.parts", "list(example.com/v1.Widget.spec.parts.items)"),
        ] {
            assert_eq!(of(path), expected, "{path}");
        }
        assert_eq!(types.field("example.com/v1.Widget.spec", "colour"), None);
        let description = |field| types.description("example.com/v1.Widget.spec", field);
        assert_eq!(
            [description("size"), description("ratio"), description("colour")],
            ["How large it is.", "", ""]
        );
    }
    #[test]
    fn versions_that_are_not_served_have_no_types() {
        let version = |name: &str, served: &str| {
            format!(
                r#"{{"name": "{name}", {served} "storage": true, "schema": {{"openAPIV3Schema": {{"type": "object"}}}}}}"#
            )
        };
        let versions = [
            version("v1", r#""served": true,"#),
            version("v2", r#""served": false,"#),
            version("v3", ""),
        ];
        let definition = format!(
            r#"{{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {{"name": "widgets.example.com"}}, "spec": {{"group": "example.com", "scope": "Namespaced",
                "names": {{"kind": "Widget", "plural": "widgets"}}, "versions": [{}]}}}}"#,
            versions.join(", ")
        );
        let definition = pratique_json::parse(definition.as_bytes()).unwrap();
        let types = CustomTypes::new(Release::latest(), &[definition]);
        let served = types.served.iter().map(|served| &*served.kind.version);
        assert_eq!(served.collect::<Vec<_>>(), ["v1"]);
        let has = |version: &str| types.has_type(&format!("example.com/{version}.Widget"));
        assert_eq!(["v1", "v2", "v3"].map(has), [true, false, false]);
    }
}
