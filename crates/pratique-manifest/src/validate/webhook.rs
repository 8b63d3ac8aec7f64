//! Webhook configurations of both kinds.

use std::collections::HashSet;

use pratique_gotext::url::Url;
use pratique_gotext::validation;

use super::errors::FieldErrors;
use super::expressions::Expressions;
use super::matching::{
    FAILURE_POLICIES, MATCH_POLICIES, REINVOCATION_POLICIES, one_of, rule_with_operations,
};
use super::selector::validate_selector;
use super::view::View;
use crate::expression::{Declarations, ExpressionCompiler};
use crate::kind::Kind;

const SIDE_EFFECTS: &[&str] = &["None", "NoneOnDryRun"];
const REVIEW_VERSIONS: &[&str] = &["v1", "v1beta1"];
const URL_FORM: &str = "; desired format: https://host[/path]";

pub(super) fn validate(
    kind: Kind,
    webhooks: &View<'_>,
    compiler: &dyn ExpressionCompiler,
    errors: &mut FieldErrors,
) {
    let mut names = HashSet::new();
    for hook in webhooks.items() {
        validate_hook(kind, &hook, compiler, errors);
        review_versions(&hook.field("admissionReviewVersions"), errors);
        let name = hook.field("name");
        if !name.text().is_empty() && !names.insert(name.text().to_owned()) {
            errors.duplicate(&name);
        }
    }
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateMutatingWebhook
fn validate_hook(kind: Kind, hook: &View<'_>, compiler: &dyn ExpressionCompiler, errors: &mut FieldErrors) {
    qualified_name(&hook.field("name"), errors);
    for rule in hook.field("rules").items() {
        rule_with_operations(&rule, errors);
    }
    one_of(&hook.field("failurePolicy"), FAILURE_POLICIES, errors);
    one_of(&hook.field("matchPolicy"), MATCH_POLICIES, errors);
    let side_effects = hook.field("sideEffects");
    if side_effects.is_absent() {
        errors.required(&side_effects, "must specify one of None, NoneOnDryRun");
    }
    one_of(&side_effects, SIDE_EFFECTS, errors);
    let timeout = hook.field("timeoutSeconds");
    if timeout
        .integer()
        .is_some_and(|seconds| !(1..=30).contains(&seconds))
    {
        errors.invalid_json(
            &timeout,
            &timeout.json(),
            "the timeout value must be between 1 and 30 seconds",
        );
    }
    validate_selector(&hook.field("namespaceSelector"), errors);
    validate_selector(&hook.field("objectSelector"), errors);
    if kind == Kind::MutatingWebhookConfiguration {
        one_of(&hook.field("reinvocationPolicy"), REINVOCATION_POLICIES, errors);
    }
    client_config(&hook.field("clientConfig"), errors);
    let declared = Declarations {
        authorizer: true,
        ..Declarations::default()
    };
    Expressions::new(compiler, declared).match_conditions(&hook.field("matchConditions"), errors);
}

/// A domain of at least three segments.
fn qualified_name(name: &View<'_>, errors: &mut FieldErrors) {
    let text = name.text();
    let faults = validation::dns1123_subdomain(text);
    if text.is_empty() {
        errors.required(name, "");
    } else if !faults.is_empty() {
        errors.invalid(name, text, &faults.join(","));
    } else if text.split('.').count() < 3 {
        errors.invalid(
            name,
            text,
            "should be a domain with at least three segments separated by dots",
        );
    }
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateAdmissionReviewVersions
fn review_versions(versions: &View<'_>, errors: &mut FieldErrors) {
    let supported = REVIEW_VERSIONS.join(", ");
    if versions.len() == 0 {
        errors.required(versions, &format!("must specify one of {supported}"));
        return;
    }
    let mut used = HashSet::new();
    for version in versions.items() {
        if !used.insert(version.text().to_owned()) {
            errors.invalid(&version, version.text(), "duplicate version");
            continue;
        }
        for detail in validation::dns1035_label(version.text()) {
            errors.invalid(&version, version.text(), &detail);
        }
    }
    if !REVIEW_VERSIONS.iter().any(|version| used.contains(*version)) {
        errors.invalid_json(
            versions,
            &versions.json(),
            &format!("must include at least one of {supported}"),
        );
    }
}

fn client_config(config: &View<'_>, errors: &mut FieldErrors) {
    let url = config.field("url");
    let service = config.field("service");
    match (url.is_absent(), service.is_absent()) {
        (false, true) => validate_url(&url, errors),
        (true, false) => validate_service(&service, errors),
        _ => errors.required(config, "exactly one of url or service is required"),
    }
}

// Upstream: apiserver/pkg/util/webhook/validation.go, ValidateWebhookURL
fn validate_url(field: &View<'_>, errors: &mut FieldErrors) {
    let url = match Url::parse(field.text()) {
        Ok(url) => url,
        Err(error) => return errors.required(field, &format!("url must be a valid URL: {error}{URL_FORM}")),
    };
    if url.scheme() != "https" {
        errors.invalid(
            field,
            url.scheme(),
            &format!("'https' is the only allowed URL scheme{URL_FORM}"),
        );
    }
    if url.host().is_empty() {
        errors.invalid(field, "", &format!("host must be specified{URL_FORM}"));
    }
    if url.has_user() {
        errors.invalid(
            field,
            user_information(field.text()),
            "user information is not permitted in the URL",
        );
    }
    if !url.fragment().is_empty() {
        errors.invalid(field, &url.fragment(), "fragments are not permitted in the URL");
    }
    if !url.raw_query().is_empty() {
        errors.invalid(
            field,
            url.raw_query(),
            "query parameters are not permitted in the URL",
        );
    }
}

/// The text before the `@` of a URL's authority.
fn user_information(url: &str) -> &str {
    let authority = url
        .split_once("//")
        .map_or("", |(_, rest)| rest)
        .split(['/', '?', '#'])
        .next();
    authority
        .and_then(|authority| authority.rsplit_once('@'))
        .map_or("", |(user, _)| user)
}

/// The server passes name and namespace in the wrong order, so each error names the other field.
// Upstream: apiserver/pkg/util/webhook/validation.go, ValidateWebhookService
fn validate_service(service: &View<'_>, errors: &mut FieldErrors) {
    if service.field("namespace").text().is_empty() {
        errors.required(&service.field("name"), "");
    }
    if service.field("name").text().is_empty() {
        errors.required(&service.field("namespace"), "");
    }
    let port = service.field("port");
    if port.integer().is_some_and(|port| !(1..=65535).contains(&port)) {
        errors.invalid_json(
            &port,
            &port.json(),
            "port is not valid: must be between 1 and 65535, inclusive",
        );
    }
    service_path(&service.field("path"), errors);
}

fn service_path(path: &View<'_>, errors: &mut FieldErrors) {
    let text = path.text();
    match text {
        "" | "/" => return,
        "//" => return errors.invalid(path, text, "segment[0] may not be empty"),
        _ if !text.starts_with('/') => errors.invalid(path, text, "must start with a '/'"),
        _ => {}
    }
    // The server drops the first byte, whatever it is.
    let after = text
        .char_indices()
        .nth(1)
        .map_or("", |(at, _)| text.get(at..).unwrap_or_default());
    let segments = after.strip_suffix('/').unwrap_or(after);
    for (index, segment) in segments.split('/').enumerate() {
        if segment.is_empty() {
            errors.invalid(path, text, &format!("segment[{index}] may not be empty"));
            continue;
        }
        for fault in validation::dns1123_subdomain(segment) {
            errors.invalid(path, text, &format!("segment[{index}]: {fault}"));
        }
    }
}
