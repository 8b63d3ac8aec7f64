//! LimitPodHardAntiAffinityTopology: pods may keep away from others on a node only.

use pratique_core::Attributes;

use super::has_pod;
use crate::answer::{bad_request, forbidden_as};
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{elements, name, text};

// Upstream: plugin/pkg/admission/antiaffinity/admission.go
pub(crate) struct LimitPodHardAntiAffinityTopology;

impl BuiltInPlugin for LimitPodHardAntiAffinityTopology {
    fn validate(&self, attributes: &Attributes<'_>, _: &mut PluginCall<'_>) -> PluginAnswer {
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
