//! What a server refuses of CustomResourceDefinitions: the rules of their strategy, as objects to be created and changed.
// Upstream: apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go,
// apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go

mod approval;
mod conversion;
mod internal_form;
mod list_types;
mod map_list_keys;
mod resource_names;
mod schema_check;
mod schema_options;
mod schema_rules;
mod schema_search;
mod selectable_fields;
mod spec;
mod stored_versions;
mod subresources;
mod validation_rules;
mod version_settings;

use pratique_validation::rules::{
    Errors, KindRules, Node, Request, named, subdomain_name, validate_meta_declaratively,
    validate_meta_update_declaratively,
};

use self::spec::{SpecCheck, SpecOptions};
use crate::rules::{ExpressionScope, KnownExpressions};

pub(crate) use self::resource_names::validate_group;
pub(crate) use self::schema_check::CompiledSchema;
pub(crate) use self::schema_search::has_schema;
pub(crate) use self::spec::VersionSchemas;
pub use self::version_settings::SCHEMA_COLLECTIONS;
pub(crate) use self::version_settings::distinct_schemas;

/// The rules of CustomResourceDefinitions, for [`Validator::with_kinds`](pratique_validation::Validator::with_kinds).
pub const DEFINITION_KINDS: &[KindRules] = &[KindRules {
    group: "apiextensions.k8s.io",
    kind: "CustomResourceDefinition",
    is_namespaced: false,
    create: |request, errors| {
        validate_create(&request.object, KnownExpressions::none(), errors);
    },
    update: validate_update,
    subresources: &[("status", validate_status_update)],
}];

/// Validates a new definition, and gives its schemas. Where it is one that exists already, its expressions may be known.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceDefinition
pub(crate) fn validate_create(
    object: &Node<'_, '_>,
    known: KnownExpressions,
    errors: &mut Errors,
) -> VersionSchemas {
    let spec = object.child("spec");
    let names = spec.child("names");
    let (plural, group) = (names.child("plural").as_text(), spec.child("group").as_text());
    let required = format!("{plural}.{group}");
    let name_rule = |name: &str, is_prefix: bool| {
        let mut faults = subdomain_name(name, is_prefix);
        if name != required {
            faults.push("must be spec.names.plural+\".\"+spec.group".to_owned());
        }
        faults
    };
    let metadata = object.child("metadata");
    validate_meta_declaratively(&metadata, false, name_rule, errors);
    let release = errors.release();
    let options = SpecOptions::new(ExpressionScope { release, known });
    let absent = Node::absent(*object.path());
    validate_rest(object, &absent, &options, errors, |_| {})
}

// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceDefinitionUpdate
fn validate_update(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_metadata_update(object, old, errors);
    let options = SpecOptions::beside(object, old, errors.release());
    validate_rest(object, old, &options, errors, |errors| {
        validate_immutable(object, old, errors);
    });
}

fn validate_metadata_update(object: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let (metadata, old) = (object.child("metadata"), old.child("metadata"));
    validate_meta_update_declaratively(&metadata, &old, errors);
}

/// Validates what is not metadata.
fn validate_rest(
    object: &Node<'_, '_>,
    old: &Node<'_, '_>,
    options: &SpecOptions,
    errors: &mut Errors,
    validate_spec_update: impl FnOnce(&mut Errors),
) -> VersionSchemas {
    let (spec, status) = (object.child("spec"), object.child("status"));
    let schemas = SpecCheck::new(&spec, options).validate(errors);
    validate_spec_update(errors);
    resource_names::validate_names(&status.child("acceptedNames"), errors);
    let versions = spec.child("versions");
    stored_versions::validate_stored_versions(&status.child("storedVersions"), &versions, errors);
    approval::validate_approval(object, old, errors);
    validate_preserving(&spec, &old.child("spec"), errors);
    schemas
}

// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateUpdateCustomResourceDefinitionStatus
fn validate_status_update(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_metadata_update(object, old, errors);
    let status = object.child("status");
    resource_names::validate_names(&status.child("acceptedNames"), errors);
}

/// Once the resource is established, its objects are stored by some of its names.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validateCustomResourceDefinitionSpecUpdate
fn validate_immutable(object: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let (spec, old_spec) = (object.child("spec"), old.child("spec"));
    let (names, old_names) = (spec.child("names"), old_spec.child("names"));
    let detail = "field is immutable";
    if is_established(old) {
        let (scope, kind) = (spec.child("scope"), names.child("kind"));
        if scope.as_text() != old_spec.child("scope").as_text() {
            errors.invalid(scope, named(scope.as_text()), detail);
        }
        if kind.as_text() != old_names.child("kind").as_text() {
            errors.invalid(kind, kind.as_text(), detail);
        }
    }
    let (group, plural) = (spec.child("group"), names.child("plural"));
    if group.as_text() != old_spec.child("group").as_text() {
        errors.invalid(group, group.as_text(), detail);
    }
    if plural.as_text() != old_names.child("plural").as_text() {
        errors.invalid(plural, plural.as_text(), detail);
    }
}

// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/helpers.go, IsCRDConditionTrue
fn is_established(object: &Node<'_, '_>) -> bool {
    let status = object.child("status");
    let conditions = status.child("conditions");
    let mut conditions = conditions.items();
    conditions.any(|condition| {
        condition.child("type").as_text() == "Established" && condition.child("status").as_text() == "True"
    })
}

// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validatePreserveUnknownFields
fn validate_preserving(spec: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let preserves = spec.child("preserveUnknownFields");
    if preserves.is_true() && !old.child("preserveUnknownFields").is_true() {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        errors.invalid(preserves, true, detail);
    }
}
