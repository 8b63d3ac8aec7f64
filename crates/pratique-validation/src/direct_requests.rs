//! Requests that a server carries out and does not store: bindings, evictions, tokens; and the scale of a workload, which is
//! another view of it. No strategy validates them, so that each has an order of its own.

use pratique_gotext::validation::dns1123_subdomain;
use pratique_json::Value;
use pratique_types::field::{Error, aggregate};
use pratique_types::{GroupVersionKind, Reason, Status};

use crate::errors::Errors;
use crate::gates::FeatureSet;
use crate::internal::internal_json;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::{validate_annotations, validate_core_meta, validate_managed_fields};
use crate::selector::validate_labels;
use crate::validator::{Candidate, Rejection};

/// Whether requests of a kind are validated here.
pub(crate) fn is_connected(kind: &GroupVersionKind) -> bool {
    matches!(
        (kind.group.as_str(), kind.kind.as_str()),
        ("", "Binding")
            | ("policy", "Eviction")
            | ("authentication.k8s.io", "TokenRequest")
            | ("autoscaling", "Scale")
    )
}

/// Validates a request of these; `None` where it is none.
pub(crate) fn validate_connected(
    candidate: &Candidate<'_>,
    gates: FeatureSet,
) -> Option<Result<(), Rejection>> {
    let object = Node::root(candidate.object);
    let of = |group: &str, kind: &str| candidate.kind.group == group && candidate.kind.kind == kind;
    let answer = if of("", "Binding") {
        refuse_binding(&object, Errors::of_gates(gates))
    } else if of("policy", "Eviction") {
        refuse_eviction(&object, candidate)
    } else if of("authentication.k8s.io", "TokenRequest") {
        refuse_token(&object, candidate, Errors::of_gates(gates))
    } else {
        return None;
    };
    Some(answer.map_or(Ok(()), |status| Err(Rejection::Invalid(Box::new(status)))))
}

/// A change of a workload's scale.
// Upstream: pkg/apis/autoscaling/validation/validation.go, ValidateScaleUpdate
pub(crate) fn validate_scale(
    candidate: &Candidate<'_>,
    old: &Value<'_>,
    gates: FeatureSet,
) -> Option<Result<(), Rejection>> {
    if candidate.kind.group != "autoscaling" || candidate.kind.kind != "Scale" {
        return None;
    }
    let mut errors = Errors::of_gates(gates);
    let object = Node::root(candidate.object);
    let metadata = object.child("metadata");
    // Upstream: pkg/apis/autoscaling/validation/validation.go, ValidateScale: since 1.37, the rest of the metadata is not validated.
    if errors.release().at_least(1, 37) {
        validate_managed_fields(&metadata.child("managedFields"), &mut errors);
    } else {
        validate_core_meta(&metadata, true, subdomain_name, &mut errors);
        errors.nonnegative(&object.child("spec").child("replicas"));
    }
    candidate.validate_declaratively(old, &mut errors);
    Some(if errors.is_empty() {
        Ok(())
    } else {
        Err(candidate.rejection(errors))
    })
}

/// An error that never became one of the API.
pub(crate) fn unnamed_failure(message: String) -> Status {
    Status {
        reason: String::new(),
        ..Status::failure(Reason::InternalError, message)
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidatePodBinding
fn refuse_binding(binding: &Node<'_, '_>, mut errors: Errors) -> Option<Status> {
    let target = binding.child("target");
    let (kind, name) = (target.child("kind"), target.child("name"));
    let is_node = matches!(kind.as_text(), "" | "Node");
    if !is_node {
        errors.push(Error::not_supported(kind, kind.as_text(), ["Node", "<empty>"]));
    }
    if name.as_text().is_empty() {
        errors.required(name, "");
    } else if is_node && errors.release().at_least(1, 37) {
        // Upstream: pkg/apis/core/validation/validation.go, ValidatePodBinding: since 1.37, a node has the name of one.
        errors.invalid_each(&name, &subdomain_name(name.as_text(), false));
    }
    // Upstream: pkg/apis/core/validation/validation.go, ValidatePodBinding: since 1.38, what the Pod gets is validated.
    if errors.release().at_least(1, 38) {
        let metadata = binding.child("metadata");
        validate_annotations(&metadata.child("annotations"), &mut errors);
        validate_labels(&metadata.child("labels"), &mut errors);
    }
    let errors = errors.into_list().into_vec();
    (!errors.is_empty()).then(|| unnamed_failure(aggregate(&errors)))
}

// Upstream: pkg/registry/core/pod/storage/eviction.go, EvictionREST.Create
fn refuse_eviction(eviction: &Node<'_, '_>, candidate: &Candidate<'_>) -> Option<Status> {
    let options = eviction.child("deleteOptions");
    let ignores = options.child("ignoreStoreReadErrorWithClusterBreakingPotential");
    let metadata = eviction.child("metadata");
    if ignores.is_true() {
        let mut errors = Errors::default();
        errors.invalid(
            ignores,
            true,
            "can not be set for pod eviction, try after removing the option",
        );
        let name = metadata.child("name").as_text();
        return Some(errors.into_list().into_status("policy", "Eviction", name));
    }
    let wanted: Vec<&str> = options
        .child("dryRun")
        .items()
        .map(|mode| mode.as_text())
        .collect();
    if candidate.is_dry_run && !wanted.is_empty() && wanted != ["All"] {
        return Some(unnamed_failure(format!(
            "Non-matching dry-run options in request and content: [All] and [{}]",
            wanted.join(" ")
        )));
    }
    let errors = validate_delete_options(&options);
    (!errors.is_empty()).then(|| errors.into_list().into_status("meta.k8s.io", "DeleteOptions", ""))
}

// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateDeleteOptions
fn validate_delete_options(options: &Node<'_, '_>) -> Errors {
    // The answer names what stands for none as well, which is no value.
    const POLICIES: [&str; 3] = ["Foreground", "Background", "Orphan"];
    const NAMED: [&str; 4] = ["Foreground", "Background", "Orphan", "nil"];
    let mut errors = Errors::default();
    // The options are an object of their own.
    let options = Node::root(options.value());
    let policy = options.child("propagationPolicy");
    if options.child("orphanDependents").is_set() && policy.is_set() {
        errors.invalid_name(
            &policy,
            "orphanDependents and deletionPropagation cannot be both set",
        );
    }
    if policy.is_set() && !POLICIES.contains(&policy.as_text()) {
        errors.not_supported(&policy, &NAMED);
    }
    let dry_run = options.child("dryRun");
    if dry_run.items().any(|mode| mode.as_text() != "All") {
        errors.push(Error::not_supported(
            dry_run,
            pratique_types::field::BadValue::Json(dry_run.value()),
            ["All"],
        ));
    }
    errors
}

// Upstream: pkg/apis/authentication/validation/validation.go, ValidateTokenRequest
fn refuse_token(token: &Node<'_, '_>, candidate: &Candidate<'_>, mut errors: Errors) -> Option<Status> {
    const MIN_SECONDS: i64 = 600;
    let spec = token.child("spec");
    let (seconds, attestations) = (spec.child("expirationSeconds"), spec.child("attestations"));
    if seconds.int() < MIN_SECONDS {
        errors.invalid(
            seconds,
            seconds.int(),
            "may not specify a duration less than 10 minutes",
        );
    }
    if seconds.int() > 1 << 32 {
        errors.invalid(
            seconds,
            seconds.int(),
            "may not specify a duration larger than 2^32 seconds",
        );
    }
    // Upstream: pkg/apis/authentication/validation/validation.go, ValidateTokenRequest: since 1.37, tokens are of webhooks, too.
    if errors.release().at_least(1, 37) && is_of_webhook(&spec.child("boundObjectRef")) {
        let audiences = spec.child("audiences");
        if audiences.len() != 1 {
            errors.invalid_value(&audiences, "must be length 1 when bound to a webhook config");
        }
        validate_attestations(&attestations, &mut errors);
    } else if !attestations.is_empty() {
        errors = Errors::default();
        errors.invalid_value(
            &attestations,
            "attestations may only be specified with a webhook bound object reference",
        );
    }
    let group = &candidate.kind.group;
    (!errors.is_empty()).then(|| errors.into_list().into_status(group, &candidate.kind.kind, ""))
}

// Upstream: pkg/apis/authentication/validation/validation.go, isWebhookRef
fn is_of_webhook(reference: &Node<'_, '_>) -> bool {
    const KINDS: [&str; 2] = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];
    KINDS.contains(&reference.child("kind").as_text())
        && reference.child("apiVersion").as_text() == "admissionregistration.k8s.io/v1"
}

// Upstream: pkg/apis/authentication/validation/validation.go, validateWebhookAttestations
fn validate_attestations(attestations: &Node<'_, '_>, errors: &mut Errors) {
    const GROUPS: &str = "admissionReviewAPIGroups";
    if attestations.len() != 1 {
        errors.invalid(
            attestations,
            internal_json(errors.release(), "{}[]string", attestations.value()),
            "webhook bound requests require exactly one admissionReviewAPIGroups attestation",
        );
        return;
    }
    for (key, values) in attestations.entries() {
        if key != GROUPS {
            errors.push(Error::not_supported(values, key, [GROUPS]));
            continue;
        }
        if values.len() != 1 {
            errors.invalid_value(&values, "must specify a single value");
            continue;
        }
        for group in values.items() {
            match group.as_text() {
                "" => errors.invalid_or_empty(&group, "may not be an empty string"),
                "*" => {}
                text => {
                    for reason in dns1123_subdomain(text) {
                        let detail = format!("must specify a valid API Group: {reason}");
                        errors.invalid_or_empty(&group, &detail);
                    }
                }
            }
        }
    }
}
