//! The objects of a request in the form of their kind.

use pratique_json::{Object, Progress, Value};
use pratique_schema::Release;
use pratique_types::{AdmissionRequest, GroupVersionKind, ObjectForm};

use crate::conversion::{ConversionError, converted};
use crate::decode::DecodeError;
use crate::form::{is_named, settle_fitting, settle_in};

/// Gives the objects of a request the form of its kind, in place, as an API server of a release does when it decodes a request,
/// and marks them so that this is not done again. Requests about kinds that are not built in stay as they are, and so
/// do those with objects of another version that cannot be converted: policies that match them report why.
pub fn settle_request(release: &'static Release, request: &mut AdmissionRequest<'_>) {
    let kind = &request.kind;
    let progress = Progress::unwatched();
    let mut settle = || -> Result<(), ConversionError> {
        for object in [&mut request.object, &mut request.old_object] {
            if let Some(converted) = converted(release, kind, object, &progress)?.map(Value::into_owned) {
                *object = converted;
            }
            settle_object(release, kind, object, &progress);
        }
        Ok(())
    };
    if release.has_type(kind) && settle().is_ok() {
        request.form = ObjectForm::Settled;
    }
}

/// Gives an object the form of its built-in kind, in place, with that kind's name. Where `progress` is stopped, it may have
/// some of that form.
pub fn settle_object(
    release: &'static Release,
    kind: &GroupVersionKind,
    object: &mut Value<'_>,
    progress: &Progress<'_>,
) {
    let schema = release.schema();
    if let (Some(of), Value::Object(members)) = (schema.kind(kind), object) {
        settle_in(schema, of, members, progress);
        name(kind, members);
    }
}

/// Gives an object the form of its built-in kind, as [`settle_object`] does, if it can be
/// [converted](crate::decode::convert()) into that kind. Objects of other kinds stay as they are.
///
/// # Errors
/// As [`convert`](crate::decode::convert()).
pub fn convert_object(
    release: &'static Release,
    kind: &GroupVersionKind,
    object: &mut Value<'_>,
    progress: &Progress<'_>,
) -> Result<(), DecodeError> {
    let schema = release.schema();
    if let (Some(of), Value::Object(members)) = (schema.kind(kind), object) {
        settle_fitting(schema, of, members, progress)?;
        name(kind, members);
    }
    Ok(())
}

/// Gives an object the name of its kind.
fn name(kind: &GroupVersionKind, members: &mut Object<'_>) {
    if !is_named(kind, members) {
        members.insert("apiVersion", kind.api_version());
        members.insert("kind", kind.kind.clone());
    }
}

#[cfg(test)]
mod tests {
    use pratique_json::parse;

    use super::*;
    use crate::{named, typed};

    #[test]
    fn objects_are_as_they_would_be_seen() {
        let pod = br#"{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1000m"}},"x":1}]}}"#;
        let old = br#"{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{}}}"#;
        let [object, old_object] = [&pod[..], old].map(|text| parse(text).unwrap());
        let kind = GroupVersionKind::new("", "v1", "Pod");
        let mut request = AdmissionRequest {
            kind: kind.clone(),
            object: object.clone(),
            old_object: old_object.clone(),
            ..AdmissionRequest::default()
        };
        settle_request(Release::latest(), &mut request);
        assert_eq!(request.form, ObjectForm::Settled);
        for (held, before) in [(&request.object, &object), (&request.old_object, &old_object)] {
            let seen = typed(Release::latest(), &kind, before, &Progress::unwatched())
                .unwrap()
                .unwrap();
            let named = named(&kind, &seen, &Progress::unwatched()).unwrap();
            let seen = named.unwrap_or_else(|| seen.clone()).to_string();
            assert_eq!(held.to_string(), seen);
        }
    }

    #[test]
    fn custom_objects_and_none_stay() {
        let object = parse(br#"{"spec":{"size":1.0}}"#).unwrap();
        let mut request = AdmissionRequest {
            kind: GroupVersionKind::new("example.com", "v1", "Widget"),
            object: object.clone(),
            ..AdmissionRequest::default()
        };
        settle_request(Release::latest(), &mut request);
        assert_eq!((&request.object, request.form), (&object, ObjectForm::Written));
        let mut request = AdmissionRequest {
            kind: GroupVersionKind::new("", "v1", "Pod"),
            ..AdmissionRequest::default()
        };
        settle_request(Release::latest(), &mut request);
        assert!(request.object.is_null() && request.old_object.is_null());
    }
}
