//! The Services beside one that asks for an address or a port of nodes.

use pratique_json::Value;
use pratique_policy::Cluster;
use pratique_registry::{Attributes, keep_allocations};
use pratique_types::GroupVersionKind;
use pratique_validation::{ServiceState, asks_for_families, count_asked};

/// The Services of a cluster and its networks, as far as they are known.
pub(super) struct KnownServices<'c> {
    services: Vec<&'c Value<'c>>,
    has_all_services: bool,
    networks: Vec<&'c Value<'c>>,
    is_of_cluster: bool,
}

/// A Service as a request asks for it, after mutating admission and before anything is allocated to it.
#[derive(Clone, Debug)]
pub struct RequestedService {
    /// The Service, with the addresses and ports that it asks for.
    pub object: Value<'static>,
    /// Whether nothing is left open but whether it gets the one address or port that it asks for: whoever asks for the same does
    /// not get it, for the Service has it or another.
    pub is_certain: bool,
}

impl RequestedService {
    /// Keeps the addresses and ports that the Service has in its stored form, where the request leaves them out.
    pub fn keep_allocations(&mut self, stored: &Value<'_>) {
        keep_allocations(&mut self.object, &stored.clone().into_owned());
    }
}

impl<'c> KnownServices<'c> {
    /// Those of a cluster, beside a Service that may be one of its own.
    pub(super) fn of_cluster(cluster: &'c dyn Cluster, is_of_cluster: bool) -> Self {
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
            is_of_cluster,
        }
    }

    /// The state beside a Service as it was sent.
    pub(super) fn beside<'s>(&'s self, sent: &'s Value<'s>) -> ServiceState<'s> {
        ServiceState {
            sent,
            services: &self.services,
            has_all_services: self.has_all_services,
            networks: &self.networks,
            is_of_cluster: self.is_of_cluster,
        }
    }
}

/// Whether a request is for a Service.
pub(super) fn is_of_service(attributes: &Attributes<'_>) -> bool {
    let is_service = attributes.kind.is_core("Service");
    is_service && attributes.subresource.is_empty()
}

/// Whether what becomes of a request depends on the networks of the cluster and its Services; it is as it was sent.
pub(super) fn depends_on_services(attributes: &Attributes<'_>, sent: &Value<'_>) -> bool {
    let old = &attributes.old_object;
    let asks_anew = || sent.at(FAMILIES) != old.at(FAMILIES) || sent.at(POLICY) != old.at(POLICY);
    is_of_service(attributes) && (count_asked(sent, old) > 0 || asks_for_families(sent) && asks_anew())
}

const FAMILIES: &[&str] = &["spec", "ipFamilies"];
const POLICY: &[&str] = &["spec", "ipFamilyPolicy"];

/// Whether a request for a Service asks for one address or one port of the cluster, and for nothing else of it.
pub(super) fn asks_for_one(attributes: &Attributes<'_>, sent: &Value<'_>) -> bool {
    count_asked(sent, &attributes.old_object) == 1 && !asks_for_families(sent)
}
