//! The one validator of built-in kinds that all tools have.

use std::sync::LazyLock;

use pratique_types::{AdmissionRequest, Operation};
use pratique_validation::Validator;

static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| {
    Validator::new()
        .with_kinds(pratique_apiextensions::DEFINITION_KINDS)
        .with_kinds(pratique_manifest::KIND_RULES)
        .with_device_expressions(pratique_expression::compile_device_expression)
});

/// The rules by which a server refuses objects of built-in kinds.
pub(crate) fn validator() -> &'static Validator {
    &VALIDATOR
}

/// Whether there are rules by which the object of a request is judged, of a built-in kind that is stored.
pub fn is_validated(request: &AdmissionRequest<'_>) -> bool {
    let is_update = request.operation == Operation::Update;
    validator().covers(&request.kind, &request.sub_resource, is_update)
}
