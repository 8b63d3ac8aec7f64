//! The schemas of definitions: what a server says of each node, besides that the whole is structural.

use pratique_json::Value;
use pratique_types::field::Path;
use pratique_validation::rules::{Errors, Node};

use super::list_types::{validate_list_map, validate_list_type, validate_map_type};
use super::map_list_keys::validate_map_list_keys;
use super::schema_options::SchemaOptions;
use super::validation_rules::validate_rules;
use crate::rules::{RulePlace, RuleReporter, TotalCost};
use crate::schema::SchemaType;

/// A walk over a schema.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceDefinitionOpenAPISchema
pub(super) struct SchemaWalk<'w> {
    options: &'w SchemaOptions,
    /// Whether a rule may cost more than the limit of one.
    ignores_costs: bool,
    /// Errors of schemas. Where there are some, rules from there up are not looked at.
    schema_errors: Errors,
    rule_errors: Errors,
    total: TotalCost,
}

/// What the schemas around one say about it.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, specStandardValidatorV3
#[derive(Clone, Copy)]
struct SchemaSurroundings<'s> {
    is_root: bool,
    /// Why there may be no default.
    default_ban: Option<&'static str>,
    /// Whether it is of metadata, kind or version of a resource.
    is_in_meta: bool,
    /// The outermost list or map whose values have no old ones.
    uncorrelatable: Option<&'s Path<'s>>,
    /// The rules, in the parts of a structural schema that have values of their own.
    rules: Option<RulePlace<'s>>,
}

impl<'w> SchemaWalk<'w> {
    pub(super) fn new(options: &'w SchemaOptions, ignores_costs: bool) -> Self {
        SchemaWalk {
            options,
            ignores_costs,
            schema_errors: Errors::default(),
            rule_errors: Errors::default(),
            total: TotalCost::default(),
        }
    }

    /// Validates the schema of a resource; without `rules` where it is not structural.
    pub(super) fn validate_root(&mut self, schema: &Node<'_, '_>, rules: Option<RulePlace<'_>>) {
        let root = SchemaSurroundings {
            is_root: true,
            default_ban: None,
            is_in_meta: false,
            uncorrelatable: None,
            rules,
        };
        self.validate(schema, root);
    }

    /// The errors, those of rules last, and what all rules cost.
    pub(super) fn finish(self) -> (Errors, TotalCost) {
        let mut errors = self.schema_errors;
        errors.extend(self.rule_errors);
        (errors, self.total)
    }

    fn validate(&mut self, schema: &Node<'_, '_>, around: SchemaSurroundings<'_>) {
        if schema.value().as_object().is_none() {
            return;
        }
        let previous_count = self.schema_errors.len();
        self.validate_members(schema, around);
        self.validate_parts(schema, around);
        let errors = &mut self.schema_errors;
        let preserves = schema.child("x-kubernetes-preserve-unknown-fields");
        if preserves.some_bool() == Some(false) {
            errors.invalid(preserves, false, "must be true or undefined");
        }
        validate_map_type(schema, errors);
        validate_list_type(schema, self.options.requires_atomic_sets, errors);
        validate_list_map(schema, errors);
        if self.options.requires_map_list_keys {
            validate_map_list_keys(schema, errors);
        }
        let rules = schema.child("x-kubernetes-validations");
        if rules.is_empty() {
            return;
        }
        validate_rules(&rules, schema, errors);
        if let Some(place) = around.rules.filter(|_| errors.len() == previous_count) {
            let mut reporter = RuleReporter {
                place,
                uncorrelatable: around.uncorrelatable,
                ignores_costs: self.ignores_costs,
                total: &mut self.total,
                errors: &mut self.rule_errors,
            };
            reporter.report(&rules);
        }
    }

    // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, specStandardValidatorV3.validate
    fn validate_members(&mut self, schema: &Node<'_, '_>, around: SchemaSurroundings<'_>) {
        let errors = &mut self.schema_errors;
        let of = schema.child("type");
        if self.options.requires_known_types
            && !of.as_text().is_empty()
            && SchemaType::named(of.as_text()) == SchemaType::Unknown
        {
            errors.unsupported_text(&of, &SchemaType::ALL.map(SchemaType::name));
        }
        let default = schema.child("default");
        if let Some(ban) = around.default_ban.filter(|_| default.is_set()) {
            errors.forbidden(default, &format!("must not be set {ban}"));
        }
        for (name, is_forbidden_empty) in [
            ("id", false),
            ("additionalItems", true),
            ("patternProperties", false),
            ("definitions", false),
            ("dependencies", true),
            ("$ref", true),
        ] {
            let member = schema.child(name);
            if member.is_set() && (is_forbidden_empty || !member.is_empty()) {
                errors.forbidden(member, &format!("{name} is not supported"));
            }
        }
        if of.as_text() == "null" {
            errors.forbidden(of, "type cannot be set to null, use nullable as an alternative");
        }
        let items = schema.child("items");
        if items
            .value()
            .as_array()
            .is_some_and(|schemas| !schemas.is_empty())
        {
            errors.forbidden(items, "items must be a schema object and not an array");
        }
        let embedded = schema.child("x-kubernetes-embedded-resource");
        if around.is_in_meta && embedded.is_true() {
            errors.forbidden(embedded, "must not be used inside of resource meta");
        }
        let unique = schema.child("uniqueItems");
        if unique.is_true() {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            errors.forbidden(unique, detail);
        }
    }

    fn validate_parts(&mut self, schema: &Node<'_, '_>, around: SchemaSurroundings<'_>) {
        let factor = max_elements(schema.value());
        let within = SchemaSurroundings {
            is_root: false,
            ..around
        };
        // Values of combinations are those of the schema.
        let combined = SchemaSurroundings {
            rules: None,
            ..within
        };
        self.validate_additional(schema, within, factor);
        self.validate_properties(schema, around, factor);
        self.validate(&schema.child("not"), combined);
        for name in ["allOf", "oneOf", "anyOf"] {
            for part in schema.child(name).items() {
                self.validate(&part, combined);
            }
        }
        for (_, part) in schema.child("definitions").entries() {
            self.validate(&part, combined);
        }
        self.validate_items(schema, around, factor);
        for (_, part) in schema.child("dependencies").entries() {
            self.validate(&part, combined);
        }
    }

    fn validate_additional(
        &mut self,
        schema: &Node<'_, '_>,
        within: SchemaSurroundings<'_>,
        factor: Option<u64>,
    ) {
        let additional = schema.child("additionalProperties");
        if !additional.is_set() {
            return;
        }
        if !schema.child("properties").is_empty() && additional.some_bool() != Some(true) {
            let detail = "additionalProperties and properties are mutual exclusive";
            self.schema_errors.forbidden(additional, detail);
        }
        let default_ban = if within.is_in_meta {
            Some("inside additionalProperties applying to object metadata")
        } else {
            within.default_ban
        };
        let rules = within.rules.as_ref();
        let rules = rules.map(|place| place.part(place.node.and_then(|node| node.additional()), factor));
        let around = SchemaSurroundings {
            default_ban,
            rules,
            ..within
        };
        self.validate(&additional, around);
    }

    fn validate_properties(
        &mut self,
        schema: &Node<'_, '_>,
        around: SchemaSurroundings<'_>,
        factor: Option<u64>,
    ) {
        let map_type = schema.child("x-kubernetes-map-type");
        let is_correlatable = !map_type.is_set() || matches!(map_type.as_text(), "granular" | "atomic");
        let is_resource = around.is_root || schema.child("x-kubernetes-embedded-resource").is_true();
        for (name, property) in schema.child("properties").entries() {
            let mut within = SchemaSurroundings {
                is_root: false,
                ..around
            };
            if !is_correlatable {
                within.uncorrelatable = around.uncorrelatable.or(Some(schema.path()));
            }
            if let Some(ban) = meta_ban(name).filter(|_| is_resource) {
                within.is_in_meta = true;
                if around.is_root {
                    within.default_ban = Some(ban);
                }
            }
            let rules = around.rules.as_ref();
            within.rules =
                rules.map(|place| place.part(place.node.and_then(|node| node.property(name)), factor));
            self.validate(&property, within);
        }
    }

    fn validate_items(&mut self, schema: &Node<'_, '_>, around: SchemaSurroundings<'_>, factor: Option<u64>) {
        let mut within = SchemaSurroundings {
            is_root: false,
            ..around
        };
        let items = schema.child("items");
        if schema.child("x-kubernetes-list-type").as_text() != "map" {
            within.uncorrelatable = around.uncorrelatable.or(Some(schema.path()));
        }
        let rules = around.rules.as_ref();
        within.rules = rules.map(|place| place.part(place.node.and_then(|node| node.items()), factor));
        self.validate(&items, within);
        for part in items.items() {
            self.validate(&part, within);
        }
    }
}

/// Why a property of a resource that says what it is may have no default.
fn meta_ban(name: &str) -> Option<&'static str> {
    match name {
        "metadata" => Some("in top-level metadata"),
        "kind" => Some("in top-level kind"),
        "apiVersion" => Some("in top-level apiVersion"),
        _ => None,
    }
}

/// How many values of the parts of a schema there may be in one value; `None` where nothing bounds them.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/cel_validation.go, extractMaxElements
fn max_elements(schema: &Value<'_>) -> Option<u64> {
    let max = |name| {
        let max = schema.get(name).and_then(Value::as_int)?;
        Some(max.max(0).unsigned_abs())
    };
    let has_additional = schema
        .get("additionalProperties")
        .is_some_and(|value| !value.is_null());
    match schema.get("type").and_then(Value::as_str) {
        Some("object") if has_additional => max("maxProperties"),
        Some("array") => max("maxItems"),
        _ => Some(1),
    }
}
