//! Finds the resource of a kind.

use pratique_json::Value;
use pratique_types::builtin::{self, ServedResource};
use pratique_types::{GroupVersionKind, GroupVersionResource};

use crate::object::text;

/// A resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its name.
    pub resource: GroupVersionResource,
    /// Whether it is namespaced, if that is known.
    pub namespaced: Option<bool>,
}

/// Whether an object is a CustomResourceDefinition that an API server serves.
pub fn is_definition(object: &Value<'_>) -> bool {
    text(object, &["kind"]) == "CustomResourceDefinition"
        && text(object, &["apiVersion"]) == "apiextensions.k8s.io/v1"
}

/// The resources of the CustomResourceDefinitions among some objects.
pub fn defined<'v>(objects: impl IntoIterator<Item = &'v Value<'static>>) -> Vec<ServedResource> {
    let objects = objects.into_iter();
    let definitions = objects.filter(|object| text(object, &["kind"]) == "CustomResourceDefinition");
    definitions.flat_map(served).collect()
}

fn served(definition: &Value<'_>) -> Vec<ServedResource> {
    let text = |path: &[&str]| text(definition, path);
    let versions = definition
        .at(&["spec", "versions"])
        .and_then(Value::as_array)
        .unwrap_or_default();
    let names = versions
        .iter()
        .filter_map(|version| version.get("name")?.as_str());
    let group = text(&["spec", "group"]);
    let served = |version| ServedResource {
        resource: GroupVersionResource::new(group, version, text(&["spec", "names", "plural"])),
        subresource: String::new(),
        kind: GroupVersionKind::new(group, version, text(&["spec", "names", "kind"])),
        namespaced: text(&["spec", "scope"]) == "Namespaced",
        short_names: vec![text(&["spec", "names", "singular"]).to_owned()],
    };
    names.map(served).collect()
}

/// The regular plural of a kind, with its group: `networkpolicies.example.com`, `widgets.` of the core group. Which resource
/// serves a kind that is not known can only be assumed.
// Upstream: apimachinery/pkg/api/meta/restmapper.go, UnsafeGuessKindToResource
pub fn regular_resource(kind: &GroupVersionKind) -> String {
    let singular = kind.kind.to_lowercase();
    let plural = match singular.char_indices().last() {
        _ if singular.ends_with("endpoints") => singular,
        Some((_, 's')) => singular + "es",
        Some((at, 'y')) => singular.get(..at).unwrap_or_default().to_owned() + "ies",
        _ => singular + "s",
    };
    format!("{plural}.{}", kind.group)
}

/// Why no resource was found for a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResourceError {
    /// It is not known.
    Unknown,
    /// Subresources of several resources have objects of the kind.
    Several,
    /// It is known, and differs from the requested one.
    Conflict {
        /// The requested resource, with its group.
        requested: String,
        /// The resource of the kind, with its group.
        known: String,
    },
}

/// Finds the resource of a kind. A requested name is used if the kind is not known.
pub(crate) fn target(
    kind: &GroupVersionKind,
    requested: Option<&str>,
    subresource: &str,
    defined: &[ServedResource],
) -> Result<Target, ResourceError> {
    let known = of_kind(kind, subresource, defined).map(Target::from);
    let requested = requested.map(|name| named(name, kind, defined));
    match (known, requested) {
        (Some(known), Some(requested)) if known.resource != requested.resource => {
            Err(ResourceError::Conflict {
                requested: requested.resource.group_resource().to_string(),
                known: known.resource.group_resource().to_string(),
            })
        }
        (Some(target), _) | (None, Some(target)) => Ok(target),
        (None, None) if parts_of_kind(kind, subresource).next().is_some() => Err(ResourceError::Several),
        (None, None) => Err(ResourceError::Unknown),
    }
}

fn named(name: &str, kind: &GroupVersionKind, defined: &[ServedResource]) -> Target {
    let (name, group) = match name.split_once('.') {
        Some((name, group)) => (name, Some(group)),
        None => (name, None),
    };
    let fits = |served: &&ServedResource| {
        served.subresource.is_empty()
            && group.is_none_or(|group| served.resource.group == group)
            && (served.resource.resource == name
                || served.short_names.iter().any(|short_name| short_name == name))
    };
    let fitting: Vec<_> = defined.iter().chain(builtin::resources()).filter(fits).collect();
    let same_kind = fitting.iter().find(|served| served.kind == *kind);
    let same_group = || fitting.iter().find(|served| served.kind.group == kind.group);
    match same_kind.or_else(same_group).or_else(|| fitting.first()) {
        Some(served) => Target::from(*served),
        None => Target {
            resource: GroupVersionResource::new(group.unwrap_or(&kind.group), &kind.version, name),
            namespaced: None,
        },
    }
}

/// The resource with a kind, or the only one whose subresource has it.
fn of_kind<'s>(
    kind: &GroupVersionKind,
    subresource: &str,
    defined: &'s [ServedResource],
) -> Option<&'s ServedResource> {
    let resource = defined.iter().find(|served| served.kind == *kind);
    let resource = resource.or_else(|| builtin::resource_of(kind));
    let parts: Vec<_> = parts_of_kind(kind, subresource).collect();
    match (parts.as_slice(), resource) {
        // A Binding is an object of its own as well.
        ([part], _) => Some(part),
        (_, resource) => resource,
    }
}

/// The subresources of a name that have objects of a kind.
fn parts_of_kind<'k>(
    kind: &'k GroupVersionKind,
    subresource: &'k str,
) -> impl Iterator<Item = &'static ServedResource> {
    builtin::resources().iter().filter(move |served| {
        !subresource.is_empty() && served.subresource == subresource && served.kind == *kind
    })
}

impl From<&ServedResource> for Target {
    fn from(served: &ServedResource) -> Self {
        Target {
            resource: served.resource.clone(),
            namespaced: Some(served.namespaced),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(
        kind: (&str, &str, &str),
        requested: Option<&str>,
        subresource: &str,
        expected: Option<(&str, Option<bool>)>,
    ) {
        let kind = GroupVersionKind::new(kind.0, kind.1, kind.2);
        let found = target(&kind, requested, subresource, &[]).ok();
        let found = found.map(|target| {
            let GroupVersionResource {
                group,
                version,
                resource,
            } = target.resource;
            (format!("{group}/{version}/{resource}"), target.namespaced)
        });
        assert_eq!(
            found,
            expected.map(|(resource, namespaced)| (resource.to_owned(), namespaced))
        );
    }

    #[test]
    fn unknown_kinds_have_regular_plurals() {
        for (kind, expected) in [
            ("Widget", "widgets.example.com"),
            ("FooPolicy", "foopolicies.example.com"),
            ("Ingress", "ingresses.example.com"),
            ("MyEndpoints", "myendpoints.example.com"),
        ] {
            assert_eq!(
                regular_resource(&GroupVersionKind::new("example.com", "v1", kind)),
                expected
            );
        }
        assert_eq!(
            regular_resource(&GroupVersionKind::new("", "v1", "Deployment")),
            "deployments."
        );
        // The name leads to no resource of another group.
        check(
            ("", "v1", "Deployment"),
            Some("deployments."),
            "",
            Some(("/v1/deployments", None)),
        );
    }

    #[test]
    fn kinds_have_resources() {
        check(("", "v1", "Pod"), None, "", Some(("/v1/pods", Some(true))));
        check(("", "v1", "Pod"), None, "status", Some(("/v1/pods", Some(true))));
        check(
            ("rbac.authorization.k8s.io", "v1", "ClusterRole"),
            None,
            "",
            Some(("rbac.authorization.k8s.io/v1/clusterroles", Some(false))),
        );
        check(
            ("policy", "v1", "Eviction"),
            None,
            "eviction",
            Some(("/v1/pods", Some(true))),
        );
        check(
            ("", "v1", "Binding"),
            None,
            "binding",
            Some(("/v1/pods", Some(true))),
        );
        check(
            ("", "v1", "Binding"),
            None,
            "",
            Some(("/v1/bindings", Some(true))),
        );
        check(("autoscaling", "v1", "Scale"), None, "scale", None);
        check(("example.com", "v1", "Widget"), None, "", None);
    }

    #[test]
    fn names_select_resources() {
        check(
            ("autoscaling", "v1", "Scale"),
            Some("deployments"),
            "scale",
            Some(("apps/v1/deployments", Some(true))),
        );
        check(
            ("events.k8s.io", "v1", "Event"),
            Some("events"),
            "",
            Some(("events.k8s.io/v1/events", Some(true))),
        );
        check(
            ("example.com", "v1", "Widget"),
            Some("widgets"),
            "",
            Some(("example.com/v1/widgets", None)),
        );
        check(
            ("example.com", "v1", "Widget"),
            Some("widgets.shop"),
            "",
            Some(("shop/v1/widgets", None)),
        );
    }

    #[test]
    fn known_kinds_are_not_renamed() {
        check(("", "v1", "Pod"), Some("po"), "", Some(("/v1/pods", Some(true))));
        check(
            ("", "v1", "Pod"),
            Some("pods"),
            "status",
            Some(("/v1/pods", Some(true))),
        );
        check(("", "v1", "Pod"), Some("widgets"), "", None);
        check(("", "v1", "Pod"), Some("pods.metrics.k8s.io"), "", None);
        check(("apps", "v1", "Deployment"), Some("pods"), "", None);
        check(
            ("policy", "v1", "Eviction"),
            Some("deployments"),
            "eviction",
            None,
        );
        check(
            ("policy", "v1", "Eviction"),
            Some("pods"),
            "eviction",
            Some(("/v1/pods", Some(true))),
        );
        let requested = target(&GroupVersionKind::new("", "v1", "Pod"), Some("widgets"), "", &[]);
        let contradicts = ResourceError::Conflict {
            requested: "widgets".to_owned(),
            known: "pods".to_owned(),
        };
        assert_eq!(requested, Err(contradicts));
    }

    #[test]
    fn definitions_have_resources() {
        let text = br#"{"kind":"CustomResourceDefinition","spec":{"group":"example.com","scope":"Cluster",
            "names":{"plural":"widgetes","kind":"Widget"},"versions":[{"name":"v1"}]}}"#;
        let served = served(&pratique_json::parse(text).unwrap());
        let found = target(
            &GroupVersionKind::new("example.com", "v1", "Widget"),
            None,
            "",
            &served,
        )
        .unwrap();
        assert_eq!(
            found.resource,
            GroupVersionResource::new("example.com", "v1", "widgetes")
        );
        assert_eq!(found.namespaced, Some(false));
    }
}
