//! TaintNodesByCondition: new nodes are not ready.

use pratique_plugin::{Handler, MutableAttributes, PluginContext, PluginFactory};
use pratique_types::Operation;

use crate::answer::forbidden;
use crate::object::{elements, elements_mut, go_type, is_kind, object, text};
use crate::plain::{Answer, PlainPlugin, plain};

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new("TaintNodesByCondition", &[Operation::Create]).mutating(),
    make: |_| plain(FACTORY.handler, TaintNodesByCondition),
};

// Upstream: plugin/pkg/admission/nodetaint/admission.go
struct TaintNodesByCondition;

const KEY: &str = "node.kubernetes.io/not-ready";
const EFFECT: &str = "NoSchedule";

impl PlainPlugin for TaintNodesByCondition {
    fn admit(&self, attributes: &mut MutableAttributes<'_, '_>, _: &PluginContext<'_>) -> Answer {
        let request = attributes.request;
        let resource = &request.resource;
        if resource.resource != "nodes" || !resource.group.is_empty() || !request.sub_resource.is_empty() {
            return Ok(());
        }
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
