//! Paths in a domain: `acme.io/foo`.

use pratique_gotext::validation::dns1123_subdomain;

use crate::errors::Errors;
use crate::node::Node;

// Upstream: apimachinery/pkg/util/validation/validation.go, IsDomainPrefixedPath
pub(crate) fn validate_domain_path(field: &Node<'_, '_>, errors: &mut Errors) {
    let text = field.as_text();
    if text.is_empty() {
        errors.required(field, "");
        return;
    }
    let parts = text
        .split_once('/')
        .filter(|(host, path)| !host.is_empty() && !path.is_empty());
    let Some((host, path)) = parts else {
        errors.invalid(
            field,
            text,
            "must be a domain-prefixed path (such as \"acme.io/foo\")",
        );
        return;
    };
    for message in dns1123_subdomain(host) {
        errors.invalid(field, host, &message);
    }
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte);
    if !path.bytes().all(is_allowed) {
        errors.invalid(
            field,
            path,
            "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')",
        );
    }
}
