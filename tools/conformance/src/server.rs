//! The suite `server`: as `policy`, of a whole server, which prepares objects between the phases of admission.

use std::borrow::Cow;

use pratique::api_objects::ApiObjects;
use pratique::cluster::Cluster;
use pratique::json;
use pratique::object_model::{ConversionError, ObjectMutator, PreparedObject, RefusedRequest};
use pratique::types::{AdmissionRequest, GroupVersionKind, ObjectForm};
use pratique::{FeatureGates, ObjectModel};
use serde_json::Value;

use super::fixture::json_value;
use super::policy::{answer, compare};
use super::{CaseOutcome, release_of};

/// Runs a case of a whole server, which defaults objects after each mutation and prepares them between the phases. The library
/// does not: the other cases were recorded from it.
pub(super) fn run_case(case: &Value) -> CaseOutcome {
    let Some(expect) = case.get("expect") else {
        return CaseOutcome::new(true, &Value::Null, Value::Null);
    };
    let gates = FeatureGates::new(release_of(case));
    let mut objects = ApiObjects::default().with_gates(gates);
    let existing = case.get("objects").and_then(Value::as_array);
    for object in existing.into_iter().flatten() {
        if object["kind"] == "CustomResourceDefinition"
            && let Err(error) = objects.define(&json_value(object))
        {
            return CaseOutcome::failed(case, &error.to_string());
        }
    }
    match answer(case, Some(&ServerModel { objects })) {
        Ok(actual) => compare(expect, actual),
        Err(error) => CaseOutcome::failed(case, &error.to_string()),
    }
}

/// The objects of a server whose requests are recorded as mutating admission sees them: received already.
struct ServerModel {
    objects: ApiObjects,
}

impl ObjectModel for ServerModel {
    fn set_defaults(
        &self,
        kind: &GroupVersionKind,
        object: &mut json::Value<'_>,
        mutator: ObjectMutator<'_>,
    ) {
        self.objects.set_defaults(kind, object, mutator);
    }

    fn convert(&self, kind: &GroupVersionKind, object: &mut json::Value<'_>) -> Result<(), ConversionError> {
        self.objects.convert(kind, object)
    }

    fn prepare<'v>(
        &self,
        request: &AdmissionRequest<'_>,
        object: (&mut Cow<'_, json::Value<'v>>, ObjectForm),
        cluster: &dyn Cluster,
    ) -> Result<PreparedObject, RefusedRequest> {
        // It changes nothing more in what was received before, but knows the target and the stored object.
        let mut request = request.clone();
        let received = self.objects.receive(&mut request)?;
        received.prepare(&request, object, cluster)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::run_case;

    #[test]
    fn validating_admission_sees_prepared_objects() {
        let policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p.static.k8s.io}\n\
            spec: {matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}, \
            validations: [{expression: 'has(object.spec.containers[0].livenessProbe.httpGet.protocol)'}]}";
        let binding = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n\
            metadata: {name: b.static.k8s.io}\nspec: {policyName: p.static.k8s.io, validationActions: [Deny]}";
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "default"}, "spec": {"containers": [
            {"name": "a", "image": "a", "livenessProbe": {"httpGet": {"port": 80, "protocol": "HTTP2"}}}]}});
        let resource = json!({"group": "", "version": "v1", "resource": "pods"});
        let kind = json!({"group": "", "version": "v1", "kind": "Pod"});
        let denied = |field: &str| {
            json!({"allowed": false, "status": {"code": 422, "reason": "Invalid", "message": format!(
                "pods \"a\" is forbidden: ValidatingAdmissionPolicy 'p.static.k8s.io' with binding 'b.static.k8s.io' denied request: {field}"
            ), "details": {"name": "a", "kind": "pods", "causes": [{"message": format!(
                "ValidatingAdmissionPolicy 'p.static.k8s.io' with binding 'b.static.k8s.io' denied request: {field}"
            )}]}}})
        };
        let case = json!({
            "name": "gated-field",
            "manifests": {"validating": {"p.yaml": format!("{policy}\n---\n{binding}")}},
            "objects": [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}],
            "request": {"uid": "1", "kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource,
                "name": "a", "namespace": "default", "operation": "CREATE", "userInfo": {"username": "admin"},
                "object": pod, "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}},
            "expect": denied("failed expression: has(object.spec.containers[0].livenessProbe.httpGet.protocol)"),
        });
        let outcome = run_case(&case);
        assert!(outcome.decision && outcome.text == Some(true), "{outcome:?}");
    }
}
