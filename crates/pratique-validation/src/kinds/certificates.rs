//! CertificateSigningRequests, ClusterTrustBundles and PodCertificateRequests.

mod chains;
mod pod_requests;
mod request_conditions;
mod signing_requests;
mod trust_bundles;

use super::KindRules;

pub(super) const KINDS: &[KindRules] = &[
    KindRules {
        group: "certificates.k8s.io",
        kind: "CertificateSigningRequest",
        is_namespaced: false,
        create: signing_requests::validate_signing_request,
        update: signing_requests::validate_update,
        subresources: &[
            ("approval", signing_requests::validate_approval),
            ("status", signing_requests::validate_status),
        ],
    },
    KindRules {
        group: "certificates.k8s.io",
        kind: "ClusterTrustBundle",
        is_namespaced: false,
        create: trust_bundles::validate_bundle,
        update: trust_bundles::validate_bundle_update,
        subresources: &[],
    },
    KindRules {
        group: "certificates.k8s.io",
        kind: "PodCertificateRequest",
        is_namespaced: true,
        create: pod_requests::validate_pod_request,
        update: pod_requests::validate_pod_request_update,
        subresources: &[("status", chains::validate_status)],
    },
];
