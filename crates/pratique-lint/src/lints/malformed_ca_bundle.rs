//! Webhooks whose `caBundle` is no PEM.
//!
//! # What
//!
//! The `caBundle` of a webhook is base64, but does not decode to PEM: DER, base64 of base64, or a placeholder. A
//! configuration with an annotation by which a program in the cluster writes the bundle
//! (`cert-manager.io/inject-ca-from`, `cert-manager.io/inject-ca-from-secret`, `cert-manager.io/inject-apiserver-ca`,
//! `service.beta.openshift.io/inject-cabundle`) may have any placeholder, such as `Cg==`.
//!
//! # Why
//!
//! The server accepts it, and fails when it calls the webhook.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingWebhookConfiguration
//! metadata: {name: placeholder}
//! webhooks:
//! - name: placeholder.example.com
//!   clientConfig: {url: "https://placeholder.example.com", caBundle: Cg==}
//!   admissionReviewVersions: [v1]
//!   sideEffects: None
//!   rules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//! ```
//!
//! Encode the PEM file itself, as in `base64 -w0 ca.crt`.

use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;

use crate::ca_bundle::{CaBundle, report_bundle};
use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::pem;
use crate::report::{LintFinding, LintReport};

/// The lint `malformed-ca-bundle`.
pub(crate) struct MalformedCaBundle;

impl Lint for MalformedCaBundle {
    const META: &'static LintMeta = &LintMeta {
        name: "malformed-ca-bundle",
        summary: "The caBundle of a webhook is no PEM, so that no call succeeds.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(webhook) = context.webhook() else {
            return;
        };
        if let Some(bundle) = CaBundle::from_webhook(webhook).filter(|bundle| bundle.blocks.is_empty()) {
            report_bundle(webhook, malformed_finding(bundle.bytes), report);
        }
    }
}

fn malformed_finding(bundle: &[u8]) -> LintFinding {
    let message = "caBundle is no PEM: no call of the webhook succeeds (unable to load root certificates: unable to \
                   parse bytes as PEM block)";
    let help = if X509Certificate::from_der(bundle).is_ok() {
        "it is a certificate in DER: convert it with openssl x509 -inform der"
    } else if !pem::blocks(&pem::decoded(bundle).unwrap_or_default()).is_empty() {
        "it is encoded in base64 twice: encode the PEM file once"
    } else {
        "encode the PEM file of the certificate authority in base64, from -----BEGIN CERTIFICATE----- on"
    };
    LintFinding::new(MalformedCaBundle::META, message).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{CERTIFICATE, check_bundle, year};

    #[test]
    fn no_pem() {
        let malformed = [("malformed-ca-bundle", "caBundle is no PEM")];
        check_bundle(year(55), b"fake", &malformed);
        check_bundle(None, b"fake", &malformed);
        let twice = pratique_json::base64::encode(CERTIFICATE.as_bytes());
        check_bundle(year(55), twice.as_bytes(), &malformed);
        let cut = CERTIFICATE.replace("-----END CERTIFICATE-----", "");
        check_bundle(year(55), cut.as_bytes(), &malformed);
    }

    #[test]
    fn helps() {
        let help = |bundle: &[u8]| malformed_finding(bundle).help.unwrap();
        let twice = pratique_json::base64::encode(CERTIFICATE.as_bytes());
        assert!(help(twice.as_bytes()).contains("twice"));
        assert!(help(&pem::blocks(CERTIFICATE.as_bytes()).remove(0).content).contains("DER"));
        assert!(help(b"fake").contains("BEGIN CERTIFICATE"));
    }
}
