//! The whole chain over the state of a cluster, which an API server or a snapshot of it gives.

use serde_json::json;

use crate::api_server::{ApiServer, Script};
use crate::support::{Directory, Run};

const POD: &str = "apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: web, image: nginx}]}
";

const LIMIT_RANGES: &str = "/api/v1/limitranges";

/// A server without policies, whose namespace has a limit range and a quota for one Pod.
fn script() -> Script {
    let limits = json!({
        "metadata": {"name": "sizes", "namespace": "shop"},
        "spec": {"limits": [{"type": "Container", "default": {"cpu": "500m"}}]},
    });
    let quota = json!({
        "metadata": {"name": "pods", "namespace": "shop"},
        "spec": {"hard": {"pods": "1"}},
        "status": {"hard": {"pods": "1"}, "used": {"pods": "0"}},
    });
    Script::new()
        .list(LIMIT_RANGES, vec![limits])
        .list("/api/v1/resourcequotas", vec![quota])
}

/// Two Pods, of which the quota lets in one.
fn files(server: &ApiServer) -> Directory {
    let pods = format!("{POD}---\n{}", POD.replace("name: web, n", "name: more, n"));
    server.directory().with("pods.yaml", pods)
}

#[track_caller]
fn run(directory: &Directory, arguments: &[&str], code: i32, texts: &[&str]) -> Run {
    let run = directory.run(arguments);
    run.exits(code).shows(texts);
    run
}

const REVIEW: [&str; 4] = ["review", "--kubeconfig", "kubeconfig", "pods.yaml"];
const SNAPSHOT: [&str; 4] = ["snapshot", "--kubeconfig", "kubeconfig", "saved"];
const OFFLINE: [&str; 4] = ["review", "--snapshot", "saved", "pods.yaml"];
const ON: &str = "the whole admission chain is run: --chain=off evaluates policies only";
/// What the chain makes of the Pods.
const WHOLE: [&str; 3] = [
    "CREATE pods shop/web: allowed, changed",
    "step LimitRanger: changed metadata.annotations, spec.containers[0].resources.limits",
    "CREATE pods shop/more: denied by ResourceQuota (403 Forbidden)",
];

#[test]
fn the_chain_is_on_by_itself_with_a_cluster() {
    let server = script().start();
    let directory = files(&server);
    let found = run(&directory, &REVIEW, 1, &WHOLE);
    assert_eq!(found.stderr.matches(ON).count(), 1, "{found}");
    let asked = server.asked();
    let lists = |path: &str| asked.iter().filter(|line| line.contains(path)).count();
    assert_eq!(lists("/limitranges?"), 1, "{asked:?}");
    // They are many, or to stay in the cluster.
    for kind in ["/pods", "/nodes", "/secrets"] {
        assert_eq!(lists(kind), 0, "{asked:?}");
    }
    // With the flag there is no announcement.
    let named = run(&directory, &[&REVIEW[..], &["--chain"]].concat(), 1, &WHOLE);
    assert!(!named.stderr.contains("--chain=off"), "{named}");
    let explained = [&REVIEW[..], &["--explain"]].concat();
    let texts = [
        "its steps are told: --chain=off evaluates policies only, and explains them",
        "step PodSecurity (validate): passed",
    ];
    run(&directory, &explained, 1, &texts);
}

#[test]
fn the_chain_is_switched_off() {
    let server = script().start();
    let directory = files(&server);
    for off in ["--chain=off", "--chain=false"] {
        let found = run(
            &directory,
            &[&REVIEW[..], &[off]].concat(),
            0,
            &["2 allowed, 0 denied"],
        );
        assert!(!found.stdout.contains("step "), "{found}");
        assert!(!found.stderr.contains("admission chain"), "{found}");
    }
    assert!(!server.asked().iter().any(|line| line.contains("limitranges")));
    let mut directory = directory;
    for off in ["off", "'off'", "false"] {
        let project =
            format!("apiVersion: pratique/v1alpha1\nkind: Configuration\nreview: {{chain: {off}}}\n");
        directory = directory.with("pratique.yaml", project);
        run(&directory, &REVIEW, 0, &["project file: ", "2 allowed"]);
    }
}

#[test]
fn snapshots_have_what_the_chain_looks_up() {
    let server = script().start();
    let directory = files(&server);
    let texts = [
        "v1 LimitRange: 1",
        "v1 ServiceAccount: 1",
        "storage.k8s.io/v1 StorageClass: 0",
    ];
    run(&directory, &SNAPSHOT, 0, &texts);
    assert!(!directory.path().join("saved/secrets").exists());
    let found = run(&directory, &OFFLINE, 1, &WHOLE);
    assert_eq!(found.stderr.matches(ON).count(), 1, "{found}");
    // What was removed is not known, rather than absent.
    std::fs::remove_dir_all(directory.path().join("saved/limitranges")).unwrap();
    let texts = ["LimitRanger is undecided: LimitRange objects in namespace \"shop\" are not known"];
    run(&directory, &OFFLINE, 3, &texts);
}

#[test]
fn snapshots_without_what_the_chain_looks_up() {
    let server = script().start();
    let directory = files(&server);
    run(
        &directory,
        &[&SNAPSHOT[..], &["--plugin-objects=off"]].concat(),
        0,
        &["saved: 1 object of"],
    );
    let texts = [
        "policies only are evaluated, as it was taken without what admission plugins look up",
        "2 allowed",
    ];
    run(&directory, &OFFLINE, 0, &texts);
    let chain = [&OFFLINE[..], &["--chain"]].concat();
    run(&directory, &chain, 3, &["LimitRanger is undecided"]);
}

#[test]
fn plugins_decide_what_a_snapshot_has() {
    let node = json!({"metadata": {"name": "one"}, "status": {"phase": "Running"}});
    let pod = json!({"metadata": {"name": "a", "namespace": "shop"}, "spec": {"containers": []}});
    let script = script()
        .list("/api/v1/nodes", vec![node])
        .list("/api/v1/pods", vec![pod])
        .list("/apis/storage.k8s.io/v1/csidrivers", vec![]);
    let server = script.start();
    let directory = files(&server);
    let first = run(&directory, &SNAPSHOT, 0, &[]);
    assert!(!first.stdout.contains("CSIDriver"), "{first}");
    assert!(
        !first.stdout.contains("v1 Pod:") && !first.stdout.contains("v1 Node:"),
        "{first}"
    );
    let more = [
        "--enable-admission-plugins",
        "NodeRestriction",
        "--nodes",
        "--pods",
    ];
    let texts = ["storage.k8s.io/v1 CSIDriver: 0", "v1 Node: 1", "v1 Pod: 1"];
    run(&directory, &[&SNAPSHOT[..], &more].concat(), 0, &texts);
    let nodes = std::fs::read_to_string(directory.path().join("saved/nodes.yaml")).unwrap();
    assert!(!nodes.contains("status"), "{nodes}");
    let less = [
        "--disable-admission-plugins",
        "LimitRanger,NodeDeclaredFeatureValidator",
    ];
    let found = run(&directory, &[&SNAPSHOT[..], &less].concat(), 0, &[]);
    assert!(!found.stdout.contains("LimitRange"), "{found}");
}

/// A Pod whose deletion waits for that of what it belongs to.
const OWNED: &str = "apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
  ownerReferences:
  - {apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: '1', blockOwnerDeletion: true}
spec: {containers: [{name: web, image: nginx}]}
";
const OWNERS: [&str; 2] = [
    "--enable-admission-plugins",
    "OwnerReferencesPermissionEnforcement",
];

#[test]
fn snapshots_have_the_permissions_that_plugins_ask_for() {
    let role = "metadata: {name: deployer}\nrules:\n\
        - {apiGroups: [apps], resources: [replicasets/finalizers], verbs: [update]}\n";
    let binding = "metadata: {name: deployers}\n\
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: deployer}\n\
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: deployers}]\n";
    let server = script()
        .rbac("clusterroles", role)
        .rbac("clusterrolebindings", binding)
        .start();
    let directory = server.directory().with("pods.yaml", OWNED);
    let review = |user: &[&str], code: i32, texts: &[&str]| {
        run(&directory, &[&OFFLINE[..], &OWNERS, user].concat(), code, texts);
    };
    let snapshot = |more: &[&str], texts: &[&str]| {
        run(&directory, &[&SNAPSHOT[..], more].concat(), 0, texts);
    };
    snapshot(&OWNERS, &["ClusterRole: 1", "RoleBinding: 0"]);
    review(&["--as", "ann", "--as-group", "deployers"], 0, &["1 allowed"]);
    let refused = "denied by OwnerReferencesPermissionEnforcement (403 Forbidden)";
    review(&["--as", "bob"], 1, &[refused]);
    // Some that are on by default ask when certificates are approved and signed.
    snapshot(&[], &["ClusterRole: 1"]);
    let none = [
        "--disable-admission-plugins",
        "CertificateApproval,CertificateSigning,ClusterTrustBundleAttest",
    ];
    let without = run(&directory, &[&SNAPSHOT[..], &none].concat(), 0, &[]);
    assert!(!without.stdout.contains("ClusterRole"), "{without}");
    let texts = ["OwnerReferencesPermissionEnforcement is undecided"];
    review(&["--as", "ann", "--as-group", "deployers"], 3, &texts);
}

#[test]
fn kinds_that_cannot_be_read_leave_plugins_undecided() {
    let refused = "limitranges is forbidden: User \"me\" cannot list resource \"limitranges\"";
    let server = script().refuse(LIMIT_RANGES, 403, refused).start();
    let directory = files(&server);
    let texts = [
        "objects of v1 LimitRange are not known: limitranges is forbidden",
        "LimitRanger is undecided: LimitRange objects in namespace \"shop\" are not known",
        "0 allowed, 0 denied, 2 undecided",
    ];
    run(&directory, &REVIEW, 3, &texts);
    run(&directory, &SNAPSHOT, 3, &texts[..1]);
    run(&directory, &OFFLINE, 3, &texts);
}

#[test]
fn snapshots_among_objects_say_what_there_is_not() {
    let server = script().start();
    let directory = files(&server);
    run(&directory, &SNAPSHOT, 0, &[]);
    let given = ["review", "--chain", "--objects", "saved", "pods.yaml"];
    run(&directory, &given, 1, &WHOLE);
    // The objects of a file count instead of those of the snapshot.
    let quota = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: pods, namespace: shop}\n\
                 spec: {hard: {pods: '5'}}\nstatus: {hard: {pods: '5'}, used: {pods: '0'}}\n";
    let directory = directory.with("quota.yaml", quota);
    run(
        &directory,
        &[&given[..], &["--objects", "quota.yaml"]].concat(),
        0,
        &["2 allowed"],
    );
    std::fs::remove_dir_all(directory.path().join("saved/limitranges")).unwrap();
    run(&directory, &given, 3, &["LimitRanger is undecided"]);
    // A directory of objects says nothing of what else there is.
    std::fs::remove_file(directory.path().join("saved/snapshot.yaml")).unwrap();
    run(&directory, &given, 3, &["LimitRanger is undecided"]);
}

#[test]
fn custom_resources_are_completed_in_the_chain() {
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object",
                "properties": {"spec": {"type": "object", "properties": {
                    "size": {"type": "integer", "maximum": 3, "default": 1},
                }}},
            }}}],
        },
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    });
    let server = script()
        .list(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            vec![definition],
        )
        .serve("example.com", "widgets", "Widget", true)
        .start();
    let widget =
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a, namespace: shop}\nspec: {size: 9}\n";
    let directory = server.directory().with("pods.yaml", widget);
    let texts = ["spec.size: Invalid value: 9: spec.size in body should be less than or equal to 3"];
    run(&directory, &REVIEW, 1, &texts);
    run(&directory, &SNAPSHOT, 0, &["CustomResourceDefinition: 1"]);
    run(&directory, &OFFLINE, 1, &texts);
}
