//! ExtendedResourceToleration: pods tolerate the taints of nodes with the extended resources that they request.

use std::collections::BTreeSet;

use pratique_gotext::validation::qualified_name;
use pratique_json::Object;
use pratique_plugin::MutableAttributes;

use super::toleration::PodToleration;
use super::{containers, is_pod};
use crate::answer::bad_request;
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{elements_mut, go_type, members};

// Upstream: plugin/pkg/admission/extendedresourcetoleration/admission.go
pub(crate) struct ExtendedResourceToleration;

impl BuiltInPlugin for ExtendedResourceToleration {
    fn admit(&self, attributes: &mut MutableAttributes<'_, '_>, _: &mut PluginCall<'_>) -> PluginAnswer {
        let pod = attributes.object();
        if !is_pod(pod) {
            return Err(bad_request(format!(
                "expected *core.Pod but got {}",
                go_type(pod)
            )));
        }
        let requests = ["containers", "initContainers"]
            .into_iter()
            .flat_map(|list| containers(pod, list))
            .filter_map(|container| members(container, &["resources", "requests"]));
        let names: BTreeSet<String> = requests
            .flat_map(Object::iter)
            .map(|(name, _)| name)
            .filter(|name| is_extended(name))
            .map(str::to_owned)
            .collect();
        tolerate(attributes, &names);
        Ok(())
    }
}

// Upstream: pkg/apis/core/helper/helpers.go, AddOrUpdateTolerationInPod
fn tolerate(attributes: &mut MutableAttributes<'_, '_>, names: &BTreeSet<String>) {
    if names.is_empty() {
        return;
    }
    let Some(tolerations) = elements_mut(attributes.object_mut(), &["spec"], "tolerations") else {
        return;
    };
    let added = |key| PodToleration {
        key,
        operator: "Exists",
        effect: "NoSchedule",
        ..PodToleration::default()
    };
    let mut updated: BTreeSet<&str> = BTreeSet::new();
    for toleration in tolerations.iter_mut() {
        let of_pod = PodToleration {
            seconds: None,
            ..PodToleration::new(toleration)
        };
        // One that differs in its seconds only is replaced.
        if let Some(name) = names.get(of_pod.key)
            && of_pod == added(name)
        {
            *toleration = added(name).to_value();
            updated.insert(name);
        }
    }
    let missing = names.iter().filter(|name| !updated.contains(name.as_str()));
    tolerations.extend(missing.map(|name| added(name).to_value()));
}

// Upstream: pkg/apis/core/helper/helpers.go, IsExtendedResourceName
fn is_extended(name: &str) -> bool {
    let is_native = !name.contains('/') || name.contains("kubernetes.io/");
    !is_native && !name.starts_with("requests.") && qualified_name(&format!("requests.{name}")).is_empty()
}
