//! The Services beside one that asks for an address or a port of nodes.

use pratique_json::Value;
use pratique_policy::Cluster;
use pratique_registry::Attributes;
use pratique_types::GroupVersionKind;
use pratique_validation::{ServiceState, asks_for_allocation};

/// The Services of a cluster and its networks, as far as they are known.
pub(super) struct KnownServices<'c> {
    services: Vec<&'c Value<'c>>,
    has_all_services: bool,
    networks: Vec<&'c Value<'c>>,
}

impl<'c> KnownServices<'c> {
    /// Those of a cluster.
    pub(super) fn of_cluster(cluster: &'c dyn Cluster) -> Self {
        let services = GroupVersionKind::new("", "v1", "Service");
        let networks = GroupVersionKind::new("networking.k8s.io", "v1", "ServiceCIDR");
        let known = cluster.objects_of_kind(&services);
        let all_networks = cluster.objects_of_kind(&networks);
        KnownServices {
            has_all_services: known.is_some() && cluster.knows_params(&services),
            services: known.unwrap_or_default(),
            networks: all_networks
                .filter(|_| cluster.knows_params(&networks))
                .unwrap_or_default(),
        }
    }

    /// The state beside a Service as it was sent.
    pub(super) fn beside<'s>(&'s self, sent: &'s Value<'s>) -> ServiceState<'s> {
        ServiceState {
            sent,
            services: &self.services,
            has_all_services: self.has_all_services,
            networks: &self.networks,
        }
    }
}

/// Whether a request is for a Service that asks for what others may have; it is as it was sent.
pub(super) fn asks_for_addresses(attributes: &Attributes<'_>, sent: &Value<'_>) -> bool {
    let is_service = attributes.kind.group.is_empty() && attributes.kind.kind == "Service";
    is_service && attributes.subresource.is_empty() && asks_for_allocation(sent, &attributes.old_object)
}
