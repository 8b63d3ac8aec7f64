//! The plugins that are offered, with the requests that they look at.

use super::{PluginRequests, PluginRule, WebhookPlugin};

const CREATE: &[&str] = &["CREATE"];
const WRITE: &[&str] = &["CREATE", "UPDATE"];

const fn rule(
    group: &'static str,
    resources: &'static [&'static str],
    operations: &'static [&'static str],
) -> PluginRule {
    PluginRule {
        group,
        version: "v1",
        resources,
        operations,
    }
}

const PODS: &[PluginRule] = &[rule("", &["pods"], WRITE)];

const fn mutating(name: &'static str, requests: PluginRequests) -> WebhookPlugin {
    WebhookPlugin {
        name,
        mutates: true,
        validates: true,
        requests,
        counts_requests: false,
    }
}

const fn validating(name: &'static str, requests: PluginRequests) -> WebhookPlugin {
    WebhookPlugin {
        name,
        mutates: false,
        validates: true,
        requests,
        counts_requests: false,
    }
}

pub(super) const ALL: &[WebhookPlugin] = &[
    validating("LimitPodHardAntiAffinityTopology", PluginRequests::For(PODS)),
    mutating("AlwaysPullImages", PluginRequests::For(PODS)),
    validating(
        "ImagePolicyWebhook",
        PluginRequests::For(&[rule("", &["pods", "pods/ephemeralcontainers"], WRITE)]),
    ),
    // Of the parts of pods those that change its containers.
    validating(
        "PodSecurity",
        PluginRequests::For(&[
            rule(
                "",
                &[
                    "namespaces",
                    "pods",
                    "pods/ephemeralcontainers",
                    "pods/resize",
                    "podtemplates",
                    "replicationcontrollers",
                ],
                WRITE,
            ),
            rule(
                "apps",
                &["daemonsets", "deployments", "replicasets", "statefulsets"],
                WRITE,
            ),
            rule("batch", &["cronjobs", "jobs"], WRITE),
        ]),
    ),
    mutating(
        "PodNodeSelector",
        PluginRequests::For(&[rule("", &["pods"], CREATE)]),
    ),
    mutating("PodTolerationRestriction", PluginRequests::For(PODS)),
    // It does not count events of events.k8s.io.
    WebhookPlugin {
        counts_requests: true,
        ..validating(
            "EventRateLimit",
            PluginRequests::Exactly(&[rule("", &["events"], WRITE)]),
        )
    },
    WebhookPlugin {
        validates: false,
        ..mutating("ExtendedResourceToleration", PluginRequests::For(PODS))
    },
    validating(
        "OwnerReferencesPermissionEnforcement",
        PluginRequests::ChangingOwners,
    ),
    validating(
        "DenyServiceExternalIPs",
        PluginRequests::For(&[rule("", &["services"], WRITE)]),
    ),
];
