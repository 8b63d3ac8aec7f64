//! DenyServiceExternalIPs: services get no external addresses that they do not have.

use std::collections::HashSet;

use pratique_core::Attributes;
use pratique_json::Value;
use pratique_plugin::{Handler, PluginContext, PluginFactory};
use pratique_types::Operation;

use super::ingress_class::go_kind;
use crate::answer::{forbidden, internal};
use crate::object::{elements, is_kind};
use crate::plain::{Answer, PlainPlugin, plain};

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new("DenyServiceExternalIPs", &[Operation::Create, Operation::Update]).validating(),
    make: |_| plain(FACTORY.handler, DenyServiceExternalIps),
};

// Upstream: plugin/pkg/admission/network/denyserviceexternalips/admission.go
struct DenyServiceExternalIps;

impl PlainPlugin for DenyServiceExternalIps {
    fn validate(&self, attributes: &Attributes<'_>, _: &PluginContext<'_>) -> Answer {
        let request = attributes.request;
        let resource = &request.resource;
        if resource.resource != "services" || !resource.group.is_empty() || !request.sub_resource.is_empty() {
            return Ok(());
        }
        let old = &request.old_object;
        let is_service = |object: &Value<'_>| is_kind(object, "", "Service");
        if !is_service(attributes.object) || !(old.is_null() || is_service(old)) {
            let kind = go_kind(&request.kind);
            return Err(internal(&format!("Expected Service resource, got: {kind}")));
        }
        let path = ["spec", "externalIPs"];
        let known: HashSet<Option<&str>> = elements(old, &path).iter().map(Value::as_str).collect();
        match elements(attributes.object, &path)
            .iter()
            .all(|address| known.contains(&address.as_str()))
        {
            true => Ok(()),
            false => Err(forbidden(
                attributes,
                "Use of external IPs is denied by admission control",
            )),
        }
    }
}
