//! What a valid object costs: no allocation, as paths and texts are made only of what is wrong.
#![allow(clippy::unwrap_used, reason = "a test that fails may stop")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pratique_json::Value;
use pratique_types::GroupVersionKind;
use pratique_validation::{Candidate, Validator};

/// Kinds of which some objects cost allocations: they are validated in another version, or something is read of a text or gathered in a
/// set, such as the schedule of a CronJob and the indexes of a Job.
const SOME: [&str; 12] = [
    "/v1, Kind=Node",
    "/v1, Kind=Service",
    "apiregistration.k8s.io/v1, Kind=APIService",
    "autoscaling/v1, Kind=HorizontalPodAutoscaler",
    "batch/v1, Kind=CronJob",
    "batch/v1, Kind=Job",
    "flowcontrol.apiserver.k8s.io/v1, Kind=FlowSchema",
    "resource.k8s.io/v1, Kind=ResourceClaimTemplate",
    "resource.k8s.io/v1, Kind=ResourceSlice",
    "resource.k8s.io/v1alpha3, Kind=ResourcePoolStatusRequest",
    "resource.k8s.io/v1beta1, Kind=ResourceSlice",
    "resource.k8s.io/v1beta2, Kind=ResourceSlice",
];

#[test]
fn valid_objects_cost_no_allocation() {
    let validator = Validator::new();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/validation");
    let (mut kinds, mut costly) = (BTreeSet::new(), BTreeSet::new());
    let paths = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    for path in paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")) {
        for line in fs::read_to_string(path).unwrap().lines() {
            let case = pratique_json::parse(line.as_bytes()).unwrap();
            let text = |name: &str| case.get(name).and_then(Value::as_str).unwrap_or_default();
            let is_new = case.get("old").is_none() && text("subresource").is_empty();
            let Some(object) = case.get("object").filter(|_| is_new) else {
                continue;
            };
            let kind = GroupVersionKind::new(text("group"), text("version"), text("kind"));
            let candidate = Candidate::new(&kind, object);
            // The first time, tables are read.
            if validator.create(&candidate).is_err() {
                continue;
            }
            let cost = allocation_counter::measure(|| drop(validator.create(&candidate)));
            kinds.insert(kind.to_string());
            if cost.count_total > 0 {
                costly.insert(kind.to_string());
            }
        }
    }
    assert!(kinds.len() > 40, "{kinds:?}");
    assert_eq!(costly.into_iter().collect::<Vec<_>>(), SOME);
}
