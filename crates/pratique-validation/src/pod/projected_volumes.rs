//! Volumes that are put together from several sources.

use super::options::PodOptions;
use super::paths::validate_local_path;
use super::security_context::validate_user;
use super::volume_sources::{require, validate_downward_file, validate_key_to_path, validate_mode};
use crate::errors::Errors;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::seen_texts::SeenTexts;
use crate::selector::validate_selector;
use crate::signers::{is_kubernetes_signer, validate_prefixed_key, validate_signer_name};

// Upstream: pkg/apis/core/validation/validation.go, validateProjectedVolumeSource
pub(super) fn validate_projected(projected: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    validate_mode(&projected.child("defaultMode"), errors);
    validate_user(&projected.child("defaultUser"), errors);
    let mut paths = SeenTexts::default();
    for source in projected.child("sources").items() {
        let mut count = 0;
        for name in ["secret", "configMap"] {
            let files = source.child(name);
            if files.is_set() {
                count += 1;
                validate_files(&files, projected, &mut paths, errors);
            }
        }
        let downward = source.child("downwardAPI");
        if downward.is_set() {
            count += 1;
            for file in downward.child("items").items() {
                validate_downward_file(&Node::with_path(file.value(), *downward.path()), errors);
                validate_new_path(&file.child("path"), projected, &mut paths, errors);
            }
        }
        let token = source.child("serviceAccountToken");
        if token.is_set() {
            count += 1;
            validate_token(&token, projected, options, errors);
        }
        let bundle = source.child("clusterTrustBundle");
        if bundle.is_set() {
            count += 1;
            validate_trust_bundle(&bundle, errors);
            insert_path(bundle.child("path").as_text(), projected, &mut paths, errors);
        }
        let certificate = source.child("podCertificate");
        if certificate.is_set() {
            count += 1;
            validate_certificate(&certificate, projected, &mut paths, errors);
        }
        if count > 1 {
            errors.forbidden(source, "may not specify more than 1 volume type per source");
        }
    }
}

fn validate_files<'v>(
    files: &Node<'_, 'v>,
    projected: &Node<'_, '_>,
    paths: &mut SeenTexts<'v>,
    errors: &mut Errors,
) {
    require(files, &["name"], errors);
    for item in files.child("items").items() {
        validate_key_to_path(&item, errors);
        let path = item.child("path").as_text();
        if !path.is_empty() && !paths.insert(path) {
            // The error shows the name of the object, not the path.
            errors.invalid(projected, files.child("name").as_text(), CONFLICT);
        }
    }
}

const CONFLICT: &str = "conflicting duplicate paths";

fn validate_new_path<'v>(
    path: &Node<'_, 'v>,
    projected: &Node<'_, '_>,
    paths: &mut SeenTexts<'v>,
    errors: &mut Errors,
) {
    if !path.as_text().is_empty() {
        insert_path(path.as_text(), projected, paths, errors);
    }
}

fn insert_path<'v>(path: &'v str, projected: &Node<'_, '_>, paths: &mut SeenTexts<'v>, errors: &mut Errors) {
    if !paths.insert(path) {
        errors.invalid(projected, path, CONFLICT);
    }
}

fn validate_token(token: &Node<'_, '_>, projected: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    let expiration = token.child("expirationSeconds");
    match expiration.some_int() {
        None => errors.required(expiration, ""),
        Some(seconds) => {
            if seconds < 600 {
                errors.invalid(
                    expiration,
                    seconds,
                    "may not specify a duration less than 10 minutes",
                );
            }
            if seconds > 1 << 32 {
                errors.invalid(
                    expiration,
                    seconds,
                    "may not specify a duration larger than 2^32 seconds",
                );
            }
        }
    }
    let path = token.child("path");
    // Errors name the volume, not the source.
    let printed_path = Node::with_path(path.value(), projected.path().child("path"));
    if path.as_text().is_empty() {
        errors.required(printed_path, "");
    } else if !options.non_local_token_path {
        validate_local_path(&path, &printed_path, errors);
    }
    validate_user(&token.child("user"), errors);
}

fn validate_trust_bundle(bundle: &Node<'_, '_>, errors: &mut Errors) {
    let (name, signer) = (bundle.child("name"), bundle.child("signerName"));
    let selector = bundle.child("labelSelector");
    if name.is_set() && signer.is_set() {
        errors.invalid(
            bundle,
            super::internal::cluster_trust_bundle_json(errors.release(), bundle.value()),
            "only one of name and signerName may be used",
        );
    } else if name.is_set() {
        if name.as_text().is_empty() {
            errors.required(name, "must be a valid object name");
        }
        for message in trust_bundle_messages(name.as_text()) {
            errors.invalid_or_empty(&name, &format!("not a valid clustertrustbundlename: {message}"));
        }
        if selector.is_set() {
            errors.invalid_value(&selector, "labelSelector must be unset if name is specified");
        }
    } else if signer.is_set() {
        if signer.as_text().is_empty() {
            errors.required(signer, "must be a valid signer name");
        }
        validate_signer_name(&signer, errors);
        validate_selector(&selector, false, errors);
    } else {
        errors.required(bundle, "either name or signerName must be specified");
    }
    require(bundle, &["path"], errors);
    validate_user(&bundle.child("user"), errors);
    validate_local_path(&bundle.child("path"), &bundle.child("path"), errors);
}

/// What is wrong with a name, by the signer that it has in itself.
// Upstream: pkg/apis/core/validation/names.go, ValidateClusterTrustBundleName
fn trust_bundle_messages(name: &str) -> Vec<String> {
    match name.rsplit_once(':') {
        Some((_, own)) => subdomain_name(own, false),
        None => subdomain_name(name, false),
    }
}

fn validate_certificate<'v>(
    certificate: &Node<'_, 'v>,
    projected: &Node<'_, '_>,
    paths: &mut SeenTexts<'v>,
    errors: &mut Errors,
) {
    // Upstream: pkg/apis/core/validation/validation.go, validateProjectionSources: those of lattices by a feature of 1.38.
    const KEY_TYPES: &[&str] = &[
        "RSA3072",
        "RSA4096",
        "ECDSAP256",
        "ECDSAP384",
        "ECDSAP521",
        "ED25519",
        "MLDSA44",
        "MLDSA65",
        "MLDSA87",
    ];
    let signer = certificate.child("signerName");
    validate_signer_name(&signer, errors);
    let annotations = certificate.child("userAnnotations");
    let mut size = 0usize;
    for (key, value) in annotations.entries() {
        validate_prefixed_key(&annotations, &key.to_lowercase(), errors);
        size = size
            .saturating_add(key.len())
            .saturating_add(value.as_text().len());
    }
    if size > 256 << 10 {
        errors.too_long(annotations, 256 << 10);
    }
    validate_user(&certificate.child("user"), errors);
    let key_type = certificate.child("keyType");
    let count = if errors.gates().signs_with_lattices { 9 } else { 6 };
    let supported = KEY_TYPES.get(..count).unwrap_or_default();
    if !supported.contains(&key_type.as_text()) {
        errors.unsupported_text(&key_type, supported);
    }
    let expiration = certificate.child("maxExpirationSeconds");
    if let Some(seconds) = expiration.some_int() {
        let max = if is_kubernetes_signer(signer.as_text()) {
            24 * 3600
        } else {
            91 * 24 * 3600
        };
        if seconds < 3600 {
            errors.invalid(
                expiration,
                seconds,
                "if provided, maxExpirationSeconds must be >= 3600",
            );
        }
        if seconds > max {
            let detail = format!("if provided, maxExpirationSeconds must be <= {max}");
            errors.invalid(expiration, seconds, &detail);
        }
    }
    let mut count = 0;
    for name in ["credentialBundlePath", "keyPath", "certificateChainPath"] {
        let path = certificate.child(name);
        if !path.as_text().is_empty() {
            count += 1;
            validate_local_path(&path, &path, errors);
            insert_path(path.as_text(), projected, paths, errors);
        }
    }
    if count == 0 {
        errors.required(
            certificate,
            "specify at least one of credentialBundlePath, keyPath, and certificateChainPath",
        );
    }
}
