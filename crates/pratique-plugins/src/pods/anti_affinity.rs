//! LimitPodHardAntiAffinityTopology: pods may keep away from others on a node only.

use pratique_core::Attributes;
use pratique_plugin::{Handler, PluginContext, PluginFactory};
use pratique_types::Operation;

use super::{has_pod, is_for_whole_pods};
use crate::answer::{bad_request, forbidden_as};
use crate::object::{elements, name, text};
use crate::plain::{Answer, PlainPlugin, plain};

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new(
        "LimitPodHardAntiAffinityTopology",
        &[Operation::Create, Operation::Update],
    )
    .validating(),
    make: |_| plain(FACTORY.handler, LimitPodHardAntiAffinityTopology),
};

// Upstream: plugin/pkg/admission/antiaffinity/admission.go
struct LimitPodHardAntiAffinityTopology;

impl PlainPlugin for LimitPodHardAntiAffinityTopology {
    fn validate(&self, attributes: &Attributes<'_>, _: &PluginContext<'_>) -> Answer {
        if !is_for_whole_pods(attributes.request) {
            return Ok(());
        }
        if !has_pod(attributes) {
            return Err(bad_request(
                "Resource was marked with kind Pod but was unable to be converted",
            ));
        }
        let path = [
            "spec",
            "affinity",
            "podAntiAffinity",
            "requiredDuringSchedulingIgnoredDuringExecution",
        ];
        let mut keys = elements(attributes.object, &path)
            .iter()
            .map(|term| text(term, &["topologyKey"]));
        match keys.find(|key| *key != "kubernetes.io/hostname") {
            None => Ok(()),
            Some(key) => {
                let error = format!(
                    "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {key} but only key \
                     kubernetes.io/hostname is allowed"
                );
                Err(forbidden_as(
                    &attributes.request.resource,
                    name(attributes.object),
                    &error,
                ))
            }
        }
    }
}
