//! Dynamic resource allocation: claims to devices, their templates, classes, slices and taints.

mod admin_access;
mod attributes;
mod capacity;
mod claims;
mod classes;
mod configuration;
mod devices;
mod expressions;
mod limits;
mod names;
mod node_resources;
mod older_versions;
mod pool_requests;
mod requests;
mod results;
mod slices;
mod statuses;
mod taints;

pub use admin_access::ADMIN_ACCESS_LABEL;
pub(super) use names::validate_covered_driver;

use crate::rules::KindRules;

const GROUP: &str = "resource.k8s.io";

pub(super) const KINDS: &[KindRules] = &[
    KindRules {
        group: GROUP,
        kind: "DeviceClass",
        is_namespaced: false,
        create: classes::validate_class,
        update: classes::validate_class_update,
        subresources: &[],
    },
    KindRules {
        group: GROUP,
        kind: "DeviceTaintRule",
        is_namespaced: false,
        create: taints::validate_taint_rule,
        update: taints::validate_taint_rule_update,
        subresources: &[("status", taints::validate_taint_rule_status)],
    },
    KindRules {
        group: GROUP,
        kind: "ResourceClaim",
        is_namespaced: true,
        create: claims::validate_claim,
        update: claims::validate_claim_update,
        subresources: &[("status", statuses::validate_claim_status)],
    },
    KindRules {
        group: GROUP,
        kind: "ResourceClaimTemplate",
        is_namespaced: true,
        create: claims::validate_template,
        update: claims::validate_template_update,
        subresources: &[],
    },
    KindRules {
        group: GROUP,
        kind: "ResourcePoolStatusRequest",
        is_namespaced: false,
        create: pool_requests::validate_request,
        update: pool_requests::validate_request_update,
        subresources: &[("status", pool_requests::validate_request_status)],
    },
    KindRules {
        group: GROUP,
        kind: "ResourceSlice",
        is_namespaced: false,
        create: slices::validate_slice,
        update: slices::validate_slice_update,
        subresources: &[],
    },
];
