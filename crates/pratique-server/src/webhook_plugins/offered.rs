//! The plugins that are offered, with the requests that they look at.

use super::{Requests, Rule, WebhookPlugin};

const CREATE: &[&str] = &["CREATE"];
const WRITE: &[&str] = &["CREATE", "UPDATE"];

const fn rule(
    group: &'static str,
    resources: &'static [&'static str],
    operations: &'static [&'static str],
) -> Rule {
    Rule {
        group,
        version: "v1",
        resources,
        operations,
    }
}

const PODS: &[Rule] = &[rule("", &["pods"], WRITE)];

const fn mutating(name: &'static str, requests: Requests) -> WebhookPlugin {
    WebhookPlugin {
        name,
        mutates: true,
        validates: true,
        requests,
        counts_requests: false,
    }
}

const fn validating(name: &'static str, requests: Requests) -> WebhookPlugin {
    WebhookPlugin {
        name,
        mutates: false,
        validates: true,
        requests,
        counts_requests: false,
    }
}

pub(super) const ALL: &[WebhookPlugin] = &[
    validating("LimitPodHardAntiAffinityTopology", Requests::For(PODS)),
    mutating("AlwaysPullImages", Requests::For(PODS)),
    validating(
        "ImagePolicyWebhook",
        Requests::For(&[rule("", &["pods", "pods/ephemeralcontainers"], WRITE)]),
    ),
    // Of the parts of pods those that change its containers.
    validating(
        "PodSecurity",
        Requests::For(&[
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
    mutating("PodNodeSelector", Requests::For(&[rule("", &["pods"], CREATE)])),
    mutating("PodTolerationRestriction", Requests::For(PODS)),
    // It does not count events of events.k8s.io.
    WebhookPlugin {
        counts_requests: true,
        ..validating(
            "EventRateLimit",
            Requests::Exactly(&[rule("", &["events"], WRITE)]),
        )
    },
    WebhookPlugin {
        validates: false,
        ..mutating("ExtendedResourceToleration", Requests::For(PODS))
    },
    validating("OwnerReferencesPermissionEnforcement", Requests::ChangingOwners),
    validating(
        "DenyServiceExternalIPs",
        Requests::For(&[rule("", &["services"], WRITE)]),
    ),
];
