//! The validators of built-in kinds that all tools have.

use std::sync::{LazyLock, Mutex, PoisonError};

use pratique_schema::FeatureGates;
use pratique_types::{AdmissionRequest, Operation};
use pratique_validation::Validator;

static BY_DEFAULT: LazyLock<Validator> = LazyLock::new(|| new_validator(FeatureGates::default()));

/// The validators of servers with other feature gates that were asked about. A process asks about few.
static VALIDATORS: Mutex<Vec<(FeatureGates, &'static Validator)>> = Mutex::new(Vec::new());

/// The rules by which a server with these feature gates refuses objects of built-in kinds.
pub(crate) fn validator(gates: FeatureGates) -> &'static Validator {
    if gates == FeatureGates::default() {
        return &BY_DEFAULT;
    }
    let mut validators = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = validators.iter().find(|(of, _)| *of == gates) {
        return known;
    }
    let validator: &'static Validator = Box::leak(Box::new(new_validator(gates)));
    validators.push((gates, validator));
    validator
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

/// Whether there are rules by which the object of a request is judged, of a built-in kind that is stored.
pub fn is_validated(request: &AdmissionRequest<'_>) -> bool {
    let is_update = request.operation == Operation::Update;
    BY_DEFAULT.covers(&request.kind, &request.sub_resource, is_update)
}
