//! `pratique serve` with a cluster that is missing or misconfigured.

use crate::serve::{Serving, eventually, review};
use crate::support::Directory;

const KUBECONFIG: &str = "
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: here, user: me}}]
clusters: [{name: here, cluster: {server: 'http://127.0.0.1:1'}}]
users: [{name: me, user: {token: secret}}]
";

#[test]
fn it_is_not_ready_until_the_cluster_is_known() {
    let directory = Directory::new().with("kubeconfig", KUBECONFIG);
    let arguments = [
        "--plain-http",
        "--kubeconfig",
        "kubeconfig",
        "--follow",
        "policies",
    ];
    let serving = Serving::start(directory.path(), &arguments);
    let mut client = serving.client();
    eventually("it says why", || {
        let (head, body) = client.ask("GET", "/readyz", "").unwrap();
        assert!(head.starts_with("http/1.1 503"), "{head}{body}");
        body.contains("namespaces: ") && body.contains("validatingadmissionpolicies: ")
    });
    let (head, body) = client.ask("GET", "/livez", "").unwrap();
    assert!(head.starts_with("http/1.1 200"), "{head}{body}");
    let (head, body) = client.ask("POST", "/validate", &review("web")).unwrap();
    assert!(head.starts_with("http/1.1 503"), "{head}{body}");
}

#[test]
fn a_cluster_that_is_not_said_well_is_refused() {
    let directory = Directory::new()
        .with("kubeconfig", KUBECONFIG)
        .with("faulty", "clusters: 1")
        .with(
            "exec",
            KUBECONFIG.replace(
                "token: secret",
                "exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: ['-c', 'echo no one is >&2; exit 3'], \
                 interactiveMode: Never}",
            ),
        )
        .with("home/nothing", "");
    let home = directory.path().join("home");
    let check = |arguments: &[&str], words: &str| {
        let arguments = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
        let run = directory.run_with(&arguments, "", &[("HOME", home.to_str().unwrap())]);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.stderr.contains(words), "{run:?}");
    };
    check(&["--kubeconfig", "none"], "kubeconfig \"none\": ");
    check(&["--kubeconfig", "faulty"], "kubeconfig \"faulty\": ");
    check(
        &["--kubeconfig", "kubeconfig", "--context", "there"],
        "kubeconfig \"kubeconfig\": ",
    );
    check(
        &["--kubeconfig", "exec"],
        "exec plugin \"sh\" failed, exit status: 3: no one is",
    );
    check(&["--cluster"], "no cluster is configured: ");
}
