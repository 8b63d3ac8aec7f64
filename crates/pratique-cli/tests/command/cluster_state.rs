//! Reviews and checks by the state of a cluster, which an API server or a snapshot of it gives.

use serde_json::json;

use crate::api_server::{ApiServer, CONFIG_MAPS, NAMESPACES, Script};
use crate::support::{Directory, Run};

const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limit, managedFields: [{manager: kubectl, operation: Update}]}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations: [{expression: 'object.spec.replicas <= int(params.data.max)', message: too many}]
status: {observedGeneration: 1}
";

const BINDING: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: limit}
spec:
  policyName: limit
  paramRef: {name: limits, parameterNotFoundAction: Deny}
  validationActions: [Deny]
";

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 5
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}
";

pub(crate) fn limits(max: u32, namespace: &str) -> serde_json::Value {
    json!({"metadata": {"name": "limits", "namespace": namespace}, "data": {"max": max.to_string()}})
}

/// A server with a policy whose param allows so many replicas, and more ConfigMaps than a page has.
pub(crate) fn server(max: u32) -> Script {
    let maps = ["a", "b", "c"].map(|namespace| limits(1, namespace));
    Script::new()
        .admission("validatingadmissionpolicies", POLICY)
        .admission("validatingadmissionpolicybindings", BINDING)
        .list(CONFIG_MAPS, [maps.to_vec(), vec![limits(max, "shop")]].concat())
}

pub(crate) fn files(server: &ApiServer) -> Directory {
    server
        .directory()
        .with("object.yaml", DEPLOYMENT)
        .with("policies/policy.yaml", POLICY)
        .with("policies/binding.yaml", BINDING)
}

#[track_caller]
pub(crate) fn run(directory: &Directory, arguments: &[&str], code: i32, texts: &[&str]) -> Run {
    let run = directory.run(arguments);
    run.exits(code).shows(texts);
    run
}

const REVIEW: [&str; 4] = ["review", "--kubeconfig", "kubeconfig", "object.yaml"];
const NAMED: [&str; 6] = [
    "review",
    "--kubeconfig",
    "kubeconfig",
    "--policies",
    "policies",
    "object.yaml",
];
const OFFLINE: [&str; 4] = ["review", "--snapshot", "saved", "object.yaml"];
const SNAPSHOT: [&str; 4] = ["snapshot", "--kubeconfig", "kubeconfig", "saved"];

#[test]
fn policies_and_params_of_the_cluster() {
    let server_3 = server(3).start();
    let directory = files(&server_3);
    run(&directory, &REVIEW, 1, &["0 allowed, 1 denied", "too many"]);
    let asked = server_3.asked();
    let lists = |path: &str| asked.iter().filter(|line| line.contains(path)).count();
    assert_eq!(lists("GET /api/v1/configmaps?limit=500"), 2, "{asked:?}");
    assert_eq!(lists("POST"), 0, "{asked:?}");
    assert_eq!(lists("secrets"), 0, "{asked:?}");
    // Files take the place of the policies, but not of the params.
    run(&directory, &NAMED, 1, &["too many"]);
    // Given objects count instead of those of the cluster.
    let given =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: limits, namespace: shop}\ndata: {max: '9'}\n";
    let directory = directory.with("given.yaml", given);
    run(
        &directory,
        &[&REVIEW[..], &["--objects", "given.yaml"]].concat(),
        0,
        &["2 allowed"],
    );
    let server_5 = server(5).start();
    run(&files(&server_5), &REVIEW, 0, &["2 allowed"]);
}

#[test]
fn contexts_of_the_environment() {
    let server = server(3).start();
    let directory = files(&server);
    let review = |context: &str| {
        let arguments = ["review", "--context", context, "object.yaml"];
        directory.run_with(&arguments, "", &[("KUBECONFIG", "kubeconfig")])
    };
    assert_eq!(review("here").code, Some(1));
    let missing = review("there");
    missing.exits(2).stderr_has("kubeconfig \"kubeconfig\": ");
}

#[test]
fn missing_params_are_missing() {
    let server = server(3).list(CONFIG_MAPS, vec![limits(1, "a")]).start();
    run(&files(&server), &REVIEW, 1, &["no params found"]);
}

#[test]
fn refused_kinds_are_undecided() {
    let refused = "configmaps is forbidden: User \"me\" cannot list resource \"configmaps\"";
    let script = server(3).refuse(CONFIG_MAPS, 403, refused);
    let server = script.start();
    let texts = [
        "objects of v1 ConfigMap are not known: configmaps is forbidden",
        "is undecided: params",
    ];
    let found = run(&files(&server), &REVIEW, 3, &texts);
    found.stdout_has("1 allowed, 0 denied, 1 undecided");
}

#[test]
fn unknown_policies_are_no_answer() {
    let path = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies";
    let server = server(3).refuse(path, 403, "no").start();
    let texts = [
        "the mutatingadmissionpolicies of the cluster",
        "are not known: no; --policies names policies",
    ];
    let found = run(&files(&server), &REVIEW, 2, &texts);
    assert_eq!(found.stdout, "", "{found}");
    run(&files(&server), &NAMED, 1, &["too many"]);
}

#[test]
fn an_unreachable_cluster_is_an_error() {
    let server = server(3).refuse("/version", 401, "Unauthorized").start();
    run(
        &files(&server),
        &REVIEW,
        2,
        &["cannot read the cluster http://", "Unauthorized"],
    );
}

#[test]
fn webhooks_of_the_cluster_are_reported() {
    let webhook = "metadata: {name: hook}\nwebhooks:\n- {name: h.example.com, clientConfig: {url: 'https://a.b/c'}, \
                   admissionReviewVersions: [v1], sideEffects: None}\n";
    let server = server(3)
        .admission("mutatingwebhookconfigurations", webhook)
        .start();
    let message = "1 webhook configuration of the cluster is not evaluated; --webhooks calls them";
    run(&files(&server), &REVIEW, 1, &[message]);
}

#[test]
fn namespaces_of_the_cluster() {
    let policy = POLICY
        .replace("  paramKind: {apiVersion: v1, kind: ConfigMap}\n", "")
        .replace(
            "object.spec.replicas <= int(params.data.max)",
            "namespaceObject.metadata.labels.open == ''yes''",
        );
    let binding = BINDING.replace("  paramRef: {name: limits, parameterNotFoundAction: Deny}\n", "");
    let script = |open: &str| {
        let namespace = json!({"metadata": {"name": "shop", "labels": {"open": open}}});
        server(3)
            .admission("validatingadmissionpolicies", &policy)
            .admission("validatingadmissionpolicybindings", &binding)
            .list(NAMESPACES, vec![namespace])
    };
    run(&files(&script("yes").start()), &REVIEW, 0, &["2 allowed"]);
    run(&files(&script("no").start()), &REVIEW, 1, &["too many"]);
    let refused = script("yes").refuse(NAMESPACES, 403, "no").start();
    run(
        &files(&refused),
        &REVIEW,
        3,
        &["objects of v1 Namespace are not known: no", "2 undecided"],
    );
}

#[test]
fn params_of_custom_kinds() {
    let policy = POLICY
        .replace(
            "apiVersion: v1, kind: ConfigMap",
            "apiVersion: example.com/v1, kind: Limit",
        )
        .replace("params.data.max", "params.spec.max");
    let script = |script: Script| {
        let limit = json!({"metadata": {"name": "limits", "namespace": "shop"}, "spec": {"max": 3}});
        script
            .admission("validatingadmissionpolicies", &policy)
            .list("/apis/example.com/v1/limits", vec![limit])
    };
    let served = script(server(3))
        .serve("example.com", "limits", "Limit", true)
        .start();
    run(&files(&served), &REVIEW, 1, &["too many"]);
    // A kind that the cluster does not serve.
    let unserved = script(server(3)).start();
    let error = "failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'";
    run(&files(&unserved), &REVIEW, 1, &[error]);
    // Its server is down.
    let down = script(server(3))
        .refuse("/apis/example.com/v1", 502, "down")
        .start();
    run(
        &files(&down),
        &REVIEW,
        3,
        &["objects of example.com/v1 Limit are not known: down"],
    );
}

/// What discovery does not name does not exist, except where a server is down; also with a snapshot.
#[test]
fn kinds_of_the_cluster() {
    const GATEWAY: &str =
        "{apiVersion: example.com/v1, kind: Gateway, metadata: {name: g, namespace: shop}}\n";
    let policy = "metadata: {name: gateways}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [gateways]}
  validations: [{expression: 'false', message: no gateways}]
";
    let binding = "metadata: {name: gateways}\nspec: {policyName: gateways, validationActions: [Deny]}\n";
    let script = || {
        Script::new()
            .admission("validatingadmissionpolicies", policy)
            .admission("validatingadmissionpolicybindings", binding)
    };
    let review = [
        "review",
        "--kubeconfig",
        "kubeconfig",
        "--chain=off",
        "gateway.yaml",
    ];
    let offline = ["review", "--snapshot", "saved", "gateway.yaml"];
    for (script, code, text) in [
        (
            script().serve("example.com", "gateways", "Gateway", true),
            1,
            "no gateways",
        ),
        (script(), 1, "the cluster serves no example.com/v1 Gateway"),
        (
            script().down("example.com"),
            3,
            "the resource of kind Gateway of example.com/v1 is not known",
        ),
    ] {
        let server = script.start();
        let directory = files(&server).with("gateway.yaml", GATEWAY);
        run(&directory, &review, code, &[text]);
        run(&directory, &SNAPSHOT, 0, &[]);
        run(&directory, &offline, code, &[text]);
    }
}

const AUTHORIZED: &str = "metadata: {name: limit}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations:
  - expression: authorizer.group('').resource('pods').namespace('shop').check('use').allowed()
    message: may not
";
const UNBOUND: &str = "metadata: {name: limit}\nspec: {policyName: limit, validationActions: [Deny]}\n";

/// A server with a policy that asks the authorizer.
pub(crate) fn authorizing() -> Script {
    Script::new()
        .admission("validatingadmissionpolicies", AUTHORIZED)
        .admission("validatingadmissionpolicybindings", UNBOUND)
}

#[test]
fn permissions_of_the_cluster() {
    run(
        &files(&authorizing().allow("use").start()),
        &REVIEW,
        0,
        &["2 allowed"],
    );
    run(&files(&authorizing().start()), &REVIEW, 1, &["may not"]);
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let refused = authorizing().refuse(path, 403, "forbidden").start();
    run(
        &files(&refused),
        &REVIEW,
        3,
        &["permissions are not known: forbidden", "1 undecided"],
    );
}

#[test]
fn policies_of_the_cluster_are_checked() {
    let check = ["check", "--kubeconfig", "kubeconfig"];
    let server = server(3).start();
    let texts = ["ValidatingAdmissionPolicy limit validatingadmissionpolicies/limit:1:1"];
    run(&files(&server), &check, 0, &texts);
    let faulty = POLICY.replace("object.spec", "objekt.spec");
    let server = Script::new()
        .admission("validatingadmissionpolicies", &faulty)
        .start();
    let texts = [
        "validatingadmissionpolicies/limit:",
        "undeclared reference to 'objekt'",
    ];
    run(&files(&server), &check, 1, &texts);
    // New policies of a server of 1.37 may not use it yet.
    let stored = POLICY.replace(
        "object.spec.replicas <=",
        "[1].includes(1) || object.spec.replicas <=",
    );
    let server = Script::new()
        .admission("validatingadmissionpolicies", &stored)
        .start();
    run(&files(&server), &check, 0, &[]);
    // The server of before does not have it.
    let server = Script::new()
        .version("v1.36.3")
        .admission("validatingadmissionpolicies", &stored)
        .start();
    run(
        &files(&server),
        &check,
        1,
        &["undeclared reference to 'includes'"],
    );
    let empty = Script::new().start();
    run(
        &files(&empty),
        &check,
        2,
        &["there is no policy, binding or webhook configuration"],
    );
}

#[test]
fn snapshots_stand_for_the_cluster() {
    let server = server(3).start();
    let directory = files(&server);
    let taken = run(&directory, &SNAPSHOT, 0, &["saved: 8 objects of v1.37.2"]);
    assert_eq!(server.without_address(&taken.stderr), "", "{taken}");
    run(&directory, &OFFLINE, 1, &["too many"]);
    let named = [&OFFLINE[..], &["--policies", "policies"]].concat();
    run(&directory, &named, 1, &["too many"]);
    let read = |name: &str| std::fs::read_to_string(directory.path().join("saved").join(name)).unwrap();
    let maps = read("configmaps/shop.yaml");
    assert_eq!(
        maps,
        "---\napiVersion: v1\ndata:\n  max: \"3\"\nkind: ConfigMap\nmetadata:\n  name: limits\n  namespace: shop\n"
    );
    let policy = read("validatingadmissionpolicies.admissionregistration.k8s.io.yaml");
    assert!(
        !policy.contains("managedFields") && !policy.contains("status"),
        "{policy}"
    );
    assert!(read("namespaces.yaml").contains("phase: Active"));
    let index = read("snapshot.yaml");
    assert!(index.contains("serverVersion: v1.37.2"), "{index}");
    // Taken again, it is the same but for the time.
    run(&directory, &SNAPSHOT, 0, &[]);
    let untimed = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with("taken:"));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(untimed(&read("snapshot.yaml")), untimed(&index));
    assert_eq!(read("configmaps/shop.yaml"), maps);
    // What was removed is not known, rather than absent.
    std::fs::remove_file(directory.path().join("saved/configmaps/shop.yaml")).unwrap();
    run(&directory, &OFFLINE, 3, &["1 undecided"]);
    std::fs::remove_file(directory.path().join("saved/snapshot.yaml")).unwrap();
    run(
        &directory,
        &OFFLINE,
        2,
        &["saved: it is no snapshot: it has no snapshot.yaml"],
    );
}

#[test]
fn snapshots_know_what_they_lack() {
    let server = server(3).refuse(CONFIG_MAPS, 403, "forbidden").start();
    let directory = files(&server);
    run(
        &directory,
        &SNAPSHOT,
        3,
        &["objects of v1 ConfigMap are not known: forbidden"],
    );
    run(
        &directory,
        &OFFLINE,
        3,
        &["objects of v1 ConfigMap are not known: forbidden", "1 undecided"],
    );
    // Policies that were named are not in it.
    let taken = [&SNAPSHOT[..], &["--policies", "policies"]].concat();
    run(&directory, &taken, 3, &[]);
    let texts = [
        "the snapshot does not say which",
        "they were named when it was taken",
    ];
    run(&directory, &OFFLINE, 2, &texts);
}

#[test]
fn secrets_are_left_out_unless_they_are_named() {
    let secret =
        |name: &str| json!({"metadata": {"name": name, "namespace": "shop"}, "data": {"max": "NQ=="}});
    let policy = POLICY.replace("kind: ConfigMap", "kind: Secret");
    let script = server(3)
        .admission("validatingadmissionpolicies", &policy)
        .list("/api/v1/secrets", vec![secret("limits"), secret("other")]);
    let server = script.start();
    let directory = files(&server);
    run(
        &directory,
        &SNAPSHOT,
        0,
        &["v1 Secret: 0: those that --secrets names"],
    );
    assert!(!directory.path().join("saved/secrets").exists());
    assert!(!server.asked().iter().any(|asked| asked.contains("secrets")));
    run(&directory, &OFFLINE, 3, &["1 undecided"]);
    let named = [&SNAPSHOT[..], &["--secrets", "shop/limits"]].concat();
    run(&directory, &named, 0, &["v1 Secret: 1"]);
    let text = std::fs::read_to_string(directory.path().join("saved/secrets/shop.yaml")).unwrap();
    assert!(text.contains("name: limits") && !text.contains("other"), "{text}");
}

#[test]
fn permissions_of_some_subjects() {
    let role = |name: &str, verb: &str| {
        format!(
            "metadata: {{name: {name}}}\nrules: [{{apiGroups: [''], resources: [pods], verbs: [{verb}]}}]\n---\n"
        )
    };
    let binding = |name: &str, role: &str, subject: &str| {
        format!(
            "metadata: {{name: {name}}}\nroleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {role}}}\n\
             subjects: [{{apiGroup: rbac.authorization.k8s.io, {subject}}}]\n---\n"
        )
    };
    let bindings =
        binding("a", "user", "kind: Group, name: dev") + &binding("b", "idle", "kind: User, name: bob");
    let server = authorizing()
        .rbac(
            "clusterroles",
            &(role("user", "use") + &role("idle", "list") + &role("other", "use")),
        )
        .rbac("clusterrolebindings", &bindings)
        .start();
    let directory = files(&server);
    let taken = [&SNAPSHOT[..], &["--as", "ann", "--as-group", "dev"]].concat();
    run(
        &directory,
        &taken,
        0,
        &["ClusterRole: 1", "ClusterRoleBinding: 1"],
    );
    let offline = |more: &[&str], code: i32| run(&directory, &[&OFFLINE[..], more].concat(), code, &[]);
    offline(&["--as", "ann", "--as-group", "dev"], 0);
    // Her permissions are known, even if there are none; those of others are not.
    offline(&["--as", "ann"], 1);
    offline(&["--as", "bob"], 3);
    offline(&["--as", "ann", "--as-group", "ops"], 3);
    // Without subjects, all of them are.
    run(&directory, &SNAPSHOT, 0, &["ClusterRole: 3"]);
    offline(&["--as", "bob"], 1);
}

#[test]
fn directories_with_other_files_are_not_replaced() {
    let server = server(3).start();
    let directory = files(&server).with("saved/notes.txt", "mine");
    run(
        &directory,
        &SNAPSHOT,
        2,
        &["is not empty, and has no snapshot: --force"],
    );
    assert!(!directory.path().join("saved/snapshot.yaml").exists());
    run(&directory, &[&SNAPSHOT[..], &["--force"]].concat(), 0, &[]);
    assert!(directory.path().join("saved/snapshot.yaml").exists());
    assert_eq!(
        std::fs::read(directory.path().join("saved/notes.txt")).unwrap(),
        b"mine"
    );
    run(&directory, &SNAPSHOT, 2, &["is not empty"]);
    let left: Vec<_> = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with('.'))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[cfg(unix)]
#[test]
fn others_cannot_read_snapshots() {
    use std::os::unix::fs::PermissionsExt as _;

    let server = server(3).start();
    let directory = files(&server);
    run(&directory, &SNAPSHOT, 0, &[]);
    for (path, expected) in [
        ("saved", 0o700),
        ("saved/snapshot.yaml", 0o600),
        ("saved/configmaps", 0o700),
        ("saved/configmaps/shop.yaml", 0o600),
    ] {
        let found = std::fs::metadata(directory.path().join(path)).unwrap();
        assert_eq!(found.permissions().mode() & 0o777, expected, "{path}");
    }
}

/// A link that somebody put in the place of the directory, or of a file in it, leads nowhere.
#[cfg(unix)]
#[test]
fn snapshots_are_not_written_through_links() {
    use std::os::unix::fs::symlink;

    let server = server(3).start();
    let directory = files(&server).with("outside/notes.yaml", "mine");
    let path = |name: &str| directory.path().join(name);
    symlink("outside", path("saved")).unwrap();
    let forced = [&SNAPSHOT[..], &["--force"]].concat();
    run(&directory, &forced, 2, &["saved", "it is a link"]);
    std::fs::remove_file(path("saved")).unwrap();
    std::fs::create_dir_all(path("saved/configmaps")).unwrap();
    symlink("../outside/notes.yaml", path("saved/snapshot.yaml")).unwrap();
    symlink("../../outside/notes.yaml", path("saved/configmaps/shop.yaml")).unwrap();
    run(&directory, &forced, 0, &[]);
    for file in ["saved/snapshot.yaml", "saved/configmaps/shop.yaml"] {
        assert!(std::fs::symlink_metadata(path(file)).unwrap().is_file(), "{file}");
    }
    assert_eq!(std::fs::read(path("outside/notes.yaml")).unwrap(), b"mine");
}
