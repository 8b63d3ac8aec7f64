//! CertificateApproval and CertificateSigning: certificates are approved and signed by who may do it for the signer.

use pratique_core::Attributes;
use pratique_gotext::strconv::quote;
use pratique_json::Value;
use pratique_plugin::Rejection;

use super::CERTIFICATES;
use super::signers::is_authorized;
use crate::answer::forbidden;
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{elements, go_type, is_kind, text};

/// A plugin for a part of certificate signing requests, whose change needs a permission.
// Upstream: plugin/pkg/admission/certificates/approval/admission.go
// Upstream: plugin/pkg/admission/certificates/signing/admission.go
pub(crate) struct CertificatePermission {
    /// The verb of the permission: `approve` or `sign`.
    pub(crate) verb: &'static str,
}

impl BuiltInPlugin for CertificatePermission {
    fn validate(&self, attributes: &Attributes<'_>, context: &mut PluginCall<'_>) -> PluginAnswer {
        let request = attributes.request;
        let (old, new) = (&request.old_object, attributes.object);
        check_type(attributes, old)?;
        if self.verb == "sign" {
            check_type(attributes, new)?;
            // Go distinguishes an empty certificate from an absent one, which only the client's object shows.
            let is_given = request
                .object
                .at(&["status", "certificate"])
                .is_some_and(|given| !given.is_null());
            let certificate = |object| text(object, &["status", "certificate"]);
            let had_one = !certificate(old).is_empty();
            let is_certified = !certificate(new).is_empty() || is_given;
            let conditions = |object| elements(object, &["status", "conditions"]);
            if had_one == is_certified
                && certificate(old) == certificate(new)
                && conditions(old) == conditions(new)
            {
                return Ok(());
            }
        }
        // The signer is that of the stored request: a change of it is refused elsewhere.
        let signer = text(old, &["spec", "signerName"]);
        if is_authorized(context, &request.user_info, self.verb, signer)? {
            Ok(())
        } else {
            let (verb, signer) = (self.verb, quote(signer));
            let error = format!("user not permitted to {verb} requests with signerName {signer}");
            Err(forbidden(attributes, error))
        }
    }
}

fn check_type(attributes: &Attributes<'_>, object: &Value<'_>) -> Result<(), Rejection> {
    if is_kind(object, CERTIFICATES, "CertificateSigningRequest") {
        Ok(())
    } else {
        let actual_type = go_type(object);
        let error = format!("expected type CertificateSigningRequest, got: {actual_type}");
        Err(forbidden(attributes, error))
    }
}
