//! `pratique impact` over the objects of a cluster.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json as value};

use crate::api_server::{ApiServer, CONFIG_MAPS, Script};
use crate::scan_cluster::{PODS, asked, pod, pods, served};
use crate::support::{Directory, Run, interrupted, within};

/// A policy with a binding.
fn policy(name: &str, operation: &str, resource: &str, expression: &str) -> String {
    format!(
        "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: {name}}}\nspec:\n  \
         matchConstraints:\n    resourceRules:\n    - {{apiGroups: ['', metrics.example.com], apiVersions: [v1], operations: \
         [{operation}], resources: [{resource}]}}\n  validations:\n  - expression: \"{expression}\"\n---\napiVersion: \
         admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {{name: {name}}}\nspec: {{policyName: \
         {name}, validationActions: [Deny]}}\n"
    )
}

/// Pods need a team; of the new policies not those of `infra`, and names of ConfigMaps begin with `shop-`.
fn directory(server: &ApiServer) -> Directory {
    let has_team = "'team' in object.metadata.?labels.orValue({})";
    let new = [
        policy(
            "team",
            "CREATE",
            "pods",
            &format!("object.metadata.namespace == 'infra' || {has_team}"),
        ),
        policy(
            "named",
            "CREATE",
            "configmaps",
            "object.metadata.name.startsWith('shop-')",
        ),
        policy("kept", "UPDATE", "secrets", "object.data == oldObject.data"),
    ];
    let directory = server.directory();
    directory
        .with("old.yaml", policy("team", "CREATE", "pods", has_team))
        .with("new.yaml", new.concat())
}

/// Five Pods and two ConfigMaps.
fn cluster() -> Script {
    let config_map = |name: &str| value!({"metadata": {"namespace": "shop", "name": name, "uid": name, "resourceVersion": "6"}});
    served().list(CONFIG_MAPS, vec![config_map("shop-a"), config_map("b")])
}

const COMPARED: [&str; 7] = [
    "impact",
    "--old",
    "old.yaml",
    "--new",
    "new.yaml",
    "--kubeconfig",
    "kubeconfig",
];

fn impact(directory: &Directory, more: &[&str]) -> Run {
    directory.run(&[COMPARED.as_slice(), more].concat())
}

/// The numbers of requests: the same, newly refused, newly allowed, undecided; and of errors.
fn numbers(run: &Run) -> [u64; 5] {
    let counts = run.json();
    ["same", "newlyRefused", "newlyAllowed", "undecided", "errors"].map(|name| counts[name].as_u64().unwrap())
}

#[test]
fn objects_of_a_cluster_are_compared() {
    let server = cluster().start();
    let directory = directory(&server);
    let rate = ["--kube-api-qps", "100", "--kube-api-burst", "5"];
    let more = ["--chunk-size", "2", "-o", "json", "--report", "page.html"];
    let run = impact(&directory, &[rate.as_slice(), &more].concat());
    assert_eq!((run.code, numbers(&run)), (Some(1), [5, 1, 1, 0, 0]), "{run}");
    // The kinds that either set matches are read in pages, and no others.
    let seen = server.asked();
    assert_eq!(
        asked(&seen, PODS),
        ["limit=2", "limit=2&continue=2", "limit=2&continue=4"]
    );
    assert_eq!(asked(&seen, CONFIG_MAPS), ["limit=2"]);
    assert!(asked(&seen, "/api/v1/secrets").is_empty(), "{seen:?}");
    // The report has a note about what is left out.
    let unmatched = "policies that match no CREATE are not evaluated: kept; those of updates and deletions are for audit logs";
    let moments = "of the cluster, the kinds were listed that policies match, each at a moment of its own";
    assert_eq!(run.json()["notes"], value!([moments, unmatched]), "{run}");
    run.stderr_has(unmatched);
    let page = fs::read_to_string(directory.path().join("page.html")).unwrap();
    for shown in [
        "Of 7 requests, 1 is newly refused.",
        moments,
        "http://127.0.0.1:",
        "/api/v1/namespaces/shop/configmaps/b",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let human = impact(&directory, &[]);
    for shown in [
        "7 requests: 1 newly refused, 1 newly allowed, 0 undecided, 5 the same\n",
        "/api/v1/namespaces/shop/configmaps/b: CREATE ConfigMap shop/b by kubernetes-admin",
        &format!("note: {moments}\n"),
    ] {
        human.stdout_has(shown);
    }
    // The inputs are what is named, and the cluster says what is known.
    let before = server.asked().len();
    let config_map = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"shop"}}"#;
    let directory = directory.with("map.json", config_map);
    let run = impact(&directory, &["-o", "json", "map.json"]);
    assert_eq!((run.code, numbers(&run)), (Some(1), [0, 1, 0, 0, 0]), "{run}");
    assert!(asked(&server.asked().split_off(before), PODS).is_empty(), "{run}");
}

/// Namespaces of the cluster count, by which policies select.
#[test]
fn namespaces_are_those_of_the_cluster() {
    let namespaces =
        ["infra", "shop"].map(|name| value!({"metadata": {"name": name, "labels": {"tier": name}}}));
    let server = cluster().list("/api/v1/namespaces", namespaces.to_vec()).start();
    let new = policy(
        "tier",
        "CREATE",
        "pods",
        "namespaceObject.metadata.labels.tier == 'shop'",
    );
    let run = impact(&directory(&server).with("new.yaml", new), &["-o", "json"]);
    // All but one of `infra` are refused by one set or the other.
    assert_eq!((run.code, numbers(&run)), (Some(1), [3, 1, 1, 0, 0]), "{run}");
}

#[test]
fn changes_while_objects_are_listed_are_reported() {
    let mut later = pods();
    later[3] = pod("shop", "b", true, 9);
    later.push(pod("infra", "d", false, 10));
    for continues in [true, false] {
        let start = || cluster().expire(PODS, later.clone(), continues).start();
        let run = impact(&directory(&start()), &["-o", "json", "--chunk-size", "2"]);
        assert_eq!(numbers(&run), [5, 1, 2, 0, 0], "{continues}: {run}");
        assert_eq!(run.json()["changedMeanwhile"], 2, "{run}");
        let lines = impact(&directory(&start()), &["-o", "ndjson", "--chunk-size", "2"]);
        let changed = lines
            .stdout
            .lines()
            .filter(|line| line.contains("\"changedMeanwhile\":true"));
        let changed: Vec<Value> = changed.map(|line| serde_json::from_str(line).unwrap()).collect();
        let names: Vec<&Value> = changed.iter().map(|line| &line["name"]).collect();
        // The other one is decided alike.
        assert_eq!(names, ["d"], "{lines}");
        let human = impact(&directory(&start()), &["--chunk-size", "2"]);
        human.stdout_has("\n2 objects changed meanwhile\n");
    }
}

#[test]
fn what_cannot_be_listed_is_not_compared() {
    let server = cluster()
        .refuse(CONFIG_MAPS, 403, "configmaps is forbidden")
        .down("metrics.example.com")
        .down("other.example.com")
        .start();
    let directory = directory(&server);
    let run = impact(&directory, &["-o", "json"]);
    assert_eq!((run.code, numbers(&run)), (Some(2), [4, 0, 1, 0, 2]), "{run}");
    for message in [
        "/api/v1/configmaps: its objects cannot be listed, and are not evaluated: configmaps is forbidden",
        "/apis/metrics.example.com/v1: its objects cannot be listed",
    ] {
        run.stderr_has(message);
    }
    // What no policy can match does not matter.
    assert!(!run.stderr.contains("other.example.com"), "{run}");
    let without = impact(&directory, &["--fail-on", "refused"]);
    without.exits(0).stdout_has("\n2 errors\n");
}

#[test]
fn an_interrupted_comparison_of_a_cluster_goes_on() {
    let whole = impact(&directory(&cluster().start()), &["-o", "json"]);
    let server = cluster().hold(PODS, 2).start();
    let directory = directory(&server);
    let kept = [
        "--checkpoint",
        "kept.json",
        "--checkpoint-interval",
        "0",
        "-o",
        "json",
        "--chunk-size",
        "2",
    ];
    interrupted(
        &directory,
        &[COMPARED.as_slice(), &kept].concat(),
        "kept.json",
        |report| report["changes"]["newlyAllowed"] == 1,
    );
    server.release();
    let before = server.asked().len();
    let resumed = impact(&directory, &kept);
    resumed.stderr_has("continued from the checkpoint, after 2 requests");
    assert_eq!(
        asked(&server.asked().split_off(before), PODS),
        ["limit=2&continue=2", "limit=2&continue=4"]
    );
    assert_eq!((resumed.code, &resumed.stdout), (whole.code, &whole.stdout));
    assert!(!directory.path().join("kept.json").exists());
    // What the other policies decide is another comparison.
    fs::write(directory.path().join("kept.json"), "{}").unwrap();
    let refused = impact(&directory, &kept);
    refused.exits(2).stderr_has("it is no checkpoint of a comparison");
}

/// A page that never comes ends the comparison in time, with how far it came.
#[test]
fn a_page_that_never_comes_is_reported() {
    let server = cluster().hold(PODS, 1).start();
    let directory = directory(&server);
    let asks = ["-o", "json", "--chunk-size", "2", "--request-timeout", "500ms"];
    let run = within(Duration::from_secs(100), || impact(&directory, &asks));
    server.release();
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run}");
    for message in [
        "the comparison has ended early, after 2 requests; it has no report; with --checkpoint, it could go on from there",
        "no answer within 0.5 seconds",
    ] {
        run.stderr_has(message);
    }
}

#[test]
fn a_snapshot_is_compared_where_no_input_is_named() {
    let server = cluster().start();
    let new = policy(
        "named",
        "CREATE",
        "namespaces",
        "object.metadata.name.startsWith('shop-')",
    );
    let directory = directory(&server).with("new.yaml", new);
    let taken = directory.run(&["snapshot", "--kubeconfig", "kubeconfig", "snap"]);
    taken.exits(0);
    let compared = [&COMPARED[..5], &["-o", "json"]].concat();
    let run = directory.run(&[compared.as_slice(), &["--snapshot", "snap"]].concat());
    assert_eq!((run.code, numbers(&run)), (Some(1), [1, 1, 0, 0, 0]), "{run}");
    let message = "a snapshot has what policies need of a cluster, and not all of its objects";
    assert_eq!(run.json()["notes"], value!([message]), "{run}");
    let nothing = directory.run(&compared);
    nothing
        .exits(2)
        .stderr_has("there is nothing to compare: name an INPUT, a cluster with --cluster");
}
