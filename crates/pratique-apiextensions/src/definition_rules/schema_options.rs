//! What a definition may keep because the existing one has it.

use std::collections::HashSet;

use pratique_json::Value;
use pratique_schema::Release;
use pratique_types::field::{ErrorList, Path};
use pratique_validation::rules::Node;

use super::map_list_keys::validate_map_list_keys;
use super::schema_search::{has_schema, schemas_of};
use crate::prune_defaults::has_unpruned_defaults;
use crate::rules::{ExpressionScope, KnownExpressions};
use crate::schema::{ReadFaults, SchemaType, check_structural, read};

/// Which rules of schemas hold: all, unless the existing definition breaks them.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validationOptions
#[derive(Debug)]
pub(crate) struct SchemaOptions {
    pub(super) requires_schemas: bool,
    pub(super) requires_structural: bool,
    pub(super) requires_known_types: bool,
    pub(super) requires_pruned_defaults: bool,
    pub(super) requires_atomic_sets: bool,
    pub(super) requires_map_list_keys: bool,
    pub(super) expressions: ExpressionScope,
}

impl SchemaOptions {
    /// Those of a new definition.
    pub(crate) fn new(expressions: ExpressionScope) -> Self {
        SchemaOptions {
            requires_schemas: true,
            requires_structural: true,
            requires_known_types: true,
            requires_pruned_defaults: true,
            requires_atomic_sets: true,
            requires_map_list_keys: true,
            expressions,
        }
    }

    /// Those of a definition that is to replace another.
    // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceDefinitionUpdate
    pub(super) fn beside(old: &Node<'_, '_>, release: &'static Release) -> Self {
        let versions = old.value().get("versions").and_then(Value::as_array);
        let versions = versions.unwrap_or_default();
        let lacks = |has: &dyn Fn(&Value<'_>) -> bool| {
            !schemas_of(versions).any(|schema| has_schema(schema, &mut |schema| has(schema)))
        };
        SchemaOptions {
            requires_schemas: versions.len() == schemas_of(versions).count(),
            requires_structural: !schemas_of(versions).any(is_not_structural),
            requires_known_types: lacks(&has_unknown_type),
            requires_pruned_defaults: !schemas_of(versions).any(is_not_pruned),
            requires_atomic_sets: lacks(&is_not_atomic),
            requires_map_list_keys: lacks(&has_wrong_keys),
            expressions: ExpressionScope {
                release,
                known: known_expressions(versions),
            },
        }
    }
}

// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, findPreexistingExpressions
fn known_expressions(versions: &[Value<'_>]) -> KnownExpressions {
    let (mut rules, mut messages) = (HashSet::new(), HashSet::new());
    for schema in schemas_of(versions) {
        has_schema(schema, &mut |schema| {
            let list = schema.get("x-kubernetes-validations").and_then(Value::as_array);
            for rule in list.unwrap_or_default() {
                let text = |name| rule.get(name).and_then(Value::as_str).unwrap_or_default();
                rules.insert(text("rule").to_owned());
                messages.insert(text("messageExpression").to_owned());
            }
            false
        });
    }
    KnownExpressions::Only { rules, messages }
}

fn has_unknown_type(schema: &Value<'_>) -> bool {
    let name = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    !name.is_empty() && SchemaType::named(name) == SchemaType::Unknown
}

// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, schemaIsNonStructural
fn is_not_structural(schema: &Value<'_>) -> bool {
    let (mut faults, mut errors) = (ReadFaults::default(), ErrorList::default());
    let read = read(schema, &Path::ROOT, &mut faults);
    if faults.is_empty() {
        check_structural(&read, &Path::ROOT, &mut errors);
    }
    !faults.is_empty() || !errors.is_empty()
}

fn is_not_pruned(schema: &Value<'_>) -> bool {
    let mut faults = ReadFaults::default();
    let read = read(schema, &Path::ROOT, &mut faults);
    !is_not_structural(schema) && has_unpruned_defaults(&read)
}

// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, hasNonAtomicSetType
fn is_not_atomic(schema: &Value<'_>) -> bool {
    let text = |of: &Value<'_>, name: &str| of.get(name).and_then(Value::as_str).map(str::to_owned);
    let Some(items) = schema.get("items").filter(|items| items.as_object().is_some()) else {
        return false;
    };
    if text(schema, "x-kubernetes-list-type").as_deref() != Some("set") {
        return false;
    }
    match text(items, "type").as_deref() {
        Some("array") => text(items, "x-kubernetes-list-type").is_some_and(|of| of != "atomic"),
        Some("object") => text(items, "x-kubernetes-map-type").as_deref() != Some("atomic"),
        _ => false,
    }
}

fn has_wrong_keys(schema: &Value<'_>) -> bool {
    let mut errors = pratique_validation::rules::Errors::default();
    validate_map_list_keys(&Node::with_path(schema, Path::ROOT), &mut errors);
    !errors.is_empty()
}
