//! Coverage reports.

use pratique_manifest::Location;
use pratique_policy::{AdmissionPhase, Origin};
use serde::Serialize;

use super::points::{ExpressionPoints, PolicyPoints};

/// The coverage of all policies.
#[derive(Clone, Debug, Default)]
pub struct CoverageReport {
    /// The coverage of each policy.
    pub policies: Vec<PolicyCoverage>,
}

/// The coverage of a policy.
#[derive(Clone, Debug)]
pub struct PolicyCoverage {
    /// Whether it mutates or validates.
    pub phase: AdmissionPhase,
    /// Its origin: static manifests or the API.
    pub origin: Origin,
    /// Its name.
    pub name: String,
    /// Its location.
    pub location: Location,
    /// The number of covered points.
    pub covered: usize,
    /// The number of points.
    pub total: usize,
    /// The points that are not covered.
    pub missing: Vec<MissingPoint>,
}

/// A point that is not covered.
#[derive(Clone, Debug, Serialize)]
pub struct MissingPoint {
    /// The field of the policy, or the binding.
    pub field: String,
    /// What never happened: `never true`, `never evaluated`, `never matched`.
    pub what: &'static str,
    /// The subexpression, if it is a point of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// Its location.
    pub location: Location,
}

impl CoverageReport {
    pub(super) fn new(policies: &[PolicyPoints]) -> Self {
        CoverageReport {
            policies: policies.iter().map(of_policy).collect(),
        }
    }

    /// The number of covered points.
    pub fn covered(&self) -> usize {
        self.policies.iter().map(|policy| policy.covered).sum()
    }

    /// The number of points.
    pub fn total(&self) -> usize {
        self.policies.iter().map(|policy| policy.total).sum()
    }

    /// The coverage in percent; 100 only if everything is covered. `None` if there are no points.
    pub fn percent(&self) -> Option<f64> {
        percent(self.covered(), self.total())
    }
}

impl PolicyCoverage {
    /// The coverage in percent; 100 only if everything is covered. `None` if there are no points.
    pub fn percent(&self) -> Option<f64> {
        percent(self.covered, self.total)
    }
}

/// Rounded down to tenths.
fn percent(covered: usize, total: usize) -> Option<f64> {
    let tenths = (covered * 1000).checked_div(total)?;
    Some(f64::from(u32::try_from(tenths).unwrap_or(1000)) / 10.0)
}

fn of_policy(points: &PolicyPoints) -> PolicyCoverage {
    let mut coverage = PolicyCoverage {
        phase: points.phase,
        origin: points.origin,
        name: points.name.clone(),
        location: points.location.clone(),
        covered: 0,
        total: 0,
        missing: Vec::new(),
    };
    let policy = || MissingPoint {
        field: "matchConstraints".to_owned(),
        location: points.location.clone(),
        expression: None,
        what: "never matched",
    };
    coverage.count(points.matched.get(), policy);
    for binding in &points.bindings {
        coverage.count(binding.matched.get(), || MissingPoint {
            field: format!("binding {}", binding.name),
            location: binding.location.clone(),
            expression: None,
            what: "never matched",
        });
    }
    for expression in &points.expressions {
        coverage.count_expression(expression);
    }
    coverage
}

impl PolicyCoverage {
    fn count(&mut self, covered: bool, missing: impl FnOnce() -> MissingPoint) {
        self.total += 1;
        if covered {
            self.covered += 1;
        } else {
            self.missing.push(missing());
        }
    }

    fn count_expression(&mut self, expression: &ExpressionPoints) {
        if let Some(evaluated) = &expression.evaluated {
            self.count(evaluated.get(), || MissingPoint {
                field: expression.place.field(),
                location: expression.location.clone(),
                expression: None,
                what: "never evaluated",
            });
        }
        for outcome in &expression.outcomes {
            self.count(outcome.covered.get(), || MissingPoint {
                field: expression.place.field(),
                location: outcome.location.clone(),
                expression: Some(outcome.text.clone()),
                what: if outcome.wanted {
                    "never true"
                } else {
                    "never false"
                },
            });
        }
    }
}
