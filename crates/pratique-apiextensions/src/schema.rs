//! The schema of one version of a custom resource.

mod format;
mod read;
mod structural;

use std::collections::BTreeMap;

use pratique_gotext::regexp::{self, Regex};
use pratique_json::Value;
use pratique_schema::Release;
use pratique_types::field::Path;

pub(crate) use format::{format_check, is_unrecognized_format};
pub(crate) use read::{ReadFaults, read};
pub(crate) use structural::check_structural;

/// One node of a schema: the values it allows, which of their fields are kept, and the default.
#[derive(Debug, Default)]
pub(crate) struct SchemaNode {
    pub(crate) of: Option<SchemaType>,
    /// The type as it is written.
    pub(crate) of_text: Box<str>,
    pub(crate) nullable: bool,
    /// The default, pruned once the schema is complete.
    pub(crate) default: Option<Value<'static>>,
    pub(crate) items: Option<Box<SchemaNode>>,
    pub(crate) properties: BTreeMap<Box<str>, SchemaNode>,
    pub(crate) additional: Option<AdditionalMembers>,

    pub(crate) preserves_unknown: bool,
    pub(crate) is_embedded: bool,
    pub(crate) is_int_or_string: bool,
    /// Whether values are checked for being an integer or a string, as they are once the schema is [served](SchemaNode::serve).
    pub(crate) checks_int_or_string: bool,
    pub(crate) list_type: Option<Box<str>>,
    pub(crate) list_map_keys: Vec<Box<str>>,
    pub(crate) map_type: Option<Box<str>>,
    pub(crate) rules: Vec<SchemaRule>,

    pub(crate) values: ValueConstraints,
    pub(crate) all_of: Vec<SchemaNode>,
    pub(crate) any_of: Vec<SchemaNode>,
    pub(crate) one_of: Vec<SchemaNode>,
    pub(crate) not: Option<Box<SchemaNode>>,

    /// Whether there is a title or description, which nested value validations may not have.
    pub(crate) has_title: bool,
    pub(crate) has_description: bool,
    /// Whether there is an example or external documentation.
    pub(crate) has_examples: bool,
    /// Whether a list of texts or rules is there and empty, which Go's comparison tells from one that is not there.
    pub(crate) has_empty_lists: bool,
}

/// The restrictions on a value besides its type.
#[derive(Debug, Default)]
pub(crate) struct ValueConstraints {
    /// The format as it is written.
    pub(crate) format: Box<str>,
    /// The format that values are checked against: as it is written until the schema is [served](SchemaNode::serve).
    pub(crate) checked_format: Box<str>,
    /// Whether numbers need not be in the range of their type and format.
    pub(crate) ignores_ranges: bool,
    pub(crate) maximum: Option<f64>,
    pub(crate) exclusive_maximum: bool,
    pub(crate) minimum: Option<f64>,
    pub(crate) exclusive_minimum: bool,
    pub(crate) multiple_of: Option<f64>,
    pub(crate) max_length: Option<i64>,
    pub(crate) min_length: Option<i64>,
    pub(crate) pattern: Option<CompiledPattern>,
    pub(crate) max_items: Option<i64>,
    pub(crate) min_items: Option<i64>,
    pub(crate) max_properties: Option<i64>,
    pub(crate) min_properties: Option<i64>,
    pub(crate) required: Vec<Box<str>>,
    pub(crate) allowed: Vec<Value<'static>>,
    pub(crate) unique_items: bool,
}

/// A pattern with its regular expression, or why it is none.
#[derive(Debug)]
pub(crate) struct CompiledPattern {
    pub(crate) text: Box<str>,
    pub(crate) regex: Result<Regex, regexp::Error>,
}

/// The members that `properties` does not name.
#[derive(Debug)]
pub(crate) enum AdditionalMembers {
    /// Anything, or nothing.
    Allowed(bool),
    /// Values of a schema.
    Schema(Box<SchemaNode>),
}

/// The types of JSON that a schema may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaType {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
    /// None of them: definitions that are stored may have such types, and no value is of them.
    Unknown,
}

/// A rule of `x-kubernetes-validations`.
#[derive(Debug, Default)]
pub(crate) struct SchemaRule {
    pub(crate) rule: Box<str>,
    pub(crate) message: Box<str>,
    pub(crate) message_expression: Box<str>,
    pub(crate) reason: Option<Box<str>>,
    pub(crate) field_path: Box<str>,
    pub(crate) optional_old_self: Option<bool>,
}

impl SchemaType {
    pub(crate) const ALL: [SchemaType; 6] = [
        SchemaType::Array,
        SchemaType::Boolean,
        SchemaType::Integer,
        SchemaType::Number,
        SchemaType::Object,
        SchemaType::String,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            SchemaType::Object => "object",
            SchemaType::Array => "array",
            SchemaType::String => "string",
            SchemaType::Integer => "integer",
            SchemaType::Number => "number",
            SchemaType::Boolean => "boolean",
            SchemaType::Unknown => "unknown",
        }
    }

    pub(crate) fn named(name: &str) -> SchemaType {
        let known = SchemaType::ALL.into_iter().find(|of| of.name() == name);
        known.unwrap_or(SchemaType::Unknown)
    }
}

impl SchemaNode {
    /// The schema of a member, by `properties` or else `additionalProperties`.
    pub(crate) fn member(&self, name: &str) -> Option<&SchemaNode> {
        self.properties.get(name).or_else(|| self.additional_schema())
    }

    /// The schema of a member, with its path as errors name it.
    pub(crate) fn member_at<'p>(&self, name: &'p str, path: &'p Path<'p>) -> Option<(&SchemaNode, Path<'p>)> {
        match self.properties.get(name) {
            Some(property) => Some((property, path.child(name))),
            None => Some((self.additional_schema()?, path.key(name))),
        }
    }

    pub(crate) fn additional_schema(&self) -> Option<&SchemaNode> {
        match &self.additional {
            Some(AdditionalMembers::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// The schemas that it combines, by the name of the combination.
    pub(crate) fn combinations(&self) -> [(&'static str, &[SchemaNode]); 3] {
        [
            ("allOf", &self.all_of),
            ("anyOf", &self.any_of),
            ("oneOf", &self.one_of),
        ]
    }

    /// The name of its type, empty where it has none.
    pub(crate) fn type_name(&self) -> &str {
        &self.of_text
    }

    /// The names of the types that values may have.
    pub(crate) fn type_names(&self) -> &str {
        if self.checks_int_or_string {
            "integer,string"
        } else {
            &self.of_text
        }
    }

    /// Lets values be checked as those of a schema that is served. Defaults are checked before: by the type and format as they are
    /// written.
    // Upstream: apiextensions-apiserver/pkg/apiserver/validation/validation.go, NewSchemaValidator
    pub(crate) fn serve(&mut self, release: &Release) {
        self.change_all(&|schema| {
            schema.checks_int_or_string = schema.is_int_or_string;
            schema.values.checked_format = schema.known_format(release).into();
        });
    }

    /// Lets numbers be checked as the release does.
    pub(crate) fn set_range_checks(&mut self, release: &Release) {
        // Upstream: kube-openapi/pkg/validation/validate/schema.go, SchemaValidator.numberValidator: until 1.35, it gave the check of
        // ranges neither the type nor the format.
        if !release.at_least(1, 36) {
            self.change_all(&|schema| schema.values.ignores_ranges = true);
        }
    }

    /// Changes the schema and all schemas in it.
    fn change_all(&mut self, change: &dyn Fn(&mut SchemaNode)) {
        change(self);
        let parts = self.properties.values_mut();
        let parts = parts
            .chain(self.items.as_deref_mut())
            .chain(self.not.as_deref_mut());
        let lists = [&mut self.all_of, &mut self.any_of, &mut self.one_of];
        for part in parts.chain(lists.into_iter().flatten()) {
            part.change_all(change);
        }
        if let Some(AdditionalMembers::Schema(part)) = &mut self.additional {
            part.change_all(change);
        }
    }

    /// The types that values may have: two for `x-kubernetes-int-or-string`.
    pub(crate) fn types(&self) -> &[SchemaType] {
        if self.checks_int_or_string {
            &[SchemaType::Integer, SchemaType::String]
        } else {
            self.of.as_slice()
        }
    }

    pub(crate) fn is_list_map(&self) -> bool {
        self.of == Some(SchemaType::Array) && self.list_type.as_deref() == Some("map")
    }
}
