//! CertificateSubjectRestriction: certificates for clients do not make their holders administrators.

use pratique_core::Attributes;
use pratique_objects::CertificateRequest;

use super::CERTIFICATES;
use crate::answer::forbidden;
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{go_type, is_kind, text};

// Upstream: plugin/pkg/admission/certificates/subjectrestriction/admission.go
pub(crate) struct CertificateSubjectRestriction;

const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";

impl BuiltInPlugin for CertificateSubjectRestriction {
    fn validate(&self, attributes: &Attributes<'_>, _: &mut PluginCall<'_>) -> PluginAnswer {
        let object = attributes.object;
        if !is_kind(object, CERTIFICATES, "CertificateSigningRequest") {
            let actual_type = go_type(object);
            let error = format!("expected type CertificateSigningRequest, got: {actual_type}");
            return Err(forbidden(attributes, error));
        }
        if text(object, &["spec", "signerName"]) != CLIENT_SIGNER {
            return Ok(());
        }
        let subject = CertificateRequest::parse(text(object, &["spec", "request"]))
            .map_err(|error| forbidden(attributes, format!("failed to parse CSR: {error}")))?;
        if subject
            .organizations
            .iter()
            .any(|group| group == "system:masters")
        {
            let error = format!("use of {CLIENT_SIGNER} signer with system:masters group is not allowed");
            Err(forbidden(attributes, error))
        } else {
            Ok(())
        }
    }
}
