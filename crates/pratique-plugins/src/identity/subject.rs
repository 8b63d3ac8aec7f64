//! CertificateSubjectRestriction: certificates for clients do not make their holders administrators.

use pratique_core::Attributes;
use pratique_objects::CertificateRequest;
use pratique_plugin::{Handler, PluginContext, PluginFactory};
use pratique_types::Operation;

use super::CERTIFICATES;
use crate::answer::forbidden;
use crate::object::{go_type, is_kind, text};
use crate::plain::{Answer, PlainPlugin, plain};

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new("CertificateSubjectRestriction", &[Operation::Create]).validating(),
    make: |_| plain(FACTORY.handler, CertificateSubjectRestriction),
};

// Upstream: plugin/pkg/admission/certificates/subjectrestriction/admission.go
struct CertificateSubjectRestriction;

const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";

impl PlainPlugin for CertificateSubjectRestriction {
    fn validate(&self, attributes: &Attributes<'_>, _: &PluginContext<'_>) -> Answer {
        let request = attributes.request;
        let resource = &request.resource;
        if resource.resource != "certificatesigningrequests"
            || resource.group != CERTIFICATES
            || !request.sub_resource.is_empty()
        {
            return Ok(());
        }
        let object = attributes.object;
        if !is_kind(object, CERTIFICATES, "CertificateSigningRequest") {
            let found = go_type(object);
            let error = format!("expected type CertificateSigningRequest, got: {found}");
            return Err(forbidden(attributes, error));
        }
        if text(object, &["spec", "signerName"]) != CLIENT_SIGNER {
            return Ok(());
        }
        let subject = CertificateRequest::parse(text(object, &["spec", "request"]))
            .map_err(|error| forbidden(attributes, format!("failed to parse CSR: {error}")))?;
        match subject
            .organizations
            .iter()
            .any(|group| group == "system:masters")
        {
            false => Ok(()),
            true => {
                let error = format!("use of {CLIENT_SIGNER} signer with system:masters group is not allowed");
                Err(forbidden(attributes, error))
            }
        }
    }
}
