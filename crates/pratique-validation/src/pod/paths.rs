//! Paths of files.

use crate::errors::Errors;
use crate::node::Node;

/// A path without `..`; errors are about another field in some places.
// Upstream: pkg/apis/core/validation/validation.go, validatePathNoBacksteps
pub(crate) fn validate_no_backsteps(path: &Node<'_, '_>, field: &Node<'_, '_>, errors: &mut Errors) {
    no_backsteps(path.as_text(), field, errors);
}

fn no_backsteps(path: &str, field: &Node<'_, '_>, errors: &mut Errors) {
    if has_backsteps(path) {
        errors.invalid(field, path, "must not contain '..'");
    }
}

pub(crate) fn has_backsteps(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

/// A relative path without `..`.
// Upstream: pkg/apis/core/validation/validation.go, validateLocalDescendingPath
pub(crate) fn validate_descending(path: &str, field: &Node<'_, '_>, errors: &mut Errors) {
    if path.starts_with('/') {
        errors.invalid(field, path, "must be a relative path");
    }
    no_backsteps(path, field, errors);
}

/// A relative path that does not begin with `..`.
// Upstream: pkg/apis/core/validation/validation.go, ValidateLocalNonReservedPath
pub(crate) fn validate_local_path(path: &Node<'_, '_>, field: &Node<'_, '_>, errors: &mut Errors) {
    let text = path.as_text();
    validate_descending(text, field, errors);
    if text.starts_with("..") && !text.starts_with("../") {
        errors.invalid(field, text, "must not start with '..'");
    }
}
