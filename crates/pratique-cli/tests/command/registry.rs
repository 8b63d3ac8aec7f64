//! Validation of admission configuration by the API server's registry, in `review` and `serve`.

use crate::serve::Serving;
use crate::story::{BINDING, POLICY};
use crate::support::{Directory, Run};

/// A webhook configuration with a rule that has no effect.
fn hooks(name: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: {name}}}
webhooks:
- name: reviews.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {{url: 'https://hooks.example.com/'}}
  rules:
  - {{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}}
  - {{apiGroups: [authentication.k8s.io], apiVersions: [v1], operations: [CREATE], resources: [tokenreviews]}}
"
    )
}

fn review(name: &str, more: &[&str]) -> Run {
    let directory = Directory::new().with("hooks.yaml", hooks(name));
    directory.run(&[&["review", "hooks.yaml"], more].concat())
}

const RULE: &str = "webhooks[0].rules[1]: tokenreviews.authentication.k8s.io is excluded from admission webhooks; this \
                    rule will have no effect";
const NAME: &str = "names ending with \".static.k8s.io\" are reserved for static manifest-based configurations and cannot \
                    be managed via the API";

#[test]
fn rules_without_effect_are_warned_of() {
    let run = review("reviews", &[]);
    assert!(run.code == Some(0) && run.stdout.contains(RULE), "{run}");
    let gate = "ExcludeAdmissionWebhookVirtualResources=false";
    let run = review("reviews", &["--feature-gates", gate]);
    assert!(run.code == Some(0) && !run.stdout.contains("excluded"), "{run}");
}

#[test]
fn reserved_names_are_refused_or_warned_of() {
    let run = review("reviews.static.k8s.io", &[]);
    assert!(
        run.code == Some(1) && run.stdout.contains("denied (422 Invalid)"),
        "{run}"
    );
    run.stdout_has(NAME);
    let gate = "ManifestBasedAdmissionControlConfig=false";
    let run = review("reviews.static.k8s.io", &["--feature-gates", gate]);
    assert!(run.code == Some(0) && run.stdout.contains(NAME), "{run}");
}

#[test]
fn namespaces_are_exempt_by_label() {
    let directory = Directory::new()
        .with("manifests/a.yaml", POLICY)
        .with("manifests/b.yaml", BINDING);
    let run = directory.run(&[
        "serve",
        "--print-webhook-configuration",
        "--manifests",
        "manifests",
        "--exempt-namespace-label",
        "runlevel=0,1",
        "--exempt-namespace-label",
        "example.com/bootstrap",
    ]);
    let expected = "    - key: runlevel
      operator: NotIn
      values:
      - \"0\"
      - \"1\"
    - key: example.com/bootstrap
      operator: DoesNotExist
";
    assert!(run.code == Some(0) && run.stdout.contains(expected), "{run}");
}

#[test]
fn nothing_to_register_is_reported() {
    let directory = Directory::new().with("manifests/a.yaml", POLICY);
    let run = directory.run(&[
        "serve",
        "--print-webhook-configuration",
        "--manifests",
        "manifests",
    ]);
    run.stderr_has("there are no bindings, no webhooks and no plugins");
}

/// The response of a server to the creation of a webhook configuration.
fn served(arguments: &[&str], name: &str) -> String {
    let directory = Directory::new();
    let server = Serving::start(directory.path(), &[&["--plain-http"], arguments].concat());
    let hooks = r#"{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration",
        "metadata":{"name":"NAME"},"webhooks":[{"rules":[{"apiGroups":["authentication.k8s.io"],"apiVersions":["v1"],
        "operations":["CREATE"],"resources":["tokenreviews"]}]}]}"#;
    let review = format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","operation":"CREATE",
        "kind":{{"group":"admissionregistration.k8s.io","version":"v1","kind":"ValidatingWebhookConfiguration"}},
        "resource":{{"group":"admissionregistration.k8s.io","version":"v1","resource":"validatingwebhookconfigurations"}},
        "name":"{name}","userInfo":{{"username":"me"}},"object":{}}}}}"#,
        hooks.replace("NAME", name)
    );
    server.client().ask("POST", "/validate", &review).unwrap().1
}

#[test]
fn a_server_checks_as_the_registry_does() {
    let answer = served(&[], "reviews");
    assert!(
        answer.contains(r#""allowed":true"#) && answer.contains("webhooks[0].rules[0]: tokenreviews"),
        "{answer}"
    );
    let answer = served(&[], "reviews.static.k8s.io");
    assert!(
        answer.contains(r#""allowed":false"#) && answer.contains(r#""code":422"#),
        "{answer}"
    );
    let gates = "ManifestBasedAdmissionControlConfig=false,ExcludeAdmissionWebhookVirtualResources=false";
    let answer = served(&["--feature-gates", gates], "reviews.static.k8s.io");
    assert!(
        answer.contains(r#""allowed":true"#) && answer.contains("are reserved for static"),
        "{answer}"
    );
    assert!(!answer.contains("excluded"), "{answer}");
}
