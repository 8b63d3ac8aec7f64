//! Names of signers of certificates.

use pratique_gotext::strconv::quote;
use pratique_gotext::validation::{dns1123_label, dns1123_subdomain, qualified_name};

use crate::errors::Errors;
use crate::node::Node;

/// Whether a signer is one of Kubernetes itself.
// Upstream: pkg/apis/core/validation/names.go, IsKubernetesSignerName
pub(crate) fn is_kubernetes_signer(name: &str) -> bool {
    let host = name.split_once('/').map_or(name, |(host, _)| host);
    host == "kubernetes.io" || host.ends_with(".kubernetes.io")
}

/// `domain.com/something`
// Upstream: pkg/apis/core/validation/names.go, ValidateSignerName
pub(crate) fn validate_signer_name(signer: &Node<'_, '_>, errors: &mut Errors) {
    let text = signer.as_text();
    if text.is_empty() {
        errors.required(signer, "");
        return;
    }
    let Some((domain, path)) = text.split_once('/').filter(|(_, path)| !path.contains('/')) else {
        errors.invalid_value(
            signer,
            "must be a fully qualified domain and path of the form 'example.com/signer-name'",
        );
        return;
    };
    if domain.len() > 253 {
        errors.too_long(signer, 253);
    }
    validate_labels(signer, domain, dns1123_label, errors);
    if !domain.contains('.') {
        errors.invalid(
            signer,
            domain,
            "should be a domain with at least two segments separated by dots",
        );
    }
    validate_labels(signer, path, dns1123_subdomain, errors);
    let max = 253 + 1 + 253 + 63 + 1;
    if text.len() > max {
        errors.too_long(signer, max as i64);
    }
}

fn validate_labels(signer: &Node<'_, '_>, part: &str, rule: fn(&str) -> Vec<String>, errors: &mut Errors) {
    // The first wrong label only.
    let wrong = part
        .split('.')
        .map(|label| (label, rule(label)))
        .find(|(_, messages)| !messages.is_empty());
    for (label, message) in wrong
        .iter()
        .flat_map(|(label, messages)| messages.iter().map(move |message| (label, message)))
    {
        errors.invalid(
            signer,
            part,
            &format!("validating label {}: {message}", quote(label)),
        );
    }
}

/// A key with a domain: `acme.io/foo`.
// Upstream: apimachinery/pkg/util/validation/validation.go, IsDomainPrefixedKey
pub(crate) fn validate_prefixed_key(field: &Node<'_, '_>, key: &str, errors: &mut Errors) {
    if key.is_empty() {
        errors.required(field, "");
        return;
    }
    let messages = qualified_name(key);
    for message in &messages {
        errors.invalid(field, key, message);
    }
    if messages.is_empty() && !key.contains('/') {
        errors.invalid(
            field,
            key,
            "must be a domain-prefixed key (such as \"acme.io/foo\")",
        );
    }
}
