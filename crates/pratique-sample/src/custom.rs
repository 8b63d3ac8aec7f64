//! Objects of custom resources, made for the schema of their definition.

mod requests;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use pratique_apiextensions::{CustomResource, Version};
use pratique_gotext::regexp::Regex;
use pratique_json::{Object, Value};
use pratique_schema::Release;
use pratique_schema::merge::MergeSchema;
use pratique_types::builtin::ServedResource;
use pratique_types::{GroupVersionKind, GroupVersionResource};

/// Definitions of custom resources, of which there are samples.
#[derive(Debug, Default)]
pub struct CustomKinds {
    definitions: Vec<CustomDefinition>,
}

/// A definition of custom resources. It is compiled when something asks for its kinds: few policies match custom resources, and
/// an editor has new definitions at each edit of one.
#[derive(Debug)]
pub struct CustomDefinition {
    release: &'static Release,
    value: Value<'static>,
    /// The resources of the versions that it says are served.
    served: Vec<Arc<ServedResource>>,
    kinds: OnceLock<Vec<CustomKind>>,
}

/// A version of a custom resource.
#[derive(Debug)]
pub struct CustomKind {
    /// Its resource.
    pub served: Arc<ServedResource>,
    resource: Arc<CustomResource>,
    merging: Arc<MergeSchema>,
    schema: Value<'static>,
}

/// An object of a custom resource.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomSample {
    /// The object, as its author writes it.
    pub object: Value<'static>,
    /// The path of the optional field that it lacks; empty for an object that has all of them.
    pub without: Vec<String>,
}

/// The most objects of a kind.
const MOST_SAMPLES: usize = 120;
/// The maximum depth in fields; deeper ones are left out.
const MOST_DEPTH: usize = 12;
/// The maximum depth in fields, elements of lists and members of maps.
const MOST_NESTING: usize = 24;
/// The most values of an object that are in elements after the first of a list: lists within lists would be more by a factor at
/// each depth. Other values are no more than the definition has.
const MOST_REPEATED: usize = 4_000;
/// The most values of an object, and of all objects of a kind: of those of a large definition there are fewer.
const MOST_VALUES: usize = 480_000;
/// A text counts as a value for each of so many bytes.
const VALUE_BYTES: usize = 64;
/// The most elements of a list.
const MOST_ELEMENTS: i64 = 8;

/// Texts that are tried where a pattern says what a text is.
const TEXTS: [&str; 14] = [
    "example",
    "a",
    "A",
    "1",
    "1h",
    "10Gi",
    "v1.0.0",
    "example.com",
    "https://example.com",
    "10.0.0.1",
    "10.0.0.0/8",
    "/example",
    "a/b",
    "a=b",
];

impl CustomKinds {
    /// The kinds of definitions that a server of a release accepts; what is no such definition has none.
    pub fn new(release: &'static Release, definitions: &[Value<'_>]) -> Self {
        let definitions = definitions.iter();
        CustomKinds {
            definitions: definitions
                .map(|definition| CustomDefinition::new(release, definition))
                .collect(),
        }
    }

    /// Kinds of which nothing is known but their resources: their objects have any fields. Each is called by its resource.
    pub fn without_definition(release: &'static Release, resources: &[GroupVersionResource]) -> Self {
        let define = |of: &GroupVersionResource| {
            // Who writes a policy writes any text there.
            let text = |text: String| Value::from(text).to_string();
            let text = format!(
                r#"{{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                    "metadata": {{"name": {name}}},
                    "spec": {{"group": {group}, "scope": "Namespaced",
                        "names": {{"kind": {plural}, "plural": {plural}, "singular": {plural}, "listKind": {list}}},
                        "versions": [{{"name": {version}, "served": true, "storage": true, "schema": {{"openAPIV3Schema":
                            {{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}}]}}}}"#,
                name = text(format!("{}.{}", of.resource, of.group)),
                plural = text(of.resource.clone()),
                list = text(format!("{}-list", of.resource)),
                group = text(of.group.clone()),
                version = text(of.version.clone()),
            );
            // A name that is none of a resource has no definition.
            Some(pratique_json::parse(text.as_bytes()).ok()?.into_owned())
        };
        CustomKinds::new(release, &resources.iter().filter_map(define).collect::<Vec<_>>())
    }

    /// The definitions, in their order.
    pub fn definitions(&self) -> &[CustomDefinition] {
        &self.definitions
    }

    /// The kinds whose resources are asked for; no other definition is compiled.
    pub fn matching(
        &self,
        is_matched: impl Fn(&ServedResource) -> bool + Copy,
    ) -> impl Iterator<Item = &CustomKind> {
        let has_match =
            move |definition: &&CustomDefinition| definition.served.iter().any(|served| is_matched(served));
        let definitions = self.definitions.iter().filter(has_match);
        let kinds = definitions.flat_map(CustomDefinition::kinds);
        kinds.filter(move |kind| is_matched(&kind.served))
    }

    /// A kind.
    pub fn find(&self, kind: &GroupVersionKind) -> Option<&CustomKind> {
        self.definitions
            .iter()
            .filter(|definition| definition.served.iter().any(|served| served.kind == *kind))
            .flat_map(CustomDefinition::kinds)
            .find(|known| known.served.kind == *kind)
    }
}

impl CustomDefinition {
    fn new(release: &'static Release, definition: &Value<'_>) -> Self {
        CustomDefinition {
            release,
            served: served_resources(definition),
            value: definition.clone().into_owned(),
            kinds: OnceLock::new(),
        }
    }

    /// The served versions with their schemas, where they have one.
    pub fn schemas(&self) -> impl Iterator<Item = (&Arc<ServedResource>, &Value<'static>)> {
        let versions = served_versions(&self.value).zip(&self.served);
        versions
            .filter_map(|((_, version), served)| Some((served, version.at(&["schema", "openAPIV3Schema"])?)))
    }

    /// The definition, as it was given.
    pub fn value(&self) -> &Value<'static> {
        &self.value
    }

    /// The subresources of its served versions, each behind the resource that it is of: `status`, and `scale` where that has the
    /// field `spec.replicas`.
    pub fn subresources(&self) -> impl Iterator<Item = (&ServedResource, ServedResource)> {
        let versions = served_versions(&self.value).zip(&self.served);
        versions.flat_map(|((_, version), served)| {
            let at = |path: &[&str]| version.get("subresources").and_then(|parts| parts.at(path));
            let replicas = at(&["scale", "specReplicasPath"]).and_then(Value::as_str);
            let has_status = at(&["status"]).is_some_and(|status| !status.is_null());
            let parts = [
                ("status", has_status),
                ("scale", replicas == Some(".spec.replicas")),
            ];
            let parts = parts.into_iter().filter(|(_, is_there)| *is_there);
            parts.map(|(part, _)| {
                let part = ServedResource {
                    subresource: part.to_owned(),
                    ..ServedResource::clone(served)
                };
                (&**served, part)
            })
        })
    }

    /// The kinds that it defines; none if a server does not accept it.
    pub fn kinds(&self) -> &[CustomKind] {
        self.kinds.get_or_init(|| self.compile_kinds())
    }

    fn compile_kinds(&self) -> Vec<CustomKind> {
        let (Ok(resource), Ok(merging)) = (
            CustomResource::compile_in(self.release, &self.value),
            MergeSchema::custom(self.release, &self.value),
        ) else {
            return Vec::new();
        };
        let (resource, merging) = (Arc::new(resource), Arc::new(merging));
        let kinds = self.schemas().map(|(served, schema)| CustomKind {
            served: Arc::clone(served),
            resource: Arc::clone(&resource),
            merging: Arc::clone(&merging),
            schema: schema.clone(),
        });
        kinds.collect()
    }
}

/// The resources of the served versions of a definition, which may be one that a server refuses.
fn served_resources(definition: &Value<'_>) -> Vec<Arc<ServedResource>> {
    let text = |path: &[&str]| definition.at(path).and_then(Value::as_str).unwrap_or_default();
    let (group, plural) = (text(&["spec", "group"]), text(&["spec", "names", "plural"]));
    let (kind, namespaced) = (
        text(&["spec", "names", "kind"]),
        text(&["spec", "scope"]) == "Namespaced",
    );
    let of_version = |(name, _): (&str, &Value<'_>)| {
        Arc::new(ServedResource {
            resource: GroupVersionResource::new(group, name, plural),
            subresource: String::new(),
            kind: GroupVersionKind::new(group, name, kind),
            namespaced,
            short_names: Vec::new(),
        })
    };
    served_versions(definition).map(of_version).collect()
}

/// The versions of a definition that requests may use, with their names.
fn served_versions<'d, 'v>(definition: &'d Value<'v>) -> impl Iterator<Item = (&'d str, &'d Value<'v>)> {
    let versions = definition.at(&["spec", "versions"]).and_then(Value::as_array);
    let versions = versions.into_iter().flatten();
    let versions = versions.filter(|version| version.get("served") == Some(&Value::Bool(true)));
    versions.filter_map(|version| Some((version.get("name").and_then(Value::as_str)?, version)))
}

impl CustomKind {
    /// The version of the definition.
    pub fn version(&self) -> Option<&Version> {
        self.resource.version(&self.served.kind.version)
    }

    /// The names of the fields that its schema declares, at any depth; `None` if it may have others.
    pub fn declared_fields(&self) -> Option<BTreeSet<&str>> {
        let mut names = BTreeSet::from(["apiVersion", "kind", "metadata"]);
        let mut pending = vec![&self.schema];
        while let Some(schema) = pending.pop() {
            let is = |flag: &str| schema.get(flag) == Some(&Value::Bool(true));
            if is("x-kubernetes-preserve-unknown-fields") || is("x-kubernetes-embedded-resource") {
                return None;
            }
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, field) in properties.into_iter().flat_map(Object::iter) {
                names.insert(name);
                pending.push(field);
            }
            pending.extend(schema.get("items"));
            pending.extend(
                schema
                    .get("additionalProperties")
                    .filter(|of| of.as_object().is_some()),
            );
        }
        Some(names)
    }

    pub(crate) fn merge_schema(&self) -> &MergeSchema {
        &self.merging
    }

    /// Objects of the kind: one with all fields, then one without each of the optional fields. Where a field is left out
    /// that has a default, the server puts it in.
    pub fn samples(&self) -> Vec<CustomSample> {
        self.first_samples(MOST_SAMPLES)
    }

    fn first_samples(&self, most: usize) -> Vec<CustomSample> {
        let (object, mut optional) = self.build(&[], most.saturating_sub(1));
        optional.truncate(most_copies(&object).saturating_sub(1));
        let mut samples = vec![CustomSample {
            object,
            without: Vec::new(),
        }];
        for path in optional {
            let (object, _) = self.build(&path, 0);
            samples.push(CustomSample {
                object,
                without: path,
            });
        }
        samples
    }

    /// What the server makes of an object when it is created, and what it has against it.
    pub fn receive(&self, object: &Value<'static>) -> (Value<'static>, Vec<String>) {
        let mut object = object.clone();
        let Some(version) = self.version() else {
            return (object, Vec::new());
        };
        version.default(&mut object);
        version.prepare_create(&mut object);
        let errors = version.validate_create(&object).errors;
        (object, errors.iter().map(ToString::to_string).collect())
    }

    /// An object without a field, and the paths of the first optional fields.
    fn build(&self, without: &[String], most_optional: usize) -> (Value<'static>, Vec<Vec<String>>) {
        let mut builder = CustomBuilder {
            without,
            most_optional,
            optional: Vec::new(),
            path: Vec::new(),
            depth: 0,
            values: 0,
            repetitions: 0,
            repeated: 0,
        };
        let mut object = match builder.members(&self.schema) {
            Value::Object(object) => object,
            _ => Object::new(),
        };
        let ServedResource { kind, namespaced, .. } = &*self.served;
        let mut metadata = Object::new();
        metadata.insert("name", Value::from("example"));
        if *namespaced {
            metadata.insert("namespace", Value::from("default"));
        }
        object.insert("apiVersion", Value::from(kind.api_version()));
        object.insert("kind", Value::from(kind.kind.clone()));
        object.insert("metadata", Value::Object(metadata));
        (Value::Object(object), builder.optional)
    }
}

struct CustomBuilder<'w> {
    without: &'w [String],
    most_optional: usize,
    optional: Vec<Vec<String>>,
    path: Vec<String>,
    /// The depth in fields, elements and members.
    depth: usize,
    /// How many values there are until now.
    values: usize,
    /// In how many elements after the first of a list this is.
    repetitions: usize,
    /// How many values there are until now in such elements.
    repeated: usize,
}

impl CustomBuilder<'_> {
    /// A value of a schema, if one is known. Recursion is safe: its depth is bounded, and so is the number of values.
    fn value(&mut self, schema: &Value<'_>) -> Option<Value<'static>> {
        let is_deep = self.path.len() > MOST_DEPTH || self.depth > MOST_NESTING;
        let is_much = self.values >= MOST_VALUES || self.repeated >= MOST_REPEATED && self.repetitions > 0;
        if is_deep || is_much {
            return None;
        }
        self.count(1);
        self.depth += 1;
        let value = self.value_within(schema);
        self.depth -= 1;
        value
    }

    fn value_within(&mut self, schema: &Value<'_>) -> Option<Value<'static>> {
        let flag = |name: &str| schema.get(name) == Some(&Value::Bool(true));
        let number = |name: &str| schema.get(name).and_then(Value::as_int);
        if let Some(default) = schema.get("default") {
            return Some(self.copy(default));
        }
        if let Some(first) = schema
            .get("enum")
            .and_then(Value::as_array)
            .and_then(|all| all.first())
        {
            return Some(self.copy(first));
        }
        if flag("x-kubernetes-int-or-string") {
            return Some(Value::from(1i64));
        }
        let lowest = number("minimum").unwrap_or(1).max(1);
        match schema.get("type").and_then(Value::as_str).unwrap_or_default() {
            "boolean" => Some(Value::Bool(true)),
            "integer" | "number" => Some(Value::from(
                number("maximum").map_or(lowest, |most| lowest.min(most)),
            )),
            "string" => text_of(schema).map(Value::from),
            "array" => {
                let items = schema.get("items")?;
                let count = number("minItems").unwrap_or(1).clamp(1, MOST_ELEMENTS);
                let elements = (0..count).map(|index| self.element(items, index > 0));
                let elements: Option<Vec<_>> = elements.collect();
                Some(Value::Array(elements?.into_iter().collect()))
            }
            "object" => Some(self.members(schema)),
            _ => None,
        }
    }

    /// An element of a list, the first one or another.
    fn element(&mut self, items: &Value<'_>, is_repeated: bool) -> Option<Value<'static>> {
        self.repetitions += usize::from(is_repeated);
        let element = self.value(items);
        self.repetitions -= usize::from(is_repeated);
        element
    }

    fn count(&mut self, values: usize) {
        self.values = self.values.saturating_add(values);
        if self.repetitions > 0 {
            self.repeated = self.repeated.saturating_add(values);
        }
    }

    /// A value that the schema has, which may be as large as a definition.
    fn copy(&mut self, value: &Value<'_>) -> Value<'static> {
        self.count(count_values(value));
        value.clone().into_owned()
    }

    fn members(&mut self, schema: &Value<'_>) -> Value<'static> {
        let mut members = Object::new();
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flat_map(|properties| properties.iter()) {
            if self.path.is_empty() && ["apiVersion", "kind", "metadata"].contains(&name) {
                continue;
            }
            self.path.push(name.to_owned());
            let is_optional = !required.contains(&name) && schema.get("default").is_none();
            let is_left_out = is_optional && self.path == self.without;
            if is_optional && self.optional.len() < self.most_optional && !self.optional.contains(&self.path)
            {
                self.optional.push(self.path.clone());
            }
            if !is_left_out && let Some(value) = self.value(schema) {
                members.insert(name.to_owned(), value);
            }
            self.path.pop();
        }
        if let Some(values @ Value::Object(_)) = schema.get("additionalProperties")
            && let Some(value) = self.value(values)
        {
            members.insert("key", value);
        }
        Value::Object(members)
    }
}

/// How many objects like this one there may be of a kind.
fn most_copies(object: &Value<'_>) -> usize {
    (MOST_VALUES / count_values(object)).max(1)
}

/// How many values are in a value. Recursion is safe: the reader of a definition bounds its depth.
fn count_values(value: &Value<'_>) -> usize {
    let within: usize = match value {
        Value::Array(elements) => elements.iter().map(count_values).sum(),
        Value::Object(members) => members.iter().map(|(_, value)| count_values(value)).sum(),
        Value::String(text) => text.len() / VALUE_BYTES,
        _ => 0,
    };
    within + 1
}

/// A text that a schema takes, if one is known.
fn text_of(schema: &Value<'_>) -> Option<String> {
    let text = |name: &str| schema.get(name).and_then(Value::as_str);
    let length = |name: &str, otherwise: i64| schema.get(name).and_then(Value::as_int).unwrap_or(otherwise);
    let of_format = match text("format").unwrap_or_default() {
        "date-time" | "datetime" => Some("2025-01-01T00:00:00Z"),
        "date" => Some("2025-01-01"),
        "duration" => Some("1h"),
        "uri" | "url" => Some("https://example.com"),
        "email" => Some("a@example.com"),
        "hostname" => Some("example.com"),
        "ipv4" | "ip" => Some("10.0.0.1"),
        "ipv6" => Some("2001:db8::1"),
        "cidr" => Some("10.0.0.0/8"),
        "uuid" => Some("01234567-89ab-4def-8123-456789abcdef"),
        "byte" => Some("YQ=="),
        _ => None,
    };
    let (least, most) = (length("minLength", 0), length("maxLength", i64::MAX));
    let pattern = text("pattern").and_then(|pattern| Regex::new(pattern).ok());
    let fits = |candidate: &str| {
        let count = candidate.chars().count() as i64;
        (least..=most).contains(&count) && pattern.as_ref().is_none_or(|pattern| pattern.is_match(candidate))
    };
    let repeated = "a".repeat(usize::try_from(least.clamp(1, 256)).unwrap_or(1));
    let candidates = of_format.into_iter().chain(TEXTS).chain([repeated.as_str()]);
    // What has a format has no other text.
    let mut candidates = candidates.take(if of_format.is_some() { 1 } else { usize::MAX });
    candidates.find(|candidate| fits(candidate)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFINITION: &str = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets",
            "singular": "widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
                "properties": {"spec": {"type": "object", "required": ["size"], "properties": {
                    "size": {"type": "integer", "minimum": 3},
                    "mode": {"type": "string", "enum": ["Fast", "Slow"]},
                    "host": {"type": "string", "pattern": "^[a-z]+\\.com$"},
                    "paused": {"type": "boolean", "default": false},
                    "parts": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}
                }}}}}}]}}"#;

    #[test]
    fn names_of_what_has_no_definition_are_texts() {
        let named = |name: &str| {
            let resource = GroupVersionResource::new("example.com", "v1", name);
            let kinds = CustomKinds::without_definition(Release::latest(), &[resource]);
            let resources = kinds
                .matching(|_| true)
                .map(|kind| kind.served.resource.resource.clone());
            resources.collect::<Vec<_>>()
        };
        assert_eq!(named("widgets"), ["widgets"]);
        // It is none of a resource, and names no other one.
        assert!(named(r#"a", "plural": "b"#).is_empty());
    }

    #[test]
    fn objects_are_those_of_the_schema() {
        let definition = pratique_json::parse(DEFINITION.as_bytes()).unwrap();
        let kinds = CustomKinds::new(Release::latest(), &[definition, Value::Null]);
        let kind = kinds
            .find(&GroupVersionKind::new("example.com", "v1", "Widget"))
            .unwrap();
        let samples = kind.samples();
        let expected = r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"example","namespace":"default"},"spec":{"host":"example.com","mode":"Fast","parts":[{"name":"example"}],"paused":false,"size":3}}"#;
        let expected = pratique_json::parse(expected.as_bytes()).unwrap();
        assert_eq!(samples[0].object, expected);
        let without: Vec<String> = samples.iter().map(|sample| sample.without.join(".")).collect();
        assert_eq!(
            without,
            [
                "",
                "spec",
                "spec.host",
                "spec.mode",
                "spec.parts",
                "spec.parts.name"
            ]
        );
        for sample in &samples {
            assert_eq!(kind.receive(&sample.object).1, Vec::<String>::new(), "{sample:?}");
        }
    }

    /// The kind of a definition with one field.
    fn kind_of(field: &str) -> CustomKinds {
        let definition = format!(
            r#"{{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {{"name": "widgets.example.com"}},
                "spec": {{"group": "example.com", "scope": "Namespaced", "names": {{"kind": "Widget", "plural": "widgets",
                    "singular": "widget", "listKind": "WidgetList"}},
                    "versions": [{{"name": "v1", "served": true, "storage": true, "schema": {{"openAPIV3Schema":
                        {{"type": "object", "properties": {{"spec": {field}}}}}}}}}]}}}}"#
        );
        CustomKinds::new(
            Release::latest(),
            &[pratique_json::parse(definition.as_bytes()).unwrap()],
        )
    }

    fn only_kind(kinds: &CustomKinds) -> &CustomKind {
        &kinds.definitions()[0].kinds()[0]
    }

    #[test]
    fn only_what_is_asked_for_is_compiled() {
        let definition = |plural: &str| {
            let definition = DEFINITION.replace("widgets", plural);
            pratique_json::parse(definition.as_bytes()).unwrap().into_owned()
        };
        let kinds = CustomKinds::new(
            Release::latest(),
            &[definition("widgets"), definition("gadgets"), Value::Null],
        );
        let matched: Vec<_> = kinds
            .matching(|served| served.resource.resource == "gadgets")
            .collect();
        assert_eq!(matched.len(), 1);
        assert_eq!(matched[0].served.resource.resource, "gadgets");
        let compiled = kinds
            .definitions()
            .iter()
            .map(|definition| definition.kinds.get().is_some());
        assert_eq!(compiled.collect::<Vec<_>>(), [false, true, false]);
    }

    #[test]
    fn objects_of_nested_lists_are_bounded() {
        let list = |items: String, _| format!(r#"{{"type": "array", "minItems": 8, "items": {items}}}"#);
        let map = |items: String, depth| {
            format!(
                r#"{{"type": "object", "additionalProperties": {}}}"#,
                list(items, depth)
            )
        };
        let element = r#"{"type": "string", "default": "a"}"#.to_owned();
        for field in [
            (0..10).fold(element.clone(), list),
            (0..10).fold(element.clone(), map),
        ] {
            let kinds = kind_of(&field);
            let samples = only_kind(&kinds).samples();
            assert!(!samples.is_empty());
            for sample in samples {
                // What does not repeat is an element at each depth.
                let most = MOST_REPEATED + 100;
                assert!(count_values(&sample.object) <= most, "{sample:?}");
            }
        }
        // What is not too much has all of its elements.
        let kinds = kind_of(&(0..2).fold(element, list));
        let samples = only_kind(&kinds).samples();
        assert!(count_values(&samples[0].object) > 64, "{:?}", samples[0]);
    }

    #[test]
    fn large_definitions_have_all_of_their_fields() {
        let fields = |count: usize, schema: &str| {
            let fields: Vec<String> = (0..count)
                .map(|index| format!(r#""f{index}": {schema}"#))
                .collect();
            format!(r#"{{"type": "object", "properties": {{{}}}}}"#, fields.join(","))
        };
        let text = r#"{"type": "string"}"#;
        // Beside a list that has too many elements, and behind it.
        let hostile = (0..10).fold(text.to_owned(), |items, _| {
            format!(r#"{{"type": "array", "minItems": 8, "items": {items}}}"#)
        });
        let count = MOST_REPEATED + 100;
        let honest = fields(count, text);
        let field = format!(r#"{{"type": "object", "properties": {{"a": {hostile}, "b": {honest}}}}}"#);
        let kinds = kind_of(&field);
        let samples = only_kind(&kinds).first_samples(4);
        let object = &samples[0].object;
        let all = object.at(&["spec", "b"]).and_then(Value::as_object).unwrap();
        assert_eq!((samples.len(), all.iter().count()), (4, count));
        assert!(most_copies(object) * count_values(object) <= MOST_VALUES);
        assert!(most_copies(object) < MOST_SAMPLES);
    }

    #[test]
    fn all_values_of_an_object_are_bounded() {
        let schema = r#"{"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"type": "boolean"},
            "c": {"type": "boolean"}}}"#;
        let schema = pratique_json::parse(schema.as_bytes()).unwrap();
        let mut builder = CustomBuilder {
            without: &[],
            most_optional: 0,
            optional: Vec::new(),
            path: Vec::new(),
            depth: 0,
            values: MOST_VALUES - 2,
            repetitions: 0,
            repeated: 0,
        };
        let object = builder.members(&schema);
        assert_eq!(object.to_string(), r#"{"a":true,"b":true}"#);
    }
}
