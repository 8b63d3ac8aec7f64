//! Results as JSON.

use std::collections::BTreeMap;

use pratique_explain::Explanation;
use pratique_manifest::{Kind, Location};
use pratique_policy::AdmissionPhase;
use pratique_review::Decision;
use pratique_review::PolicyWithoutBinding;
use pratique_suite::{
    ActualResult, CoverageReport, Difference, MissingPoint, PluginOutcome, PolicyCoverage, PolicyOutcome,
};
use serde::Serialize;

use super::run::{CaseRun, SuiteRun, TestRun};
use crate::output::finding::OutputFinding;
use crate::output::json::is_zero;
use crate::output::notice::InputNotice;
use crate::output::problems::JsonProblem;

/// All results.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TestReport<'a> {
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
    notices: &'a [InputNotice],
    suites: Vec<JsonSuite<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<JsonCoverage<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonSuite<'a> {
    name: &'a str,
    file: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<JsonProblem<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_evaluated: Vec<NotEvaluated<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tests_not_evaluated: &'a [pratique_suite::NotEvaluated],
    tests: Vec<JsonTest<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonTest<'a> {
    name: &'a str,
    location: &'a Location,
    /// The release of the server.
    kubernetes_version: String,
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

impl<'a> From<&'a PolicyWithoutBinding> for NotEvaluated<'a> {
    fn from(policy: &'a PolicyWithoutBinding) -> Self {
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
    decision: Decision,
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
struct JsonCoverage<'a> {
    covered: usize,
    total: usize,
    /// Null if there are no points.
    percent: Option<f64>,
    policies: Vec<CoveredPolicy<'a>>,
}

#[derive(Serialize)]
struct CoveredPolicy<'a> {
    kind: &'static str,
    name: &'a str,
    location: &'a Location,
    covered: usize,
    total: usize,
    percent: Option<f64>,
    missing: &'a [MissingPoint],
}

impl<'a> TestReport<'a> {
    /// The results of a run, with the warnings about its policies.
    pub(super) fn new(run: &'a TestRun, lints: Vec<OutputFinding<'a>>) -> Self {
        let (passed, failed) = run.counts();
        TestReport {
            passed,
            failed,
            not_evaluated: run.unbound().len(),
            tests_not_evaluated: run.not_evaluated(),
            tests_skipped: run.skipped(),
            warnings: lints.into_iter().map(JsonProblem::from).collect(),
            notices: &run.notices,
            suites: run.suites.iter().map(JsonSuite::from).collect(),
            coverage: run.coverage.as_ref().map(JsonCoverage::from),
        }
    }
}

impl<'a> From<&'a SuiteRun> for JsonSuite<'a> {
    fn from(run: &'a SuiteRun) -> Self {
        JsonSuite {
            name: &run.name,
            file: &run.file,
            problems: run.problems.iter().map(JsonProblem::from).collect(),
            not_evaluated: run.unbound.iter().map(NotEvaluated::from).collect(),
            tests_not_evaluated: &run.not_evaluated,
            tests: run.cases.iter().map(JsonTest::from).collect(),
        }
    }
}

impl<'a> From<&'a CaseRun> for JsonTest<'a> {
    fn from(run: &'a CaseRun) -> Self {
        JsonTest {
            name: &run.case.name,
            location: &run.case.location,
            kubernetes_version: run.release.to_string(),
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

impl<'a> From<&'a ActualResult> for JsonActual<'a> {
    fn from(actual: &'a ActualResult) -> Self {
        JsonActual {
            allowed: actual.decision == Decision::Allowed,
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

impl<'a> From<&'a CoverageReport> for JsonCoverage<'a> {
    fn from(report: &'a CoverageReport) -> Self {
        JsonCoverage {
            covered: report.covered(),
            total: report.total(),
            percent: report.percent(),
            policies: report.policies.iter().map(CoveredPolicy::from).collect(),
        }
    }
}

impl<'a> From<&'a PolicyCoverage> for CoveredPolicy<'a> {
    fn from(policy: &'a PolicyCoverage) -> Self {
        CoveredPolicy {
            kind: match policy.phase {
                AdmissionPhase::Mutating => "MutatingAdmissionPolicy",
                AdmissionPhase::Validating => "ValidatingAdmissionPolicy",
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
