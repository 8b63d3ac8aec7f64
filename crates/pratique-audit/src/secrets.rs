//! What in objects is secret, and is left out of events unless it is asked for.
//!
//! The documentation of audit policies has Secrets, TokenRequests and TokenReviews told at level Metadata, as their objects
//! hold what lets whoever reads the log act for others. Here their objects are told without that.

use pratique_json::Value;
use pratique_types::{AdmissionRequest, GroupVersionResource};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Paths of members.
pub(crate) type Paths = &'static [&'static [&'static str]];

/// Also what `kubectl apply` keeps of the whole object.
const OF_SECRETS: Paths = &[
    &["data"],
    &["stringData"],
    &[
        "metadata",
        "annotations",
        "kubectl.kubernetes.io/last-applied-configuration",
    ],
];
const OF_TOKEN_REQUESTS: Paths = &[&["status", "token"]];
const OF_TOKEN_REVIEWS: Paths = &[&["spec", "token"]];

/// The secret members of the objects of a request.
pub(crate) fn of(request: &AdmissionRequest<'_>) -> Paths {
    let asked = request.request_resource.as_ref();
    let asked = asked.map_or(&[][..], |resource| {
        of_resource(resource, &request.request_sub_resource)
    });
    match asked.is_empty() {
        true => of_resource(&request.resource, &request.sub_resource),
        false => asked,
    }
}

fn of_resource(resource: &GroupVersionResource, subresource: &str) -> Paths {
    match (&*resource.group, &*resource.resource, subresource) {
        ("", "secrets", _) => OF_SECRETS,
        ("", "serviceaccounts", "token") => OF_TOKEN_REQUESTS,
        ("authentication.k8s.io", "tokenreviews", _) => OF_TOKEN_REVIEWS,
        _ => &[],
    }
}

/// An object, without some of its members.
#[derive(Clone, Debug)]
pub(crate) struct Without<'a> {
    pub(crate) object: &'a Value<'a>,
    pub(crate) paths: Paths,
}

impl Serialize for Without<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let paths = self.paths.iter().copied();
        write(self.object, &paths.collect::<Vec<_>>(), serializer)
    }
}

/// A value on the way to the members that are left out.
struct Part<'v, 'p> {
    value: &'v Value<'v>,
    paths: &'p [&'static [&'static str]],
}

impl Serialize for Part<'_, '_> {
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
            map.serialize_entry(key, &Part { value, paths: &paths })?;
        }
    }
    map.end()
}
