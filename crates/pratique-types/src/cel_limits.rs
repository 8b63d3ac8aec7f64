//! How much CEL may cost, in the units of an API server.
// Upstream: apiserver/pkg/apis/cel/config.go; apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go

/// The cost that one evaluation of one expression may have.
pub const PER_CALL_LIMIT: u64 = 1_000_000;

/// The cost that all expressions together may have that a policy, or the rules of a custom resource, evaluate for a request.
pub const RUNTIME_COST_BUDGET: u64 = 10_000_000;

/// The cost that a rule of a custom resource may come to by its schema.
pub const STATIC_RULE_COST_LIMIT: u64 = 10_000_000;
