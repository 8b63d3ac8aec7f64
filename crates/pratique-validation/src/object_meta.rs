//! The metadata that all objects have.

use std::borrow::Cow;
use std::cell::LazyCell;

use pratique_gotext::strconv::quote;
use pratique_gotext::validation::{dns1123_label, qualified_name};
use pratique_json::Value;
use pratique_types::GroupVersion;
use pratique_types::field::BadValue;

use crate::declarative::apply_meta_rules;
use crate::errors::{Errors, named};
use crate::internal::{internal_json, internal_text};
use crate::messages::path_segment_name;
use crate::node::Node;
use crate::selector::validate_labels;

const MAX_ANNOTATIONS: usize = 256 << 10;

/// The metadata of a new object, by the rule for names of its kind.
// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateObjectMetaAccessor
pub fn validate_object_meta(
    metadata: &Node<'_, '_>,
    is_namespaced: bool,
    name_rule: impl Fn(&str, bool) -> Vec<String>,
    errors: &mut Errors,
) {
    validate_names(metadata, name_rule, errors);
    validate_common(metadata, is_namespaced, errors);
}

fn validate_names(
    metadata: &Node<'_, '_>,
    name_rule: impl Fn(&str, bool) -> Vec<String>,
    errors: &mut Errors,
) {
    let generate_name = metadata.child("generateName");
    if !generate_name.as_text().is_empty() {
        errors.invalid_each(&generate_name, &name_rule(generate_name.as_text(), true));
    }
    let name = metadata.child("name");
    if name.as_text().is_empty() {
        errors.required(name, "name or generateName is required");
    } else {
        errors.invalid_each(&name, &name_rule(name.as_text(), false));
    }
}

// Upstream: apimachinery/pkg/api/validation/objectmeta.go, validateObjectMetaAccessorWithOptsCommon
fn validate_common(metadata: &Node<'_, '_>, is_namespaced: bool, errors: &mut Errors) {
    let first = errors.len();
    let namespace = metadata.child("namespace");
    match (is_namespaced, namespace.as_text()) {
        (true, "") => errors.required(namespace, ""),
        (true, text) => errors.invalid_each(&namespace, &dns1123_label(text)),
        (false, "") => {}
        (false, _) => errors.forbidden(namespace, "not allowed on this type"),
    }
    let start = errors.len();
    errors.nonnegative(&metadata.child("generation"));
    errors.cover_from(start, "minimum");
    validate_labels(&metadata.child("labels"), errors);
    validate_annotations(&metadata.child("annotations"), errors);
    validate_owner_references(&metadata.child("ownerReferences"), errors);
    validate_finalizers(&metadata.child("finalizers"), errors);
    validate_managed_fields(&metadata.child("managedFields"), errors);
    if errors.len() == first && metadata.path().is_metadata() {
        errors.valid_metadata = Some(is_namespaced);
    }
}

/// The metadata of a new object of a kind without other declarative rules than theirs.
pub fn validate_meta_declaratively(
    metadata: &Node<'_, '_>,
    is_namespaced: bool,
    name_rule: impl Fn(&str, bool) -> Vec<String>,
    errors: &mut Errors,
) {
    validate_own_rules(metadata, None, errors, |errors| {
        validate_object_meta(metadata, is_namespaced, name_rule, errors);
    });
}

/// The same of a changed object.
pub fn validate_meta_update_declaratively(metadata: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    validate_own_rules(metadata, Some(old.value()), errors, |errors| {
        validate_object_meta_update(metadata, old, errors)
    });
}

/// With declarative rules, a server drops what is there twice among the errors that a rule by hand finds; those of metadata tell
/// nothing themselves while they are alpha, which they are before 1.38.
fn validate_own_rules(
    metadata: &Node<'_, '_>,
    old: Option<&Value<'_>>,
    errors: &mut Errors,
    validate: impl FnOnce(&mut Errors),
) {
    let mut own = Errors::of_gates(errors.gates());
    validate(&mut own);
    // Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateObjectMetaDeclaratively: since 1.37.
    if own.release().at_least(1, 37) {
        own.remove_duplicates();
        apply_meta_rules(metadata, old, &mut own);
    }
    errors.extend(own);
}

/// The metadata of a kind of `k8s.io/kubernetes`, which says more about finalizers.
// Upstream: pkg/apis/core/validation/validation.go, ValidateObjectMeta
pub fn validate_core_meta(
    metadata: &Node<'_, '_>,
    is_namespaced: bool,
    name_rule: impl Fn(&str, bool) -> Vec<String>,
    errors: &mut Errors,
) {
    validate_object_meta(metadata, is_namespaced, name_rule, errors);
    validate_core_finalizers(metadata, errors);
}

/// What a server validates of every new object, after its kind had nothing against it.
// Upstream: apiserver/pkg/registry/rest/create.go, ValidateCreate
pub(crate) fn validate_any_create(metadata: &Node<'_, '_>, is_namespaced: bool, errors: &mut Errors) {
    validate_names(metadata, path_segment_name, errors);
    // A server asks the rest a second time. What its kind had nothing against has no errors then, either. Rows `validate-*` of `benches/`.
    if errors.valid_metadata != Some(is_namespaced) {
        validate_common(metadata, is_namespaced, errors);
    }
}

/// What a server validates of every changed object, before its kind does.
// Upstream: apiserver/pkg/registry/rest/update.go, validateCommonFields
pub fn validate_any_update(
    metadata: &Node<'_, '_>,
    old: &Node<'_, '_>,
    is_namespaced: bool,
    errors: &mut Errors,
) {
    validate_object_meta(metadata, is_namespaced, path_segment_name, errors);
    validate_object_meta_update(metadata, old, errors);
}

/// The metadata of a changed object beside those of the stored one.
// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateObjectMetaAccessorUpdate
pub fn validate_object_meta_update(metadata: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    if old.child("deletionTimestamp").is_set() {
        validate_no_new_finalizers(&metadata.child("finalizers"), &old.child("finalizers"), errors);
    }
    let version = metadata.child("resourceVersion");
    if version.as_text().is_empty() {
        errors.invalid(version, "", "must be specified for an update");
    }
    let (generation, start) = (metadata.child("generation"), errors.len());
    // Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateObjectMetaAccessorUpdate: since 1.37.
    if errors.release().at_least(1, 37) {
        errors.nonnegative(&generation);
        errors.cover_from(start, "minimum");
    }
    let old_generation = old.child("generation").int();
    let start = errors.len();
    // Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateObjectMetaAccessorUpdate: another error for none since 1.38.
    if old_generation != 0 && generation.int() == 0 && errors.release().at_least(1, 38) {
        errors.invalid(generation, 0, "field cannot be cleared once set");
        errors.cover_from(start, "update");
    } else if generation.int() < old_generation {
        errors.invalid(generation, generation.int(), "must not be decremented");
        errors.cover_from(start, "monotonic");
    }
    let start = errors.len();
    for name in ["name", "namespace"] {
        let field = metadata.child(name);
        if field.as_text() != old.child(name).as_text() {
            errors.invalid(field, field.as_text(), crate::errors::IMMUTABLE);
        }
    }
    let uid = metadata.child("uid");
    if uid.as_text() != old.child("uid").as_text() {
        errors.invalid(uid, named(uid.as_text()), crate::errors::IMMUTABLE);
    }
    for name in [
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        errors.immutable(&metadata.child(name), &old.child(name));
    }
    errors.cover_from(start, "immutable");
    validate_labels(&metadata.child("labels"), errors);
    validate_annotations(&metadata.child("annotations"), errors);
    validate_owner_references(&metadata.child("ownerReferences"), errors);
    validate_managed_fields(&metadata.child("managedFields"), errors);
}

/// The changed metadata of a kind of `k8s.io/kubernetes`, which says more about finalizers.
// Upstream: pkg/apis/core/validation/validation.go, ValidateObjectMetaUpdate
pub fn validate_core_meta_update(metadata: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    validate_object_meta_update(metadata, old, errors);
    validate_core_finalizers(metadata, errors);
}

// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateAnnotations
pub(crate) fn validate_annotations(annotations: &Node<'_, '_>, errors: &mut Errors) {
    let mut size = 0usize;
    for (key, value) in annotations.entries() {
        size = size
            .saturating_add(key.len())
            .saturating_add(value.as_text().len());
        let messages = if key
            .bytes()
            .any(|byte| !byte.is_ascii() || byte.is_ascii_uppercase())
        {
            qualified_name(&key.to_lowercase())
        } else {
            qualified_name(key)
        };
        for message in messages {
            errors.invalid(annotations, key, &message);
        }
    }
    if size > MAX_ANNOTATIONS {
        errors.too_long(annotations, MAX_ANNOTATIONS as i64);
    }
}

// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateOwnerReferences
fn validate_owner_references(references: &Node<'_, '_>, errors: &mut Errors) {
    let mut controller: Option<Node<'_, '_>> = None;
    // Each error prints all references.
    let release = errors.release();
    let printed = LazyCell::new(|| internal_text(release, "[]metav1.OwnerReference", references.value()));
    for reference in references.items() {
        validate_owner_reference(references, &reference, errors);
        if !reference.child("controller").is_true() {
            continue;
        }
        let format_owner =
            |of: &Node<'_, '_>| format!("{}/{}", of.child("kind").as_text(), of.child("name").as_text());
        match &controller {
            None => controller = Some(reference),
            Some(first) => errors.invalid(
                references,
                BadValue::Prepared(Cow::Borrowed(&printed)),
                &format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {} and {}",
                    format_owner(first),
                    format_owner(&reference)
                ),
            ),
        }
    }
}

// Upstream: apimachinery/pkg/api/validation/objectmeta.go, validateOwnerReference
fn validate_owner_reference(references: &Node<'_, '_>, reference: &Node<'_, '_>, errors: &mut Errors) {
    // Before 1.37, errors named the list, and what is missing was an invalid value.
    let names_reference = errors.release().at_least(1, 37);
    let place = if names_reference { reference } else { references };
    let start = errors.len();
    let api_version = reference.child("apiVersion").as_text();
    let version = GroupVersion::parse(api_version).ok();
    if api_version.is_empty() && names_reference {
        errors.required(place.child("apiVersion"), "must not be empty");
    } else if version.as_ref().is_none_or(|version| version.version.is_empty()) {
        let detail = if names_reference {
            "must be <group>/<version> or <version>"
        } else {
            "version must not be empty"
        };
        errors.invalid(place.child("apiVersion"), api_version, detail);
    }
    for name in ["kind", "name", "uid"] {
        if !reference.child(name).as_text().is_empty() {
            continue;
        }
        if names_reference {
            errors.required(place.child(name), "must not be empty");
        } else {
            errors.invalid(place.child(name), "", "must not be empty");
        }
    }
    if api_version == "v1" && reference.child("kind").as_text() == "Event" {
        errors.invalid(
            place,
            internal_json(errors.release(), "metav1.OwnerReference", reference.value()),
            "/v1, Kind=Event is disallowed from being an owner",
        );
    }
    errors.cover_from(start, "");
}

// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateFinalizers
fn validate_finalizers(finalizers: &Node<'_, '_>, errors: &mut Errors) {
    for finalizer in finalizers.items() {
        for message in qualified_name(finalizer.as_text()) {
            errors.invalid(finalizers, finalizer.as_text(), &message);
        }
    }
    let has = |name: &str| finalizers.items().any(|finalizer| finalizer.as_text() == name);
    if has("orphan") && has("foregroundDeletion") {
        errors.invalid_value(
            finalizers,
            "finalizer orphan and foregroundDeletion cannot be both set",
        );
    }
}

// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateNoNewFinalizers
fn validate_no_new_finalizers(finalizers: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let mut added: Vec<&str> = finalizers.items().map(|finalizer| finalizer.as_text()).collect();
    let kept: std::collections::HashSet<&str> = old.items().map(|finalizer| finalizer.as_text()).collect();
    added.retain(|finalizer| !kept.contains(finalizer));
    added.sort_unstable();
    added.dedup();
    if !added.is_empty() {
        let added: Vec<String> = added.into_iter().map(quote).collect();
        let list = added.join(", ");
        errors.forbidden(
            finalizers,
            &format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{list}}}"
            ),
        );
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateKubeFinalizerName
fn validate_core_finalizers(metadata: &Node<'_, '_>, errors: &mut Errors) {
    for finalizer in metadata.child("finalizers").items() {
        let text = finalizer.as_text();
        if !is_core_finalizer(text) {
            errors.invalid_value(
                &finalizer,
                "name is neither a standard finalizer name nor is it fully qualified",
            );
        }
    }
}

/// Whether a finalizer is one of Kubernetes itself, or has a domain.
// Upstream: pkg/apis/core/helper/helpers.go, IsStandardFinalizerName
pub(crate) fn is_core_finalizer(finalizer: &str) -> bool {
    finalizer.contains('/') || ["orphan", "foregroundDeletion", "kubernetes"].contains(&finalizer)
}

// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateManagedFields
pub(crate) fn validate_managed_fields(managed_fields: &Node<'_, '_>, errors: &mut Errors) {
    for entry in managed_fields.items() {
        let operation = entry.child("operation");
        match operation.as_text() {
            "Apply" | "Update" => {}
            _ if !errors.release().at_least(1, 37) => {
                errors.invalid_or_empty(&operation, "must be `Apply` or `Update`");
            }
            "" => errors.required(operation, "must not be empty"),
            _ => errors.not_supported(&operation, &["Apply", "Update"]),
        }
        let fields_type = entry.child("fieldsType");
        if !matches!(fields_type.as_text(), "" | "FieldsV1") {
            errors.invalid_value(&fields_type, "must be `FieldsV1`");
        }
        let manager = entry.child("manager");
        if manager.as_text().len() > 128 {
            errors.too_long(manager, 128);
        }
        for (at, letter) in manager.as_text().char_indices() {
            if !pratique_gotext::strconv::is_printable(letter) {
                let detail = format!("invalid character U+{:04X} (at position {at})", u32::from(letter));
                errors.invalid_value(&manager, &detail);
            }
        }
        let subresource = entry.child("subresource");
        if subresource.as_text().len() > 256 {
            errors.too_long(subresource, 256);
        }
    }
}

/// Metadata of a template, which may have labels and annotations only.
// Upstream: pkg/apis/core/validation/validation.go, ValidateTemplateObjectMeta
pub(crate) fn validate_template_meta(metadata: &Node<'_, '_>, errors: &mut Errors) {
    validate_annotations(&metadata.child("annotations"), errors);
    validate_labels(&metadata.child("labels"), errors);
    // In the order of the Go struct.
    const OTHERS: &[(&str, &str)] = &[
        ("name", "name"),
        ("generateName", "generateName"),
        ("namespace", "namespace"),
        ("selfLink", "selfLink"),
        ("uid", "uID"),
        ("resourceVersion", "resourceVersion"),
        ("generation", "generation"),
        ("creationTimestamp", "creationTimestamp"),
        ("deletionTimestamp", "deletionTimestamp"),
        ("deletionGracePeriodSeconds", "deletionGracePeriodSeconds"),
        ("ownerReferences", "ownerReferences"),
        ("finalizers", "finalizers"),
        ("managedFields", "managedFields"),
    ];
    for (name, printed_name) in OTHERS {
        let field = metadata.child_as(name, printed_name);
        if field.is_set() && !matches!(field.value(), Value::String(text) if text.is_empty()) {
            errors.forbidden(field, "cannot be set");
        }
    }
}
