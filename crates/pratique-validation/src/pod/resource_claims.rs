//! The claims of devices that a Pod names.

use pratique_gotext::validation::dns1123_label;

use crate::errors::Errors;
use crate::internal::internal_json;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::seen_texts::SeenTexts;

// Upstream: pkg/apis/core/validation/validation.go, validatePodResourceClaims
pub(super) fn validate_resource_claims(
    spec: &Node<'_, '_>,
    metadata: Option<&Node<'_, '_>>,
    errors: &mut Errors,
) {
    let mut names = SeenTexts::default();
    let is_static = metadata.is_some_and(|metadata| {
        let annotations = metadata.child("annotations");
        annotations.key("kubernetes.io/config.mirror").is_set()
    });
    for claim in spec.child("resourceClaims").items() {
        if is_static {
            // The path is that of a field without a name.
            errors.forbidden("[]", "static pods do not support resource claims");
            continue;
        }
        let name = claim.child("name");
        if name.as_text().is_empty() {
            errors.required(name, "");
        } else if !names.insert(name.as_text()) {
            errors.duplicate(name, name.as_text());
        } else {
            errors.invalid_each(&name, &dns1123_label(name.as_text()));
        }
        let (existing, template) = (
            claim.child("resourceClaimName"),
            claim.child("resourceClaimTemplateName"),
        );
        let detail = match (existing.is_set(), template.is_set()) {
            (true, true) => {
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            }
            (false, false) => "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
            _ => "",
        };
        if !detail.is_empty() {
            errors.invalid(
                claim,
                internal_json(errors.release(), "core.PodResourceClaim", claim.value()),
                detail,
            );
        }
        for reference in [&existing, &template] {
            if reference.is_set() {
                for message in subdomain_name(reference.as_text(), false) {
                    errors.invalid_or_empty(reference, &message);
                }
            }
        }
    }
}
