//! The version of a kind whose form the rules read.
//!
//! A server validates the internal form of an object, which is that of one version, or nearly so; objects of the others are
//! converted. Declarative rules read the version of the request.

use pratique_json::{Progress, Value};
use pratique_schema::Release;
use pratique_types::GroupVersionKind;

/// The version whose form is the internal one, where the version of the request has another.
fn internal_version(kind: &GroupVersionKind) -> Option<&'static str> {
    match (kind.group.as_str(), kind.version.as_str(), kind.kind.as_str()) {
        ("autoscaling", "v1", "HorizontalPodAutoscaler") => Some("v2"),
        _ => None,
    }
}

/// An object in the form that the rules of a release read; `None` where it has that form already.
pub(crate) fn internal_form(
    release: &'static Release,
    kind: &GroupVersionKind,
    object: &Value<'_>,
) -> Option<Value<'static>> {
    let version = internal_version(kind)?;
    let mut object = object.owned_within("");
    let Value::Object(members) = &mut object else {
        return None;
    };
    members.insert("apiVersion", kind.api_version());
    members.insert("kind", kind.kind.clone());
    let target = GroupVersionKind::new(&kind.group, version, &kind.kind);
    let progress = Progress::unwatched();
    let converted = pratique_typed::converted(release, &target, &object, &progress).ok()??;
    Some(converted.into_owned())
}
