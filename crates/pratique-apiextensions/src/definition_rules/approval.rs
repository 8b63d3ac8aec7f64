//! Groups of Kubernetes' community, whose definitions say who approved them.

use pratique_gotext::strconv::quote;
use pratique_gotext::url::Url;
use pratique_gotext::validation::is_within_domain;
use pratique_validation::rules::{Errors, Node};

/// The annotation with the approval.
const APPROVED: &str = "api-approved.kubernetes.io";
const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

#[derive(Clone, Copy, PartialEq, Eq)]
enum ApprovalState {
    Missing,
    Bypassed,
    Approved,
    Invalid,
}

/// Validates the approval of a definition, unless it is as it was.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validateAPIApproval
pub(super) fn validate_approval(object: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let spec = object.child("spec");
    if !is_protected(spec.child("group").as_text()) {
        return;
    }
    let metadata = object.child("metadata");
    let annotations = metadata.child("annotations");
    let approval = annotations.key(APPROVED);
    let state = approval_state(approval.as_text());
    if old.is_set() && state == approval_state_of(old) {
        return;
    }
    let needs = format!(
        "protected groups must have approval annotation {}",
        quote(APPROVED)
    );
    match state {
        ApprovalState::Missing => errors.required(approval, &format!("{needs}, {SEE}")),
        ApprovalState::Invalid => {
            let either = "with either a URL or a reason starting with \"unapproved\"";
            let detail = format!("{needs} {either}, {SEE}");
            errors.invalid(approval, approval.as_text(), &detail);
        }
        ApprovalState::Bypassed | ApprovalState::Approved => {}
    }
}

// Upstream: apiextensions-apiserver/pkg/apihelpers/helpers.go, IsProtectedCommunityGroup
fn is_protected(group: &str) -> bool {
    let mut domains = ["k8s.io", "kubernetes.io"].iter();
    domains.any(|domain| is_within_domain(group, domain))
}

fn approval_state_of(object: &Node<'_, '_>) -> ApprovalState {
    let approval = object.value().at(&["metadata", "annotations", APPROVED]);
    let text = approval.and_then(pratique_json::Value::as_str);
    approval_state(text.unwrap_or_default())
}

// Upstream: apiextensions-apiserver/pkg/apihelpers/helpers.go, GetAPIApprovalState
fn approval_state(text: &str) -> ApprovalState {
    if text.is_empty() {
        ApprovalState::Missing
    } else if text.starts_with("unapproved") {
        ApprovalState::Bypassed
    } else if Url::parse_request_uri(text).is_ok_and(|url| !url.host().is_empty() && !url.scheme().is_empty())
    {
        ApprovalState::Approved
    } else {
        ApprovalState::Invalid
    }
}
