//! The options of a specification, by the one that was there before.

use super::options::PodOptions;
use super::{affinity, annotations, containers, paths, resources, restart_rules, security_context, topology};
use crate::errors::Errors;
use crate::node::Node;
use crate::quantities::is_huge_pages;
use crate::selector::validate_selector;

impl PodOptions {
    /// The options for a specification, by the one that was there before.
    // Upstream: pkg/api/pod/util.go, GetValidationOptionsFromPodSpecAndMeta
    pub(crate) fn from_old(old: &Node<'_, '_>, old_annotations: &Node<'_, '_>) -> Self {
        if !old.is_set() {
            return PodOptions::default();
        }
        PodOptions {
            is_pod: false,
            invalid_deletion_cost: annotations::has_invalid_deletion_cost(old_annotations),
            invalid_selector_values: affinity::has_invalid_selector_values(old),
            indivisible_huge_pages: has_indivisible_huge_pages(old),
            invalid_topology_selector: has_invalid_topology_selector(old),
            non_local_token_path: has_non_local_token_path(old),
            host_sysctls: security_context::has_host_sysctls(old),
            invalid_node_affinity_values: affinity::has_invalid_node_values(old),
            violates_match_label_keys: topology::violates_match_label_keys(old),
            restart_container_of_init: containers::has_restart_container_of_init(old),
            user_namespace_devices: old.child("hostUsers").some_bool() == Some(false)
                && any_container(old, |container| !container.child("volumeDevices").is_empty()),
            user_namespace_host_network: old.child("hostUsers").some_bool() == Some(false)
                && old.child("hostNetwork").is_true(),
            comparing_tolerations: has_comparing_tolerations(old),
            empty_image_reference: has_empty_image_reference(old),
            unescalated_sys_admin: any_container(old, security_context::is_unescalated_sys_admin),
            restart_rules: restart_rules::has_restart_rules(old),
            restart_all_containers: restart_rules::restarts_all_containers(old),
            profiles_of_registries: security_context::has_profile_of_registry(old)
                || any_container(old, security_context::has_profile_of_registry),
            says_how_to_label: old.child("securityContext").child("seLinuxChangePolicy").is_set(),
        }
    }
}

/// Whether a container of any kind is so.
fn any_container(spec: &Node<'_, '_>, is_so: impl Fn(&Node<'_, '_>) -> bool) -> bool {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    lists
        .iter()
        .any(|list| spec.child(list).items().any(|container| is_so(&container)))
}

fn has_indivisible_huge_pages(spec: &Node<'_, '_>) -> bool {
    let is_indivisible = |list: &Node<'_, '_>| {
        list.entries()
            .any(|(name, value)| is_huge_pages(name) && !resources::is_divisible(name, &value))
    };
    let of_container = |container: &Node<'_, '_>| {
        let resources = container.child("resources");
        is_indivisible(&resources.child("limits")) || is_indivisible(&resources.child("requests"))
    };
    any_container(spec, of_container) || is_indivisible(&spec.child("overhead"))
}

fn has_invalid_topology_selector(spec: &Node<'_, '_>) -> bool {
    let mut errors = Errors::default();
    for constraint in spec.child("topologySpreadConstraints").items() {
        validate_selector(&constraint.child("labelSelector"), false, &mut errors);
    }
    !errors.is_empty()
}

fn has_non_local_token_path(spec: &Node<'_, '_>) -> bool {
    let mut errors = Errors::default();
    for volume in spec.child("volumes").items() {
        let projected = volume.child("projected");
        for source in projected.child("sources").items() {
            let token = source.child("serviceAccountToken");
            if token.is_set() {
                paths::validate_local_path(&token.child("path"), &token.child("path"), &mut errors);
            }
        }
    }
    !errors.is_empty()
}

fn has_comparing_tolerations(spec: &Node<'_, '_>) -> bool {
    spec.child("tolerations")
        .items()
        .any(|toleration| ["Lt", "Gt"].contains(&toleration.child("operator").as_text()))
}

fn has_empty_image_reference(spec: &Node<'_, '_>) -> bool {
    spec.child("volumes").items().any(|volume| {
        let image = volume.child("image");
        image.is_set() && image.child("reference").as_text().is_empty()
    })
}
