//! Webhooks whose `caBundle` lets no call succeed: it is no PEM, holds no certificate, or none that is valid.
//!
//! An API server parses the bundle at the first call only: client-go, rest/config.go, which uses the PEM blocks of type
//! CERTIFICATE.

use std::time::{Duration, SystemTime};

use pratique_manifest::Step;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;
use x509_parser::time::ASN1Time;

use crate::lint::Lint;
use crate::pem::{self, Block};
use crate::report::{Finding, Report};
use crate::subject::Webhook;

pub(crate) const MALFORMED: Lint = Lint {
    name: "malformed-ca-bundle",
    summary: "The caBundle of a webhook is no PEM, so that no call succeeds.",
};

pub(crate) const EMPTY: Lint = Lint {
    name: "empty-ca-bundle",
    summary: "The caBundle of a webhook is PEM without a certificate that can be read, so that no call succeeds.",
};

pub(crate) const EXPIRED: Lint = Lint {
    name: "expired-ca-bundle",
    summary: "The certificates in the caBundle of a webhook have expired or are not valid yet, so that no call succeeds.",
};

/// Checks the bundle of a webhook; the validity of certificates only if the time is given.
pub(crate) fn check(webhook: &Webhook<'_>, now: Option<SystemTime>, report: &mut Report) {
    let Some(bundle) = webhook.ca_bundle.filter(|bundle| !bundle.is_empty()) else {
        return;
    };
    // What stands there is a placeholder, such as a line break, or the bundle of an earlier certificate.
    if webhook.has_injected_bundle {
        return;
    }
    if let Some(finding) = finding(bundle, now) {
        let mut path = webhook.path.clone();
        path.extend(["clientConfig", "caBundle"].map(|name| Step::Field(name.to_owned())));
        report.add(&webhook.origin, &path, finding);
    }
}

fn finding(bundle: &[u8], now: Option<SystemTime>) -> Option<Finding> {
    let blocks = pem::blocks(bundle);
    if blocks.is_empty() {
        return Some(malformed(bundle));
    }
    let certificates = blocks
        .iter()
        .filter(|block| block.label == "CERTIFICATE" && !block.has_headers);
    let read: Vec<X509Certificate<'_>> = certificates
        .filter_map(|block| Some(X509Certificate::from_der(&block.content).ok()?.1))
        .collect();
    match now {
        _ if read.is_empty() => Some(empty(&blocks)),
        Some(now) => expired(&read, now),
        None => None,
    }
}

fn malformed(bundle: &[u8]) -> Finding {
    let message = "caBundle is no PEM: no call of the webhook succeeds (unable to load root certificates: unable to \
                   parse bytes as PEM block)";
    let help = if X509Certificate::from_der(bundle).is_ok() {
        "it is a certificate in DER: convert it with openssl x509 -inform der"
    } else if !pem::blocks(&pem::decoded(bundle).unwrap_or_default()).is_empty() {
        "it is encoded in base64 twice: encode the PEM file once"
    } else {
        "encode the PEM file of the certificate authority in base64, from -----BEGIN CERTIFICATE----- on"
    };
    Finding::new(&MALFORMED, message).help(help)
}

fn empty(blocks: &[Block]) -> Finding {
    let mut labels: Vec<&str> = blocks.iter().map(|block| block.label.as_str()).collect();
    labels.dedup();
    let content = match labels.contains(&"CERTIFICATE") {
        true => "no certificate that can be read".to_owned(),
        false => format!("no certificate, only {}", crate::report::listed(&labels)),
    };
    Finding::new(
        &EMPTY,
        format!("caBundle holds {content}: no call of the webhook succeeds"),
    )
    .help("put the certificate of the authority there that signed the webhook's own")
}

/// Warns only if no certificate is valid: while authorities are rotated, a bundle has old and new ones.
fn expired(certificates: &[X509Certificate<'_>], now: SystemTime) -> Option<Finding> {
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
    let (message, help) = match now < validity.not_before {
        true => (
            format!(
                "the certificate in caBundle is not valid before {}",
                validity.not_before
            ),
            "wait until then, or check the clock of the machine that made it",
        ),
        false => (
            format!("the certificate in caBundle expired on {}", validity.not_after),
            "renew it, and the webhook's own certificate with it",
        ),
    };
    let subject = last.subject().to_string();
    let message = match (certificates.len(), subject.as_str()) {
        (1, "") => message,
        (1, subject) => message.replacen("the certificate", &format!("the certificate {subject:?}"), 1),
        _ => message.replacen("the certificate in", "the last certificate in", 1),
    };
    Some(Finding::new(&EXPIRED, format!("{message}: no call of the webhook succeeds")).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::load;

    /// Valid from 2025-01-01 to 2026-01-01.
    const CERTIFICATE: &str = include_str!("../../testdata/ca.pem");
    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    const YEAR: u64 = 365 * 24 * 60 * 60;

    /// So many years after 1970.
    fn year(years: u64) -> Option<SystemTime> {
        Some(SystemTime::UNIX_EPOCH + Duration::from_secs(years * YEAR + YEAR / 2))
    }

    #[track_caller]
    fn check_at(now: Option<SystemTime>, bundle: &[u8], expected: &[(&str, &str)]) {
        check_annotated("{}", now, bundle, expected);
    }

    #[track_caller]
    fn check_annotated(annotations: &str, now: Option<SystemTime>, bundle: &[u8], expected: &[(&str, &str)]) {
        for kind in ["Validating", "Mutating"] {
            let bundle = pratique_json::base64::encode(bundle);
            let set = load(&format!(
                "apiVersion: admissionregistration.k8s.io/v1
kind: {kind}WebhookConfiguration
metadata: {{name: w.static.k8s.io, annotations: {annotations}}}
webhooks:
- name: a.example.com
  clientConfig: {{url: 'https://example.com', caBundle: '{bundle}'}}
  admissionReviewVersions: [v1]
  sideEffects: None
  rules: [{{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}}]
"
            ));
            let found = match now {
                Some(now) => crate::lint_with(&[&set], &crate::Options::default().at(now)),
                None => crate::lint(&[&set]),
            };
            let fits = |(warning, (name, part)): (&crate::Warning, &(&str, &str))| {
                warning.lint.name == *name
                    && warning.message.contains(part)
                    && warning.field == "webhooks[0].clientConfig.caBundle"
            };
            let all = found.len() == expected.len() && found.iter().zip(expected).all(fits);
            assert!(all, "expected {expected:#?}\nfound {found:#?}");
        }
    }

    #[test]
    fn good_bundles() {
        check_at(year(55), CERTIFICATE.as_bytes(), &[]);
        check_at(None, CERTIFICATE.as_bytes(), &[]);
        check_at(year(55), b"", &[]);
        let among_others = format!("# authority\n{KEY}{CERTIFICATE}");
        check_at(year(55), among_others.as_bytes(), &[]);
    }

    #[test]
    fn no_pem() {
        let malformed = [("malformed-ca-bundle", "caBundle is no PEM")];
        check_at(year(55), b"fake", &malformed);
        check_at(None, b"fake", &malformed);
        let twice = pratique_json::base64::encode(CERTIFICATE.as_bytes());
        check_at(year(55), twice.as_bytes(), &malformed);
        let cut = CERTIFICATE.replace("-----END CERTIFICATE-----", "");
        check_at(year(55), cut.as_bytes(), &malformed);
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
            check_annotated(&annotations, year(55), b"\n", &[]);
            check_annotated(&annotations, year(60), CERTIFICATE.as_bytes(), &[]);
        }
        let malformed = [("malformed-ca-bundle", "caBundle is no PEM")];
        for other in [
            "{}",
            "{service.beta.openshift.io/inject-cabundle: 'false'}",
            "{cert-manager.io/inject-ca-from: ''}",
            "{example.com/inject-ca-from: a}",
        ] {
            check_annotated(other, year(55), b"\n", &malformed);
        }
    }

    #[test]
    fn helps() {
        let help = |bundle: &[u8]| finding(bundle, None).and_then(|finding| finding.help).unwrap();
        let twice = pratique_json::base64::encode(CERTIFICATE.as_bytes());
        assert!(help(twice.as_bytes()).contains("twice"));
        assert!(help(&pem::blocks(CERTIFICATE.as_bytes()).remove(0).content).contains("DER"));
        assert!(help(b"fake").contains("BEGIN CERTIFICATE"));
    }

    #[test]
    fn no_certificate() {
        check_at(
            year(55),
            KEY.as_bytes(),
            &[("empty-ca-bundle", "only PRIVATE KEY")],
        );
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        check_at(
            year(55),
            broken.as_bytes(),
            &[("empty-ca-bundle", "that can be read")],
        );
    }

    #[test]
    fn times() {
        let bundle = CERTIFICATE.as_bytes();
        check_at(
            year(60),
            bundle,
            &[("expired-ca-bundle", "expired on Jan  1 00:00:00 2026")],
        );
        check_at(
            year(50),
            bundle,
            &[("expired-ca-bundle", "is not valid before Jan  1 00:00:00 2025")],
        );
        check_at(None, bundle, &[]);
    }
}
