//! Objects are as the definitions of both APIs have them, and bounded.

use serde_json::Value;

use super::*;

const ROOT: Finding<'static> = Finding {
    policy: "no-root",
    binding: "everywhere",
    action: Action::Deny,
    is_error: false,
    message: "runs as root",
};

fn pod<'a>(namespace: &'a str, name: &'a str, findings: Vec<Finding<'a>>) -> Evaluation<'a> {
    let is_denied = findings.iter().any(|finding| finding.action == Action::Deny);
    Evaluation {
        decision: if is_denied {
            Decision::Denied
        } else {
            Decision::Allowed
        },
        operation: "CREATE",
        api_version: "v1",
        kind: "Pod",
        namespace,
        name,
        findings,
        ..Evaluation::default()
    }
}

fn list(reports: &NamespaceReports, api: ReportApi) -> Vec<Value> {
    let list = serde_json::to_value(reports.list(api)).unwrap();
    assert_eq!(
        (list["apiVersion"].as_str(), list["kind"].as_str()),
        (Some("v1"), Some("List"))
    );
    list["items"].as_array().unwrap().clone()
}

/// The numbers of a summary: pass, fail, warn, error, skip.
fn summary(object: &Value) -> [u64; 5] {
    ["pass", "fail", "warn", "error", "skip"].map(|name| object["summary"][name].as_u64().unwrap())
}

fn filled() -> NamespaceReports {
    let mut reports = NamespaceReports::new(NamespaceLimits::default());
    let of = |action, is_error| Finding {
        action,
        is_error,
        ..ROOT
    };
    reports.count(&pod(
        "shop",
        "a",
        vec![ROOT, of(Action::Warn, false), of(Action::Audit, false)],
    ));
    reports.count(&pod("shop", "b", Vec::new()));
    reports.count(&pod(
        "shop",
        "c",
        vec![of(Action::Deny, true), of(Action::Ignore, true)],
    ));
    reports.count(&Evaluation {
        decision: Decision::Undecided,
        ..pod("infra", "d", vec![of(Action::Undecided, false)])
    });
    reports.count(&Evaluation {
        kind: "Namespace",
        ..pod("infra", "infra", vec![ROOT])
    });
    reports.count_problem("a.yaml:1:1", "no YAML");
    reports
}

#[test]
fn what_no_policy_matched_is_skipped() {
    let mut reports = NamespaceReports::new(NamespaceLimits::default());
    for is_unmatched in [true, false, true] {
        reports.count(&Evaluation {
            is_unmatched,
            ..pod("shop", "a", Vec::new())
        });
    }
    // A finding says more.
    reports.count(&Evaluation {
        is_unmatched: true,
        ..pod("shop", "b", vec![ROOT])
    });
    for api in [ReportApi::PolicyReport, ReportApi::OpenReports] {
        assert_eq!(summary(&list(&reports, api)[0]), [1, 1, 0, 0, 2]);
    }
}

#[test]
fn each_namespace_has_its_object() {
    for (api, version, kind, of_cluster) in [
        (
            ReportApi::PolicyReport,
            "wgpolicyk8s.io/v1alpha2",
            "PolicyReport",
            "ClusterPolicyReport",
        ),
        (
            ReportApi::OpenReports,
            "openreports.io/v1alpha1",
            "Report",
            "ClusterReport",
        ),
    ] {
        let items = list(&filled(), api);
        let heads: Vec<_> = items
            .iter()
            .map(|item| {
                (
                    item["kind"].as_str().unwrap(),
                    item["metadata"]["namespace"].as_str(),
                )
            })
            .collect();
        assert_eq!(
            heads,
            [(of_cluster, None), (kind, Some("infra")), (kind, Some("shop"))]
        );
        assert!(items.iter().all(|item| item["apiVersion"] == version));
        assert!(
            items
                .iter()
                .all(|item| item["metadata"]["name"] == "pratique-scan")
        );
        let summaries: Vec<_> = items.iter().map(summary).collect();
        assert_eq!(summaries, [[0, 1, 0, 1, 0], [0, 0, 0, 1, 0], [1, 1, 2, 2, 0]]);
        for item in &items {
            let results = item["results"].as_array().unwrap();
            let listed: u64 = summary(item)[1..].iter().sum();
            assert_eq!(results.len() as u64, listed, "all but those that pass are listed");
        }
    }
}

/// The fields that both definitions have; of the object itself, `source` is of OpenReports only.
// Upstream: openreports/reports-api crd/openreports.io, kubernetes-sigs/wg-policy-prototypes policy-report/crd
#[test]
fn fields_are_those_of_the_definitions() {
    const RESULT: [&str; 12] = [
        "category",
        "message",
        "policy",
        "properties",
        "resourceSelector",
        "resources",
        "result",
        "rule",
        "scored",
        "severity",
        "source",
        "timestamp",
    ];
    const REFERENCE: [&str; 7] = [
        "apiVersion",
        "fieldPath",
        "kind",
        "name",
        "namespace",
        "resourceVersion",
        "uid",
    ];
    const OBJECT: [&str; 7] = [
        "apiVersion",
        "kind",
        "metadata",
        "results",
        "scope",
        "scopeSelector",
        "summary",
    ];
    let fields = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for api in [ReportApi::PolicyReport, ReportApi::OpenReports] {
        for item in list(&filled(), api) {
            let is_known =
                |field: &str| OBJECT.contains(&field) || (api == ReportApi::OpenReports && field == "source");
            assert!(fields(&item).iter().all(|field| is_known(field)), "{item}");
            for result in item["results"].as_array().unwrap() {
                let known = fields(result)
                    .iter()
                    .all(|field| RESULT.contains(&field.as_str()));
                assert!(
                    known && !result["policy"].as_str().unwrap().is_empty(),
                    "{result}"
                );
                let outcome = result["result"].as_str().unwrap();
                assert!(
                    ["pass", "fail", "warn", "error", "skip"].contains(&outcome),
                    "{result}"
                );
                for resource in result["resources"].as_array().into_iter().flatten() {
                    let mut fields = fields(resource).into_iter();
                    assert!(
                        fields.all(|field| REFERENCE.contains(&field.as_str())),
                        "{resource}"
                    );
                }
                let properties = result["properties"].as_object().into_iter().flatten();
                assert!(
                    properties.into_iter().all(|(_, value)| value.is_string()),
                    "{result}"
                );
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_counted() {
    let limits = NamespaceLimits {
        namespaces: 2,
        results: 2,
        ..NamespaceLimits::default()
    };
    let mut reports = NamespaceReports::new(limits);
    for name in ["a", "b", "c"] {
        reports.count(&pod("shop", name, vec![ROOT]));
        reports.count(&pod(name, name, vec![ROOT]));
    }
    reports.count_problem("x", "y");
    let items = list(&reports, ReportApi::PolicyReport);
    let namespaces: Vec<_> = items
        .iter()
        .map(|item| item["metadata"]["namespace"].as_str())
        .collect();
    assert_eq!(namespaces, [None, Some("a"), Some("shop")]);
    assert_eq!(summary(&items[2]), [0, 3, 0, 0, 0]);
    assert_eq!(items[2]["results"].as_array().unwrap().len(), 2);
    assert_eq!(
        items[2]["metadata"]["annotations"]["pratique/omitted-results"],
        "1"
    );
    assert_eq!((reports.omitted(), reports.unlisted()), (1, 2));

    let mut small = NamespaceReports::new(NamespaceLimits {
        total_bytes: 600,
        ..NamespaceLimits::default()
    });
    let long = "x".repeat(5000);
    small.count(&pod(
        "shop",
        "a",
        vec![Finding {
            message: &long,
            ..ROOT
        }],
    ));
    small.count(&pod("shop", "b", vec![ROOT]));
    let items = list(&small, ReportApi::OpenReports);
    assert_eq!(summary(&items[0]), [0, 2, 0, 0, 0]);
    assert_eq!(items[0]["results"].as_array().unwrap().len(), 1);
}

#[test]
fn nothing_passes_without_a_decision() {
    let mut reports = NamespaceReports::new(NamespaceLimits::default());
    for decision in [
        Decision::Denied,
        Decision::Undecided,
        Decision::Failed,
        Decision::Allowed,
    ] {
        reports.count(&Evaluation {
            decision,
            ..pod("shop", "a", Vec::new())
        });
    }
    let items = list(&reports, ReportApi::PolicyReport);
    assert_eq!(summary(&items[0]), [1, 1, 0, 2, 0]);
}
