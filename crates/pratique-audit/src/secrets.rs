//! Secret members of objects, which are left out of events by default.
//!
//! The Kubernetes documentation recommends audit policies that log Secrets, TokenRequests and TokenReviews at level
//! Metadata, as readers of the log could use the credentials in them. Here, events have their objects without the
//! credentials.

use pratique_json::Value;
use pratique_types::{AdmissionRequest, GroupVersionResource};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Paths of secret members.
pub(crate) type SecretPaths = &'static [&'static [&'static str]];

/// Includes the annotation in which `kubectl apply` keeps the whole object.
const OF_SECRETS: SecretPaths = &[
    &["data"],
    &["stringData"],
    &[
        "metadata",
        "annotations",
        "kubectl.kubernetes.io/last-applied-configuration",
    ],
];
const OF_TOKEN_REQUESTS: SecretPaths = &[&["status", "token"]];
const OF_TOKEN_REVIEWS: SecretPaths = &[&["spec", "token"]];

/// The secret members of the objects of a request.
pub(crate) fn find_secret_paths(request: &AdmissionRequest<'_>) -> SecretPaths {
    let requested = request.request_resource.as_ref();
    let requested = requested.map_or(&[][..], |resource| {
        of_resource(resource, &request.request_sub_resource)
    });
    if requested.is_empty() {
        of_resource(&request.resource, &request.sub_resource)
    } else {
        requested
    }
}

fn of_resource(resource: &GroupVersionResource, subresource: &str) -> SecretPaths {
    match (&*resource.group, &*resource.resource, subresource) {
        ("", "secrets", _) => OF_SECRETS,
        ("", "serviceaccounts", "token") => OF_TOKEN_REQUESTS,
        ("authentication.k8s.io", "tokenreviews", _) => OF_TOKEN_REVIEWS,
        _ => &[],
    }
}

/// An object without some of its members.
#[derive(Clone, Debug)]
pub(crate) struct RedactedObject<'a> {
    pub(crate) object: &'a Value<'a>,
    pub(crate) paths: SecretPaths,
}

impl Serialize for RedactedObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let paths = self.paths.iter().copied();
        write(self.object, &paths.collect::<Vec<_>>(), serializer)
    }
}

/// A value with the remaining paths of members to leave out.
struct RedactedValue<'v, 'p> {
    value: &'v Value<'v>,
    paths: &'p [&'static [&'static str]],
}

impl Serialize for RedactedValue<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write(self.value, self.paths, serializer)
    }
}

fn write<S: Serializer>(
    value: &Value<'_>,
    paths: &[&'static [&'static str]],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let Some(object) = value.as_object().filter(|_| !paths.is_empty()) else {
        return value.serialize(serializer);
    };
    let mut map = serializer.serialize_map(None)?;
    for (key, value) in object.iter() {
        let below = |path: &&'static [&'static str]| {
            let (first, rest) = path.split_first()?;
            (*first == key).then_some(rest)
        };
        let paths: Vec<_> = paths.iter().filter_map(below).collect();
        if !paths.iter().any(|rest| rest.is_empty()) {
            map.serialize_entry(key, &RedactedValue { value, paths: &paths })?;
        }
    }
    map.end()
}
