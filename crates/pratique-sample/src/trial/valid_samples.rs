//! Which kinds have valid samples: of the others no result of a policy is reviewed.

use pratique_json::Value;
use pratique_objects::ObjectCodec;
use pratique_schema::Release;
use pratique_types::Operation;
use pratique_validation::{Candidate, Validator};

use super::storage::PreparedChange;
use crate::complete::{
    NamedFields, RequiredConstants, SampleSpec, SelectedMetadata, TIME, complete_samples, remove_generated,
};

/// The kinds of whose plain objects the server refuses something, each with the field.
const INVALID: &[(&str, &str)] = &[
    ("v1 Event", "action"),
    ("v1 LimitRange", "spec.limits[0].type"),
    // The tolerations that a plugin sets are left out of what is reviewed.
    ("v1 Pod", "spec.tolerations[0].operator"),
    ("apiregistration.k8s.io/v1 APIService", "metadata.name"),
    ("certificates.k8s.io/v1 CertificateSigningRequest", "spec.request"),
    ("certificates.k8s.io/v1 ClusterTrustBundle", "spec.trustBundle"),
    (
        "certificates.k8s.io/v1 PodCertificateRequest",
        "spec.stubPKCS10Request",
    ),
    ("events.k8s.io/v1 Event", "reportingController"),
    (
        "flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration",
        "spec.type",
    ),
    ("networking.k8s.io/v1 IPAddress", "metadata.name"),
    ("networking.k8s.io/v1 ServiceCIDR", "spec.cidrs"),
    ("resource.k8s.io/v1 ResourceSlice", "spec"),
    ("storage.k8s.io/v1 VolumeAttachment", "spec.source"),
    ("storage.k8s.io/v1 VolumeAttributesClass", "parameters"),
];

#[test]
fn kinds_have_valid_samples() {
    let (interest, objects) = (NamedFields::default(), ObjectCodec::with_placeholder(TIME));
    let mut invalid: Vec<(String, String)> = Vec::new();
    let served = Release::latest().resources().served().iter();
    for served in served.filter(|served| served.subresource.is_empty()) {
        let spec = SampleSpec {
            release: Release::latest(),
            served,
            operations: &[Operation::Create],
            interest: &interest,
            selected: &SelectedMetadata::default(),
            required: &RequiredConstants::default(),
            footprints: &[],
            is_mutating: true,
            most: 4,
        };
        let Some(mut sample) = complete_samples(&spec).into_iter().next() else {
            continue;
        };
        remove_generated(&served.kind, &mut sample.request.object);
        let object = &sample.request.object;
        let mut object = PreparedChange::new(&objects, &sample.request, object, object).after;
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            metadata.remove("managedFields");
        }
        let candidate = Candidate::new(&served.kind, &object);
        let faults = Validator::new().faults(&candidate, &Value::Null);
        if let Some(fault) = faults.first() {
            let kind = format!("{} {}", served.kind.api_version(), served.kind.kind);
            invalid.push((kind, fault.cause.field.to_string()));
        }
    }
    let invalid: Vec<(&str, &str)> = invalid.iter().map(|(kind, field)| (&**kind, &**field)).collect();
    assert_eq!(invalid, INVALID);
}
