//! `pratique check --connect`: webhooks that respond, and some that do not.

use pratique_json::base64;
use pratique_webhook_backend::{Backend, Listener, Script};
use tokio::runtime::Runtime;

use crate::support::{Directory, Run};

/// Checks a webhook that listens there.
fn check(listener: Listener, script: &str, arguments: &[&str]) -> Run {
    let runtime = Runtime::new().unwrap();
    let backend = runtime.block_on(Backend::start()).unwrap();
    backend.begin([("/x".to_owned(), Script::from_json(script).unwrap())], false);
    let (url, bundle) = (backend.url(listener), base64::encode(backend.ca_pem().as_bytes()));
    let manifest = format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n\
         metadata: {{name: w.static.k8s.io}}\nwebhooks:\n- name: h.example.com\n  admissionReviewVersions: [v1]\n\
         \u{20} sideEffects: None\n  timeoutSeconds: 5\n  clientConfig: {{url: '{url}/x', caBundle: {bundle}}}\n\
         \u{20} rules: [{{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: ['*']}}]\n"
    );
    let directory = Directory::new().with("hooks/w.yaml", manifest);
    directory.run(&[&["check", "--connect", "hooks"], arguments].concat())
}

const YES: &str = r#"{"respond": {"allowed": true}}"#;

fn has(run: &Run, code: i32, parts: &[&str]) {
    run.exits(code);
    for part in parts {
        run.stdout_has(part);
    }
}

#[test]
fn one_that_answers() {
    let certificate = "certificate backend for localhost, hook.webhooks.svc, 127.0.0.1, until ";
    let run = check(Listener::Backend, YES, &[]);
    has(
        &run,
        0,
        &[
            "w.static.k8s.io h.example.com https://127.0.0.1:",
            certificate,
            " hours)",
            "  answers in ",
        ],
    );
    let no = check(Listener::Backend, r#"{"respond": {"allowed": false}}"#, &[]);
    has(&no, 0, &["  answers in "]);
}

#[test]
fn some_that_do_not() {
    let refused =
        "failed calling webhook \"h.example.com\": failed to call webhook: Post \"https://127.0.0.1:";
    has(
        &check(Listener::Closed, YES, &[]),
        1,
        &[refused, "connection refused"],
    );
    let expired = check(Listener::Expired, YES, &[]);
    has(
        &expired,
        1,
        &[
            "certificate backend for localhost, 127.0.0.1, until ",
            "has expired or is not yet valid",
        ],
    );
    has(
        &check(Listener::Untrusted, YES, &[]),
        1,
        &["signed by unknown authority"],
    );
    has(
        &check(Listener::WrongHost, YES, &[]),
        1,
        &["certificate backend for other.example.com, until "],
    );
    let absent = "received invalid webhook response: webhook response was absent";
    has(&check(Listener::Backend, r#"{"body": "{}"}"#, &[]), 1, &[absent]);
}

#[test]
fn for_programs() {
    let run = check(Listener::Backend, YES, &["--output", "json"]);
    has(
        &run,
        0,
        &[
            "\"webhooks\"",
            "\"answers\": true",
            "\"expires\"",
            "\"milliseconds\"",
        ],
    );
    for format in ["json", "sarif", "junit", "github"] {
        let run = check(Listener::Closed, YES, &["--output", format]);
        has(&run, 1, &["connection refused", "hooks/w.yaml"]);
        if format != "json" {
            run.stdout_has("unanswered-webhook");
        }
    }
}
