//! What commands read of a cluster: `docs/operators.md`.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;

use super::root;
use crate::api_server::Script;
use crate::cluster_state::{files, server};

/// The verb and the resource of a request; `None` for what every user may ask, such as which resources there are.
fn permission(request: &str) -> Option<String> {
    let (method, target) = request.split_once(' ')?;
    let path = target.split('?').next()?;
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let (resource, is_named) = match parts.as_slice() {
        ["api", _, "namespaces", _, resource, name @ ..] => (*resource, !name.is_empty()),
        ["api", _, resource, name @ ..] | ["apis", _, _, resource, name @ ..] => {
            (*resource, !name.is_empty())
        }
        _ => return None,
    };
    let verb = match (method, is_named) {
        ("GET", true) => "get",
        ("GET", false) => "list",
        ("POST", _) => "create",
        _ => method,
    };
    Some(format!("{verb} {resource}"))
}

/// What a command asks for, as a page says it.
fn asked(script: Script, arguments: &[&str]) -> BTreeSet<String> {
    let server = script.start();
    let directory = files(&server).with(
        "suite.yaml",
        "apiVersion: pratique/v1alpha1\nkind: Suite\ntests: [{name: t, object: object.yaml, expect: denied}]\n",
    );
    let run = directory.run(&[arguments, &["--kubeconfig", "kubeconfig"]].concat());
    assert!(matches!(run.code, Some(0 | 1 | 3)), "{run}");
    let asked = server.asked();
    asked.iter().filter_map(|request| permission(request)).collect()
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
    let deployment = json!({"metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": 1}});
    let script = server(3)
        .serve("apps", "deployments", "Deployment", true)
        .list("/apis/apps/v1/deployments", vec![deployment]);
    let scan = asked(script, &["scan"]);
    assert_eq!(scan, expected(&[&POLICIES, &STATE, &["list deployments"]]));
    let page = fs::read_to_string(root().join("docs/operators.md")).unwrap();
    let (_, table) = page.split_once("| command | permissions |").unwrap();
    for permission in PLUGINS {
        let (_, resource) = permission.split_once(' ').unwrap();
        assert!(table.to_lowercase().contains(resource), "{resource} is not named");
    }
}
