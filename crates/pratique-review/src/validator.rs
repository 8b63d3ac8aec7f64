//! The validators of built-in kinds that all tools have.

use std::sync::LazyLock;

use pratique_schema::{FeatureGates, ReleaseCache};
use pratique_types::{AdmissionRequest, Operation};
use pratique_validation::Validator;

static BY_DEFAULT: LazyLock<Validator> = LazyLock::new(|| new_validator(FeatureGates::default()));

/// The validators of servers with other feature gates that were asked about.
static VALIDATORS: ReleaseCache<FeatureGates, &Validator> = ReleaseCache::new();

/// The rules by which a server with these feature gates refuses objects of built-in kinds.
pub(crate) fn validator(gates: FeatureGates) -> &'static Validator {
    if gates == FeatureGates::default() {
        return &BY_DEFAULT;
    }
    VALIDATORS.get_or_make(gates, || Box::leak(Box::new(new_validator(gates))))
}

/// A validator that is not kept.
pub(crate) fn new_validator(gates: FeatureGates) -> Validator {
    Validator::new()
        .with_kinds(pratique_apiextensions::DEFINITION_KINDS)
        .with_kinds(pratique_manifest::KIND_RULES)
        .with_device_expressions(pratique_expression::compile_device_expression)
        .with_gates(gates)
}

/// Whether rules of validation depend on a feature gate.
pub fn is_gate_of_validation(name: &str) -> bool {
    Validator::GATES.contains(&name)
}

/// Whether there are rules by which the object of a request is validated, of a built-in kind that is stored.
pub fn is_validated(request: &AdmissionRequest<'_>) -> bool {
    let is_update = request.operation == Operation::Update;
    BY_DEFAULT.covers(&request.kind, &request.sub_resource, is_update)
}
