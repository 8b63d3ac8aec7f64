//! The cost limits of the rules of a definition.

use pratique_validation::rules::{Errors, Node};

/// The most that a rule may be estimated to cost, however often it is evaluated.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, StaticEstimatedCostLimit
pub(super) const RULE_LIMIT: u64 = 10_000_000;

/// The most that all rules of a schema may.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, StaticEstimatedCRDCostLimit
const SCHEMA_LIMIT: u64 = 100_000_000;

/// The estimated costs of the rules of a schema.
#[derive(Debug, Default)]
pub(crate) struct TotalCost {
    total: u64,
    most_expensive: Vec<(String, u64)>,
}

impl TotalCost {
    // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/cel_validation.go, ObserveExpressionCost
    pub(super) fn add(&mut self, field: &Node<'_, '_>, cost: u64) {
        self.total = self.total.saturating_add(cost);
        if cost < SCHEMA_LIMIT / 100 {
            return;
        }
        self.most_expensive.push((field.into(), cost));
        self.most_expensive
            .sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
        self.most_expensive.truncate(4);
    }

    /// Refuses a total above the limit.
    pub(crate) fn finish(self, schema: &Node<'_, '_>, errors: &mut Errors) {
        if self.total <= SCHEMA_LIMIT {
            return;
        }
        for (field, _) in self.most_expensive {
            let detail =
                "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
            errors.forbidden(field, detail);
        }
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        errors.forbidden(schema, &message(what, self.total, SCHEMA_LIMIT));
    }
}

// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, getCostErrorMessage
pub(super) fn message(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = match factor {
        factor if factor > 100.0 => "more than 100x".to_owned(),
        factor if factor < 1.5 => format!("{factor:.6}x"),
        factor => format!("{factor:.1}x"),
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and \
         maxLength where arrays, maps, and strings are declared)"
    )
}

/// A cost so many times.
pub(super) fn times(cost: u64, cardinality: u64) -> u64 {
    cost.saturating_mul(cardinality)
}
