//! Webhooks whose `caBundle` has no certificate.
//!
//! # What
//!
//! The `caBundle` of a webhook is PEM, but no block in it is a readable certificate: it may be a key, for example.
//!
//! # Why
//!
//! The server notices when it calls the webhook, and no call succeeds.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingWebhookConfiguration
//! metadata: {name: keyed}
//! webhooks:
//! - name: keyed.example.com
//!   clientConfig: {url: "https://keyed.example.com", caBundle: LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCkFBQUEKLS0tLS1FTkQgUFJJVkFURSBLRVktLS0tLQo=}
//!   admissionReviewVersions: [v1]
//!   sideEffects: None
//!   rules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//! ```
//!
//! Use the certificate of the authority that signed the webhook's certificate.

use crate::ca_bundle::{CaBundle, report_bundle};
use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::pem::PemBlock;
use crate::report::{LintFinding, LintReport, listed};

/// The lint `empty-ca-bundle`.
pub(crate) struct EmptyCaBundle;

impl Lint for EmptyCaBundle {
    const META: &'static LintMeta = &LintMeta {
        name: "empty-ca-bundle",
        summary: "The caBundle of a webhook is PEM without a certificate that can be read, so that no call succeeds.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(webhook) = context.webhook() else {
            return;
        };
        if let Some(bundle) = CaBundle::from_webhook(webhook)
            && !bundle.blocks.is_empty()
            && bundle.certificates().is_empty()
        {
            report_bundle(webhook, empty_finding(&bundle.blocks), report);
        }
    }
}

fn empty_finding(blocks: &[PemBlock]) -> LintFinding {
    let mut labels: Vec<&str> = blocks.iter().map(|block| block.label.as_str()).collect();
    labels.dedup();
    let content = if labels.contains(&"CERTIFICATE") {
        "no certificate that can be read".to_owned()
    } else {
        format!("no certificate, only {}", listed(&labels))
    };
    LintFinding::new(
        EmptyCaBundle::META,
        format!("caBundle holds {content}: no call of the webhook succeeds"),
    )
    .help("put the certificate of the authority there that signed the webhook's own")
}

#[cfg(test)]
mod tests {
    use crate::lints::testing::{KEY, check_bundle, year};

    #[test]
    fn no_certificate() {
        check_bundle(
            year(55),
            KEY.as_bytes(),
            &[("empty-ca-bundle", "only PRIVATE KEY")],
        );
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        check_bundle(
            year(55),
            broken.as_bytes(),
            &[("empty-ca-bundle", "that can be read")],
        );
    }
}
