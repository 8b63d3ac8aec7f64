//! Observers of all that happens: metrics, audit logs, tests.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pratique_manifest::ManifestPlugin;
use pratique_types::AdmissionRequest;

use crate::Attributes;
use crate::observer::{ChainObserver, ChainSpan, ChainStep};
use crate::outcome::Outcome;

/// Receives all events, from any thread. By default all methods do nothing; none should block.
///
/// Metrics (`pratique_metrics::Metrics`) and audit logs (`pratique_audit::Log`) are observers, and so is an [`Arc`] of one, of
/// which the program keeps a clone:
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
///
/// use pratique::live::{AdmissionObserver, AnsweredRequest};
/// use pratique::observer::AdmissionPhase;
/// use pratique::step::{StepPlace, StepOutcome, step};
/// use pratique::{Admission, Attributes};
///
/// #[derive(Default)]
/// struct Refusals(AtomicU64);
///
/// impl AdmissionObserver for Refusals {
///     fn answered(&self, answered: &AnsweredRequest<'_>) {
///         if !answered.outcome.allowed() {
///             self.0.fetch_add(1, Relaxed);
///         }
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// fn closed(_: Attributes<'_>) -> StepOutcome {
///     StepOutcome::deny("the harbour is closed")
/// }
///
/// let refusals = Arc::new(Refusals::default());
/// let live = Admission::builder()
///     .step(StepPlace::BeforeValidatingPolicies, step("closed", closed))
///     .live()
///     .observer(refusals.clone())
///     .start()?;
/// # let request = serde_json::from_str(r#"{"uid": "u", "kind": {"version": "v1", "kind": "Pod"}, "operation": "CREATE",
/// #     "namespace": "shop", "resource": {"version": "v1", "resource": "pods"}, "object": {}}"#)?;
/// live.review(&request, AdmissionPhase::Validating).await?;
/// assert_eq!(refusals.0.load(Relaxed), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait AdmissionObserver: Send + Sync {
    /// A directory of static manifests was looked at, at the start or later.
    fn reloaded(&self, reload: &DirectoryReload<'_>) {
        let _ = reload;
    }

    /// Whether the file system notifies of changes to a directory of static manifests: called at the start, and when that
    /// changes.
    /// Otherwise changes are seen by the poll only.
    fn watching(&self, plugin: ManifestPlugin, directory: &str, is_watched: bool) {
        let _ = (plugin, directory, is_watched);
    }

    /// Expressions were compiled, each in one of these times; no request waited for that.
    fn compiled(&self, took: &[Duration]) {
        let _ = took;
    }

    /// A request arrived; returns the observer of its run through the chain.
    fn request(&self) -> Option<Box<dyn ChainObserver + '_>> {
        None
    }

    /// A request has its answer.
    fn answered(&self, answered: &AnsweredRequest<'_>) {
        let _ = answered;
    }
}

/// What it observes is shared by all clones.
impl<T: AdmissionObserver + ?Sized> AdmissionObserver for Arc<T> {
    fn reloaded(&self, reload: &DirectoryReload<'_>) {
        (**self).reloaded(reload);
    }

    fn watching(&self, plugin: ManifestPlugin, directory: &str, is_watched: bool) {
        (**self).watching(plugin, directory, is_watched);
    }

    fn compiled(&self, took: &[Duration]) {
        (**self).compiled(took);
    }

    fn request(&self) -> Option<Box<dyn ChainObserver + '_>> {
        (**self).request()
    }

    fn answered(&self, answered: &AnsweredRequest<'_>) {
        (**self).answered(answered);
    }
}

/// A directory that was looked at.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DirectoryReload<'a> {
    /// The plugin of the directory.
    pub plugin: ManifestPlugin,
    /// Its path.
    pub directory: &'a str,
    /// The result.
    pub result: ReloadResult<'a>,
    /// When.
    pub at: SystemTime,
    /// How long it took to load.
    pub took: Duration,
}

impl<'a> DirectoryReload<'a> {
    /// A directory that was looked at just now; `took` is how long it took to load.
    pub fn new(plugin: ManifestPlugin, directory: &'a str, result: ReloadResult<'a>, took: Duration) -> Self {
        DirectoryReload {
            plugin,
            directory,
            result,
            at: SystemTime::now(),
            took,
        }
    }
}

/// The result of a reload of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReloadResult<'a> {
    /// There is new content, with this hash; it takes effect at once.
    Loaded {
        /// The hash; empty for no content at all.
        hash: &'a str,
    },
    /// It is as it was.
    Unchanged,
    /// It is invalid; the previous content stays in effect.
    Failed {
        /// The reason, as an API server words it.
        reason: &'a str,
    },
}

/// A request and its answer.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AnsweredRequest<'a> {
    /// The request.
    pub request: &'a AdmissionRequest<'a>,
    /// The result.
    pub outcome: &'a Outcome,
    /// When it came.
    pub received: SystemTime,
    /// How long it took.
    pub took: Duration,
}

/// Several observers of one request.
pub(super) struct ObserverList<'w>(Vec<Box<dyn ChainObserver + 'w>>);

impl<'w> ObserverList<'w> {
    pub(super) fn new(observers: &'w [Arc<dyn AdmissionObserver>]) -> Self {
        ObserverList(
            observers
                .iter()
                .filter_map(|observer| observer.request())
                .collect(),
        )
    }
}

impl ChainObserver for ObserverList<'_> {
    fn policies(&mut self) -> Option<&mut dyn pratique_policy::PolicyObserver> {
        (!self.0.is_empty()).then_some(self)
    }

    #[cfg(feature = "webhooks")]
    fn webhooks(&mut self) -> Option<&mut dyn pratique_webhook::WebhookObserver> {
        (!self.0.is_empty()).then_some(self)
    }

    fn measures_time(&self) -> bool {
        self.0.iter().any(|observer| observer.measures_time())
    }

    fn part(&mut self, name: &str, span: &ChainSpan) {
        self.0.iter_mut().for_each(|observer| observer.part(name, span));
    }

    fn step(&mut self, step: &ChainStep<'_>) {
        self.0.iter_mut().for_each(|observer| observer.step(step));
    }

    fn phase(&mut self, span: &ChainSpan) {
        self.0.iter_mut().for_each(|observer| observer.phase(span));
    }

    fn admitted(&mut self, attributes: &Attributes<'_>) {
        self.0
            .iter_mut()
            .for_each(|observer| observer.admitted(attributes));
    }
}

impl ObserverList<'_> {
    fn policy_observers(&mut self) -> impl Iterator<Item = &mut dyn pratique_policy::PolicyObserver> {
        self.0.iter_mut().filter_map(|observer| observer.policies())
    }

    #[cfg(feature = "webhooks")]
    fn webhook_observers(&mut self) -> impl Iterator<Item = &mut dyn pratique_webhook::WebhookObserver> {
        self.0.iter_mut().filter_map(|observer| observer.webhooks())
    }
}

impl pratique_policy::PolicyObserver for ObserverList<'_> {
    fn decided(&mut self, decision: &pratique_policy::ObservedDecision<'_>) {
        self.policy_observers()
            .for_each(|observer| observer.decided(decision));
    }

    fn conditions(&mut self, conditions: &pratique_policy::Conditions<'_>) {
        self.policy_observers()
            .for_each(|observer| observer.conditions(conditions));
    }

    fn mutating(&mut self, mutating: &pratique_policy::MutationAttempt<'_>) {
        self.policy_observers()
            .for_each(|observer| observer.mutating(mutating));
    }

    fn ignored(&mut self, failure: &pratique_policy::IgnoredFailure) {
        self.policy_observers()
            .for_each(|observer| observer.ignored(failure));
    }

    fn undecided(&mut self, undecided: &pratique_policy::UndecidedDecision) {
        self.policy_observers()
            .for_each(|observer| observer.undecided(undecided));
    }
}

#[cfg(feature = "webhooks")]
impl pratique_webhook::WebhookObserver for ObserverList<'_> {
    fn called(&mut self, called: &pratique_webhook::EndedCall<'_>) {
        self.webhook_observers()
            .for_each(|observer| observer.called(called));
    }

    fn conditions(&mut self, conditions: &pratique_webhook::Conditions<'_>) {
        self.webhook_observers()
            .for_each(|observer| observer.conditions(conditions));
    }

    fn undecided(&mut self, undecided: &pratique_policy::UndecidedDecision) {
        self.webhook_observers()
            .for_each(|observer| observer.undecided(undecided));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::observer::{AdmissionPhase, StepResult};

    #[derive(Default)]
    struct EventLog(Mutex<Vec<String>>);

    struct RequestLog<'l>(&'l EventLog);

    impl AdmissionObserver for EventLog {
        fn request(&self) -> Option<Box<dyn ChainObserver + '_>> {
            Some(Box::new(RequestLog(self)))
        }
    }

    impl RequestLog<'_> {
        fn push(&self, event: &str) {
            self.0.0.lock().unwrap().push(event.to_owned());
        }
    }

    impl ChainObserver for RequestLog<'_> {
        fn part(&mut self, name: &str, _: &ChainSpan) {
            self.push(name);
        }

        fn step(&mut self, step: &ChainStep<'_>) {
            self.push(step.name);
        }

        fn phase(&mut self, _: &ChainSpan) {
            self.push("phase");
        }

        fn admitted(&mut self, _: &Attributes<'_>) {
            self.push("admitted");
        }
    }

    #[test]
    fn all_observers_receive_all_events() {
        let logs = [Arc::new(EventLog::default()), Arc::new(EventLog::default())];
        let registered = logs.clone().map(|log| log as Arc<dyn AdmissionObserver>);
        let mut observers = ObserverList::new(&registered);
        let request = AdmissionRequest::default();
        let attributes = Attributes::written(&request, &request.object);
        let span = ChainSpan {
            phase: AdmissionPhase::Mutating,
            operation: request.operation,
            rejected: false,
            elapsed: Duration::ZERO,
        };
        observers.part("part", &span);
        observers.step(&ChainStep {
            name: "step",
            phase: AdmissionPhase::Mutating,
            is_reinvoked: false,
            attributes,
            may_differ: false,
            result: StepResult::Passed,
        });
        observers.phase(&span);
        observers.admitted(&attributes);
        for log in &logs {
            assert_eq!(*log.0.lock().unwrap(), ["part", "step", "phase", "admitted"]);
        }
    }
}
