//! Results as JSON.

use std::collections::BTreeMap;

use pratique_explain::Explanation;
use pratique_manifest::{Kind, Location};
use pratique_policy::Phase;
use pratique_review::ReviewDecision;
use pratique_review::Unbound;
use pratique_suite::{
    Actual, CoverageReport, Difference, Missing, PluginOutcome, PolicyCoverage, PolicyOutcome,
};
use serde::Serialize;

use super::run::{CaseRun, Run, SuiteRun};
use crate::output::finding::Finding;
use crate::output::json::is_zero;
use crate::output::notice::Notice;
use crate::output::problems::JsonProblem;

/// All results.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report<'a> {
    passed: usize,
    failed: usize,
    /// The number of policies without a binding.
    not_evaluated: usize,
    /// The number of tests of other programs that are not evaluated.
    tests_not_evaluated: usize,
    /// The number of tests that their authors skip.
    #[serde(skip_serializing_if = "is_zero")]
    tests_skipped: usize,
    /// Warnings about the policies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<JsonProblem<'a>>,
    /// Warnings about the run.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    notices: &'a [Notice],
    suites: Vec<Suite<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<Coverage<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Suite<'a> {
    name: &'a str,
    file: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<JsonProblem<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_evaluated: Vec<NotEvaluated<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tests_not_evaluated: &'a [pratique_suite::NotEvaluated],
    tests: Vec<Test<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Test<'a> {
    name: &'a str,
    location: &'a Location,
    passed: bool,
    seconds: f64,
    /// The warnings of a server that decodes its objects.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [String],
    /// Why the test could not be evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "<[Difference]>::is_empty")]
    differences: &'a [Difference],
    #[serde(skip_serializing_if = "Option::is_none")]
    actual: Option<JsonActual<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'a Explanation>,
}

/// A policy without a binding.
#[derive(Serialize)]
struct NotEvaluated<'a> {
    kind: Kind,
    name: &'a str,
    location: &'a Location,
}

impl<'a> From<&'a Unbound> for NotEvaluated<'a> {
    fn from(policy: &'a Unbound) -> Self {
        NotEvaluated {
            kind: policy.kind(),
            name: &policy.name,
            location: &policy.location,
        }
    }
}

/// The actual result of a test.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonActual<'a> {
    allowed: bool,
    decision: ReviewDecision,
    #[serde(skip_serializing_if = "is_zero")]
    code: i32,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'a str,
    /// The admission plugin that refuses the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin: Option<&'a str>,
    /// What became of the request in admission plugins, where it went through the server's chain.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    plugins: &'a BTreeMap<String, PluginOutcome>,
    /// What is used of quotas after the request.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    quotas: &'a BTreeMap<String, BTreeMap<String, String>>,
    /// What became of the request in policies, where the test expects something of some.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    policies: &'a BTreeMap<String, PolicyOutcome>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    bindings: &'a BTreeMap<String, PolicyOutcome>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    audit_annotations: &'a BTreeMap<String, String>,
    /// The object, if policies changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a pratique_json::Value<'static>>,
}

#[derive(Serialize)]
struct Coverage<'a> {
    covered: usize,
    total: usize,
    /// Null if there are no points.
    percent: Option<f64>,
    policies: Vec<Policy<'a>>,
}

#[derive(Serialize)]
struct Policy<'a> {
    kind: &'static str,
    name: &'a str,
    location: &'a Location,
    covered: usize,
    total: usize,
    percent: Option<f64>,
    missing: &'a [Missing],
}

impl<'a> Report<'a> {
    /// The results of a run, with the warnings about its policies.
    pub(super) fn new(run: &'a Run, lints: Vec<Finding<'a>>) -> Self {
        let (passed, failed) = run.counts();
        Report {
            passed,
            failed,
            not_evaluated: run.unbound().len(),
            tests_not_evaluated: run.not_evaluated(),
            tests_skipped: run.skipped(),
            warnings: lints.into_iter().map(JsonProblem::from).collect(),
            notices: &run.notices,
            suites: run.suites.iter().map(Suite::from).collect(),
            coverage: run.coverage.as_ref().map(Coverage::from),
        }
    }
}

impl<'a> From<&'a SuiteRun> for Suite<'a> {
    fn from(run: &'a SuiteRun) -> Self {
        Suite {
            name: &run.name,
            file: &run.file,
            problems: run.problems.iter().map(JsonProblem::from).collect(),
            not_evaluated: run.unbound.iter().map(NotEvaluated::from).collect(),
            tests_not_evaluated: &run.not_evaluated,
            tests: run.cases.iter().map(Test::from).collect(),
        }
    }
}

impl<'a> From<&'a CaseRun> for Test<'a> {
    fn from(run: &'a CaseRun) -> Self {
        Test {
            name: &run.case.name,
            location: &run.case.location,
            passed: run.tested.passed(),
            seconds: run.duration.as_secs_f64(),
            warnings: &run.warnings,
            error: run.tested.actual.as_ref().err().map(ToString::to_string),
            differences: &run.tested.differences,
            actual: run.tested.actual.as_ref().ok().map(JsonActual::from),
            explanation: run.tested.explanation.as_ref(),
        }
    }
}

impl<'a> From<&'a Actual> for JsonActual<'a> {
    fn from(actual: &'a Actual) -> Self {
        JsonActual {
            allowed: actual.decision == ReviewDecision::Allowed,
            decision: actual.decision,
            code: actual.code,
            reason: &actual.reason,
            message: &actual.message,
            plugin: actual.plugin.as_deref(),
            plugins: &actual.plugins,
            quotas: &actual.quotas,
            policies: &actual.outcomes.policies,
            bindings: &actual.outcomes.bindings,
            warnings: &actual.warnings,
            audit_annotations: &actual.audit_annotations,
            object: actual.changed.then_some(&actual.object),
        }
    }
}

impl<'a> From<&'a CoverageReport> for Coverage<'a> {
    fn from(report: &'a CoverageReport) -> Self {
        Coverage {
            covered: report.covered(),
            total: report.total(),
            percent: report.percent(),
            policies: report.policies.iter().map(Policy::from).collect(),
        }
    }
}

impl<'a> From<&'a PolicyCoverage> for Policy<'a> {
    fn from(policy: &'a PolicyCoverage) -> Self {
        Policy {
            kind: match policy.phase {
                Phase::Mutating => "MutatingAdmissionPolicy",
                Phase::Validating => "ValidatingAdmissionPolicy",
            },
            name: &policy.name,
            location: &policy.location,
            covered: policy.covered,
            total: policy.total,
            percent: policy.percent(),
            missing: &policy.missing,
        }
    }
}
