//! Requests to subresources: what is done with them, and the objects that are sent.

use pratique_json::{Object, Value};
use pratique_registry::scale_of;
use pratique_schema::Release;
use pratique_types::builtin::ServedResource;
use pratique_types::{AdmissionRequest, GroupVersionResource, ObjectRef, Operation};

/// Why an object is not sent to a subresource.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubresourceError {
    /// The resource has no such subresource.
    #[error("{resource} have no subresource {subresource}")]
    Unknown {
        /// The resource, with its group.
        resource: String,
        /// The subresource.
        subresource: String,
    },
    /// The subresource has objects of another kind, which do not follow from the object.
    #[error(
        "{resource}/{subresource} takes a {kind}: give that object, and the name of the other with --name"
    )]
    OtherKind {
        /// The resource, with its group.
        resource: String,
        /// The subresource.
        subresource: String,
        /// The kind and its version.
        kind: String,
    },
}

/// What clients do with a subresource; for the object itself, they create it.
pub fn usual_operation(subresource: &str) -> Operation {
    match subresource {
        "" | "binding" | "eviction" | "token" => Operation::Create,
        "attach" | "exec" | "log" | "portforward" | "proxy" => Operation::Connect,
        _ => Operation::Update,
    }
}

/// Whether an object is the scale of another.
pub fn is_scale(object: &Value<'_>) -> bool {
    let object = ObjectRef::new(object);
    object.kind() == "Scale" && object.api_version() == "autoscaling/v1"
}

/// Checks that a built-in resource of a release has a subresource; which ones others have is not known.
///
/// # Errors
/// There is no such subresource.
pub fn check_subresource(
    resource: &GroupVersionResource,
    subresource: &str,
    release: &Release,
) -> Result<(), SubresourceError> {
    let resources = release.resources();
    let is_builtin = || resources.find(resource, "").is_some();
    if subresource.is_empty() || resources.find(resource, subresource).is_some() || !is_builtin() {
        Ok(())
    } else {
        Err(SubresourceError::Unknown {
            resource: resource.group_resource().to_string(),
            subresource: subresource.to_owned(),
        })
    }
}

/// Gives a request to a subresource the objects of that subresource in a release: the `Scale` of a workload, the `Eviction` of a Pod. The
/// request is one for whole objects, or has objects of the subresource already.
///
/// # Errors
/// There is no such subresource, or its objects do not follow from the given one.
pub fn to_subresource(request: &mut AdmissionRequest<'_>, release: &Release) -> Result<(), SubresourceError> {
    let subresource = request.sub_resource.clone();
    if subresource.is_empty() {
        return Ok(());
    }
    check_subresource(&request.resource, &subresource, release)?;
    let resource = request.resource.group_resource().to_string();
    let part = match release.resources().find(&request.resource, &subresource) {
        Some(part) => part,
        // Of a custom resource, the scale is the only one with a kind of its own.
        None if subresource == "scale" && request.kind.kind != "Scale" => {
            let kind = "Scale of autoscaling/v1".to_owned();
            return Err(SubresourceError::OtherKind {
                resource,
                subresource,
                kind,
            });
        }
        None => return Ok(()),
    };
    // The stored workload may be given beside a scale of it.
    if part.kind == request.kind && (part.kind.kind != "Scale" || is_of_kind(&request.old_object, part)) {
        return Ok(());
    }
    let sent = |object: &Value<'_>| {
        if is_of_kind(object, part) {
            Some(object.clone().into_owned())
        } else {
            object_of(part, object)
        }
    };
    let Some((object, old_object)) = sent(&request.object).zip(sent(&request.old_object)) else {
        let kind = format!("{} of {}", part.kind.kind, part.kind.api_version());
        return Err(SubresourceError::OtherKind {
            resource,
            subresource,
            kind,
        });
    };
    (request.object, request.old_object) = (object, old_object);
    request.kind = part.kind.clone();
    request.request_kind = Some(part.kind.clone());
    Ok(())
}

/// Whether an object is one of a subresource, or none at all.
fn is_of_kind(object: &Value<'_>, part: &ServedResource) -> bool {
    object.is_null() || ObjectRef::new(object).is_of(&part.kind)
}

/// The object of a subresource that a client sends for a whole object.
fn object_of(part: &ServedResource, object: &Value<'_>) -> Option<Value<'static>> {
    match part.kind.kind.as_str() {
        "Scale" => {
            let mut workload = object.clone().into_owned();
            // The stored workload has been defaulted: there is one replica unless it says otherwise.
            if let Value::Object(fields) = &mut workload {
                let spec = fields.get_mut("spec");
                if let Some(Value::Object(spec)) = spec
                    && spec.get("replicas").is_none_or(Value::is_null)
                {
                    spec.insert("replicas", 1);
                }
            }
            Some(scale_of(&workload))
        }
        "Eviction" => Some(eviction_of(part, object)),
        _ => None,
    }
}

fn eviction_of(part: &ServedResource, pod: &Value<'_>) -> Value<'static> {
    let mut metadata = Object::new();
    for field in ["name", "namespace"] {
        if let Some(text) = pod.at(&["metadata", field]).and_then(Value::as_str) {
            metadata.insert(field, text.to_owned());
        }
    }
    let mut eviction = Object::new();
    eviction.insert("apiVersion", part.kind.api_version());
    eviction.insert("kind", part.kind.kind.clone());
    eviction.insert("metadata", metadata);
    Value::Object(eviction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RequestTemplate, ResourceResolver};

    #[track_caller]
    fn check_sent(object: &str, subresource: &str, expected: &str) {
        let read = |text: &str| pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        let template = RequestTemplate {
            operation: Operation::Create,
            namespace: "shop".to_owned(),
            subresource: subresource.to_owned(),
            ..RequestTemplate::default()
        };
        let mut request = template
            .request(read(object), |_, _| None, &ResourceResolver::default(), 1)
            .unwrap()
            .0;
        let found = match to_subresource(&mut request, Release::latest()) {
            Ok(()) => format!("{} {} {}", request.name, request.kind.kind, request.object),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected);
    }

    const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}"#;

    #[test]
    fn subresources_are_those_of_the_release() {
        let nodes = GroupVersionResource::new("storage.k8s.io", "v1", "csinodes");
        let is_known =
            |version| check_subresource(&nodes, "status", Release::by_version(version).unwrap()).is_ok();
        assert!(is_known("1.37") && !is_known("1.36"));
    }

    #[test]
    fn objects_of_subresources() {
        check_sent(
            r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"selector":{"matchLabels":{"a":"b"}}}}"#,
            "scale",
            r#"web Scale {"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web","namespace":"shop"},"spec":{"replicas":1},"status":{"replicas":0,"selector":"a=b"}}"#,
        );
        check_sent(
            POD,
            "eviction",
            r#"p Eviction {"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p","namespace":"shop"}}"#,
        );
        for same in ["resize", "ephemeralcontainers", "status"] {
            check_sent(
                POD,
                same,
                r#"p Pod {"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"shop"}}"#,
            );
        }
        check_sent(
            r#"{"apiVersion":"v1","kind":"PodExecOptions","stdin":true}"#,
            "exec",
            r#" PodExecOptions {"apiVersion":"v1","kind":"PodExecOptions","stdin":true}"#,
        );
    }

    #[test]
    fn a_scale_is_sent_beside_its_stored_workload() {
        let read = |text: &str| pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        let template = RequestTemplate {
            operation: Operation::Update,
            resource: Some("deployments.apps".to_owned()),
            subresource: "scale".to_owned(),
            ..RequestTemplate::default()
        };
        let scale = r#"{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web"},"spec":{"replicas":3}}"#;
        let web =
            r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":2}}"#;
        let resolver = ResourceResolver::default();
        let request = template.request(read(scale), |_, _| Some(read(web)), &resolver, 1);
        let mut request = request.unwrap().0;
        to_subresource(&mut request, Release::latest()).unwrap();
        assert_eq!(request.object, read(scale));
        assert_eq!(
            request.old_object.to_string(),
            r#"{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web"},"spec":{"replicas":2},"status":{"replicas":0}}"#
        );
    }

    #[test]
    fn what_is_not_sent() {
        check_sent(POD, "scale", "pods have no subresource scale");
        check_sent(
            POD,
            "exec",
            "pods/exec takes a PodExecOptions of v1: give that object, and the name of the other with --name",
        );
    }
}
