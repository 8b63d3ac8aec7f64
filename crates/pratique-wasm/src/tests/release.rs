//! The release that a server is of, by what the request says.

use serde_json::{Value, json};

use crate::answer;

const STATEFUL_SET: &str = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {selector: {matchLabels: {a: b}}, \
    updateStrategy: {rollingUpdate: {partition: 0}}, \
    template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}";

fn of_release(more: Value) -> Value {
    let policy = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: available}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [statefulsets], operations: [CREATE]}]
  validations: [{expression: '!has(object.spec.updateStrategy.rollingUpdate.maxUnavailable)'}]
";
    let mut evaluate = json!({
        "policies": [{"path": "p.yaml", "text": policy}],
        "object": STATEFUL_SET,
        "bind": true,
    });
    let members = more.as_object().cloned().unwrap_or_default();
    evaluate.as_object_mut().unwrap().extend(members);
    let answer = answer(json!({"evaluate": evaluate}).to_string().as_bytes());
    serde_json::from_slice(&answer).unwrap()
}

#[test]
fn the_server_is_of_a_release() {
    assert_eq!(of_release(json!({}))["decision"], "denied");
    let older = of_release(json!({"kubernetesVersion": "1.36"}));
    assert_eq!(older["decision"], "allowed", "{older}");
    let unknown = of_release(json!({"kubernetesVersion": "1.2"}));
    assert!(
        unknown["problems"][0]["message"]
            .as_str()
            .unwrap()
            .starts_with("Kubernetes 1.2 is not known; known are "),
        "{unknown}"
    );
    let bundle = "{apiVersion: certificates.k8s.io/v1, kind: ClusterTrustBundle, metadata: {name: b}}";
    let unserved = of_release(json!({"kubernetesVersion": "1.36", "object": bundle}));
    assert_eq!(unserved["status"]["code"], 404, "{unserved}");
}

#[test]
fn a_snapshot_says_the_release() {
    let snapshot = |version: &str, more: Value| {
        let index = format!(
            "apiVersion: pratique/v1alpha1\nkind: Snapshot\ntaken: '2026-11-23T06:00:00Z'\nserverVersion: {version}\nkinds: []\n"
        );
        let mut given = json!({"cluster": [{"path": "snapshot.yaml", "text": index}]});
        let members = more.as_object().cloned().unwrap_or_default();
        given.as_object_mut().unwrap().extend(members);
        of_release(given)
    };
    assert_eq!(snapshot("v1.36.3", json!({}))["decision"], "allowed");
    let named = snapshot("v1.36.3", json!({"kubernetesVersion": "1.37"}));
    assert_eq!(named["decision"], "denied");
    assert!(
        named["notes"][0]
            .as_str()
            .unwrap()
            .contains("as kubernetesVersion says"),
        "{named}"
    );
    let newer = snapshot("v1.999.0", json!({}));
    assert!(
        newer["notes"][0]
            .as_str()
            .unwrap()
            .contains("newer than what is known"),
        "{newer}"
    );
}
