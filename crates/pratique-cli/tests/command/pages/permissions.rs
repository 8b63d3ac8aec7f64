//! What commands read of a cluster: `docs/operators.md`.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::root;
use crate::api_server::Script;
use crate::cluster_state::{authorizing, files, server};

/// The verb and the resource of a request; `None` for what every user may ask, such as which resources there are.
fn permission(request: &str) -> Option<String> {
    let (verb, resource, _) = parts(request)?;
    Some(format!("{verb} {resource}"))
}

/// The verb, the resource and the group of a request.
fn parts(request: &str) -> Option<(&str, &str, &str)> {
    let (method, target) = request.split_once(' ')?;
    let path = target.split('?').next()?;
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let (group, resource, is_named) = match parts.as_slice() {
        ["api", _, "namespaces", _, resource, name @ ..] => ("", *resource, !name.is_empty()),
        ["api", _, resource, name @ ..] => ("", *resource, !name.is_empty()),
        ["apis", group, _, resource, name @ ..] => (*group, *resource, !name.is_empty()),
        _ => return None,
    };
    let verb = match (method, is_named) {
        ("GET", true) => "get",
        ("GET", false) => "list",
        ("POST", _) => "create",
        _ => method,
    };
    Some((verb, resource, group))
}

/// What a command asks for, as a page says it.
fn asked(script: Script, arguments: &[&str]) -> BTreeSet<String> {
    let requests = requests(script, arguments);
    requests
        .iter()
        .filter_map(|request| permission(request))
        .collect()
}

/// The requests of a command.
fn requests(script: Script, arguments: &[&str]) -> Vec<String> {
    let server = script.start();
    let directory = files(&server).with(
        "suite.yaml",
        "apiVersion: pratique/v1alpha1\nkind: Suite\ntests: [{name: t, object: object.yaml, expect: denied}]\n",
    );
    let run = directory.run(&[arguments, &["--kubeconfig", "kubeconfig"]].concat());
    assert!(matches!(run.code, Some(0 | 1 | 3)), "{run}");
    server.asked()
}

const POLICIES: [&str; 6] = [
    "list mutatingadmissionpolicies",
    "list mutatingadmissionpolicybindings",
    "list mutatingwebhookconfigurations",
    "list validatingadmissionpolicies",
    "list validatingadmissionpolicybindings",
    "list validatingwebhookconfigurations",
];

const STATE: [&str; 2] = ["list configmaps", "list namespaces"];

/// What plugins look up that are on by default.
const PLUGINS: [&str; 10] = [
    "list customresourcedefinitions",
    "list deviceclasses",
    "list ingressclasses",
    "list limitranges",
    "list priorityclasses",
    "list resourceclaims",
    "list resourcequotas",
    "list runtimeclasses",
    "list serviceaccounts",
    "list storageclasses",
];

const RBAC: [&str; 4] = [
    "list clusterrolebindings",
    "list clusterroles",
    "list rolebindings",
    "list roles",
];

fn expected(parts: &[&[&str]]) -> BTreeSet<String> {
    parts.concat().into_iter().map(str::to_owned).collect()
}

#[test]
fn commands_read_what_the_page_says() {
    let review = ["review", "object.yaml"];
    let off = ["review", "object.yaml", "--chain=off"];
    assert_eq!(asked(server(3), &off), expected(&[&POLICIES, &STATE]));
    assert_eq!(
        asked(server(3), &review),
        expected(&[&POLICIES, &STATE, &PLUGINS])
    );
    let snapshot = asked(server(3), &["snapshot", "saved"]);
    assert_eq!(snapshot, expected(&[&POLICIES, &STATE, &PLUGINS, &RBAC]));
    let secrets = asked(server(3), &["snapshot", "saved", "--secrets", "shop/limits"]);
    assert_eq!(
        secrets,
        expected(&[&POLICIES, &STATE, &PLUGINS, &RBAC, &["get secrets"]])
    );
    let test = asked(server(3), &["test", "suite.yaml"]);
    assert_eq!(test, expected(&[&POLICIES, &STATE]));
    let scan = asked(deployments(), &["scan"]);
    assert_eq!(scan, expected(&[&POLICIES, &STATE, &["list deployments"]]));
    let page = fs::read_to_string(root().join("docs/operators.md")).unwrap();
    let (_, table) = page.split_once("| command | permissions |").unwrap();
    for permission in PLUGINS {
        let (_, resource) = permission.split_once(' ').unwrap();
        assert!(table.to_lowercase().contains(resource), "{resource} is not named");
    }
}

/// A policy over Deployments, and one of them.
fn deployments() -> Script {
    let deployment = json!({"metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": 1}});
    server(3)
        .serve("apps", "deployments", "Deployment", true)
        .list("/apis/apps/v1/deployments", vec![deployment])
}

#[test]
fn roles_to_copy_suffice() {
    let page = fs::read_to_string(root().join("docs/operators.md")).unwrap();
    let roles = page.split("```yaml\n").skip(1).filter_map(|rest| {
        let (text, _) = rest.split_once("```")?;
        let role = pratique_manifest::yaml_as_json(text.as_bytes()).unwrap();
        let role: Value = serde_json::from_str(&role).unwrap();
        (role["kind"] == "ClusterRole").then_some(role)
    });
    let roles: Vec<Value> = roles.collect();
    for (name, script, arguments) in [
        ("pratique-snapshot", server(3), &["snapshot", "saved"][..]),
        ("pratique-snapshot", server(3), &["review", "object.yaml"]),
        ("pratique-snapshot", authorizing(), &["review", "object.yaml"]),
        ("pratique-scan", deployments(), &["scan"]),
    ] {
        let role = roles
            .iter()
            .find(|role| role["metadata"]["name"] == name)
            .unwrap();
        let has = |rule: &Value, field: &str, wanted: &str| {
            rule[field]
                .as_array()
                .unwrap()
                .iter()
                .any(|value| value == wanted)
        };
        for request in requests(script, arguments) {
            let Some((verb, resource, group)) = parts(&request) else {
                continue;
            };
            let mut rules = role["rules"].as_array().unwrap().iter();
            let is_granted = rules.any(|rule| {
                has(rule, "apiGroups", group) && has(rule, "resources", resource) && has(rule, "verbs", verb)
            });
            assert!(is_granted, "{name} does not permit {request}");
        }
    }
}
