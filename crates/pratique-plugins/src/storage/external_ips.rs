//! DenyServiceExternalIPs: services get no external addresses that they do not have.

use std::collections::HashSet;

use pratique_core::Attributes;
use pratique_json::Value;

use crate::answer::{expected_resource, forbidden};
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{elements, is_kind};

// Upstream: plugin/pkg/admission/network/denyserviceexternalips/admission.go
pub(crate) struct DenyServiceExternalIps;

impl BuiltInPlugin for DenyServiceExternalIps {
    fn validate(&self, attributes: &Attributes<'_>, _: &mut PluginCall<'_>) -> PluginAnswer {
        let request = attributes.request;
        let old = &request.old_object;
        let is_service = |object: &Value<'_>| is_kind(object, "", "Service");
        if !is_service(attributes.object) || !(old.is_null() || is_service(old)) {
            return Err(expected_resource("Service", request));
        }
        let path = ["spec", "externalIPs"];
        let old_addresses: HashSet<Option<&str>> = elements(old, &path).iter().map(Value::as_str).collect();
        if elements(attributes.object, &path)
            .iter()
            .all(|address| old_addresses.contains(&address.as_str()))
        {
            Ok(())
        } else {
            Err(forbidden(
                attributes,
                "Use of external IPs is denied by admission control",
            ))
        }
    }
}
