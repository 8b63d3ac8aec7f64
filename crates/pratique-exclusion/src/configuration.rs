//! Which policies and webhooks intercept the configuration of admission.

use pratique_types::{ADMISSION_GROUP, GroupVersionKind, GroupVersionResource};

use crate::virtual_resources::is_virtual;

/// Where a policy or a webhook comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Static manifests on the server's disk.
    Static,
    /// The API.
    Api,
}

/// A policy or a webhook that may intercept a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interceptor {
    /// A policy, mutating or validating.
    Policy,
    /// A webhook. `excludes_virtual` is the feature gate `ExcludeAdmissionWebhookVirtualResources`, on since 1.37.
    Webhook {
        /// Whether webhooks do not intercept virtual resources.
        excludes_virtual: bool,
    },
}

const POLICIES: [&str; 4] = [
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
];

const KINDS: [&str; 6] = [
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
];

/// Whether a kind configures admission.
pub fn is_configuration(kind: &GroupVersionKind) -> bool {
    kind.group == ADMISSION_GROUP && KINDS.contains(&kind.kind.as_str())
}

/// Whether policies or webhooks of an origin may intercept a request.
///
/// Of the configuration of admission, policies of the API intercept only webhook configurations, and webhooks of the API
/// nothing. As in the reference, policies compare the resource and webhooks the kind.
pub fn intercepts(
    interceptor: Interceptor,
    origin: Origin,
    resource: &GroupVersionResource,
    kind: &GroupVersionKind,
) -> bool {
    let reviews = is_virtual(&resource.group, &resource.resource);
    let from_api = origin == Origin::Api;
    match interceptor {
        Interceptor::Policy => {
            let of_policy =
                resource.group == ADMISSION_GROUP && POLICIES.contains(&resource.resource.as_str());
            !(reviews || from_api && of_policy)
        }
        Interceptor::Webhook { excludes_virtual } => {
            !(excludes_virtual && reviews || from_api && is_configuration(kind))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(resource: (&str, &str), kind: &str, expected: [bool; 5]) {
        let (group, resource) = resource;
        let kind = GroupVersionKind::new(group, "v1", kind);
        let resource = GroupVersionResource::new(group, "v1", resource);
        let webhook = |excludes_virtual| Interceptor::Webhook { excludes_virtual };
        let seen = [
            (Interceptor::Policy, Origin::Static),
            (Interceptor::Policy, Origin::Api),
            (webhook(true), Origin::Static),
            (webhook(true), Origin::Api),
            (webhook(false), Origin::Static),
        ];
        let seen = seen.map(|(interceptor, origin)| intercepts(interceptor, origin, &resource, &kind));
        assert_eq!(seen, expected, "{resource}");
    }

    #[test]
    fn interception() {
        check(("", "pods"), "Pod", [true; 5]);
        check(
            ("authentication.k8s.io", "tokenreviews"),
            "TokenReview",
            [false, false, false, false, true],
        );
        check(
            (ADMISSION_GROUP, POLICIES[2]),
            KINDS[3],
            [true, false, true, false, true],
        );
        check(
            (ADMISSION_GROUP, "validatingwebhookconfigurations"),
            KINDS[5],
            [true, true, true, false, true],
        );
        check(("", "serviceaccounts"), "TokenRequest", [true; 5]);
    }
}
