//! CertificateSigningRequests.

use pratique_json::base64;

use super::request_conditions::{validate_condition_changes, validate_conditions};
use crate::errors::{Errors, IMMUTABLE, named};
use crate::internal::internal_json;
use crate::kinds::Request;
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::open_question::OpenQuestion;
use crate::seen_texts::SeenTexts;
use crate::signers::validate_signer_name;
use crate::x509::{X509Error, decode_block, parse_certificates, parse_request, verify_request};

const LEGACY_SIGNER: &str = "kubernetes.io/legacy-unknown";

const USAGES: &[&str] = &[
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

/// A request, new or changed; what the old one has already is tolerated.
// Upstream: pkg/apis/certificates/validation/validation.go, validateCertificateSigningRequest
pub(super) fn validate_signing_request(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_core_meta(&object.child("metadata"), false, |_, _| Vec::new(), errors);
    let (spec, old_spec) = (object.child("spec"), old.child("spec"));
    let signed = spec.child("request");
    match verify_encoded(signed.as_text()) {
        Ok(true) => {}
        // What is stored was verified when it was stored.
        Ok(false) if old.is_set() && signed.as_text() == old_spec.child("request").as_text() => {}
        Ok(false) => errors.leave_open(OpenQuestion::Signature),
        Err(fault) => errors.invalid_value(&signed, &fault.to_string()),
    }
    validate_usages(&spec.child("usages"), &old_spec.child("usages"), errors);
    let (signer, old_signer) = (spec.child("signerName"), old_spec.child("signerName"));
    if signer.as_text() == LEGACY_SIGNER && old_signer.as_text() != LEGACY_SIGNER {
        errors.invalid_value(
            &signer,
            "the legacy signerName is not allowed via this API version",
        );
    } else {
        validate_signer_name(&signer, errors);
    }
    let expiration = spec.child("expirationSeconds");
    if expiration.some_int().is_some_and(|seconds| seconds < 600) {
        errors.invalid(
            expiration,
            expiration.int(),
            "may not specify a duration less than 600 seconds (10 minutes)",
        );
    }
    let (status, old_status) = (object.child("status"), old.child("status"));
    validate_conditions(
        &status.child("conditions"),
        &old_status.child("conditions"),
        errors,
    );
    let certificate = status.child("certificate");
    let old_certificate = old_status.child("certificate").as_text();
    let is_tolerated = old.is_set()
        && (certificate.as_text() == old_certificate || certificate_fault(old_certificate).is_some());
    if !is_tolerated && let Some(fault) = certificate_fault(certificate.as_text()) {
        errors.invalid(certificate, "<certificate data>", &fault);
    }
}

/// Reads a request, PEM in base64, and verifies its signature; `false` where that is unknown.
// Upstream: pkg/apis/certificates/validation/validation.go, validateCSR
fn verify_encoded(encoded: &str) -> Result<bool, X509Error> {
    let bytes = base64::decode(encoded).unwrap_or_default();
    let block = decode_block(&bytes).map(|(block, _)| block);
    let block = block.filter(|block| block.label == "CERTIFICATE REQUEST");
    let block = block.ok_or_else(|| X509Error("PEM block type must be CERTIFICATE REQUEST".into()))?;
    verify_request(&parse_request(&block.bytes)?)
}

/// What is wrong with certificates: PEM in base64.
// Upstream: pkg/apis/certificates/validation/validation.go, validateCertificate
fn certificate_fault(encoded: &str) -> Option<String> {
    let bytes = base64::decode(encoded).unwrap_or_default();
    if bytes.is_empty() {
        return None;
    }
    let mut rest = bytes.as_slice();
    let mut count = 0;
    while let Some((block, following)) = decode_block(rest) {
        if block.label != "CERTIFICATE" {
            let label = pratique_gotext::strconv::quote(&block.label);
            return Some(format!("only CERTIFICATE PEM blocks are allowed, found {label}"));
        }
        if block.has_headers {
            return Some("no PEM block headers are permitted".to_owned());
        }
        count += 1;
        match parse_certificates(&block.bytes) {
            Err(error) => return Some(error.to_string()),
            Ok(0) => return Some("found CERTIFICATE PEM block containing 0 certificates".to_owned()),
            Ok(_) => rest = following,
        }
    }
    (count == 0).then(|| "must contain at least one CERTIFICATE PEM block".to_owned())
}

fn validate_usages(usages: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    // Declarative rules say the same since 1.38.
    let start = errors.len();
    if usages.is_empty() {
        errors.required(usages, "");
    }
    let is_unknown = |usage: &Node<'_, '_>| !USAGES.contains(&usage.as_text());
    if !old.items().any(|usage| is_unknown(&usage)) {
        for usage in usages.items().filter(is_unknown) {
            errors.not_supported(&usage, USAGES);
        }
    }
    if errors.release().at_least(1, 38) {
        errors.cover_from(start, "");
    }
    if !has_duplicates(old) {
        let mut seen = SeenTexts::default();
        for usage in usages.items().filter(|usage| !seen.insert(usage.as_text())) {
            errors.duplicate(usage, named(usage.as_text()));
        }
    }
}

fn has_duplicates(usages: &Node<'_, '_>) -> bool {
    let mut seen = SeenTexts::default();
    usages.items().any(|usage| !seen.insert(usage.as_text()))
}

/// What a way to write a request may change.
#[derive(Clone, Copy)]
struct ChangeScope {
    allows_approval: bool,
    allows_certificate: bool,
}

pub(super) fn validate_update(request: &Request<'_>, errors: &mut Errors) {
    let scope = ChangeScope {
        allows_approval: false,
        allows_certificate: false,
    };
    validate_changes(request, scope, errors);
}

pub(super) fn validate_status(request: &Request<'_>, errors: &mut Errors) {
    let scope = ChangeScope {
        allows_approval: false,
        allows_certificate: true,
    };
    validate_changes(request, scope, errors);
}

pub(super) fn validate_approval(request: &Request<'_>, errors: &mut Errors) {
    let scope = ChangeScope {
        allows_approval: true,
        allows_certificate: false,
    };
    validate_changes(request, scope, errors);
}

fn validate_unchanged(
    request: &Request<'_>,
    name: &'static str,
    type_name: &'static str,
    errors: &mut Errors,
) {
    let (field, old) = (request.object.child(name), request.old.child(name));
    if !field.is_same(&old) {
        let value = internal_json(errors.release(), type_name, field.value());
        errors.invalid(field, value, IMMUTABLE);
    }
}

// Upstream: pkg/apis/certificates/validation/validation.go, validateCertificateSigningRequestUpdate
fn validate_changes(request: &Request<'_>, scope: ChangeScope, errors: &mut Errors) {
    // Since 1.38, the specification may not change, and by an update of the whole, the status not, either.
    if errors.release().at_least(1, 38) {
        let is_whole = !scope.allows_approval && !scope.allows_certificate;
        if is_whole {
            let (object, old) = (&request.object, &request.old);
            validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
        }
        let start = errors.len();
        validate_unchanged(
            request,
            "spec",
            "certificates.CertificateSigningRequestSpec",
            errors,
        );
        errors.cover_from(start, "immutable");
        if is_whole {
            validate_unchanged(
                request,
                "status",
                "certificates.CertificateSigningRequestStatus",
                errors,
            );
            return;
        }
    }
    validate_signing_request(request, errors);
    let (object, old) = (&request.object, &request.old);
    let (status, old_status) = (object.child("status"), old.child("status"));
    validate_condition_changes(
        &status.child("conditions"),
        &old_status.child("conditions"),
        scope.allows_approval,
        errors,
    );
    let (certificate, old_value) = (status.child("certificate"), old_status.child("certificate"));
    if certificate.as_text() != old_value.as_text() {
        if !scope.allows_certificate {
            errors.forbidden(certificate, "updates may not set certificate content");
        } else if !old_value.as_text().is_empty() {
            errors.forbidden(certificate, "updates may not modify existing certificate content");
        }
    }
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
}
