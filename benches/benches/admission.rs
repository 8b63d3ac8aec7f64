//! Loading static manifests, and one request before 1 to 1,000 policies that all match it, or 1 to 10 that change its object.
//!
//! `cargo bench --bench admission`

#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up should stop")]

use std::sync::Arc;

use divan::Bencher;
use pratique::authorization::Authorizer;
use pratique::manifest::Plugin;
use pratique::types::AdmissionRequest;
use pratique::{Admission, Surroundings};
use pratique_benches::{NoOpinion, cluster, manifests, mutating_manifests, request};

fn main() {
    divan::main();
}

fn admission(count: usize) -> Admission {
    let builder = Admission::builder().files(manifests(count), Plugin::ValidatingAdmissionPolicy);
    builder.build().expect("builds")
}

#[divan::bench(args = [1, 10, 100, 1000])]
fn review(bencher: Bencher<'_, '_>, policies: usize) {
    let (admission, cluster, text) = (admission(policies), cluster(), request());
    let request: AdmissionRequest<'_> = serde_json::from_str(&text).expect("is a request");
    let authorizer: Arc<dyn Authorizer> = Arc::new(NoOpinion);
    let review =
        || admission.review_policies(&request, Surroundings::new(&cluster, authorizer.clone()), &mut ());
    assert!(review().expect("ends").allowed);
    bencher.bench_local(review);
}

#[divan::bench(args = [1, 10])]
fn mutate(bencher: Bencher<'_, '_>, policies: usize) {
    let builder = Admission::builder().files(mutating_manifests(policies), Plugin::MutatingAdmissionPolicy);
    let admission = builder.build().expect("builds");
    let (cluster, text) = (cluster(), request());
    let request: AdmissionRequest<'_> = serde_json::from_str(&text).expect("is a request");
    let authorizer: Arc<dyn Authorizer> = Arc::new(NoOpinion);
    let judge =
        || admission.admit_policies(&request, Surroundings::new(&cluster, authorizer.clone()), &mut ());
    assert!(judge().expect("ends").object.is_some());
    bencher.bench_local(judge);
}

#[divan::bench]
fn parse_request(bencher: Bencher<'_, '_>) {
    let text = request();
    bencher.bench_local(|| serde_json::from_str::<AdmissionRequest<'_>>(&text).is_ok());
}

#[divan::bench(args = [100, 1000], sample_count = 10)]
fn load(bencher: Bencher<'_, '_>, policies: usize) {
    let files = manifests(policies);
    bencher.bench_local(|| {
        let builder = Admission::builder().files(files.clone(), Plugin::ValidatingAdmissionPolicy);
        builder.build().expect("builds")
    });
}
