//! `pratique serve` and webhooks: those that it calls, and the configurations that have an API server call it.

use pratique_webhook_backend::{Backend, Script};
use tokio::runtime::Runtime;

use crate::serve::{POLICY, Serving};
use crate::support::Directory;
use crate::webhooks::{VALIDATING, manifests};

/// A backend whose `/hook` follows this script.
fn backend(runtime: &Runtime, script: &str) -> Backend {
    let backend = runtime.block_on(Backend::start()).unwrap();
    backend.begin([("/hook".to_owned(), Script::from_json(script).unwrap())], true);
    backend
}

#[test]
fn webhooks_that_fail_are_left_alone_if_asked_to() {
    let runtime = Runtime::new().unwrap();
    for (arguments, calls) in [
        (&[][..], 5),
        (&["--call-breaker", "2", "--call-cool-down", "60"], 2),
    ] {
        let backend = backend(&runtime, r#"{"status": 500}"#);
        let directory = Directory::new().with("hooks/w.yaml", manifests(&backend, VALIDATING, &["/hook"]));
        let common = ["--plain-http", "--manifests", "hooks"];
        let serving = Serving::start(directory.path(), &[&common, arguments].concat());
        let mut client = serving.client();
        let answers: Vec<_> = (0..5).map(|_| client.review("web")).collect();
        assert!(answers.iter().all(|answer| answer["allowed"] == false));
        assert_eq!(runtime.block_on(backend.end()).len(), calls, "{arguments:?}");
        let last = answers[4]["status"]["message"].as_str().unwrap();
        assert_eq!(last.contains("the circuit breaker is open"), calls == 2, "{last}");
    }
}

#[test]
fn webhooks_are_shown_the_credentials_of_the_configuration() {
    let runtime = Runtime::new().unwrap();
    let backend = backend(&runtime, r#"{"respond": {"allowed": true}}"#);
    let directory = Directory::new().with("hooks/w.yaml", manifests(&backend, VALIDATING, &["/hook"]));
    let path = |name: &str| directory.path().join(name).display().to_string();
    let plugin = format!(
        "apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ValidatingAdmissionWebhook
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: WebhookAdmissionConfiguration
    kubeConfigFile: {}
    staticManifestsDir: {}
",
        path("kubeconfig"),
        path("hooks")
    );
    let users = "apiVersion: v1
kind: Config
users:
- {name: '*', user: {token: secret}}
";
    let directory = directory.with("config.yaml", plugin).with("kubeconfig", users);
    let serving = Serving::start(
        directory.path(),
        &["--plain-http", "--admission-control-config-file", "config.yaml"],
    );
    assert!(serving.client().allows("web"));
    let calls = runtime.block_on(backend.end());
    assert_eq!(
        calls[0].headers.as_ref().unwrap()["Authorization"],
        "Bearer secret"
    );
}

#[test]
fn webhook_configurations_are_printed() {
    let directory = Directory::new().with("manifests/a.yaml", POLICY);
    let arguments = [
        "serve",
        "--print-webhook-configuration",
        "--manifests",
        "manifests",
        "--webhook-service",
        "a/b:8443",
    ];
    let run = directory.run(&arguments);
    assert_eq!(run.code, Some(0));
    assert!(
        run.stderr.starts_with("note: there is no caBundle"),
        "{}",
        run.stderr
    );
    let filled = directory.run(&[&arguments[..], &["--webhook-ca-from", "a/b"]].concat());
    assert_eq!((filled.code, &*filled.stderr), (Some(0), ""));
    let expected = "---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: pratique
webhooks:
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: b
      namespace: a
      path: /validate
      port: 8443
  failurePolicy: Fail
  matchPolicy: Equivalent
  name: fail.validating.b.a.svc
  namespaceSelector:
    matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: NotIn
      values:
      - a
      - kube-node-lease
      - kube-public
      - kube-system
  rules:
  - apiGroups:
    - \"\"
    apiVersions:
    - v1
    operations:
    - CREATE
    resources:
    - pods
    scope: \"*\"
  sideEffects: None
  timeoutSeconds: 10
";
    assert_eq!(run.stdout, expected);
}
