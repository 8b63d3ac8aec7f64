//! The schema of one or all versions of a definition, checked and compiled.

use std::sync::Arc;

use pratique_json::Value;
use pratique_types::field::ErrorList;
use pratique_validation::rules::{Errors, Node, internal_json};

use super::internal_form;
use super::schema_options::SchemaOptions;
use super::schema_rules::SchemaWalk;
use crate::check_defaults::check_defaults;
use crate::prune_defaults::prune_defaults;
use crate::rules::{RulePlace, SchemaRules};
use crate::schema::{ReadFaults, SchemaNode, check_structural, read};

/// A schema with its rules, by which objects are pruned, defaulted and validated.
#[derive(Debug, Default)]
pub(crate) struct CompiledSchema {
    pub(crate) schema: SchemaNode,
    pub(crate) rules: SchemaRules,
}

/// A schema, and what a server says of it.
#[derive(Debug, Default)]
pub(crate) struct CheckedSchema {
    /// The schema; `None` where it cannot be followed.
    pub(crate) compiled: Option<Arc<CompiledSchema>>,
    /// Errors for which a server does not even decode it.
    pub(crate) malformed: ErrorList,
    /// Errors for which it refuses it.
    pub(crate) errors: Errors,
}

/// How a schema is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SchemaCheck<'c> {
    pub(crate) options: &'c SchemaOptions,
    pub(crate) requires_structural: bool,
    /// Whether `status` is a subresource.
    pub(crate) has_status: bool,
    /// Whether the existing definition has the same schema, whose rules may cost more than today's limit.
    pub(crate) is_unchanged: bool,
}

impl SchemaCheck<'_> {
    /// Checks the schema of a resource. The path is that of what holds it.
    // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validateCustomResourceDefinitionValidation
    pub(crate) fn check_schema(&self, holder: &Node<'_, '_>) -> CheckedSchema {
        let openapi = holder.child("openAPIV3Schema");
        let mut checked = CheckedSchema::default();
        if !openapi.is_set() {
            return checked;
        }
        let errors = &mut checked.errors;
        if self.has_status {
            validate_root_members(&openapi, errors);
        }
        let nullable = openapi.child("nullable");
        if nullable.is_true() {
            errors.forbidden(nullable, "nullable cannot be true at the root");
        }
        let mut faults = ReadFaults::default();
        let mut schema = read(openapi.value(), openapi.path(), &mut faults);
        let mut is_sound = false;
        if faults.is_empty() && self.requires_structural {
            let mut schema_errors = ErrorList::default();
            check_structural(&schema, openapi.path(), &mut schema_errors);
            if schema_errors.is_empty() {
                let release = self.options.expressions.release;
                schema.set_range_checks(release);
                let rules = SchemaRules::compile(&schema, &self.options.expressions);
                let requires_pruned = self.options.requires_pruned_defaults;
                let path = openapi.path();
                check_defaults(
                    &schema,
                    rules.root(),
                    requires_pruned,
                    release,
                    path,
                    &mut schema_errors,
                );
                is_sound = schema_errors.is_empty();
                checked.compiled = Some(Arc::new(CompiledSchema { schema, rules }));
            }
            extend(errors, schema_errors);
        }
        let rules = checked.compiled.as_ref().filter(|_| is_sound);
        let place = rules.map(|compiled| RulePlace {
            node: compiled.rules.root(),
            cardinality: Some(1),
        });
        let mut walk = SchemaWalk::new(self.options, self.is_unchanged);
        walk.validate_root(&openapi, place);
        let (openapi_errors, total) = walk.finish();
        errors.extend(openapi_errors);
        if let Some(detail) = faults
            .unsupported
            .filter(|_| errors.is_empty() && self.requires_structural)
        {
            errors.invalid(openapi, "", detail);
        }
        total.finish(&openapi, errors);
        checked.malformed = faults.malformed;
        if let Some(compiled) = checked.compiled.as_mut().and_then(Arc::get_mut) {
            prune_defaults(&mut compiled.schema);
            compiled.schema.serve(self.options.expressions.release);
        }
        checked
    }
}

pub(super) fn extend(errors: &mut Errors, list: ErrorList) {
    for error in list.into_vec() {
        errors.push(error);
    }
}

/// Where `status` is a subresource, its schema is taken out of the root, which may say nothing else about it.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validateCustomResourceDefinitionValidation
fn validate_root_members(schema: &Node<'_, '_>, errors: &mut Errors) {
    for (field, name) in ROOT_FIELDS {
        let member = schema.child(name);
        if is_zero(name, member.value()) {
            continue;
        }
        if *field == "Type" {
            if member.as_text() != "object" {
                let detail = "only \"object\" is allowed as the type at the root of the schema if the status subresource is \
                              enabled";
                errors.invalid(member, member.as_text(), detail);
                return;
            }
        } else if !ALLOWED_AT_ROOT.contains(field) {
            let bad_value = internal_json(
                errors.release(),
                "apiextensions.JSONSchemaProps",
                &internal_form::schema(schema.value()),
            );
            let detail = format!(
                "only [{}] fields are allowed at the root of the schema if the status subresource is enabled",
                ALLOWED_AT_ROOT.join(" ")
            );
            errors.invalid(schema, bad_value, &detail);
            return;
        }
    }
}

/// Whether a member has Go's zero value; some are pointers.
fn is_zero(name: &str, value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty() && name != "$ref",
        Value::Bool(flag) => !flag && !name.starts_with("additional"),
        _ => false,
    }
}

const ALLOWED_AT_ROOT: [&str; 22] = [
    "Description",
    "Type",
    "Format",
    "Title",
    "Maximum",
    "ExclusiveMaximum",
    "Minimum",
    "ExclusiveMinimum",
    "MaxLength",
    "MinLength",
    "Pattern",
    "MaxItems",
    "MinItems",
    "UniqueItems",
    "MultipleOf",
    "Required",
    "Items",
    "Properties",
    "ExternalDocs",
    "Example",
    "XPreserveUnknownFields",
    "XValidations",
];

/// The fields that are looked at, in their order, with the names of their members. Those that are allowed cannot be wrong.
const ROOT_FIELDS: &[(&str, &str)] = &[
    ("ID", "id"),
    ("Schema", "$schema"),
    ("Ref", "$ref"),
    ("Type", "type"),
    ("Nullable", "nullable"),
    ("Default", "default"),
    ("Enum", "enum"),
    ("MaxProperties", "maxProperties"),
    ("MinProperties", "minProperties"),
    ("AllOf", "allOf"),
    ("OneOf", "oneOf"),
    ("AnyOf", "anyOf"),
    ("Not", "not"),
    ("AdditionalProperties", "additionalProperties"),
    ("PatternProperties", "patternProperties"),
    ("Dependencies", "dependencies"),
    ("AdditionalItems", "additionalItems"),
    ("Definitions", "definitions"),
    ("XEmbeddedResource", "x-kubernetes-embedded-resource"),
    ("XIntOrString", "x-kubernetes-int-or-string"),
    ("XListMapKeys", "x-kubernetes-list-map-keys"),
    ("XListType", "x-kubernetes-list-type"),
    ("XMapType", "x-kubernetes-map-type"),
];
