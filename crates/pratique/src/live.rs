//! Admission that stays current while a program runs.
//!
//! A request uses the [`Admission`] that is current when it begins, to its end. Changes are compiled on another thread and
//! swapped in as a whole; a change that cannot be used has no effect.

mod admit_error;
mod builder;
mod core;
#[cfg(feature = "watch")]
mod directories;
mod log;
mod observer;
mod readiness;
mod retirement;
mod service;
mod source;
mod worker;

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;

use pratique_manifest::ManifestSet;
use pratique_types::{AdmissionRequest, AdmissionResponse, AdmissionReview};

use crate::admission::Admission;
use crate::limits::Limits;
use crate::observer::AdmissionPhases;
use crate::outcome::Outcome;
use core::LiveCore;
use worker::{ChangeNotifier, ChangeWorker};

pub use admit_error::AdmitError;
pub use builder::{LiveBuilder, StartError};
pub use observer::{AdmissionObserver, AnsweredRequest, DirectoryReload, ReloadResult};
pub use readiness::UnavailableReason;
pub use service::{PendingReview, PhaseService};
pub use source::{InMemory, Source, SourceNotifier};

/// Admission that stays current: static directories, the API's configuration and the cluster may change while requests
/// are evaluated. Copies share one instance; when the last is dropped, the background tasks end.
#[derive(Clone)]
pub struct Live {
    core: Arc<LiveCore>,
    tasks: Arc<LiveTasks>,
}

impl Live {
    /// Evaluates a request by the whole chain. The future can be dropped at any time.
    ///
    /// # Errors
    /// No API server sends the request ([`AdmissionRequest::validate`]), or requests cannot be evaluated yet, or any more.
    pub async fn admit(&self, request: &AdmissionRequest<'_>) -> Result<Outcome, AdmitError> {
        self.admit_by(request, AdmissionPhases::Both, Limits::default())
            .await
    }

    /// [`admit`](Self::admit) by one phase of the chain, or both, within limits, such as a deadline or an interrupt
    /// that is set when the client disconnects.
    ///
    /// # Errors
    /// As [`admit`](Self::admit).
    pub async fn admit_by(
        &self,
        request: &AdmissionRequest<'_>,
        phases: impl Into<AdmissionPhases>,
        limits: impl Into<Limits>,
    ) -> Result<Outcome, AdmitError> {
        request.validate()?;
        Ok(self.admit_as_given(request, phases, limits).await?)
    }

    /// [`admit_by`](Self::admit_by) without a look at whether an API server sends such a request: for programs that have
    /// validated it.
    ///
    /// Policies and webhooks match a request by what it says. One without an operation, or about the resource `Pod` for
    /// `pods`, matches nothing, and is allowed.
    ///
    /// # Errors
    /// Requests cannot be evaluated yet, or any more.
    pub async fn admit_as_given(
        &self,
        request: &AdmissionRequest<'_>,
        phases: impl Into<AdmissionPhases>,
        limits: impl Into<Limits>,
    ) -> Result<Outcome, UnavailableReason> {
        self.core.admit(request, phases.into(), limits.into()).await
    }

    /// The response of an admission webhook to a request. An API server calls webhooks of a
    /// MutatingWebhookConfiguration in the mutating phase, and those of a ValidatingWebhookConfiguration in the validating
    /// phase, so `phases` is [`AdmissionPhase::Mutating`](crate::observer::AdmissionPhase) or
    /// [`AdmissionPhase::Validating`](crate::observer::AdmissionPhase):
    ///
    /// | | mutating | validating | [`AdmissionPhases::Both`] |
    /// |---|---|---|---|
    /// | mutating policies and webhooks, steps up to [`StepPlace::Schema`](crate::step::StepPlace::Schema) | yes | | yes |
    /// | validating policies and webhooks, the later steps | | yes | yes |
    /// | the response may have a patch | yes | never | yes |
    ///
    /// An API server accepts no patch of a validating webhook. [`AdmissionPhases::Both`] is for callers that are no API server: one
    /// that registers a webhook for it as mutating evaluates the validating policies before other webhooks change the
    /// object.
    ///
    /// # Errors
    /// As [`admit`](Self::admit).
    pub async fn review(
        &self,
        request: &AdmissionRequest<'_>,
        phases: impl Into<AdmissionPhases>,
    ) -> Result<AdmissionResponse, AdmitError> {
        self.review_by(request, phases, Limits::default()).await
    }

    /// [`review`](Self::review) within limits.
    ///
    /// # Errors
    /// As [`admit`](Self::admit).
    pub async fn review_by(
        &self,
        request: &AdmissionRequest<'_>,
        phases: impl Into<AdmissionPhases>,
        limits: impl Into<Limits>,
    ) -> Result<AdmissionResponse, AdmitError> {
        let outcome = self.admit_by(request, phases, limits).await?;
        Ok(outcome.into_response(request))
    }

    /// The answer to an AdmissionReview, in the version in which it was asked: [`review`](Self::review) of its request.
    ///
    /// ```
    /// # use pratique::{Admission, AdmissionReview, observer::AdmissionPhase};
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// # let live = Admission::builder().live().start()?;
    /// # let body = br#"{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u",
    /// #     "kind": {"version": "v1", "kind": "Pod"}, "operation": "CREATE", "namespace": "shop",
    /// #     "resource": {"version": "v1", "resource": "pods"}, "object": {}}}"#;
    /// let review = AdmissionReview::parse(body)?;
    /// let answer = live.answer(&review, AdmissionPhase::Validating).await?;
    /// println!("{}", serde_json::to_string(&answer)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`admit`](Self::admit), and [where the review has no request](AdmissionReview::valid_request).
    pub async fn answer(
        &self,
        review: &AdmissionReview<'_>,
        phases: impl Into<AdmissionPhases>,
    ) -> Result<AdmissionReview<'static>, AdmitError> {
        let request = review.valid_request()?;
        let outcome = self.admit_as_given(request, phases, Limits::default()).await?;
        Ok(review.answer_with(outcome.into_response(request)))
    }

    /// A [`tower`](tower_service::Service) service of requests by one phase of the chain, or both.
    pub fn service(&self, phases: impl Into<AdmissionPhases>) -> PhaseService {
        PhaseService::new(self.clone(), phases.into())
    }

    /// The static manifests that are in use or about to be, in the order in which they were added.
    pub fn manifests(&self) -> Vec<Arc<ManifestSet>> {
        self.core.manifests()
    }

    /// The admission that new requests use; `None` before the first.
    pub fn current(&self) -> Option<Arc<Admission>> {
        self.core.current.load_full()
    }

    /// Whether requests can be evaluated: every source was loaded, and it was not stopped.
    pub fn is_ready(&self) -> bool {
        self.core.readiness.is_ready()
    }

    /// Waits until requests can be evaluated.
    ///
    /// # Errors
    /// It was stopped.
    pub async fn ready(&self) -> Result<(), UnavailableReason> {
        poll_fn(|context| self.core.readiness.poll(context)).await
    }

    /// Waits until the current admission is another than `since`, which [`current`](Self::current) returned, and returns it:
    /// a directory or another source changed, and the change is in effect. Several changes may be combined; an invalid
    /// change is skipped.
    ///
    /// ```
    /// # use pratique::{Admission, Configurations, live::InMemory};
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let stored = InMemory::new(Configurations::default());
    /// let live = Admission::builder().live().source(stored.clone()).start()?;
    /// let before = live.current();
    /// stored.replace(Configurations::default());
    /// let after = live.changed(before.as_ref()).await?;
    /// println!("now {} policies", after.policy_names().count());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// It was stopped.
    pub async fn changed(&self, since: Option<&Arc<Admission>>) -> Result<Arc<Admission>, UnavailableReason> {
        let other = || {
            let current = self.core.current.load_full();
            current.filter(|current| since.is_none_or(|since| !Arc::ptr_eq(since, current)))
        };
        poll_fn(|context| self.core.readiness.poll_for(context, other)).await
    }

    /// Waits until all changes that sources notified of are in effect. It blocks the thread.
    pub fn settle(&self) {
        self.tasks.notifier.wait_until_settled();
    }

    /// The background tasks that ended although [`stop`](Self::stop) was not called: `watch` watches a directory, `reload`
    /// compiles changes, `cluster` follows a cluster. They end only by a bug; the current admission stays in effect, and
    /// changes no longer take effect.
    pub fn ended_tasks(&self) -> Vec<&'static str> {
        if self.core.readiness.is_stopped() {
            return Vec::new();
        }
        let mut ended = Vec::new();
        #[cfg(feature = "watch")]
        if self.core.directories.have_ended() {
            ended.push("watch");
        }
        if self.tasks.worker.has_ended() {
            ended.push("reload");
        }
        let mut sources = self.core.settings.sources.iter();
        if self.core.settings.cluster.has_ended() || sources.any(|source| source.has_ended()) {
            ended.push("cluster");
        }
        ended
    }

    /// Rejects further requests, ends the background tasks and waits for that, which blocks the thread. Requests under way
    /// are evaluated to their end.
    pub fn stop(&self) {
        self.core.readiness.set_stopped();
        self.tasks.stop();
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Live")
            .field("readiness", &self.core.readiness)
            .finish_non_exhaustive()
    }
}

/// The background tasks.
struct LiveTasks {
    notifier: Arc<ChangeNotifier>,
    worker: ChangeWorker,
    core: Arc<LiveCore>,
}

impl LiveTasks {
    fn stop(&self) {
        #[cfg(feature = "watch")]
        self.core.directories.stop();
        self.core.settings.sources.iter().for_each(|source| source.stop());
        self.core.settings.cluster.stop();
        self.worker.stop();
    }
}

impl Drop for LiveTasks {
    fn drop(&mut self) {
        self.core.readiness.set_stopped();
        self.stop();
    }
}
