//! Images of containers and volumes.

use crate::errors::Errors;
use crate::node::Node;

// Upstream: pkg/apis/core/validation/validation.go, validatePullPolicy
pub(super) fn validate_pull_policy(policy: &Node<'_, '_>, errors: &mut Errors) {
    errors.required_enum(policy, &["Always", "IfNotPresent", "Never"]);
}
