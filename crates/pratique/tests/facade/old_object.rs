//! A stored object that was not given: what reads it is undecided, and all else is decided.

use pratique::authorization::NoAuthorizer;
use pratique::manifest::{ManifestFile, ManifestPlugin};
use pratique::types::AdmissionRequest;
use pratique::{Admission, AdmissionDecision, EvalContext, Objects};

const HEAD: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind:";

fn rules(more: &str) -> String {
    format!(
        "matchConstraints: {{resourceRules: [{{apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: ['*']}}]{more}}}"
    )
}

fn validating(more: &str, spec: &str) -> String {
    format!(
        "{HEAD} ValidatingAdmissionPolicy\nmetadata: {{name: p.static.k8s.io}}\nspec: {{{}, {spec}}}\n---\n\
         {HEAD} ValidatingAdmissionPolicyBinding\nmetadata: {{name: p.static.k8s.io}}\n\
         spec: {{policyName: p.static.k8s.io, validationActions: [Deny]}}\n",
        rules(more)
    )
}

fn mutating(expression: &str) -> String {
    format!(
        "{HEAD} MutatingAdmissionPolicy\nmetadata: {{name: p.static.k8s.io}}\nspec: {{{}, reinvocationPolicy: Never, \
         mutations: [{{patchType: JSONPatch, jsonPatch: {{expression: \"{expression}\"}}}}]}}\n---\n\
         {HEAD} MutatingAdmissionPolicyBinding\nmetadata: {{name: p.static.k8s.io}}\nspec: {{policyName: p.static.k8s.io}}\n",
        rules("")
    )
}

#[track_caller]
fn check(plugin: ManifestPlugin, policy: String, expected: Result<AdmissionDecision, &str>) {
    let file = ManifestFile {
        path: "policies.yaml".into(),
        content: policy.into_bytes(),
    };
    let admission = Admission::builder().files([file], plugin).build().unwrap();
    let mut request: AdmissionRequest<'_> = serde_json::from_str(
        r#"{"uid":"u","kind":{"version":"v1","kind":"ConfigMap"},"resource":{"version":"v1","resource":"configmaps"},
            "name":"c","operation":"UPDATE","userInfo":{"username":"ann"},
            "object":{"metadata":{"name":"c","labels":{"app":"a"}},"data":{"a":"b"}}}"#,
    )
    .unwrap();
    request.lacks_old_object = true;
    let cluster = Objects::new();
    let context = EvalContext::new(&cluster, std::sync::Arc::new(NoAuthorizer));
    let outcome = admission.admit_policies(&request, context, &mut ()).unwrap();
    let found = match outcome.undecided.as_slice() {
        [] => Ok(outcome.decision()),
        [undecided, ..] => Err(undecided.missing.to_string()),
    };
    assert_eq!(
        found.as_ref().map_err(String::as_str),
        expected.as_ref().map_err(|path| *path)
    );
}

#[test]
fn expressions() {
    let validation =
        |expression: &str| validating("", &format!("validations: [{{expression: \"{expression}\"}}]"));
    let plugin = ManifestPlugin::ValidatingAdmissionPolicy;
    check(
        plugin,
        validation("object.data.a == 'b'"),
        Ok(AdmissionDecision::Allowed),
    );
    check(
        plugin,
        validation("object.data.a != 'b'"),
        Ok(AdmissionDecision::Denied),
    );
    check(
        plugin,
        validation("object.data.a == oldObject.data.a"),
        Err("oldObject.data of the stored object is not known"),
    );
    check(
        plugin,
        validation("object.data.a == 'b' || has(oldObject.data)"),
        Ok(AdmissionDecision::Allowed),
    );
    let condition = "matchConditions: [{name: c, expression: \"oldObject.data.a == 'c'\"}], validations: [{expression: 'false'}]";
    check(
        plugin,
        validating("", condition),
        Err("oldObject.data of the stored object is not known"),
    );
    let variable = "variables: [{name: old, expression: oldObject.data}], validations: [{expression: \"variables.old.a == 'b'\"}]";
    check(
        plugin,
        validating("", variable),
        Err("oldObject.data of the stored object is not known"),
    );
}

#[test]
fn selectors() {
    let selecting = |label: &str| {
        validating(
            &format!(", objectSelector: {{matchLabels: {{app: {label}}}}}"),
            "validations: [{expression: 'false'}]",
        )
    };
    let plugin = ManifestPlugin::ValidatingAdmissionPolicy;
    check(plugin, selecting("a"), Ok(AdmissionDecision::Denied));
    check(
        plugin,
        selecting("b"),
        Err("oldObject.metadata.labels (by objectSelector app=b) of the stored object is not known"),
    );
}

#[test]
fn mutations() {
    let plugin = ManifestPlugin::MutatingAdmissionPolicy;
    let patch = |value: &str| {
        mutating(&format!(
            "[JSONPatch{{op: 'add', path: '/data/x', value: {value}}}]"
        ))
    };
    check(plugin, patch("'y'"), Ok(AdmissionDecision::Allowed));
    check(
        plugin,
        patch("oldObject.data.a"),
        Err("oldObject.data of the stored object is not known"),
    );
}
