//! `pratique review --webhooks`: results of webhooks, and exchanges with them.

use pratique_json::base64;
use pratique_webhook_backend::{Backend, Listener, Script};
use tokio::runtime::Runtime;

use crate::story::CLEAN;
use crate::support::{Directory, Run};

/// A webhook for each path, of the plugin whose kind this is.
pub(crate) fn manifests(backend: &Backend, kind: &str, paths: &[&str]) -> String {
    let bundle = base64::encode(backend.ca_pem().as_bytes());
    let (url, listener) = (backend.url(Listener::Backend), "webhooks:\n");
    let head = format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}\nmetadata: {{name: w.static.k8s.io}}\n{listener}"
    );
    let webhooks = paths.iter().map(|path| {
        let name = path.trim_start_matches('/');
        format!(
            "- name: {name}.example.com\n  admissionReviewVersions: [v1]\n  sideEffects: None\n  clientConfig: {{url: '{url}{path}', caBundle: {bundle}}}\n\
             \u{20} rules: [{{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: ['*']}}]\n"
        )
    });
    head + &webhooks.collect::<String>()
}

/// Reviews a Pod with webhooks that follow these scripts.
pub(crate) fn review(kind: &str, scripts: &[(&str, &str)], arguments: &[&str]) -> Run {
    let runtime = Runtime::new().unwrap();
    let backend = runtime.block_on(Backend::start()).unwrap();
    let script = |(path, script): &(&str, &str)| ((*path).to_owned(), Script::from_json(script).unwrap());
    backend.begin(scripts.iter().map(script), false);
    let paths: Vec<&str> = scripts.iter().map(|(path, _)| *path).collect();
    let directory = Directory::new()
        .with("hooks/w.yaml", manifests(&backend, kind, &paths))
        .with("pod.yaml", CLEAN);
    let all = [&["review", "--manifests", "hooks", "pod.yaml"], arguments].concat();
    directory.run(&all)
}

pub(crate) const VALIDATING: &str = "ValidatingWebhookConfiguration";

#[test]
fn what_is_exchanged_is_shown() {
    let no = r#"{"respond":{"allowed":false,"status":{"message":"not today"}}}"#;
    let run = review(VALIDATING, &[("/no", no)], &["--webhooks"]);
    run.exits(1);
    for expected in [
        "denied (400)",
        "admission webhook \"no.example.com\" denied the request: not today",
        "webhook no.example.com of w.static.k8s.io: denied (400)",
        "> {",
        "\"kind\":\"AdmissionReview\"",
        "< {",
        "\"message\":\"not today\"",
    ] {
        run.stdout_has(expected);
    }
}

#[test]
fn changes_are_made() {
    let patch = base64::encode(br#"[{"op":"add","path":"/metadata/labels","value":{"by":"hook"}}]"#);
    let mark = format!(r#"{{"respond":{{"allowed":true,"patchType":"JSONPatch","patch":"{patch}"}}}}"#);
    let run = review(
        "MutatingWebhookConfiguration",
        &[("/mark", &mark)],
        &["--webhooks", "--output", "json"],
    );
    run.exits(0);
    let answer = run.json();
    assert_eq!(answer["object"]["metadata"]["labels"]["by"], "hook");
    let exchange = &answer["webhooks"][0];
    assert_eq!(exchange["webhook"], "mark.example.com");
    assert_eq!(exchange["code"], 200);
    assert!(
        exchange["review"]
            .as_str()
            .unwrap()
            .contains("\"operation\":\"CREATE\"")
    );
}

#[test]
fn patches_can_be_read() {
    let patch = r#"[{"op":"add","path":"/metadata/labels","value":{"by":"hook"}}]"#;
    let mark = format!(
        r#"{{"respond":{{"allowed":true,"patchType":"JSONPatch","patch":"{}"}}}}"#,
        base64::encode(patch.as_bytes())
    );
    let run = review(
        "MutatingWebhookConfiguration",
        &[("/mark", &mark)],
        &["--webhooks"],
    );
    run.stdout_has(&format!("    patch: {patch}\n"));
}

#[test]
fn failures_are_reported() {
    let run = review(VALIDATING, &[("/broken", r#"{"status":500}"#)], &["--webhooks"]);
    run.exits(1);
    let expected = "webhook broken.example.com of w.static.k8s.io: failed: failed calling webhook";
    run.stdout_has(expected);
}

#[test]
fn webhooks_are_called_on_request_only() {
    let run = review(VALIDATING, &[("/no", "{}")], &[]);
    run.exits(2)
        .stderr_has("there is no caller of webhooks: --webhooks calls them");
    let run = review(VALIDATING, &[("/no", "{}")], &["--webhooks", "--explain"]);
    run.exits(2);
}

/// An AdmissionConfiguration that says when static webhooks are called.
fn configuration(order: &str) -> String {
    format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: MutatingAdmissionWebhook\n  configuration:\n    \
         apiVersion: apiserver.config.k8s.io/v1\n    kind: WebhookAdmissionConfiguration\n    staticManifestsDir: DIRECTORY/hooks\n    \
         staticOrder: {order}\n"
    )
}

/// The orders of 1.38, and who is called last.
const ORDERS: [(&str, &str); 3] = [
    ("StaticFirst", "api"),
    ("StaticLast", "static"),
    ("ByName", "static"),
];

/// Both webhooks replace the labels: what is left is of the one that was called last.
#[test]
fn static_webhooks_are_called_in_the_order_that_is_configured() {
    const MUTATING: &str = "MutatingWebhookConfiguration";
    let runtime = Runtime::new().unwrap();
    let backend = runtime.block_on(Backend::start()).unwrap();
    let script = |by: &str| {
        let patch = format!(r#"[{{"op":"add","path":"/metadata/labels","value":{{"by":"{by}"}}}}]"#);
        let patch = base64::encode(patch.as_bytes());
        let answer = format!(r#"{{"respond":{{"allowed":true,"patchType":"JSONPatch","patch":"{patch}"}}}}"#);
        (format!("/{by}"), Script::from_json(&answer).unwrap())
    };
    backend.begin([script("static"), script("api")], false);
    for (order, last) in ORDERS {
        let directory = Directory::new()
            .with("hooks/w.yaml", manifests(&backend, MUTATING, &["/static"]))
            .with(
                "api.yaml",
                manifests(&backend, MUTATING, &["/api"]).replace("w.static.k8s.io", "a"),
            )
            .with("pod.yaml", CLEAN);
        let path = directory.path().to_str().unwrap().to_owned();
        let directory = directory.with("order.yaml", configuration(order).replace("DIRECTORY", &path));
        let line = "review pod.yaml --webhooks -o json --kubernetes-version 1.38 --admission-control-config-file order.yaml --policies api.yaml";
        let run = directory.run(&line.split(' ').collect::<Vec<_>>());
        run.exits(0);
        let answer = run.stdout.lines().next().unwrap_or_default();
        let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
        assert_eq!(
            answer["object"]["metadata"]["labels"]["by"], last,
            "{order}: {run}"
        );
    }
}

#[test]
fn suites_call_static_webhooks_in_that_order() {
    let hook = |name: &str, of: &str| {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {{name: {of}}}\nwebhooks:\n\
             - {{name: {name}.example.com, admissionReviewVersions: [v1], sideEffects: None, clientConfig: {{url: 'https://a.example.com'}}, \
             rules: [{{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: ['*']}}]}}\n"
        )
    };
    for (order, last) in ORDERS {
        let suite = format!(
            "apiVersion: pratique/v1alpha1\nkind: Suite\nkubernetesVersion: '1.38'\nconfiguration: order.yaml\npolicies: [api.yaml]\nwebhooks:\n\
             - {{name: static.example.com, patch: [{{op: add, path: /metadata/labels, value: {{by: static}}}}]}}\n\
             - {{name: api.example.com, patch: [{{op: add, path: /metadata/labels, value: {{by: api}}}}]}}\n\
             tests:\n- {{name: order, object: pod.yaml, expect: {{verdict: allowed, objectContains: {{metadata: {{labels: {{by: {last}}}}}}}}}}}\n"
        );
        let directory = Directory::new()
            .with("hooks/w.yaml", hook("static", "w.static.k8s.io"))
            .with("api.yaml", hook("api", "a"))
            .with("pod.yaml", CLEAN)
            .with("suite.yaml", suite);
        let path = directory.path().to_str().unwrap().to_owned();
        let directory = directory.with("order.yaml", configuration(order).replace("DIRECTORY", &path));
        directory
            .run(&["test", "suite.yaml"])
            .exits(0)
            .stdout_has("1 passed");
    }
}
