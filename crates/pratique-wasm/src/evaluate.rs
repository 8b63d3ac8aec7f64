//! Policies evaluated for a request, as `pratique review` does.

use pratique::{Admission, FeatureGates, Release, workers::Sequential};
use pratique_lint::{DefinitionSet, ExpressionCost, LintOptions, Warning};
use pratique_manifest::ManifestSet;
use pratique_review::sorted_objects::SortedPolicies;
use pratique_review::{PlainFinding, ReviewedTexts};
use serde::Serialize;
use serde_json::{Value, json};

use crate::request::Evaluate;

/// The memory that loading may take, by the loader's estimate.
const LOAD_BYTES: u64 = 256 << 20;

/// The answer to an [`Evaluate`]: the problems of the inputs, or the decision, and how it came about.
#[derive(Debug, Default, Serialize)]
pub struct Evaluation {
    #[serde(flatten)]
    reviewed: ReviewedTexts,
    /// Warnings of the lints.
    lints: Vec<PlainFinding>,
    /// The estimated costs, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    costs: Vec<Value>,
}

/// Evaluates a request. Policies are loaded and linted as `pratique check` does.
pub(crate) fn evaluate(arguments: &Evaluate) -> Evaluation {
    let (mut lints, mut costs) = (Vec::new(), Vec::new());
    let inspect = |gates: FeatureGates, sorted: &SortedPolicies, sets: &[&ManifestSet]| {
        let warnings = if arguments.without_lints {
            pratique_lint::lint_loaded(sets)
        } else {
            let mixed = sorted.mixed().iter().map(|(name, location)| (name, location));
            let definitions = DefinitionSet::new(gates.release(), sorted.definitions().to_vec());
            let options = LintOptions::default().feature_gates(gates);
            pratique_lint::lint_policies(sets, mixed, &definitions, options)
        };
        lints.extend(warnings.iter().map(lint_finding));
        if arguments.costs {
            let estimated = pratique_lint::estimate_costs(gates.release(), sets);
            costs.extend(estimated.iter().map(expression_cost));
        }
    };
    let builder = Admission::builder()
        .workers(Sequential)
        .max_load_bytes(LOAD_BYTES);
    let reviewed = arguments.texts.review(Release::latest(), builder, inspect);
    Evaluation {
        reviewed,
        lints,
        costs,
    }
}

/// A warning of a lint.
fn lint_finding(warning: &Warning) -> PlainFinding {
    let object = warning.object.as_ref();
    PlainFinding {
        severity: "warning",
        field: Some(warning.field.clone()),
        object: object.map(|object| [object.kind.name().to_owned(), object.name.clone()]),
        location: Some(warning.location.clone()),
        help: warning.help.as_ref().map(|help| help.text.clone()),
        ..PlainFinding::new(warning.lint.name, &warning.message)
    }
}

/// The worst-case cost of an expression for objects of a size in bytes.
fn expression_cost(cost: &ExpressionCost) -> Value {
    let mut value = json!({
        "object": [cost.object.kind.name(), cost.object.name], "field": cost.field, "location": cost.location,
        "result": cost.usage.result.to_string(), "min": cost.usage.cost.min, "max": cost.usage.cost.max,
        "limit": ExpressionCost::LIMIT, "objectSize": ExpressionCost::LARGE,
    });
    if let (Some(members), Some(kind)) = (value.as_object_mut(), &cost.kind) {
        members.insert("forKind".to_owned(), json!(kind.to_string()));
    }
    value
}
