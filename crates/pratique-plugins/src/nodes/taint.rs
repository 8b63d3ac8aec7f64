//! TaintNodesByCondition: new nodes are not ready.

use pratique_plugin::MutableAttributes;

use crate::answer::forbidden;
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{elements, elements_mut, go_type, is_kind, object, text};

// Upstream: plugin/pkg/admission/nodetaint/admission.go
pub(crate) struct TaintNodesByCondition;

const KEY: &str = "node.kubernetes.io/not-ready";
const EFFECT: &str = "NoSchedule";

impl BuiltInPlugin for TaintNodesByCondition {
    fn admit(&self, attributes: &mut MutableAttributes<'_, '_>, _: &mut PluginCall<'_>) -> PluginAnswer {
        let node = attributes.object();
        if !is_kind(node, "", "Node") {
            let error = format!("unexpected type {}", go_type(node));
            return Err(forbidden(&attributes.as_attributes(), error));
        }
        let mut taints = elements(node, &["spec", "taints"]).iter();
        let is_tainted =
            taints.any(|taint| text(taint, &["key"]) == KEY && text(taint, &["effect"]) == EFFECT);
        if !is_tainted && let Some(taints) = elements_mut(attributes.object_mut(), &["spec"], "taints") {
            taints.push(object([("effect", EFFECT.into()), ("key", KEY.into())]));
        }
        Ok(())
    }
}
