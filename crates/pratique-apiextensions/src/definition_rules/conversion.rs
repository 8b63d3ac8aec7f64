//! How objects are converted between versions.

use std::collections::HashSet;

use pratique_gotext::validation::dns1035_label;
use pratique_types::field::BadValue;
use pratique_validation::rules::{
    Errors, Node, named, validate_ca_bundle, validate_webhook_service, validate_webhook_url,
};

/// The versions of reviews that a server understands.
const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// What a conversion may keep because the existing definition has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConversionOptions {
    requires_known_review: bool,
    allows_wrong_bundle: bool,
}

impl ConversionOptions {
    /// Those of a new definition.
    pub(super) const NEW: ConversionOptions = ConversionOptions {
        requires_known_review: true,
        allows_wrong_bundle: true,
    };

    /// Those beside an existing definition.
    // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, allowInvalidCABundle,
    // hasValidConversionReviewVersionOrEmpty
    pub(super) fn beside(old: &Node<'_, '_>, is_established: bool) -> Self {
        let webhook = old.child("conversion");
        let webhook = webhook.child("webhook");
        let versions = webhook.child("conversionReviewVersions");
        let config = webhook.child("clientConfig");
        let bundle = config.child("caBundle");
        let mut faults = Errors::default();
        validate_ca_bundle(&bundle, &mut faults);
        ConversionOptions {
            requires_known_review: versions.is_empty() || has_known_review(&versions),
            allows_wrong_bundle: !is_established || !faults.is_empty(),
        }
    }
}

fn has_known_review(versions: &Node<'_, '_>) -> bool {
    let mut versions = versions.items();
    versions.any(|version| REVIEW_VERSIONS.contains(&version.as_text()))
}

// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validateCustomResourceConversion
pub(super) fn validate_conversion(
    conversion: &Node<'_, '_>,
    preserves_unknown: bool,
    options: ConversionOptions,
    errors: &mut Errors,
) {
    if !conversion.is_set() {
        return;
    }
    let strategy = conversion.child("strategy");
    if strategy.as_text() != "None" && preserves_unknown {
        let detail = "must be None if spec.preserveUnknownFields is true";
        errors.invalid(strategy, named(strategy.as_text()), detail);
    }
    match strategy.as_text() {
        "" => errors.required(strategy, ""),
        "None" | "Webhook" => {}
        _ => errors.unsupported_text(&strategy, &["None", "Webhook"]),
    }
    let webhook = conversion.child("webhook");
    let path = conversion.path();
    let (config, versions) = (
        webhook.child("clientConfig"),
        webhook.child("conversionReviewVersions"),
    );
    // Both are fields of the conversion itself there.
    let config = Node::with_path(config.value(), path.child("webhookClientConfig"));
    let versions = Node::with_path(versions.value(), path.child("conversionReviewVersions"));
    if strategy.as_text() == "Webhook" {
        validate_client(&config, options, errors);
        validate_review_versions(&versions, options, errors);
        return;
    }
    let detail = "should not be set when strategy is not set to Webhook";
    if config.is_set() {
        errors.forbidden(config, detail);
    }
    if !versions.is_empty() {
        errors.forbidden(versions, detail);
    }
}

fn validate_client(config: &Node<'_, '_>, options: ConversionOptions, errors: &mut Errors) {
    if !config.is_set() {
        return errors.required(config, "required when strategy is set to Webhook");
    }
    let (url, service, bundle) = (
        config.child("url"),
        config.child("service"),
        config.child("caBundle"),
    );
    match (url.is_set(), service.is_set()) {
        (true, false) => validate_webhook_url(&url, errors),
        (false, true) => validate_webhook_service(&service, errors),
        _ => errors.required(config, "exactly one of url or service is required"),
    }
    if !options.allows_wrong_bundle {
        validate_ca_bundle(&bundle, errors);
    }
}

// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validateConversionReviewVersions
fn validate_review_versions(versions: &Node<'_, '_>, options: ConversionOptions, errors: &mut Errors) {
    if versions.is_empty() {
        return errors.required(versions, "");
    }
    let mut seen = HashSet::new();
    for version in versions.items() {
        if !seen.insert(version.as_text()) {
            errors.invalid(version, version.as_text(), "duplicate version");
            continue;
        }
        for fault in dns1035_label(version.as_text()) {
            errors.invalid(version, version.as_text(), &fault);
        }
    }
    if options.requires_known_review && !has_known_review(versions) {
        let detail = format!("must include at least one of {}", REVIEW_VERSIONS.join(", "));
        errors.invalid(versions, BadValue::Json(versions.value()), &detail);
    }
}
