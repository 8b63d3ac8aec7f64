//! How what annotations keep of an autoscaler is written.

use super::super::go_json::Layout;

// Upstream: k8s.io/api/autoscaling/v1, in the order of declaration.
const PLAIN: Layout = Layout::Plain;
const REFERENCE: Layout = Layout::Struct(&[("kind", &PLAIN), ("name", &PLAIN), ("apiVersion", &PLAIN)]);
const REQUIREMENT: Layout = Layout::Struct(&[("key", &PLAIN), ("operator", &PLAIN), ("values", &PLAIN)]);
const SELECTOR: Layout = Layout::Struct(&[
    ("matchLabels", &PLAIN),
    ("matchExpressions", &Layout::List(&REQUIREMENT)),
]);
pub(super) const SPECS: Layout = Layout::List(&Layout::Struct(&[
    ("type", &PLAIN),
    (
        "object",
        &Layout::Struct(&[
            ("target", &REFERENCE),
            ("metricName", &PLAIN),
            ("targetValue", &PLAIN),
            ("selector", &SELECTOR),
            ("averageValue", &PLAIN),
        ]),
    ),
    (
        "pods",
        &Layout::Struct(&[
            ("metricName", &PLAIN),
            ("targetAverageValue", &PLAIN),
            ("selector", &SELECTOR),
        ]),
    ),
    ("resource", &RESOURCE_SPEC),
    ("containerResource", &RESOURCE_SPEC),
    (
        "external",
        &Layout::Struct(&[
            ("metricName", &PLAIN),
            ("metricSelector", &SELECTOR),
            ("targetValue", &PLAIN),
            ("targetAverageValue", &PLAIN),
        ]),
    ),
]));
const RESOURCE_SPEC: Layout = Layout::Struct(&[
    ("name", &PLAIN),
    ("targetAverageUtilization", &PLAIN),
    ("targetAverageValue", &PLAIN),
    ("container", &PLAIN),
]);
pub(super) const STATUSES: Layout = Layout::List(&Layout::Struct(&[
    ("type", &PLAIN),
    (
        "object",
        &Layout::Struct(&[
            ("target", &REFERENCE),
            ("metricName", &PLAIN),
            ("currentValue", &PLAIN),
            ("selector", &SELECTOR),
            ("averageValue", &PLAIN),
        ]),
    ),
    (
        "pods",
        &Layout::Struct(&[
            ("metricName", &PLAIN),
            ("currentAverageValue", &PLAIN),
            ("selector", &SELECTOR),
        ]),
    ),
    ("resource", &RESOURCE_STATUS),
    ("containerResource", &RESOURCE_STATUS),
    (
        "external",
        &Layout::Struct(&[
            ("metricName", &PLAIN),
            ("metricSelector", &SELECTOR),
            ("currentValue", &PLAIN),
            ("currentAverageValue", &PLAIN),
        ]),
    ),
]));
const RESOURCE_STATUS: Layout = Layout::Struct(&[
    ("name", &PLAIN),
    ("currentAverageUtilization", &PLAIN),
    ("currentAverageValue", &PLAIN),
    ("container", &PLAIN),
]);
pub(super) const STATES: Layout = Layout::List(&Layout::Struct(&[
    ("type", &PLAIN),
    ("status", &PLAIN),
    ("lastTransitionTime", &PLAIN),
    ("reason", &PLAIN),
    ("message", &PLAIN),
]));
// Upstream: k8s.io/kubernetes/pkg/apis/autoscaling, which is written without names for JSON.
pub(super) const RULES: Layout = Layout::Bare(&[("scaleUp", &RULE), ("scaleDown", &RULE)]);
const RULE: Layout = Layout::Bare(&[
    ("stabilizationWindowSeconds", &PLAIN),
    ("selectPolicy", &PLAIN),
    (
        "policies",
        &Layout::List(&Layout::Bare(&[
            ("type", &PLAIN),
            ("value", &PLAIN),
            ("periodSeconds", &PLAIN),
        ])),
    ),
    ("tolerance", &PLAIN),
]);
