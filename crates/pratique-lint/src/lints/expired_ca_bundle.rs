//! Webhooks whose `caBundle` has no certificate that is valid.
//!
//! # What
//!
//! None of the certificates in the `caBundle` of a webhook is valid now: the last one has expired, or is not valid yet.
//! A bundle with old and new certificates is fine as long as one of them is valid.
//!
//! # Why
//!
//! No call of the webhook succeeds.
//!
//! # Example
//!
//! A `caBundle` with a certificate that is valid until 2026-01-01, one day later. Renew the certificate.

use std::time::{Duration, SystemTime};

use x509_parser::certificate::X509Certificate;
use x509_parser::time::ASN1Time;

use crate::ca_bundle::{CaBundle, report_bundle};
use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};

/// The lint `expired-ca-bundle`.
pub(crate) struct ExpiredCaBundle;

impl Lint for ExpiredCaBundle {
    const META: &'static LintMeta = &LintMeta {
        name: "expired-ca-bundle",
        summary: "The certificates in the caBundle of a webhook have expired or are not valid yet, so that no call succeeds.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(webhook) = context.webhook() else {
            return;
        };
        if let (Some(bundle), Some(now)) = (CaBundle::from_webhook(webhook), context.options.now)
            && let Some(finding) = expired_finding(&bundle.certificates(), now)
        {
            report_bundle(webhook, finding, report);
        }
    }
}

/// Warns only if no certificate is valid: while authorities are rotated, a bundle has old and new ones.
fn expired_finding(certificates: &[X509Certificate<'_>], now: SystemTime) -> Option<LintFinding> {
    let now = now
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    let now = ASN1Time::from_timestamp(i64::try_from(now.as_secs()).unwrap_or(i64::MAX)).ok()?;
    let is_valid = |certificate: &X509Certificate<'_>| certificate.validity().is_valid_at(now);
    if certificates.iter().any(is_valid) {
        return None;
    }
    let last = certificates
        .iter()
        .max_by_key(|certificate| certificate.validity().not_after.timestamp())?;
    let validity = last.validity();
    let (message, help) = if now < validity.not_before {
        (
            format!(
                "the certificate in caBundle is not valid before {}",
                validity.not_before
            ),
            "wait until then, or check the clock of the machine that made it",
        )
    } else {
        (
            format!("the certificate in caBundle expired on {}", validity.not_after),
            "renew it, and the webhook's own certificate with it",
        )
    };
    let subject = last.subject().to_string();
    let message = match (certificates.len(), subject.as_str()) {
        (1, "") => message,
        (1, subject) => message.replacen("the certificate", &format!("the certificate {subject:?}"), 1),
        _ => message.replacen("the certificate in", "the last certificate in", 1),
    };
    Some(
        LintFinding::new(
            ExpiredCaBundle::META,
            format!("{message}: no call of the webhook succeeds"),
        )
        .help(help),
    )
}

#[cfg(test)]
mod tests {
    use crate::lints::testing::{CERTIFICATE, check_bundle, year};

    #[test]
    fn times() {
        let bundle = CERTIFICATE.as_bytes();
        check_bundle(
            year(60),
            bundle,
            &[("expired-ca-bundle", "expired on Jan  1 00:00:00 2026")],
        );
        check_bundle(
            year(50),
            bundle,
            &[("expired-ca-bundle", "is not valid before Jan  1 00:00:00 2025")],
        );
        check_bundle(None, bundle, &[]);
    }
}
