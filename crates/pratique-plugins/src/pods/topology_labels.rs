//! PodTopologyLabels: pods and their bindings get the zone and the region of their node as labels.

use pratique_json::Value;
use pratique_plugin::{MutableAttributes, Rejection, StateKind};

use super::{is_for_pods, is_pod};
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{descend_mut, go_type, is_kind, members, text};

// Upstream: plugin/pkg/admission/podtopologylabels/admission.go
pub(crate) struct PodTopologyLabels;

/// The labels that are copied.
const LABELS: [&str; 2] = ["topology.kubernetes.io/region", "topology.kubernetes.io/zone"];

impl BuiltInPlugin for PodTopologyLabels {
    fn admit(
        &self,
        attributes: &mut MutableAttributes<'_, '_>,
        context: &mut PluginCall<'_>,
    ) -> PluginAnswer {
        let request = attributes.request;
        if !is_for_pods(request) {
            return Ok(());
        }
        let object = attributes.object();
        let node = match request.sub_resource.as_str() {
            "" if !is_pod(object) => {
                return Err(Rejection::error(format!(
                    "expected Pod but got {}",
                    go_type(object)
                )));
            }
            "" => text(object, &["spec", "nodeName"]),
            "binding" if !is_kind(object, "", "Binding") => {
                let kind = &request.kind.kind;
                return Err(Rejection::error(format!("expected Binding but got {kind}")));
            }
            "binding" if text(object, &["target", "kind"]) == "Node" => text(object, &["target", "name"]),
            _ => return Ok(()),
        };
        if node.is_empty() {
            return Ok(());
        }
        let Some(node) = context.state.find(StateKind::NODE, "", node)? else {
            return Ok(());
        };
        let of_node = members(node, &["metadata", "labels"]);
        for key in LABELS {
            if let Some(value) = of_node.and_then(|labels| labels.get(key)).and_then(Value::as_str)
                && let Some(labels) = descend_mut(attributes.object_mut(), &["metadata", "labels"])
            {
                labels.insert(key, value.to_owned());
            }
        }
        Ok(())
    }
}
