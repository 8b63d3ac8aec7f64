//! PodCertificateRequests.

use pratique_json::base64;
use pratique_types::field::{BadValue, Path};

use crate::errors::{Errors, IMMUTABLE, named};
use crate::internal::internal_json;
use crate::kinds::Request;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::open_question::OpenQuestion;
use crate::signers::{is_kubernetes_signer, validate_prefixed_key, validate_signer_name};
use crate::x509::{
    PublicKey, SignatureVerdict, parse_public_key, parse_request, verify_possession, verify_request,
};

const MAX_UID: usize = 128;
const MAX_ANNOTATIONS: usize = 256 << 10;
const MAX_KEY: usize = 10 << 10;
const MIN_EXPIRATION: i64 = 3600;

// Upstream: pkg/apis/certificates/validation/validation.go, ValidatePodCertificateRequestCreate
pub(super) fn validate_pod_request(request: &Request<'_>, errors: &mut Errors) {
    validate_core_meta(&request.object.child("metadata"), true, subdomain_name, errors);
    let spec = request.object.child("spec");
    let signer = spec.child("signerName");
    validate_signer_name(&signer, errors);
    validate_user_annotations(&spec.child("unverifiedUserAnnotations"), errors);
    for (name, uid) in [
        ("podName", "podUID"),
        ("serviceAccountName", "serviceAccountUID"),
        ("nodeName", "nodeUID"),
    ] {
        let is_node = name == "nodeName";
        let (name, uid) = (spec.child(name), spec.child(uid));
        for message in subdomain_name(name.as_text(), false) {
            // The names of nodes have a type of their own.
            if is_node {
                errors.invalid_name(&name, &message);
            } else {
                errors.invalid_or_empty(&name, &message);
            }
        }
        if uid.as_text().is_empty() {
            errors.invalid(uid, named(""), "must not be empty");
        }
        if uid.as_text().len() > MAX_UID {
            errors.too_long(uid, MAX_UID as i64);
        }
    }
    let expiration = spec.child("maxExpirationSeconds");
    if !expiration.is_set() {
        errors.required(expiration, "must be set");
        return;
    }
    let days = if is_kubernetes_signer(signer.as_text()) {
        1
    } else {
        91
    };
    let max = days * 24 * 3600;
    if !(MIN_EXPIRATION..=max).contains(&expiration.int()) {
        let detail = format!("must be in the range [{MIN_EXPIRATION}, {max}]");
        errors.invalid(expiration, expiration.int(), &detail);
    }
    validate_key(&spec, errors);
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateUserAnnotations
fn validate_user_annotations(annotations: &Node<'_, '_>, errors: &mut Errors) {
    let mut size = 0usize;
    for (key, value) in annotations.entries() {
        size = size
            .saturating_add(key.len())
            .saturating_add(value.as_text().len());
        validate_prefixed_key(annotations, &key.to_lowercase(), errors);
    }
    if size > MAX_ANNOTATIONS {
        errors.too_long(annotations, MAX_ANNOTATIONS as i64);
    }
}

/// The key for which a certificate is requested, and the proof that who requests it has the private one.
fn validate_key(spec: &Node<'_, '_>, errors: &mut Errors) {
    // Upstream: pkg/apis/certificates/validation/validation.go, ValidatePodCertificateRequestCreate: before 1.36, there was only one
    // way.
    if !errors.release().at_least(1, 36) {
        validate_public_key(spec, errors);
        return;
    }
    let fields = ["stubPKCS10Request", "pkixPublicKey", "proofOfPossession"];
    let [stub, key, proof] = fields.map(|name| spec.child(name).as_text());
    match (stub.is_empty(), key.is_empty(), proof.is_empty()) {
        (false, true, true) => validate_stub(&spec.child("stubPKCS10Request"), errors),
        (true, false, false) => validate_public_key(spec, errors),
        _ => errors.invalid(
            spec,
            BadValue::Omitted,
            "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set",
        ),
    }
}

/// The bytes of a field, if they are not too many.
pub(super) fn decode_bytes(field: &Node<'_, '_>, errors: &mut Errors) -> Option<Vec<u8>> {
    let bytes = base64::decode(field.as_text()).unwrap_or_default();
    if bytes.len() > MAX_KEY {
        errors.too_long(field, MAX_KEY as i64);
        return None;
    }
    Some(bytes)
}

// Upstream: pkg/apis/certificates/validation/validation.go, validateStubPKCS10Request
fn validate_stub(stub: &Node<'_, '_>, errors: &mut Errors) {
    let Some(bytes) = decode_bytes(stub, errors) else {
        return;
    };
    let Ok(request) = parse_request(&bytes) else {
        errors.invalid(stub, BadValue::Omitted, "must be a valid PKCS#10 CSR");
        return;
    };
    let curves = "elliptic public keys must use curve P256, P384, or P521";
    let path = stub.path();
    let key = request.public_key.as_ref();
    if validate_parameters(path, key, true, curves, BadValue::Omitted, errors) {
        match verify_request(&request) {
            Ok(true) => {}
            Ok(false) => errors.leave_open(OpenQuestion::Signature),
            Err(_) => errors.invalid(stub, BadValue::Omitted, "invalid signature"),
        }
    }
}

// Upstream: pkg/apis/certificates/validation/validation.go, validateDeprecatedPKIXPublicKey
fn validate_public_key(spec: &Node<'_, '_>, errors: &mut Errors) {
    let (field, proof) = (spec.child("pkixPublicKey"), spec.child("proofOfPossession"));
    let Some(bytes) = decode_bytes(&field, errors) else {
        return;
    };
    let Some(signature) = decode_bytes(&proof, errors) else {
        return;
    };
    let key = match parse_public_key(&bytes) {
        Ok(key) => key,
        Err(_) => {
            errors.invalid_value(&field, "must be a valid PKIX-serialized public key");
            return;
        }
    };
    let curves = "elliptic public keys must use curve P256 or P384";
    let unknown = BadValue::Json(field.value());
    let uid = spec.child("podUID").as_text();
    if !validate_parameters(field.path(), Some(&key), false, curves, unknown, errors) {
        return;
    }
    match verify_possession(&key, uid.as_bytes(), &signature) {
        SignatureVerdict::Valid => {}
        SignatureVerdict::Unknown => errors.leave_open(OpenQuestion::Signature),
        SignatureVerdict::Invalid => errors.invalid(
            proof,
            BadValue::Omitted,
            "could not verify proof-of-possession signature",
        ),
    }
}

/// Whether the type and the size of a key, that of a stub or one that is given alone, are among those that are allowed.
fn validate_parameters(
    path: &Path<'_>,
    key: Option<&PublicKey>,
    is_stub: bool,
    curves: &str,
    unknown: BadValue<'_>,
    errors: &mut Errors,
) -> bool {
    let (value, detail) = match key {
        Some(PublicKey::Ed25519(_)) => return true,
        Some(PublicKey::Ecdsa { curve, .. }) if curve.name() != "P-224" => return true,
        Some(PublicKey::Ecdsa { curve, .. }) => {
            (BadValue::Text(format!("curve {}", curve.name()).into()), curves)
        }
        Some(PublicKey::Rsa { modulus, .. }) if matches!(modulus.len(), 384 | 512) => return true,
        Some(PublicKey::Rsa { modulus, .. }) => (
            BadValue::Text(format!("{}-bit modulus", modulus.len() * 8).into()),
            "RSA keys must have modulus size 3072 or 4096",
        ),
        // Upstream: validateStubPKCS10Request: the list is longer since 1.38.
        _ if is_stub && errors.release().at_least(1, 38) => (
            unknown,
            "unknown public key type; supported types are Ed25519, ECDSA, RSA, and ML-DSA",
        ),
        _ => (
            unknown,
            "unknown public key type; supported types are Ed25519, ECDSA, and RSA",
        ),
    };
    errors.invalid(path.to_string(), value, detail);
    false
}

/// Nothing but the metadata may change.
// Upstream: pkg/apis/certificates/validation/validation.go, ValidatePodCertificateRequestUpdate
pub(super) fn validate_pod_request_update(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    let spec = object.child("spec");
    if !spec.is_same(&old.child("spec")) {
        let value = internal_json(
            errors.release(),
            "certificates.PodCertificateRequestSpec",
            spec.value(),
        );
        errors.invalid(spec, value, IMMUTABLE);
    }
}
