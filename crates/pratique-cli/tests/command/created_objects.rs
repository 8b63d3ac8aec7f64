//! Objects of the API as a server creates them: what it takes is not refused, and what it says stands under what it refuses.

use crate::story::{BINDING, POLICY, PRIVILEGED};
use crate::support::Directory;

/// The policy and its binding as objects of the API.
fn api(text: &str) -> String {
    text.replace(".static.k8s.io", "")
}

const BY_API: &str = "kube-apiserver refuses it with this";

#[test]
fn namespaces_of_metadata_are_dropped() {
    let namespaced = |text: &str| text.replace("metadata:\n", "metadata:\n  namespace: shop\n");
    let webhook = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: w, namespace: shop}\nwebhooks: []\n";
    let directory = Directory::new()
        .with("api/p.yaml", namespaced(&api(POLICY)))
        .with("api/b.yaml", namespaced(&api(BINDING)))
        .with("hooks/w.yaml", webhook)
        .with("static/p.yaml", namespaced(POLICY))
        .with("bad.yaml", PRIVILEGED);
    directory
        .run(&["check", "--origin", "api", "api", "hooks"])
        .exits(0)
        .stdout_has("valid");
    let review = directory.run(&["review", "--policies", "api", "bad.yaml"]);
    review
        .exits(1)
        .stdout_has("privileged containers are not allowed");
    let check = directory.run(&["check", "--plugin", "ValidatingAdmissionPolicy", "static"]);
    check
        .exits(1)
        .stdout_has("metadata.namespace: Forbidden: not allowed on this type");
}

#[test]
fn names_are_generated() {
    let generated = |text: &str| {
        text.replace(
            "name: deny-privileged-binding",
            "generateName: deny-privileged-binding-",
        )
    };
    let directory = Directory::new()
        .with("api/p.yaml", api(POLICY))
        .with("api/b.yaml", generated(&api(BINDING)))
        .with("api/c.yaml", generated(&api(BINDING)))
        .with("static/p.yaml", POLICY)
        .with("static/b.yaml", generated(BINDING))
        .with(
            "none/p.yaml",
            api(POLICY).replace("name: deny-privileged", "labels: {}"),
        )
        .with("bad.yaml", PRIVILEGED);
    let check = directory.run(&["check", "--origin", "api", "api"]);
    check.exits(0);
    // Two objects of two names.
    assert_eq!(
        check.stdout.matches("deny-privileged-binding-").count(),
        2,
        "{check}"
    );
    assert!(!check.stdout.contains("replaced-object"), "{check}");
    let review = directory.run(&["review", "--policies", "api", "bad.yaml"]);
    review
        .exits(1)
        .stdout_has("with binding 'deny-privileged-binding-");
    for (arguments, directory_name) in [
        (&["check", "--plugin", "ValidatingAdmissionPolicy"][..], "static"),
        (&["check", "--origin", "api"], "none"),
    ] {
        let check = directory.run(&[arguments, &[directory_name]].concat());
        check
            .exits(1)
            .stdout_has("metadata.name: Required value: name or generateName is required");
    }
}

#[test]
fn later_objects_replace_earlier_ones() {
    let allowing = api(POLICY).replace("privileged containers are not allowed", "the second message");
    let directory = Directory::new()
        .with("api/a.yaml", format!("{}---\n{}", api(POLICY), api(BINDING)))
        .with("api/b.yaml", allowing)
        .with("static/a.yaml", format!("{POLICY}---\n{BINDING}"))
        .with("static/b.yaml", POLICY)
        .with("bad.yaml", PRIVILEGED);
    let check = directory.run(&["check", "--origin", "api", "api"]);
    check.exits(0).stdout_has("api/a.yaml:1:1: warning: the ValidatingAdmissionPolicy \"deny-privileged\" at api/b.yaml:1:1 replaces it");
    let review = directory.run(&["review", "--policies", "api", "bad.yaml"]);
    review.exits(1).stdout_has("the second message");
    let check = directory.run(&["check", "--plugin", "ValidatingAdmissionPolicy", "static"]);
    check
        .exits(1)
        .stdout_has("duplicate name \"deny-privileged.static.k8s.io\"");
}

#[test]
fn only_texts_of_the_api_are_said_to_be_its() {
    let webhook = "apiVersion: admissionregistration.k8s.io/v1beta1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: w}\nwebhooks: []\n";
    for (text, message, is_of_api) in [
        (
            webhook.to_owned(),
            "the server could not find the requested resource (post validatingwebhookconfigurations.admissionregistration.k8s.io)",
            false,
        ),
        (
            api(POLICY).replace("/v1\n", "/v2\n"),
            "the server could not find the requested resource (post validatingadmissionpolicies.admissionregistration.k8s.io)",
            false,
        ),
        ("a: [\n".to_owned(), "yaml: ", false),
        (
            api(POLICY).replace("failurePolicy: Fail", "failurePolicy: Never"),
            "Unsupported value: \"Never\"",
            true,
        ),
        (
            api(POLICY).replace("failurePolicy", "failurePolice"),
            "unknown field \"spec.failurePolice\"",
            true,
        ),
    ] {
        let directory = Directory::new().with("a.yaml", &text);
        let check = directory.run(&["check", "--origin", "api", "a.yaml"]);
        check.exits(1).stdout_has(message);
        assert_eq!(check.stdout.contains(BY_API), is_of_api, "{check}");
    }
}
