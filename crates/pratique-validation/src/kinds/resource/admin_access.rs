//! The access of administrators to devices, which a namespace allows by a label.
// Upstream: pkg/registry/resource/utils.go

use pratique_json::Value;

use crate::errors::Errors;
use crate::node::Node;
use crate::open_question::OpenQuestion;
use crate::rules::{NamespaceView, Request};

/// The label by which a namespace gives administrators access to devices.
pub const ADMIN_ACCESS_LABEL: &str = "resource.kubernetes.io/admin-access";

/// Validates the requests of a claim. The path of a template's is that of a claim's.
// Upstream: AuthorizedForAdmin
pub(super) fn authorize_requests(request: &Request<'_>, spec: &Node<'_, '_>, errors: &mut Errors) {
    let requests = spec.value().at(&["devices", "requests"]);
    let asks = |request: &Value<'_>| is_true(request.at(&["exactly", "adminAccess"]));
    if let Some(index) = position(requests, asks) {
        authorize(request, "spec.devices.requests", index, errors);
    }
}

/// Validates what was allocated to a claim.
// Upstream: AuthorizedForAdminStatus
pub(super) fn authorize_results(request: &Request<'_>, errors: &mut Errors) {
    let results = |of: &Node<'_, '_>| {
        let results = of.value().at(&["status", "allocation", "devices", "results"]);
        position(results, |result| is_true(result.get("adminAccess")))
    };
    // The allocation is immutable.
    if let (Some(index), None) = (results(&request.object), results(&request.old)) {
        authorize(request, "status.allocation.devices.results", index, errors);
    }
}

fn authorize(request: &Request<'_>, list: &str, index: usize, errors: &mut Errors) {
    let field = || format!("{list}[{index}].adminAccess");
    match request.namespace {
        NamespaceView::Unknown => errors.leave_open(OpenQuestion::AdminAccess),
        NamespaceView::Unreadable(why) => {
            let detail = format!("could not retrieve namespace to verify admin access: {why}");
            errors.internal(field(), &detail);
        }
        NamespaceView::Stored(namespace) => {
            let label = namespace
                .at(&["metadata", "labels", ADMIN_ACCESS_LABEL])
                .and_then(Value::as_str);
            if label != Some("true") {
                let detail = format!(
                    "admin access to devices requires the `{ADMIN_ACCESS_LABEL}: true` label on the containing namespace"
                );
                errors.forbidden(field(), &detail);
            }
        }
    }
}

fn position(list: Option<&Value<'_>>, is_wanted: impl Fn(&Value<'_>) -> bool) -> Option<usize> {
    list?.as_array()?.iter().position(is_wanted)
}

fn is_true(value: Option<&Value<'_>>) -> bool {
    value.and_then(Value::as_bool) == Some(true)
}
