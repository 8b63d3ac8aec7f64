//! What policies never see.

use pratique_types::GroupVersionResource;

use crate::policies::Origin;

/// Whether policies of an origin are kept from a resource.
///
/// Reviews of users and permissions are asked in the course of every request, and never stored: no policy may stop
/// them. Policies of the API may not judge policies, lest nobody could repair them; static ones may.
pub(crate) fn is_excluded(resource: &GroupVersionResource, origin: Origin) -> bool {
    let is = |(group, name): &(&str, &str)| *group == resource.group && *name == resource.resource;
    REVIEWS.iter().any(is) || (origin == Origin::Api && POLICIES.iter().any(is))
}

const REVIEWS: [(&str, &str); 6] = [
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
];

const POLICIES: [(&str, &str); 4] = [
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicybindings",
    ),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"),
];
