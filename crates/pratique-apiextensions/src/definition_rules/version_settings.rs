//! The versions of a definition as a server validates them.
//!
//! It reads a definition into a form that has settings once where all versions have the same: schemas, subresources, printer columns
//! and selectable fields. Errors name them there: `spec.validation`, not `spec.versions[0].schema`.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/v1/conversion.go,
// Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec

use std::collections::HashMap;

use pratique_json::{Object, Value, text_at};
use pratique_schema::Release;
use pratique_types::field::BadValue;
use pratique_validation::rules::{Node, internal_json};

use super::internal_form;
use super::schema_search::schemas_of;

/// A setting of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VersionSetting {
    Schema,
    Subresources,
    PrinterColumns,
    SelectableFields,
}

impl VersionSetting {
    const ALL: [VersionSetting; 4] = [
        VersionSetting::Schema,
        VersionSetting::Subresources,
        VersionSetting::PrinterColumns,
        VersionSetting::SelectableFields,
    ];

    /// Its name in a version.
    pub(super) fn name(self) -> &'static str {
        match self {
            VersionSetting::Schema => "schema",
            VersionSetting::Subresources => "subresources",
            VersionSetting::PrinterColumns => "additionalPrinterColumns",
            VersionSetting::SelectableFields => "selectableFields",
        }
    }

    /// Its name where all versions share it.
    pub(super) fn shared_name(self) -> &'static str {
        match self {
            VersionSetting::Schema => "validation",
            other => other.name(),
        }
    }
}

/// The versions of a definition.
#[derive(Clone, Debug)]
pub(super) struct VersionSettings<'v> {
    versions: &'v [Value<'v>],
    /// The first one of each name.
    by_name: HashMap<&'v str, &'v Value<'v>>,
    /// By the setting, whether all versions have the same, which stands once then.
    shares: [bool; 4],
}

impl<'v> VersionSettings<'v> {
    /// Those of the `spec` of a definition.
    pub(super) fn new(spec: &Node<'_, 'v>) -> Self {
        let versions = spec.value().get("versions").and_then(Value::as_array);
        let versions = versions.unwrap_or_default();
        VersionSettings {
            versions,
            by_name: versions_by_name(versions),
            shares: VersionSetting::ALL.map(|setting| have_same(versions, setting)),
        }
    }

    fn shares(&self, setting: VersionSetting) -> bool {
        let [schema, subresources, columns, fields] = self.shares;
        match setting {
            VersionSetting::Schema => schema,
            VersionSetting::Subresources => subresources,
            VersionSetting::PrinterColumns => columns,
            VersionSetting::SelectableFields => fields,
        }
    }

    /// A setting where all versions share it.
    pub(super) fn shared<'p>(&self, setting: VersionSetting, spec: &'p Node<'_, 'v>) -> Option<Node<'p, 'v>> {
        let first = self.versions.first().filter(|_| self.shares(setting))?;
        let value = first.get(setting.name()).filter(|value| !value.is_null())?;
        let path = spec.path().child(setting.shared_name());
        Some(Node::with_path(value, path))
    }

    /// A setting of one version where versions differ.
    pub(super) fn own<'p>(&self, setting: VersionSetting, version: &'p Node<'_, 'v>) -> Option<Node<'p, 'v>> {
        let own = version.child(setting.name());
        (own.is_set() && !self.shares(setting)).then_some(own)
    }

    /// The schema of a version by its name, if there is such a version. Where versions share their schema, there is one of each name.
    // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/helpers.go, GetSchemaForVersion
    pub(super) fn schema_of(&self, name: &str) -> Option<&'v Value<'v>> {
        static ABSENT: Value<'static> = Value::Null;
        let schema = |version: &'v Value<'v>| version.get("schema").unwrap_or(&ABSENT);
        if self.versions.is_empty() || self.shares(VersionSetting::Schema) {
            return Some(self.versions.first().map_or(&ABSENT, schema));
        }
        self.version(name).map(schema)
    }

    /// The first version of a name.
    pub(super) fn version(&self, name: &str) -> Option<&'v Value<'v>> {
        self.by_name.get(name).copied()
    }

    /// The versions as an error prints them.
    pub(super) fn print_versions<'a>(&self, release: &Release, list: &Node<'_, '_>) -> BadValue<'a> {
        const TYPE: &str = "[]apiextensions.CustomResourceDefinitionVersion";
        if !list.is_set() {
            return internal_json(release, TYPE, &Value::Null);
        }
        let shared = VersionSetting::ALL
            .into_iter()
            .filter(|setting| self.shares(*setting));
        let left_out: Vec<&str> = shared.map(VersionSetting::name).collect();
        let versions = self.versions.iter();
        let form = versions.map(|version| internal_form::version(version, &left_out));
        internal_json(release, TYPE, &Value::Array(form.collect()))
    }
}

/// The first version of each name.
pub(super) fn versions_by_name<'v>(versions: &'v [Value<'v>]) -> HashMap<&'v str, &'v Value<'v>> {
    let named = versions
        .iter()
        .rev()
        .map(|version| (text_at(version, &["name"]), version));
    named.collect()
}

/// Whether all versions have the same setting.
fn have_same(versions: &[Value<'_>], setting: VersionSetting) -> bool {
    match versions.split_first() {
        None => false,
        Some((first, others)) => {
            let first = first.get(setting.name());
            let mut others = others.iter();
            others.all(|other| is_same_setting(other.get(setting.name()), first))
        }
    }
}

/// The schemas of a definition: one where all versions share it.
pub(crate) fn distinct_schemas<'v, 'a>(definition: &'v Value<'a>) -> impl Iterator<Item = &'v Value<'a>> {
    let versions = definition.at(&["spec", "versions"]).and_then(Value::as_array);
    let versions = versions.unwrap_or_default();
    let most = if have_same(versions, VersionSetting::Schema) {
        1
    } else {
        usize::MAX
    };
    schemas_of(versions).take(most)
}

/// Whether two settings of versions are the same; an empty list is one that is not there, but an empty object is there.
// Upstream: apimachinery/pkg/api/equality/semantic.go, Semantic
pub(super) fn is_same_setting(one: Option<&Value<'_>>, other: Option<&Value<'_>>) -> bool {
    let is_set = |value: &&Value<'_>| !value.is_null();
    match (one.filter(is_set), other.filter(is_set)) {
        (Some(one), Some(other)) => is_same(one, other),
        (Some(value), None) | (None, Some(value)) => value.as_array().is_some_and(<[_]>::is_empty),
        (None, None) => true,
    }
}

/// The members of a schema that are lists or maps: an empty one is one that is not there. All others are pointers.
pub const SCHEMA_COLLECTIONS: [&str; 11] = [
    "enum",
    "required",
    "allOf",
    "anyOf",
    "oneOf",
    "properties",
    "patternProperties",
    "definitions",
    "dependencies",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-validations",
];

fn is_same(one: &Value<'_>, other: &Value<'_>) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => has_same_members(one, other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Int(one), Value::Float(other)) | (Value::Float(other), Value::Int(one)) => {
            *one as f64 == *other
        }
        (one, other) => one == other,
    }
}

/// Members that both have are compared once: twice would be twice as often for each level of a schema.
fn has_same_members(one: &Object<'_>, other: &Object<'_>) -> bool {
    let is_alike = |(name, value): (&str, &Value<'_>)| match other.get(name) {
        Some(other) => is_same(value, other),
        None => is_left_out(name, value),
    };
    let is_extra = |(name, _): &(&str, &Value<'_>)| !one.contains_key(name);
    let mut extra = other.iter().filter(is_extra);
    one.iter().all(is_alike) && extra.all(|(name, value)| is_left_out(name, value))
}

/// Whether a member is as one that is not there.
fn is_left_out(name: &str, value: &Value<'_>) -> bool {
    value.is_null() || (SCHEMA_COLLECTIONS.contains(&name) && value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A schema within a schema, so many times.
    fn nested(depth: usize, innermost: &str) -> Value<'static> {
        let text = format!(
            "{}{innermost}{}",
            r#"{"properties":{"a":"#.repeat(depth),
            "}}".repeat(depth)
        );
        pratique_json::parse(text.as_bytes()).unwrap().into_owned()
    }

    #[test]
    fn nested_schemas_are_compared_once() {
        let depth = 100;
        let (text, other) = (
            nested(depth, r#"{"type":"string"}"#),
            nested(depth, r#"{"type":"array"}"#),
        );
        assert!(is_same_setting(Some(&text), Some(&text.clone())));
        assert!(!is_same_setting(Some(&text), Some(&other)));
    }

    #[test]
    fn empty_collections_are_as_none() {
        let (none, empty, full) = (
            nested(2, "{}"),
            nested(2, r#"{"enum":[],"title":null}"#),
            nested(2, r#"{"enum":[1]}"#),
        );
        assert!(is_same_setting(Some(&none), Some(&empty)) && is_same_setting(Some(&empty), Some(&none)));
        assert!(!is_same_setting(Some(&none), Some(&full)) && !is_same_setting(Some(&full), Some(&none)));
    }
}
