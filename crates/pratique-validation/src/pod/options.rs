//! What an old object allows its successor: rules that came later are not applied to what was there before.

use crate::gates::FeatureSet;
use crate::node::Node;
use crate::selector::has_invalid_values;

/// What is tolerated in a Pod's specification. The default is that of a new object.
// Upstream: pkg/apis/core/validation/validation.go, PodValidationOptions
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PodOptions {
    /// Whether the object is a Pod, and not one with a template.
    pub(crate) is_pod: bool,
    pub(super) invalid_deletion_cost: bool,
    pub(crate) invalid_selector_values: bool,
    pub(super) indivisible_huge_pages: bool,
    pub(super) invalid_topology_selector: bool,
    pub(super) non_local_token_path: bool,
    pub(super) host_sysctls: bool,
    pub(super) invalid_node_affinity_values: bool,
    pub(super) violates_match_label_keys: bool,
    pub(super) restart_container_of_init: bool,
    pub(super) user_namespace_devices: bool,
    pub(super) user_namespace_host_network: bool,
    pub(super) comparing_tolerations: bool,
    pub(super) empty_image_reference: bool,
    pub(super) unescalated_sys_admin: bool,
    /// Whether containers may have policies of their own for restarts.
    pub(super) restart_rules: bool,
    /// Whether they may restart all containers.
    pub(super) restart_all_containers: bool,
    /// Whether seccomp profiles may be of registries.
    pub(super) profiles_of_registries: bool,
    /// Whether the old object says how volumes are labelled: then this may be said in any way.
    pub(super) says_how_to_label: bool,
}

impl PodOptions {
    /// The options of a server with some features.
    pub(crate) fn with_gates(self, gates: FeatureSet) -> Self {
        PodOptions {
            invalid_deletion_cost: self.invalid_deletion_cost || !gates.validates_deletion_costs,
            user_namespace_host_network: self.user_namespace_host_network || gates.shares_host_network,
            comparing_tolerations: self.comparing_tolerations || gates.compares_tolerations,
            restart_rules: self.restart_rules || gates.has_restart_rules,
            restart_all_containers: self.restart_all_containers || gates.restarts_all_containers,
            profiles_of_registries: self.profiles_of_registries || gates.pulls_profiles,
            ..self
        }
    }

    /// The options for a Pod.
    pub(crate) fn of_pod(self) -> Self {
        PodOptions { is_pod: true, ..self }
    }
}

/// Whether a label selector has values that no label can have.
pub(super) fn has_invalid_selector(selector: &Node<'_, '_>) -> bool {
    has_invalid_values(selector)
}
