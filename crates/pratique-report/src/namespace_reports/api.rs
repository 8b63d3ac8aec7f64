//! The objects of both APIs: wgpolicyk8s.io/v1alpha2 and openreports.io/v1alpha1.

use std::collections::BTreeMap;

use serde::Serialize;

/// Who reports.
pub(super) const SOURCE: &str = "pratique";
/// The name of each object: the next scan takes its place.
const NAME: &str = "pratique-scan";
/// Where it is said how many results are not listed.
const OMITTED: &str = "pratique/omitted-results";
/// Where it is said which release of Kubernetes decided.
const RELEASE: &str = "pratique/kubernetes-version";

/// An API of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportApi {
    /// `PolicyReport` and `ClusterPolicyReport` of wgpolicyk8s.io/v1alpha2.
    PolicyReport,
    /// `Report` and `ClusterReport` of openreports.io/v1alpha1.
    OpenReports,
}

/// The label of our objects, and its value.
pub(super) const LABEL: (&str, &str) = ("app.kubernetes.io/managed-by", SOURCE);

impl ReportApi {
    /// The name of all reports: each namespace has one.
    pub const NAME: &'static str = NAME;

    /// What selects our reports, as a selector of labels.
    pub fn selector() -> String {
        format!("{}={}", LABEL.0, LABEL.1)
    }

    /// The group.
    pub fn group(self) -> &'static str {
        match self {
            ReportApi::PolicyReport => "wgpolicyk8s.io",
            ReportApi::OpenReports => "openreports.io",
        }
    }

    /// The version within the group.
    pub fn group_version(self) -> &'static str {
        match self {
            ReportApi::PolicyReport => "v1alpha2",
            ReportApi::OpenReports => "v1alpha1",
        }
    }

    /// The resource of the reports of namespaces, or that of the cluster.
    pub fn resource(self, is_namespaced: bool) -> &'static str {
        match (self, is_namespaced) {
            (ReportApi::PolicyReport, true) => "policyreports",
            (ReportApi::PolicyReport, false) => "clusterpolicyreports",
            (ReportApi::OpenReports, true) => "reports",
            (ReportApi::OpenReports, false) => "clusterreports",
        }
    }

    /// The kind of the reports of namespaces, or that of the cluster.
    pub fn kind(self, is_namespaced: bool) -> &'static str {
        match (self, is_namespaced) {
            (ReportApi::PolicyReport, true) => "PolicyReport",
            (ReportApi::PolicyReport, false) => "ClusterPolicyReport",
            (ReportApi::OpenReports, true) => "Report",
            (ReportApi::OpenReports, false) => "ClusterReport",
        }
    }
}

/// The outcome of a policy for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PolicyOutcome {
    Pass,
    Fail,
    Warn,
    Error,
    Skip,
}

/// Numbers of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct ResultSummary {
    pub(super) pass: u64,
    pub(super) fail: u64,
    pub(super) warn: u64,
    pub(super) error: u64,
    pub(super) skip: u64,
}

impl ResultSummary {
    pub(super) fn count(&mut self, outcome: PolicyOutcome) {
        match outcome {
            PolicyOutcome::Pass => self.pass += 1,
            PolicyOutcome::Fail => self.fail += 1,
            PolicyOutcome::Warn => self.warn += 1,
            PolicyOutcome::Error => self.error += 1,
            PolicyOutcome::Skip => self.skip += 1,
        }
    }

    pub(super) fn sum(&self) -> u64 {
        self.pass + self.fail + self.warn + self.error + self.skip
    }
}

/// A result, as both APIs have it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ReportResult {
    pub(super) source: &'static str,
    pub(super) policy: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule: Option<String>,
    pub(super) result: PolicyOutcome,
    pub(super) scored: bool,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) resources: Vec<ObjectReference>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) properties: BTreeMap<&'static str, String>,
}

/// An object that was evaluated.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObjectReference {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) api_version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) namespace: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) uid: String,
}

/// A report of a namespace, or of the cluster.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReportObject<'a> {
    api_version: String,
    kind: &'static str,
    metadata: ReportMetadata<'a>,
    /// Only OpenReports has it here as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    summary: ResultSummary,
    results: &'a [ReportResult],
}

#[derive(Debug, Serialize)]
struct ReportMetadata<'a> {
    name: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    labels: BTreeMap<&'static str, &'static str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<&'static str, String>,
}

impl<'a> ReportObject<'a> {
    /// The same with the release that decided, if it is known.
    pub(super) fn of_release(mut self, release: &str) -> Self {
        if !release.is_empty() {
            self.metadata.annotations.insert(RELEASE, release.to_owned());
        }
        self
    }

    /// The report of a namespace; that of the cluster if its name is empty.
    pub(super) fn new(
        api: ReportApi,
        namespace: &'a str,
        summary: ResultSummary,
        results: &'a [ReportResult],
        omitted: u64,
    ) -> Self {
        let mut annotations = BTreeMap::new();
        if omitted > 0 {
            annotations.insert(OMITTED, omitted.to_string());
        }
        ReportObject {
            api_version: format!("{}/{}", api.group(), api.group_version()),
            kind: api.kind(!namespace.is_empty()),
            metadata: ReportMetadata {
                name: NAME,
                namespace,
                labels: BTreeMap::from([LABEL]),
                annotations,
            },
            source: (api == ReportApi::OpenReports).then_some(SOURCE),
            summary,
            results,
        }
    }
}

/// Reports, as `kubectl apply` reads them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReportList<O> {
    api_version: &'static str,
    kind: &'static str,
    items: Vec<O>,
}

impl<O: Serialize> ReportList<O> {
    pub(super) fn new(items: Vec<O>) -> Self {
        ReportList {
            api_version: "v1",
            kind: "List",
            items,
        }
    }
}
