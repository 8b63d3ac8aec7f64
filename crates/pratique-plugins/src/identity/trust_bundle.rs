//! ClusterTrustBundleAttest: trust in a signer is declared by who may do it for the signer.

use pratique_core::Attributes;
use pratique_gotext::strconv::quote;
use pratique_json::{Object, Value};
use pratique_types::Operation;

use super::CERTIFICATES;
use super::signers::is_authorized;
use crate::answer::forbidden;
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{go_type, is_kind, text};

// Upstream: plugin/pkg/admission/certificates/ctbattest/admission.go
pub(crate) struct ClusterTrustBundleAttest;

impl BuiltInPlugin for ClusterTrustBundleAttest {
    fn validate(&self, attributes: &Attributes<'_>, context: &mut PluginCall<'_>) -> PluginAnswer {
        let request = attributes.request;
        let resource = &request.resource;
        if resource.resource != "clustertrustbundles" || resource.group != CERTIFICATES {
            return Ok(());
        }
        let (bundle, old) = (attributes.object, &request.old_object);
        if !is_kind(bundle, CERTIFICATES, "ClusterTrustBundle") {
            // The reference shows the type of the old object here.
            let actual_type = go_type(old);
            let error = format!("expected type ClusterTrustBundle, got: {actual_type}");
            return Err(forbidden(attributes, error));
        }
        let signer = text(bundle, &["spec", "signerName"]);
        let is_same = request.operation == Operation::Update && changes_ownership_only(bundle, old);
        if signer.is_empty() || is_same || is_authorized(context, &request.user_info, "attest", signer)? {
            return Ok(());
        }
        let signer = quote(signer);
        let error = format!("user not permitted to attest for signerName {signer}");
        Err(forbidden(attributes, error))
    }
}

/// Whether an object differs from the stored one only in fields that garbage collection changes.
// Upstream: pkg/registry/rbac/helpers.go, IsOnlyMutatingGCFields
fn changes_ownership_only(object: &Value<'_>, old: &Value<'_>) -> bool {
    const OWNERSHIP: [&str; 4] = ["ownerReferences", "finalizers", "selfLink", "managedFields"];
    let metadata = |object: &Value<'_>| -> Vec<(String, Value<'static>)> {
        let members = object.get("metadata").and_then(Value::as_object).into_iter();
        let members = members.flat_map(Object::iter);
        let relevant = members.filter(|(key, value)| !OWNERSHIP.contains(key) && !value.is_empty());
        relevant
            .map(|(key, value)| (key.to_owned(), value.clone().into_owned()))
            .collect()
    };
    old.as_object().is_some() && metadata(object) == metadata(old) && object.get("spec") == old.get("spec")
}
