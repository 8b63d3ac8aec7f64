//! ClusterTrustBundles.

use pratique_types::field::BadValue;

use crate::errors::{Errors, IMMUTABLE};
use crate::kinds::Request;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::signers::validate_signer_name;
use crate::x509::{decode_block, parse_certificate};

const MAX_SIZE: usize = 1 << 20;

// Upstream: pkg/apis/certificates/validation/validation.go, ValidateClusterTrustBundle
pub(super) fn validate_bundle(request: &Request<'_>, errors: &mut Errors) {
    let spec = request.object.child("spec");
    let signer = spec.child("signerName");
    let metadata = request.object.child("metadata");
    validate_core_meta(
        &metadata,
        false,
        |name, is_prefix| name_messages(name, is_prefix, signer.as_text()),
        errors,
    );
    if !signer.as_text().is_empty() {
        validate_signer_name(&signer, errors);
    }
    let (bundle, old_spec) = (spec.child("trustBundle"), request.old.child("spec"));
    // What did not change is not read again: what Go reads changes with its versions.
    if !request.old.is_set() || bundle.as_text() != old_spec.child("trustBundle").as_text() {
        validate_anchors(&bundle, errors);
    }
}

// Upstream: pkg/apis/certificates/validation/validation.go, ValidateClusterTrustBundleUpdate
pub(super) fn validate_bundle_update(request: &Request<'_>, errors: &mut Errors) {
    validate_bundle(request, errors);
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    let (spec, old_spec) = (object.child("spec"), old.child("spec"));
    let signer = spec.child("signerName");
    if signer.as_text() != old_spec.child("signerName").as_text() {
        let start = errors.len();
        errors.invalid_or_empty(&signer, IMMUTABLE);
        errors.cover_from(start, "immutable");
    }
}

/// The name begins with the name of the signer, if there is one.
// Upstream: pkg/apis/core/validation/names.go, ValidateClusterTrustBundleName
fn name_messages(name: &str, is_prefix: bool, signer: &str) -> Vec<String> {
    if signer.is_empty() {
        if name.contains(':') {
            return vec!["ClusterTrustBundle without signer name must not have \":\" in its name".to_owned()];
        }
        return subdomain_name(name, is_prefix);
    }
    let prefix = format!("{}:", signer.replace('/', ":"));
    match name.strip_prefix(&prefix) {
        Some(rest) => subdomain_name(rest, is_prefix),
        None => vec![format!(
            "ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"
        )],
    }
}

// Upstream: pkg/apis/certificates/validation/validation.go, validateTrustBundle
fn validate_anchors(bundle: &Node<'_, '_>, errors: &mut Errors) {
    if bundle.as_text().len() > MAX_SIZE {
        errors.too_long(bundle, MAX_SIZE as i64);
        return;
    }
    let mut add = |detail: &str| errors.invalid(bundle, BadValue::Text("<value omitted>".into()), detail);
    let mut anchors: Vec<(Vec<u8>, Vec<String>)> = Vec::new();
    let mut is_malformed = false;
    let mut rest = bundle.as_text().as_bytes();
    let mut index = 0;
    while let Some((block, following)) = decode_block(rest) {
        rest = following;
        let place = format!("entry {index}");
        index += 1;
        let fault = if block.label != "CERTIFICATE" {
            Some(format!("{place} has bad block type: {}", block.label))
        } else if block.has_headers {
            Some(format!("{place} has PEM block headers"))
        } else {
            match parse_certificate(&block.bytes) {
                Err(_) => Some(format!("{place} does not parse as X.509")),
                // An authority has basic constraints, which say that it is one.
                Ok(certificate) if !certificate.is_authority => {
                    Some(format!("{place} does not have the CA bit set"))
                }
                Ok(_) => None,
            }
        };
        match fault {
            Some(fault) => {
                is_malformed = true;
                add(&fault);
            }
            None => add_anchor(&mut anchors, block.bytes, index - 1),
        }
    }
    if is_malformed {
        return;
    }
    if anchors.is_empty() {
        add("at least one trust anchor must be provided");
    }
    for (_, indices) in anchors.iter().filter(|(_, indices)| indices.len() > 1) {
        add(&format!(
            "duplicate trust anchor (indices [{}])",
            indices.join(" ")
        ));
    }
}

fn add_anchor(anchors: &mut Vec<(Vec<u8>, Vec<String>)>, bytes: Vec<u8>, index: usize) {
    match anchors.iter_mut().find(|(known, _)| *known == bytes) {
        Some((_, indices)) => indices.push(index.to_string()),
        None => anchors.push((bytes, vec![index.to_string()])),
    }
}
