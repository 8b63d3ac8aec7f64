//! Object metadata by the rules that all kinds share.

use pratique_gotext::strconv::quote;
use pratique_gotext::validation;
use pratique_json::{Object, Value, text_at};

use crate::field_error::FieldErrors;
use crate::path::Path;

const ANNOTATIONS_MAX: usize = 256 * 1024;
const MANAGER_MAX: usize = 128;
const SUBRESOURCE_MAX: usize = 256;

/// The names that objects may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// DNS subdomains.
    Subdomain,
    /// Any text that fits into a path.
    PathSegment,
}

impl Names {
    fn faults(self, name: &str, is_prefix: bool) -> Vec<String> {
        match (self, is_prefix) {
            (Names::Subdomain, false) => validation::dns1123_subdomain(name),
            (Names::Subdomain, true) => validation::dns1123_subdomain_prefix(name),
            (Names::PathSegment, _) => path_segment(name, is_prefix),
        }
    }
}

// Upstream: apimachinery/pkg/api/validate/content/path.go, IsPathSegmentName
fn path_segment(name: &str, is_prefix: bool) -> Vec<String> {
    if !is_prefix && matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    let contained = ["/", "%"].into_iter().filter(|part| name.contains(part));
    contained
        .map(|part| format!("may not contain '{part}'"))
        .collect()
}

/// Validates the metadata of a new object.
// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateObjectMetaAccessor
pub(crate) fn validate(
    metadata: &Value<'_>,
    is_namespaced: bool,
    names: Names,
    path: &Path<'_>,
    errors: &mut FieldErrors,
) {
    let generate_name = text_at(metadata, &["generateName"]);
    let name = text_at(metadata, &["name"]);
    if !generate_name.is_empty() {
        for fault in names.faults(generate_name, true) {
            errors.invalid(&path.child("generateName"), &generate_name.into(), &fault);
        }
    }
    if name.is_empty() {
        let detail = "name or generateName is required";
        errors.required(&path.child("name"), detail);
    }
    for fault in names.faults(name, false).into_iter().filter(|_| !name.is_empty()) {
        errors.invalid(&path.child("name"), &name.into(), &fault);
    }
    let namespace = text_at(metadata, &["namespace"]);
    match (is_namespaced, namespace.is_empty()) {
        (true, true) => errors.required(&path.child("namespace"), ""),
        (true, false) => {
            for fault in validation::dns1123_label(namespace) {
                errors.invalid(&path.child("namespace"), &namespace.into(), &fault);
            }
        }
        (false, true) => {}
        (false, false) => {
            errors.forbidden(&path.child("namespace"), "not allowed on this type");
        }
    }
    if let Some(generation @ Value::Int(..0)) = metadata.get("generation") {
        let detail = "must be greater than or equal to 0";
        errors.invalid(&path.child("generation"), generation, detail);
    }
    labels(metadata.get("labels"), &path.child("labels"), errors);
    annotations(metadata.get("annotations"), &path.child("annotations"), errors);
    owner_references(
        metadata.get("ownerReferences"),
        &path.child("ownerReferences"),
        errors,
    );
    finalizers(metadata.get("finalizers"), &path.child("finalizers"), errors);
    managed_fields(
        metadata.get("managedFields"),
        &path.child("managedFields"),
        errors,
    );
}

/// Validates the metadata of an object that is to replace another.
// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateObjectMetaAccessorUpdate
pub(crate) fn validate_update(new: &Value<'_>, old: &Value<'_>, path: &Path<'_>, errors: &mut FieldErrors) {
    if old.get("deletionTimestamp").is_some_and(|time| !time.is_null()) {
        new_finalizers(new, old, &path.child("finalizers"), errors);
    }
    if text_at(new, &["resourceVersion"]).is_empty() {
        errors.invalid(
            &path.child("resourceVersion"),
            &"".into(),
            "must be specified for an update",
        );
    }
    let generation = |of: &Value<'_>| of.get("generation").and_then(Value::as_int).unwrap_or_default();
    if generation(new) < generation(old) {
        let detail = "must not be decremented";
        errors.invalid(&path.child("generation"), &Value::Int(generation(new)), detail);
    }
    for (name, absent) in IMMUTABLE {
        let absent = absent.map_or(Value::Null, Value::from);
        let (given, was) = (new.get(name).unwrap_or(&absent), old.get(name).unwrap_or(&absent));
        if given != was {
            errors.invalid(&path.child(name), given, "field is immutable");
        }
    }
    labels(new.get("labels"), &path.child("labels"), errors);
    annotations(new.get("annotations"), &path.child("annotations"), errors);
    owner_references(new.get("ownerReferences"), &path.child("ownerReferences"), errors);
    managed_fields(new.get("managedFields"), &path.child("managedFields"), errors);
}

/// Fields that do not change, with their values where they are absent.
const IMMUTABLE: [(&str, Option<&str>); 6] = [
    ("name", Some("")),
    ("namespace", Some("")),
    ("uid", Some("")),
    ("creationTimestamp", None),
    ("deletionTimestamp", None),
    ("deletionGracePeriodSeconds", None),
];

fn texts<'v>(list: Option<&'v Value<'_>>) -> impl Iterator<Item = &'v str> {
    let items = list.and_then(Value::as_array).unwrap_or_default();
    items.iter().filter_map(Value::as_str)
}

fn entries<'v, 'a>(map: Option<&'v Value<'a>>) -> impl Iterator<Item = (&'v str, &'v str)> {
    let members = map.and_then(Value::as_object).into_iter();
    members
        .flat_map(Object::iter)
        .map(|(key, value)| (key, value.as_str().unwrap_or_default()))
}

fn new_finalizers(new: &Value<'_>, old: &Value<'_>, path: &Path<'_>, errors: &mut FieldErrors) {
    let before: Vec<&str> = texts(old.get("finalizers")).collect();
    let mut added: Vec<&str> = texts(new.get("finalizers"))
        .filter(|finalizer| !before.contains(finalizer))
        .collect();
    added.sort_unstable();
    added.dedup();
    if !added.is_empty() {
        let quoted: Vec<String> = added.into_iter().map(quote).collect();
        let detail = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
            quoted.join(", ")
        );
        errors.forbidden(path, &detail);
    }
}

// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateLabels
fn labels(labels: Option<&Value<'_>>, path: &Path<'_>, errors: &mut FieldErrors) {
    for (key, value) in entries(labels) {
        let keys = validation::qualified_name(key)
            .into_iter()
            .map(|fault| (key, fault));
        let values = validation::label_value(value)
            .into_iter()
            .map(|fault| (value, fault));
        for (shown, fault) in keys.chain(values) {
            errors.invalid(path, &shown.into(), &fault);
        }
    }
}

// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateAnnotations
fn annotations(annotations: Option<&Value<'_>>, path: &Path<'_>, errors: &mut FieldErrors) {
    let mut size = 0;
    for (key, value) in entries(annotations) {
        size += key.len() + value.len();
        for fault in validation::qualified_name(&key.to_lowercase()) {
            errors.invalid(path, &key.into(), &fault);
        }
    }
    if size > ANNOTATIONS_MAX {
        errors.too_long(path, ANNOTATIONS_MAX as i64);
    }
}

/// Errors of a reference name the list's fields, not the item's.
// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateOwnerReferences
fn owner_references(references: Option<&Value<'_>>, path: &Path<'_>, errors: &mut FieldErrors) {
    let references = references.and_then(Value::as_array).unwrap_or_default();
    let mut controller: Option<String> = None;
    for reference in references {
        owner_reference(reference, path, errors);
        if reference.get("controller") != Some(&Value::Bool(true)) {
            continue;
        }
        let this = format!(
            "{}/{}",
            text_at(reference, &["kind"]),
            text_at(reference, &["name"])
        );
        match &controller {
            Some(first) => {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
                );
                let shown: Vec<String> = references.iter().map(owner_text).collect();
                let shown = format!("[{}]", shown.join(","));
                errors.invalid_as(path, &shown, &detail);
            }
            None => controller = Some(this),
        }
    }
}

fn owner_reference(reference: &Value<'_>, path: &Path<'_>, errors: &mut FieldErrors) {
    let api_version = text_at(reference, &["apiVersion"]);
    let (group, version) = match api_version.split_once('/') {
        None => ("", api_version),
        Some((_, version)) if version.contains('/') => ("", ""),
        Some(pair) => pair,
    };
    if version.is_empty() {
        errors.invalid(
            &path.child("apiVersion"),
            &api_version.into(),
            "version must not be empty",
        );
    }
    for name in ["kind", "name", "uid"] {
        if text_at(reference, &[name]).is_empty() {
            errors.invalid(&path.child(name), &"".into(), "must not be empty");
        }
    }
    if group.is_empty() && version == "v1" && text_at(reference, &["kind"]) == "Event" {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        errors.invalid_as(path, &owner_text(reference), detail);
    }
}

/// An owner reference as JSON, with its fields in their declared order.
fn owner_text(reference: &Value<'_>) -> String {
    let always = ["apiVersion", "kind", "name", "uid"];
    let shown = always.map(|name| format!("\"{name}\":{}", Value::from(text_at(reference, &[name]))));
    let optional = ["controller", "blockOwnerDeletion"]
        .into_iter()
        .filter_map(|name| {
            let value = reference.get(name).filter(|value| !value.is_null())?;
            Some(format!("\"{name}\":{value}"))
        });
    let all: Vec<String> = shown.into_iter().chain(optional).collect();
    format!("{{{}}}", all.join(","))
}

// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateFinalizers
fn finalizers(finalizers: Option<&Value<'_>>, path: &Path<'_>, errors: &mut FieldErrors) {
    for finalizer in texts(finalizers) {
        for fault in validation::qualified_name(finalizer) {
            errors.invalid(path, &finalizer.into(), &fault);
        }
    }
    let has = |name: &str| texts(finalizers).any(|finalizer| finalizer == name);
    if has("orphan")
        && has("foregroundDeletion")
        && let Some(all) = finalizers
    {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.invalid(path, all, detail);
    }
}

// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateManagedFields
fn managed_fields(entries: Option<&Value<'_>>, path: &Path<'_>, errors: &mut FieldErrors) {
    let entries = entries.and_then(Value::as_array).unwrap_or_default();
    for (at, entry) in entries.iter().enumerate() {
        let path = path.index(at);
        let operation = text_at(entry, &["operation"]);
        if !matches!(operation, "Apply" | "Update") {
            errors.invalid(
                &path.child("operation"),
                &operation.into(),
                "must be `Apply` or `Update`",
            );
        }
        let fields_type = text_at(entry, &["fieldsType"]);
        if !matches!(fields_type, "" | "FieldsV1") {
            errors.invalid(
                &path.child("fieldsType"),
                &fields_type.into(),
                "must be `FieldsV1`",
            );
        }
        manager(text_at(entry, &["manager"]), &path, errors);
        if text_at(entry, &["subresource"]).len() > SUBRESOURCE_MAX {
            errors.too_long(&path.child("subresource"), SUBRESOURCE_MAX as i64);
        }
    }
}

fn manager(manager: &str, path: &Path<'_>, errors: &mut FieldErrors) {
    if manager.len() > MANAGER_MAX {
        errors.too_long(&path.child("manager"), MANAGER_MAX as i64);
    }
    for (at, c) in manager.char_indices() {
        if !pratique_gotext::strconv::is_printable(c) {
            let detail = format!("invalid character U+{:04X} (at position {at})", u32::from(c));
            errors.invalid(&path.child("manager"), &manager.into(), &detail);
        }
    }
}
