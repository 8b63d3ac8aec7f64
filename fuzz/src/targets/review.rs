//! AdmissionReviews, as they come over the wire, and policies about them.

use std::sync::{Arc, OnceLock};

use pratique::authorization::NoAuthorizer;
use pratique::manifest::{ManifestFile, ManifestPlugin};
use pratique::policy::settle_request;
use pratique::{Admission, EvalContext, Objects};
use pratique_json::{self as json, Progress, base64};
use pratique_merge::json_patch;
use pratique_schema::Release;
use pratique_types::{AdmissionRequest, AdmissionResponse, AdmissionReview};

/// Files of `examples`.
macro_rules! examples {
    ($($path:literal)*) => {
        [$(($path, include_str!(concat!("../../../examples/", $path)))),*]
    };
}

/// An AdmissionReview that policies which validate and others which mutate decide on. The decision is the same again, and
/// also for the request as it is written anew; a refusal has a status with a code, and a patch applies.
pub fn review(input: &[u8]) {
    let Ok(review) = AdmissionReview::parse(input) else {
        return;
    };
    let Some(mut request) = review.request else {
        return;
    };
    settle_request(Release::latest(), &mut request);
    let Some(response) = decided(&request) else {
        return;
    };
    assert_eq!(decided(&request), Some(response.clone()));
    assert_eq!(response.uid, request.uid);
    assert_eq!(response.allowed, response.result.is_none());
    if let Some(status) = &response.result {
        assert!(
            (400..600).contains(&status.code) && !status.message.is_empty(),
            "{status:?}"
        );
        assert_eq!(response.patch, None);
    }
    if let Some(patch) = &response.patch {
        let patch = base64::decode(patch).unwrap_or_default();
        let operations = json::parse(&patch)
            .ok()
            .and_then(|patch| json_patch::decode(&patch).ok());
        let applied = operations.and_then(|operations| {
            json_patch::apply(request.object.clone(), &operations, &Progress::unwatched()).ok()
        });
        assert!(applied.is_some(), "the patch of {}", request.object);
    }
    let written = serde_json::to_vec(&request).unwrap_or_default();
    let again = serde_json::Deserializer::from_slice(&written).into_iter().next();
    let again: Option<AdmissionRequest<'_>> = again.and_then(Result::ok);
    if let Some(mut again) = again {
        settle_request(Release::latest(), &mut again);
        assert_eq!(decided(&again), Some(response));
    }
}

fn decided(request: &AdmissionRequest<'_>) -> Option<AdmissionResponse> {
    static CLUSTER: OnceLock<Objects> = OnceLock::new();
    let cluster = CLUSTER.get_or_init(|| {
        let mut cluster = Objects::new();
        cluster.assume_namespaces();
        cluster
    });
    let context = EvalContext::new(cluster, Arc::new(NoAuthorizer));
    admission()?.review_policies(request, context, &mut ()).ok()
}

/// Policies that mutate Pods: with a label, a sidecar, and a patch.
const MUTATING: &str = r#"
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: change.static.k8s.io}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE, UPDATE]}]
  failurePolicy: Fail
  reinvocationPolicy: IfNeeded
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >-
        Object{metadata: Object.metadata{labels: {"team": request.namespace}},
               spec: Object.spec{containers: [Object.spec.containers{name: "proxy", image: "proxy:1"}]}}
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        has(object.spec.nodeName)
        ? [JSONPatch{op: "move", from: "/spec/nodeName", path: "/spec/hostname"}]
        : []
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: change.static.k8s.io}
spec: {policyName: change.static.k8s.io}
"#;

/// The Pod Security Standards, and a policy that mutates.
fn admission() -> Option<&'static Admission> {
    static ADMISSION: OnceLock<Option<Admission>> = OnceLock::new();
    let build = || {
        let validating = examples! {
            "pod-security/baseline/capabilities.yaml"
            "pod-security/baseline/host-namespaces.yaml"
            "pod-security/baseline/host-ports.yaml"
            "pod-security/baseline/privileged-containers.yaml"
            "pod-security/baseline/sysctls.yaml"
            "pod-security/restricted/run-as-non-root.yaml"
            "pod-security/restricted/volume-types.yaml"
        };
        let mutating = [("mutating.yaml", MUTATING)];
        let files = |examples: &[(&str, &str)]| -> Vec<ManifestFile> {
            let file = |(path, text): &(&str, &str)| ManifestFile {
                path: (*path).to_owned(),
                content: text.as_bytes().to_vec(),
            };
            examples.iter().map(file).collect()
        };
        let builder =
            Admission::builder().files(files(&validating), ManifestPlugin::ValidatingAdmissionPolicy);
        let builder = builder.files(files(&mutating), ManifestPlugin::MutatingAdmissionPolicy);
        builder.build().ok()
    };
    ADMISSION.get_or_init(build).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_decide() {
        let names: Vec<&str> = admission().unwrap().policy_names().collect();
        assert!(names.len() > 7, "{names:?}");
    }
}
