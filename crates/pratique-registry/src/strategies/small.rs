//! Groups of few kinds.
// Upstream: pkg/registry/{apiserverinternal,coordination,discovery,events,flowcontrol,node,policy,rbac}/*/strategy.go

use pratique_json::Value;

use crate::edited_object::EditedObject;
use crate::object::{self, MANAGED_FIELDS};
use crate::strategy::{GatedField, PartEndpoint, ResourceStrategy, StrategyContext};

const RBAC: &str = "rbac.authorization.k8s.io";
const FLOW_CONTROL: &str = "flowcontrol.apiserver.k8s.io";

/// An endpoint that sets `status` and keeps all metadata but `managedFields`.
const FLOW_CONTROL_STATUS: PartEndpoint = PartEndpoint::STATUS_ONLY.and(|_, object, old| {
    let managed = object::remove(object, MANAGED_FIELDS);
    object::copy(object, old, &["metadata"]);
    object::put(object, MANAGED_FIELDS, managed);
});

pub(super) const STRATEGIES: &[ResourceStrategy] = &[
    ResourceStrategy::new("coordination.k8s.io", "Lease")
        .conditional()
        .creates_on_update()
        .gated(&[
            GatedField::Field("CoordinatedLeaderElection", &["spec", "strategy"]),
            GatedField::Field("CoordinatedLeaderElection", &["spec", "preferredHolder"]),
        ]),
    ResourceStrategy::new("coordination.k8s.io", "LeaseCandidate")
        .conditional()
        .creates_on_update(),
    ResourceStrategy::new("discovery.k8s.io", "EndpointSlice")
        .generation(&[
            &["addressType"],
            &["ports"],
            &["endpoints"],
            &["metadata", "labels"],
        ])
        .counted_first()
        .prepare(
            |context, object| drop_topology(context, object, None),
            |context, object, old| drop_topology(context, object, Some(old)),
        ),
    ResourceStrategy::new("events.k8s.io", "Event").creates_on_update(),
    ResourceStrategy::new(FLOW_CONTROL, "FlowSchema")
        .generation(&[&["spec"]])
        .status(FLOW_CONTROL_STATUS),
    ResourceStrategy::new(FLOW_CONTROL, "PriorityLevelConfiguration")
        .generation(&[&["spec"]])
        .status(FLOW_CONTROL_STATUS),
    ResourceStrategy::new("internal.apiserver.k8s.io", "StorageVersion")
        .conditional()
        .status(PartEndpoint::STATUS_ONLY),
    ResourceStrategy::new("node.k8s.io", "RuntimeClass")
        .conditional()
        .creates_on_update(),
    ResourceStrategy::new("policy", "PodDisruptionBudget")
        .conditional()
        .generation(&[&["spec"]])
        .counted_first()
        .status(PartEndpoint::STATUS)
        .prepare(
            |_, object| strip_label(object),
            |_, object, old| {
                if !object::same(object, old, &["spec", "selector"]) {
                    strip_label(object);
                }
            },
        ),
    ResourceStrategy::new(RBAC, "ClusterRole").creates_on_update(),
    ResourceStrategy::new(RBAC, "ClusterRoleBinding").creates_on_update(),
    ResourceStrategy::new(RBAC, "Role").creates_on_update(),
    ResourceStrategy::new(RBAC, "RoleBinding").creates_on_update(),
];

/// With it alone, a selector of `v1beta1` matches nothing.
const EMPTY_MATCHES: &str = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

/// A label that stands for what another version cannot say is not combined with others.
// Upstream: pkg/registry/policy/poddisruptionbudget/strategy.go, dropDisabledFields
fn strip_label(object: &mut EditedObject<'_>) {
    let expressions: object::FieldPath<'_> = &["spec", "selector", "matchExpressions"];
    let is_label = |expression: &Value<'_>| object::text(expression, &["key"]) == EMPTY_MATCHES;
    let mut kept = object::list(object, expressions).to_vec();
    let is_nothing = match kept.as_slice() {
        [only] => {
            is_label(only)
                && object::text(only, &["operator"]) == "Exists"
                && object::list(only, &["values"]).is_empty()
                && object
                    .at(&["spec", "selector", "matchLabels"])
                    .is_none_or(Value::is_empty)
        }
        _ => false,
    };
    if is_nothing || !object::has(object, &["spec", "selector"]) {
        return;
    }
    kept.retain(|expression| !is_label(expression));
    if kept.len() < object::list(object, expressions).len() {
        object::set(object, expressions, kept);
        object::remove_if_empty(object, expressions);
    }
    object::remove(object, &["spec", "selector", "matchLabels", EMPTY_MATCHES]);
    object::remove_if_empty(object, &["spec", "selector", "matchLabels"]);
}

const HOSTNAME: &str = "kubernetes.io/hostname";

/// `deprecatedTopology` is dropped where it changes; the node that it names becomes `nodeName` if it was named before.
// Upstream: pkg/registry/discovery/endpointslice/strategy.go, dropTopologyOnV1
fn drop_topology<'v>(
    context: &mut StrategyContext<'_>,
    object: &mut EditedObject<'v>,
    old: Option<&Value<'v>>,
) {
    if context.kind.version == "v1beta1" || old.is_some_and(|old| object::same(object, old, &["endpoints"])) {
        return;
    }
    let old_endpoints = old
        .map(|old| object::list(old, &["endpoints"]))
        .unwrap_or_default();
    let named: Vec<&str> = old_endpoints
        .iter()
        .map(|endpoint| object::text(endpoint, &["deprecatedTopology", HOSTNAME]))
        .filter(|name| !name.is_empty())
        .collect();
    for endpoint in object::list_mut(object, &["endpoints"]) {
        let node = object::text(endpoint, &["deprecatedTopology", HOSTNAME]).to_owned();
        if !object::has(endpoint, &["nodeName"]) && named.contains(&node.as_str()) {
            object::set(endpoint, &["nodeName"], node);
        }
        object::remove(endpoint, &["deprecatedTopology"]);
    }
}
