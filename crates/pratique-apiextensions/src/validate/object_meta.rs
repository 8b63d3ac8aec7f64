//! Object metadata by the rules that all kinds share.

use pratique_gotext::strconv::quote;
use pratique_gotext::validation;
use pratique_json::{Object, Value, text_at};
use pratique_types::field::{BadValue, Error, ErrorList, Path};

const ANNOTATIONS_MAX: usize = 256 * 1024;
const MANAGER_MAX: usize = 128;
const SUBRESOURCE_MAX: usize = 256;

/// The names that objects may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameFormat {
    /// DNS subdomains.
    Subdomain,
    /// Any text that fits into a path.
    PathSegment,
}

impl NameFormat {
    fn faults(self, name: &str, is_prefix: bool) -> Vec<String> {
        match (self, is_prefix) {
            (NameFormat::Subdomain, false) => validation::dns1123_subdomain(name),
            (NameFormat::Subdomain, true) => validation::dns1123_subdomain_prefix(name),
            (NameFormat::PathSegment, _) => path_segment(name, is_prefix),
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
    names: NameFormat,
    path: &Path<'_>,
    errors: &mut ErrorList,
) {
    let generate_name = text_at(metadata, &["generateName"]);
    let name = text_at(metadata, &["name"]);
    if !generate_name.is_empty() {
        for fault in names.faults(generate_name, true) {
            errors.push(Error::invalid(path.child("generateName"), generate_name, &fault));
        }
    }
    if name.is_empty() {
        let detail = "name or generateName is required";
        errors.push(Error::required(path.child("name"), detail));
    }
    for fault in names.faults(name, false).into_iter().filter(|_| !name.is_empty()) {
        errors.push(Error::invalid(path.child("name"), name, &fault));
    }
    let namespace = text_at(metadata, &["namespace"]);
    match (is_namespaced, namespace.is_empty()) {
        (true, true) => errors.push(Error::required(path.child("namespace"), "")),
        (true, false) => {
            for fault in validation::dns1123_label(namespace) {
                errors.push(Error::invalid(path.child("namespace"), namespace, &fault));
            }
        }
        (false, true) => {}
        (false, false) => {
            errors.push(Error::forbidden(
                path.child("namespace"),
                "not allowed on this type",
            ));
        }
    }
    if let Some(generation @ Value::Int(..0)) = metadata.get("generation") {
        let detail = "must be greater than or equal to 0";
        errors.push(Error::invalid(path.child("generation"), generation, detail));
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
pub(crate) fn validate_update(new: &Value<'_>, old: &Value<'_>, path: &Path<'_>, errors: &mut ErrorList) {
    if old.get("deletionTimestamp").is_some_and(|time| !time.is_null()) {
        new_finalizers(new, old, &path.child("finalizers"), errors);
    }
    if text_at(new, &["resourceVersion"]).is_empty() {
        errors.push(Error::invalid(
            path.child("resourceVersion"),
            "",
            "must be specified for an update",
        ));
    }
    let generation = |of: &Value<'_>| of.get("generation").and_then(Value::as_int).unwrap_or_default();
    if generation(new) < generation(old) {
        let detail = "must not be decremented";
        errors.push(Error::invalid(path.child("generation"), generation(new), detail));
    }
    for (name, absent) in IMMUTABLE {
        let absent = absent.map_or(Value::Null, Value::from);
        let (given, was) = (new.get(name).unwrap_or(&absent), old.get(name).unwrap_or(&absent));
        if given != was {
            errors.push(Error::invalid(path.child(name), given, "field is immutable"));
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

fn new_finalizers(new: &Value<'_>, old: &Value<'_>, path: &Path<'_>, errors: &mut ErrorList) {
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
        errors.push(Error::forbidden(path, &detail));
    }
}

// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateLabels
fn labels(labels: Option<&Value<'_>>, path: &Path<'_>, errors: &mut ErrorList) {
    for (key, value) in entries(labels) {
        let keys = validation::qualified_name(key)
            .into_iter()
            .map(|fault| (key, fault));
        let values = validation::label_value(value)
            .into_iter()
            .map(|fault| (value, fault));
        for (shown, fault) in keys.chain(values) {
            errors.push(Error::invalid(path, shown, &fault));
        }
    }
}

// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateAnnotations
fn annotations(annotations: Option<&Value<'_>>, path: &Path<'_>, errors: &mut ErrorList) {
    let mut size = 0;
    for (key, value) in entries(annotations) {
        size += key.len() + value.len();
        for fault in validation::qualified_name(&key.to_lowercase()) {
            errors.push(Error::invalid(path, key, &fault));
        }
    }
    if size > ANNOTATIONS_MAX {
        errors.push(Error::too_long(path, ANNOTATIONS_MAX as i64));
    }
}

/// Errors of a reference name the list's fields, not the item's.
// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateOwnerReferences
fn owner_references(references: Option<&Value<'_>>, path: &Path<'_>, errors: &mut ErrorList) {
    let references = references.and_then(Value::as_array).unwrap_or_default();
    let mut controller: Option<String> = None;
    for (at, reference) in references.iter().enumerate() {
        owner_reference(reference, &path.index(at), errors);
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
                errors.push(Error::invalid(path, BadValue::Prepared(shown.into()), &detail));
            }
            None => controller = Some(this),
        }
    }
}

/// Before 1.37 errors named the list, and what is missing was an invalid value.
// Upstream: apimachinery/pkg/api/validation/objectmeta.go, validateOwnerReference
fn owner_reference(reference: &Value<'_>, path: &Path<'_>, errors: &mut ErrorList) {
    let api_version = text_at(reference, &["apiVersion"]);
    let (group, version) = match api_version.split_once('/') {
        None => ("", api_version),
        Some((_, version)) if version.contains('/') => ("", ""),
        Some(pair) => pair,
    };
    if version.is_empty() && !api_version.is_empty() {
        errors.push(Error::invalid(
            path.child("apiVersion"),
            api_version,
            "must be <group>/<version> or <version>",
        ));
    }
    for name in ["apiVersion", "kind", "name", "uid"] {
        if text_at(reference, &[name]).is_empty() {
            errors.push(Error::required(path.child(name), "must not be empty"));
        }
    }
    if group.is_empty() && version == "v1" && text_at(reference, &["kind"]) == "Event" {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        errors.push(Error::invalid(
            path,
            BadValue::Prepared(owner_text(reference).into()),
            detail,
        ));
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
fn finalizers(finalizers: Option<&Value<'_>>, path: &Path<'_>, errors: &mut ErrorList) {
    for finalizer in texts(finalizers) {
        for fault in validation::qualified_name(finalizer) {
            errors.push(Error::invalid(path, finalizer, &fault));
        }
    }
    let has = |name: &str| texts(finalizers).any(|finalizer| finalizer == name);
    if has("orphan")
        && has("foregroundDeletion")
        && let Some(all) = finalizers
    {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(Error::invalid(path, all, detail));
    }
}

// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateManagedFields
fn managed_fields(entries: Option<&Value<'_>>, path: &Path<'_>, errors: &mut ErrorList) {
    let entries = entries.and_then(Value::as_array).unwrap_or_default();
    for (at, entry) in entries.iter().enumerate() {
        let path = path.index(at);
        match text_at(entry, &["operation"]) {
            // Before 1.37 both were invalid values that must be `Apply` or `Update`.
            "" => errors.push(Error::required(path.child("operation"), "must not be empty")),
            "Apply" | "Update" => {}
            other => errors.push(Error::not_supported(
                path.child("operation"),
                other,
                ["Apply", "Update"],
            )),
        }
        let fields_type = text_at(entry, &["fieldsType"]);
        if !matches!(fields_type, "" | "FieldsV1") {
            errors.push(Error::invalid(
                path.child("fieldsType"),
                fields_type,
                "must be `FieldsV1`",
            ));
        }
        manager(text_at(entry, &["manager"]), &path, errors);
        if text_at(entry, &["subresource"]).len() > SUBRESOURCE_MAX {
            errors.push(Error::too_long(path.child("subresource"), SUBRESOURCE_MAX as i64));
        }
    }
}

fn manager(manager: &str, path: &Path<'_>, errors: &mut ErrorList) {
    if manager.len() > MANAGER_MAX {
        errors.push(Error::too_long(path.child("manager"), MANAGER_MAX as i64));
    }
    for (at, c) in manager.char_indices() {
        if !pratique_gotext::strconv::is_printable(c) {
            let detail = format!("invalid character U+{:04X} (at position {at})", u32::from(c));
            errors.push(Error::invalid(path.child("manager"), manager, &detail));
        }
    }
}
