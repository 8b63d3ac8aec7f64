//! Resources that are never stored.

use pratique_types::GroupResource;

/// The reviews of users and permissions, by group and resource. Sorted.
pub const VIRTUAL_RESOURCES: [(&str, &str); 6] = [
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
];

/// Whether a resource is one of [`VIRTUAL_RESOURCES`], whatever its version. Parts of other resources, such as
/// `serviceaccounts/token`, are not.
pub fn is_virtual(group: &str, resource: &str) -> bool {
    VIRTUAL_RESOURCES.contains(&(group, resource))
}

/// One of [`VIRTUAL_RESOURCES`] as a [`GroupResource`].
pub(crate) fn group_resource((group, resource): (&str, &str)) -> GroupResource {
    GroupResource {
        group: group.to_owned(),
        resource: resource.to_owned(),
    }
}
