//! The builder: when it reads what, and that the order of its calls does not matter.

use crate::world::{configmap, file, run, validating_policy};
use pratique::authorization::NoAuthorizer;
use pratique::manifest::ManifestPlugin;
use pratique::{Admission, BuildError, EvalContext, Objects};

const POLICIES: ManifestPlugin = ManifestPlugin::ValidatingAdmissionPolicy;

/// What policies alone say.
fn code(admission: &Admission) -> i32 {
    let objects = Objects::new();
    let context = EvalContext::new(&objects, std::sync::Arc::new(NoAuthorizer));
    let outcome = admission.admit_policies(&configmap(""), context, &mut ());
    outcome.unwrap().status.map_or(200, |status| status.code)
}

#[test]
fn nothing_is_read_before_it_is_built() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("policies");
    let builder = Admission::builder().directory(path.to_str().unwrap(), POLICIES);
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("p.yaml"), validating_policy("p.static.k8s.io", "false")).unwrap();
    assert_eq!(code(&builder.build().unwrap()), 422);
}

#[test]
fn what_is_loaded_is_not_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("p.yaml");
    std::fs::write(&path, validating_policy("p.static.k8s.io", "false")).unwrap();
    let builder = Admission::builder().directory(directory.path().to_str().unwrap(), POLICIES);
    let builder = builder.load().unwrap();
    std::fs::write(&path, "kind: Nothing").unwrap();
    // More may be added, and is loaded later.
    let more = file("q.yaml", &validating_policy("q.static.k8s.io", "true"));
    let admission = builder.files([more], POLICIES).build().unwrap();
    assert_eq!(
        admission.policy_names().collect::<Vec<_>>(),
        ["p.static.k8s.io", "q.static.k8s.io"]
    );
    assert_eq!(code(&admission), 422);
}

#[test]
fn faults_are_those_of_the_first_that_does_not_load() {
    let broken = |name: &str| file(name, "--- oops\n");
    let builder = Admission::builder().files([broken("a.yaml")], POLICIES);
    let error = builder.files([broken("b.yaml")], POLICIES).build().unwrap_err();
    let errors = error.load_errors().unwrap();
    let places: Vec<_> = errors
        .problems()
        .filter_map(|problem| problem.location.as_ref())
        .map(|location| &*location.file)
        .collect();
    assert!(
        !places.is_empty() && places.iter().all(|file| *file == "a.yaml"),
        "{places:?}"
    );
}

#[test]
#[cfg(feature = "webhooks")]
fn webhooks_are_called_however_that_was_said() {
    let text = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n\
        metadata: {name: w.static.k8s.io}\nwebhooks:\n- name: w.example.com\n  \
        clientConfig: {url: 'https://127.0.0.1:1/'}\n  admissionReviewVersions: [v1]\n  sideEffects: None\n  \
        timeoutSeconds: 1\n  rules: [{operations: ['*'], apiGroups: [''], apiVersions: [v1], resources: [configmaps]}]\n";
    let plugin = ManifestPlugin::ValidatingAdmissionWebhook;
    let files = || [file("w.yaml", text)];
    let error = Admission::builder().files(files(), plugin).build().unwrap_err();
    assert!(matches!(error, BuildError::NotEvaluated(_)), "{error}");
    let first = Admission::builder()
        .https()
        .plain_http_redirects(true)
        .files(files(), plugin);
    let last = Admission::builder()
        .files(files(), plugin)
        .plain_http_redirects(true)
        .https();
    for builder in [first, last] {
        assert!(builder.build().is_ok());
    }
    let live = Admission::builder()
        .files(files(), plugin)
        .live()
        .start()
        .unwrap();
    assert!(run(live.ready()).is_ok());
    live.stop();
}
