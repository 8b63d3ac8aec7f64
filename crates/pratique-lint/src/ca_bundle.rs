//! The `caBundle` of webhooks.
//!
//! An API server parses the bundle at the first call only: client-go, rest/config.go, which uses the PEM blocks of type
//! CERTIFICATE.

use pratique_manifest::PathStep;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;

use crate::pem::{self, PemBlock};
use crate::report::{LintFinding, LintReport};
use crate::subject::WebhookView;

/// The bundle of a webhook, as far as it is PEM.
pub(crate) struct CaBundle<'w> {
    pub(crate) bytes: &'w [u8],
    /// None if it is no PEM.
    pub(crate) blocks: Vec<PemBlock>,
}

impl<'w> CaBundle<'w> {
    /// The bundle of a webhook; `None` if it has none, or if a program in the cluster writes it.
    pub(crate) fn from_webhook(webhook: &WebhookView<'w>) -> Option<Self> {
        let bytes = webhook.ca_bundle.filter(|bundle| !bundle.is_empty())?;
        // What stands there is a placeholder, such as a line break, or the bundle of an earlier certificate.
        (!webhook.has_injected_bundle).then(|| CaBundle::new(bytes))
    }

    pub(crate) fn new(bytes: &'w [u8]) -> Self {
        CaBundle {
            bytes,
            blocks: pem::blocks(bytes),
        }
    }

    /// The certificates in it that can be read.
    pub(crate) fn certificates(&self) -> Vec<X509Certificate<'_>> {
        let certificates = self
            .blocks
            .iter()
            .filter(|block| block.label == "CERTIFICATE" && !block.has_headers);
        certificates
            .filter_map(|block| Some(X509Certificate::from_der(&block.content).ok()?.1))
            .collect()
    }
}

/// Reports a finding about the bundle of a webhook.
pub(crate) fn report_bundle(webhook: &WebhookView<'_>, finding: LintFinding, report: &mut LintReport) {
    let mut path = webhook.path.clone();
    path.extend(["clientConfig", "caBundle"].map(|name| PathStep::Field(name.to_owned())));
    report.add(&webhook.origin, &path, finding);
}

#[cfg(test)]
mod tests {
    use crate::lints::testing::{CERTIFICATE, KEY, check_bundle, check_injected_bundle, year};

    #[test]
    fn good_bundles() {
        check_bundle(year(55), CERTIFICATE.as_bytes(), &[]);
        check_bundle(None, CERTIFICATE.as_bytes(), &[]);
        check_bundle(year(55), b"", &[]);
        let among_others = format!("# authority\n{KEY}{CERTIFICATE}");
        check_bundle(year(55), among_others.as_bytes(), &[]);
    }

    #[test]
    fn bundles_that_are_injected_are_placeholders() {
        for annotation in [
            "cert-manager.io/inject-ca-from: shop/serving",
            "cert-manager.io/inject-ca-from-secret: shop/ca",
            "cert-manager.io/inject-apiserver-ca: 'true'",
            "certmanager.k8s.io/inject-ca-from: shop/serving",
            "service.beta.openshift.io/inject-cabundle: 'true'",
        ] {
            let annotations = format!("{{{annotation}}}");
            check_injected_bundle(&annotations, year(55), b"\n", &[]);
            check_injected_bundle(&annotations, year(60), CERTIFICATE.as_bytes(), &[]);
        }
        let malformed = [("malformed-ca-bundle", "caBundle is no PEM")];
        for other in [
            "{}",
            "{service.beta.openshift.io/inject-cabundle: 'false'}",
            "{cert-manager.io/inject-ca-from: ''}",
            "{example.com/inject-ca-from: a}",
        ] {
            check_injected_bundle(other, year(55), b"\n", &malformed);
        }
    }
}
