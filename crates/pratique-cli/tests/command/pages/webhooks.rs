//! What docs/webhooks.md says of webhooks.

use crate::support::Directory;
use crate::webhooks::review;

#[test]
fn fields_have_limits() {
    for (fields, expected) in [
        (
            "sideEffects: None, timeoutSeconds: 31",
            "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
        ),
        (
            "sideEffects: None, timeoutSeconds: 0",
            "webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds",
        ),
        (
            "timeoutSeconds: 30",
            "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
        ),
        (
            "sideEffects: Some",
            "webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", \"NoneOnDryRun\"",
        ),
    ] {
        let configuration = format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {{name: w.static.k8s.io}}\n\
             webhooks:\n- {{name: w.example.com, admissionReviewVersions: [v1], clientConfig: {{url: 'https://w.example.com'}}, {fields}}}\n"
        );
        let run = Directory::new()
            .with("w.yaml", configuration)
            .run(&["check", "w.yaml"]);
        assert_eq!(run.code, Some(1), "{fields}\n{run}");
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains(expected), "{fields}\n{run}");
    }
}

#[test]
fn the_first_denial_of_mutating_webhooks_ends_the_request() {
    let no = r#"{"respond":{"allowed":false,"status":{"message":"not today"}}}"#;
    let yes = r#"{"respond":{"allowed":true}}"#;
    let scripts = [("/first", yes), ("/second", no), ("/third", no)];
    let run = review("MutatingWebhookConfiguration", &scripts, &["--webhooks"]);
    run.exits(1);
    for (name, is_called) in [("first", true), ("second", true), ("third", false)] {
        let result = format!("webhook {name}.example.com of w.static.k8s.io");
        assert_eq!(run.stdout.contains(&result), is_called, "{name}\n{run}");
    }
}
