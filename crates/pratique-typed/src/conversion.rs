//! Objects in other versions of their built-in kind, as an API server converts them.
//!
//! An API server holds an object in an internal version and writes it in the requested version. Here the form
//! between two versions is that of one of them, the hub: a version is converted [to it](ConversionFamily::to_hub) and
//! [from it](ConversionFamily::from_hub). Versions that have the same fields need neither.
//!
//! Objects come as an API server writes them. What it adds to all objects when it reads them, such as the second name of
//! a service account in templates of pods, is not added again.

mod apps;
mod autoscaling;
mod custom_resources;
mod events;
mod go_json;
mod networking;
mod policies;
mod resources;
mod small;

use std::borrow::Cow;

use pratique_gotext::strconv::NumberError;
use pratique_json::{Interrupted, Object, Progress, Value};
use pratique_schema::{Release, Schema, TypeId};
use pratique_types::{GroupVersion, GroupVersionKind};

use crate::form::{typed, typed_as};

/// Why an object has no form in a version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConversionError {
    /// There is no way between two versions of a kind.
    #[error("converting (*{0}) to (*{1}): unknown conversion")]
    Unknown(String, String),
    /// No API server knows the kind that an object states.
    #[error("no kind {} is registered for version {} in scheme {registry:?}", pratique_gotext::strconv::quote(.kind), pratique_gotext::strconv::quote(.version))]
    Unregistered {
        /// The kind.
        kind: String,
        /// Its `apiVersion`.
        version: String,
        /// The name of the registry of built-in types.
        registry: &'static str,
    },
    /// A custom resource of another group.
    #[error("request to convert CR from an invalid group/version: {0}")]
    Group(String),
    /// A whole number is expected in an annotation.
    #[error("failed to parse annotation[{annotation}]={value} as int64: {error}")]
    Annotation {
        /// The name of the annotation.
        annotation: &'static str,
        /// Its value.
        value: String,
        /// What is wrong with the value.
        error: NumberError,
    },
    /// A text that has to be a whole number is none.
    #[error(transparent)]
    Integer(#[from] NumberError),
    /// A text that has to be a label selector is none.
    #[error("failed to parse selector: couldn't parse the selector string \"{0}\"")]
    Selector(String),
    /// The caller interrupted it.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// The version of an object in a release.
#[derive(Clone, Copy)]
struct ApiVersion<'v> {
    /// As it is written: `apps/v1`.
    name: &'v str,
    release: &'static Release,
}

/// A step of a conversion, in place.
type ConversionStep = fn(ApiVersion<'_>, &mut Object<'_>) -> Result<(), ConversionError>;

/// A kind whose versions do not have the same fields.
#[derive(Clone, Copy)]
struct ConversionFamily {
    /// Whether a version needs the steps.
    differs: fn(&str) -> bool,
    /// From a version to the hub.
    to_hub: ConversionStep,
    /// From the hub to a version.
    from_hub: ConversionStep,
}

impl ConversionFamily {
    const fn new(differs: fn(&str) -> bool, to_hub: ConversionStep, from_hub: ConversionStep) -> Self {
        ConversionFamily {
            differs,
            to_hub,
            from_hub,
        }
    }
}

/// The conversion between two versions of a kind.
#[derive(Clone, Copy)]
enum VersionRelation {
    /// Nothing: the versions have the same fields, or are not of one kind.
    Same,
    /// Two steps.
    Differs(ConversionFamily),
}

/// An object of another version of a built-in kind, in the version of `kind` but for the form of its fields; `None` where
/// it is of that version, or where none of its fields has another name or place there.
///
/// # Errors
/// An object of the stated kind cannot be converted into one of `kind`, or the conversion was interrupted. A
/// kind or version that the object does not state is that of `kind`.
pub fn converted<'a>(
    release: &'static Release,
    kind: &GroupVersionKind,
    object: &'a Value<'a>,
    progress: &Progress<'_>,
) -> Result<Option<Value<'a>>, ConversionError> {
    let Some(members) = object.as_object() else {
        return Ok(None);
    };
    let text = |key| members.get(key).and_then(Value::as_str).unwrap_or_default();
    // A kind or version that the object does not state is that of the request.
    let (from, name) = (text("apiVersion"), text("kind"));
    let is_version = from.is_empty() || kind.is_of_version(from);
    if is_version && (name.is_empty() || name == kind.kind) {
        return Ok(None);
    }
    let target_version = kind.api_version();
    let from = if is_version { target_version.as_str() } else { from };
    let name = if name.is_empty() { &kind.kind } else { name };
    let schema = release.schema();
    let Some((of, stated)) = builtin_kind(schema, from, name) else {
        return match schema.kind(kind) {
            Some(_) => Err(ConversionError::Unregistered {
                kind: name.to_owned(),
                version: from.to_owned(),
                registry: release.registry_name(),
            }),
            None => in_group(kind, from),
        };
    };
    let Some(to) = schema.kind(kind) else {
        return in_group(kind, from);
    };
    if !are_versions(&stated, kind) {
        let name = |of| schema.get(of).go_type().to_owned();
        return Err(ConversionError::Unknown(name(of), name(to)));
    }
    let family = match relation(&stated, kind) {
        VersionRelation::Same => return Ok(None),
        VersionRelation::Differs(family) => family,
    };
    let formed = typed_as(schema, of, object, progress)?;
    // The formed object does not outlive this function.
    let Value::Object(mut members) = formed.as_ref().unwrap_or(object).try_owned(progress)? else {
        return Ok(None);
    };
    for (step, name) in [(family.to_hub, from), (family.from_hub, &target_version)] {
        if (family.differs)(name) {
            step(ApiVersion { name, release }, &mut members)?;
        }
    }
    Ok(Some(Value::Object(members)))
}

/// A built-in kind by the `apiVersion` and `kind` of an object.
fn builtin_kind(schema: &Schema, api_version: &str, name: &str) -> Option<(TypeId, GroupVersionKind)> {
    let kind = GroupVersion::parse(api_version).ok()?.with_kind(name);
    Some((schema.kind(&kind)?, kind))
}

/// An object of a custom kind has no other version but in its group, where only `apiVersion` differs.
fn in_group<'a>(kind: &GroupVersionKind, api_version: &str) -> Result<Option<Value<'a>>, ConversionError> {
    match GroupVersion::parse(api_version) {
        Ok(version) if version.group == kind.group => Ok(None),
        _ => Err(ConversionError::Group(api_version.to_owned())),
    }
}

/// The change from `old` to `new`, which are of another version, made to the object that `old` was
/// [converted](converted()) from; `None` where the versions have the same fields, so that `new` is all there is to it.
///
/// Fields that a version does not have, or has in another order, stay as they were unless they were changed.
/// An API server converts the whole object back.
pub fn changed_back(
    release: &'static Release,
    kind: &GroupVersionKind,
    object: &Value<'_>,
    (old, new): (&Value<'_>, &Value<'_>),
    progress: &Progress<'_>,
) -> Result<Option<Value<'static>>, ConversionError> {
    let convert = |value| converted(release, kind, value, progress);
    let (Some(converted_old), Some(converted_new)) = (convert(old)?, convert(new)?) else {
        return Ok(None);
    };
    let (typed_old, typed_new) = (
        typed(release, kind, &converted_old, progress)?,
        typed(release, kind, &converted_new, progress)?,
    );
    let old_form = typed_old.as_ref().unwrap_or(&converted_old);
    let new_form = typed_new.as_ref().unwrap_or(&converted_new);
    Ok(Some(changed(object, old_form, new_form)))
}

/// A value with the change from `old` to `new`. Recursion follows the nesting of the values, which the parser bounds.
fn changed(value: &Value<'_>, old: &Value<'_>, new: &Value<'_>) -> Value<'static> {
    if old == new {
        return value.clone().into_owned();
    }
    let (Value::Object(value), Value::Object(old_members), Value::Object(new_members)) = (value, old, new)
    else {
        return new.clone().into_owned();
    };
    let mut members = value.clone().into_owned();
    for (name, _) in old_members
        .iter()
        .filter(|(name, _)| !new_members.contains_key(name))
    {
        members.remove(name);
    }
    for (name, new_member) in new_members.iter() {
        let member = match (old_members.get(name), value.get(name)) {
            (Some(old_member), _) if old_member == new_member => continue,
            (Some(old_member), Some(value)) => changed(value, old_member, new_member),
            _ => new_member.clone().into_owned(),
        };
        members.insert(name.to_owned(), member);
    }
    Value::Object(members)
}

/// How objects of one kind become objects of another.
fn relation(one: &GroupVersionKind, other: &GroupVersionKind) -> VersionRelation {
    if !are_versions(one, other) {
        return VersionRelation::Same;
    }
    VersionRelation::Differs(match (storage_group(one), one.kind.as_str()) {
        ("", "Event") => events::EVENT,
        (
            "admissionregistration.k8s.io",
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration",
        ) => small::WEBHOOK_CONFIGURATION,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => custom_resources::DEFINITION,
        // Fields that the stable version does not have are lost upstream, too.
        ("certificates.k8s.io", "PodCertificateRequest") => SAME_NAMES,
        ("apiregistration.k8s.io", "APIService") => small::API_SERVICE,
        ("apps", "DaemonSet") => apps::DAEMON_SET,
        ("apps", "Deployment") => apps::DEPLOYMENT,
        ("apps", "StatefulSet") => apps::STATEFUL_SET,
        ("authorization.k8s.io", "LocalSubjectAccessReview" | "SubjectAccessReview") => small::ACCESS_REVIEW,
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaling::HORIZONTAL_POD_AUTOSCALER,
        ("autoscaling", "Scale") => apps::SCALE,
        ("discovery.k8s.io", "EndpointSlice") => networking::ENDPOINT_SLICE,
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration") => small::PRIORITY_LEVEL,
        ("networking.k8s.io", "Ingress") => networking::INGRESS,
        ("node.k8s.io", "RuntimeClass") => small::RUNTIME_CLASS,
        ("policy", "PodDisruptionBudget") => policies::POD_DISRUPTION_BUDGET,
        ("rbac.authorization.k8s.io", "ClusterRoleBinding" | "RoleBinding") => policies::ROLE_BINDING,
        ("resource.k8s.io", "ResourceClaim") => resources::CLAIM,
        ("resource.k8s.io", "ResourceClaimTemplate") => resources::CLAIM_TEMPLATE,
        ("resource.k8s.io", "ResourceSlice") => resources::SLICE,
        _ => return VersionRelation::Same,
    })
}

/// Versions whose common fields have the same names.
const SAME_NAMES: ConversionFamily = ConversionFamily::new(|_| false, none, none);

/// Whether two kinds are versions of one.
pub(crate) fn are_versions(one: &GroupVersionKind, other: &GroupVersionKind) -> bool {
    one.kind == other.kind && storage_group(one) == storage_group(other)
}

/// The group of a kind, or that of the kind that it is a version of: some live in several groups.
fn storage_group(kind: &GroupVersionKind) -> &str {
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("events.k8s.io", "Event") => "",
        ("extensions", "DaemonSet" | "Deployment" | "DeploymentRollback" | "ReplicaSet") => "apps",
        ("extensions", "Ingress" | "NetworkPolicy") => "networking.k8s.io",
        ("apps" | "extensions", "Scale") => "autoscaling",
        (group, _) => group,
    }
}

fn any(_: &str) -> bool {
    true
}

fn is_v1alpha1(version: &str) -> bool {
    version.ends_with("/v1alpha1")
}

fn is_v1beta1(version: &str) -> bool {
    version.ends_with("/v1beta1")
}

/// The step of versions that have the hub's form.
fn none(_: ApiVersion<'_>, _: &mut Object<'_>) -> Result<(), ConversionError> {
    Ok(())
}

/// The object that a field holds.
fn part<'o, 'a>(object: &'o mut Object<'a>, field: &str) -> Option<&'o mut Object<'a>> {
    match object.get_mut(field) {
        Some(Value::Object(part)) => Some(part),
        _ => None,
    }
}

/// The object that a field holds, which is an empty one if it holds no object.
fn part_or_new<'o, 'a>(object: &'o mut Object<'a>, field: &'static str) -> Option<&'o mut Object<'a>> {
    if !matches!(object.get(field), Some(Value::Object(_))) {
        object.insert(field, Object::new());
    }
    part(object, field)
}

/// The objects of the list that a field holds.
fn parts<'o, 'a>(object: &'o mut Object<'a>, field: &str) -> impl Iterator<Item = &'o mut Object<'a>> {
    let elements = match object.get_mut(field) {
        Some(Value::Array(elements)) => elements.as_mut_slice(),
        _ => &mut [],
    };
    elements.iter_mut().filter_map(|element| match element {
        Value::Object(part) => Some(part),
        _ => None,
    })
}

/// The text of a field; `""` where there is none.
fn read_text<'o>(object: &'o Object<'_>, field: &str) -> &'o str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Takes the value of a field, unless it is null.
fn take<'a>(object: &mut Object<'a>, field: &str) -> Option<Value<'a>> {
    object.remove(field).filter(|value| !value.is_null())
}

/// Sets a field, if there is a value for it.
fn put<'a>(object: &mut Object<'a>, field: &'static str, value: Option<Value<'a>>) {
    if let Some(value) = value {
        object.insert(field, value);
    }
}

/// Gives the value of a field to another one.
fn rename(object: &mut Object<'_>, from: &str, to: &'static str) {
    let value = take(object, from);
    put(object, to, value);
}

/// The annotations of an object, which are created if it has none.
fn annotations<'o, 'a>(object: &'o mut Object<'a>) -> Option<&'o mut Object<'a>> {
    part_or_new(part_or_new(object, "metadata")?, "annotations")
}

/// An annotation of an object.
fn annotation<'o>(object: &'o Object<'_>, name: &str) -> Option<&'o str> {
    object.get("metadata")?.get("annotations")?.get(name)?.as_str()
}

/// Sets an annotation.
fn annotate<'a>(object: &mut Object<'a>, name: &'static str, value: impl Into<Cow<'a, str>>) {
    if let Some(annotations) = annotations(object) {
        annotations.insert(name, Value::String(value.into()));
    }
}

/// Removes an annotation.
fn drop_annotation(object: &mut Object<'_>, name: &str) {
    let annotations = part(object, "metadata").and_then(|metadata| part(metadata, "annotations"));
    if let Some(annotations) = annotations {
        annotations.remove(name);
    }
}

#[cfg(test)]
mod tests;
