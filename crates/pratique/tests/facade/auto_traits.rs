//! What programs share between threads and keep in tasks: a promise that no signature shows.

use pratique::live::{InMemory, PhaseService};
use pratique::observer::AdmissionPhase;
use pratique::policy::EmptyCluster;
use pratique::{
    Admission, AdmissionBuilder, AdmissionContext, AdmissionRequest, AdmissionReview, AdmitError, BuildError,
    Configurations, Limits, Live, LiveBuilder, Objects, Outcome, PluginChain, StartError,
};

fn is_shared<T: Send + Sync + 'static>() {}

fn is_sent<T: Send>(_: T) {}

#[test]
fn what_is_kept_is_shared_between_threads() {
    is_shared::<Admission>();
    is_shared::<Live>();
    is_shared::<PhaseService>();
    is_shared::<Objects>();
    is_shared::<EmptyCluster>();
    is_shared::<InMemory>();
    is_shared::<Configurations>();
    is_shared::<PluginChain>();
    is_shared::<Limits>();
    is_shared::<Outcome>();
    is_shared::<AdmissionRequest<'static>>();
    is_shared::<AdmissionReview<'static>>();
    is_shared::<BuildError>();
    is_shared::<StartError>();
    is_shared::<AdmitError>();
}

#[test]
fn builders_are_sent_to_threads() {
    fn builder<T: Send + 'static>() {}
    builder::<AdmissionBuilder>();
    builder::<LiveBuilder>();
}

/// Never called: it compiles.
#[allow(dead_code, reason = "whether it compiles is the test")]
fn requests_are_evaluated_in_tasks(admission: &Admission, live: &Live, review: &AdmissionReview<'_>) {
    let request = AdmissionRequest::default();
    let cluster = Objects::new();
    is_sent(admission.admit(&request, AdmissionContext::new(&cluster), &mut ()));
    is_sent(live.admit(&request));
    is_sent(live.answer(review, AdmissionPhase::Validating));
    is_sent(live.ready());
}
