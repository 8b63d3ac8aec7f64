//! The state that requests read and the worker writes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwapOption;
use pratique_manifest::ManifestSet;
use pratique_plugin::ClusterState;
use pratique_policy::{Cluster, ObjectModel};
use pratique_types::AdmissionRequest;

use super::observer::{AdmissionObserver, AnsweredRequest, ObserverList};
use super::readiness::{LiveReadiness, UnavailableReason};
use super::retirement::RetiredValues;
use super::source::Source;
use crate::admission::Admission;
use crate::admission_config::AdmissionConfig;
use crate::authorization::CheckDecider;
use crate::builder::NotEvaluated;
use crate::chain::AdmissionContext;
use crate::clock::{RunStopwatch, generated_suffix, since_epoch};
use crate::cluster::{ClusterView, DynParamSource, PluginView};
use crate::image_reviews::ImageBackend;
use crate::limits::Limits;
use crate::observer::AdmissionPhases;
use crate::outcome::Outcome;
use crate::plugins::PluginInputs;

/// Gives the object model of a request.
pub(super) type ObjectModels = Box<dyn Fn() -> Arc<dyn ObjectModel + Send + Sync> + Send + Sync>;

/// The settings of a [`LiveBuilder`](super::LiveBuilder) that are not compiled.
pub(super) struct LiveSettings {
    pub(super) sources: Vec<Arc<dyn Source>>,
    pub(super) cluster: Arc<dyn ClusterView>,
    pub(super) decider: Arc<dyn CheckDecider>,
    pub(super) params: Option<Arc<dyn DynParamSource>>,
    pub(super) deadline: Option<Duration>,
    pub(super) object_models: Option<ObjectModels>,
    pub(super) image_backend: Option<Arc<dyn ImageBackend>>,
    pub(super) observers: Vec<Arc<dyn AdmissionObserver>>,
}

/// The state that all parts of a [`Live`](super::Live) share.
pub(super) struct LiveCore {
    pub(super) current: ArcSwapOption<Admission>,
    /// Replaced admissions, while requests use them.
    pub(super) retired: RetiredValues<Admission>,
    pub(super) readiness: LiveReadiness,
    pub(super) settings: LiveSettings,
    #[cfg(feature = "watch")]
    pub(super) directories: super::directories::WatchedDirectories,
    pub(super) config: Mutex<AdmissionConfig>,
}

impl LiveCore {
    /// Compiles the current configuration, and swaps it in. Does nothing while a source has no configuration yet.
    pub(super) fn refresh(&self) -> Result<(), NotEvaluated> {
        let mut config = self.config.lock().unwrap_or_else(PoisonError::into_inner);
        #[cfg(feature = "watch")]
        self.directories.collect(&mut config);
        let mut complete = self.settings.cluster.is_ready();
        let fixed = config.api.len().saturating_sub(self.settings.sources.len());
        let excludes_virtual = config.settings.feature_gates.excludes_virtual_resources();
        let places = config.api.iter_mut().skip(fixed);
        for (place, source) in places.zip(&self.settings.sources) {
            match source.current() {
                Some(current) => {
                    if excludes_virtual {
                        super::log::changed(place, &current);
                    }
                    *place = current;
                }
                None => complete = false,
            }
        }
        if !complete && !self.readiness.is_ready() {
            return Ok(());
        }
        let previous = self.current.load();
        let next = Arc::new(config.compile(previous.as_deref())?);
        drop(previous);
        self.retired.push(self.current.swap(Some(next.clone())));
        #[cfg(feature = "webhooks")]
        next.webhooks.retain();
        let compilations = config.compilations.take();
        self.settings
            .observers
            .iter()
            .for_each(|observer| observer.compiled(&compilations));
        self.readiness.set_ready();
        Ok(())
    }

    /// The static manifests.
    pub(super) fn manifests(&self) -> Vec<Arc<ManifestSet>> {
        let config = self.config.lock().unwrap_or_else(PoisonError::into_inner);
        config.sets.clone()
    }

    /// Runs a request through the current chain, or one phase of it, within limits and until the deadline of all
    /// requests.
    pub(super) async fn admit(
        &self,
        request: &AdmissionRequest<'_>,
        phases: AdmissionPhases,
        mut limits: Limits,
    ) -> Result<Outcome, UnavailableReason> {
        self.readiness.check_ready()?;
        let admission = self.current.load_full().ok_or(UnavailableReason::NotReady)?;
        let deadline = self
            .settings
            .deadline
            .and_then(|timeout| Instant::now().checked_add(timeout));
        if let Some(deadline) = deadline {
            limits.interrupt = limits.interrupt.with_deadline(deadline);
        }
        let cluster = self.cluster_for(request).await;
        let state = self.plugin_state(&admission, request).await;
        let view = PluginView::new(&*cluster, state.as_deref());
        let model = self.settings.object_models.as_ref().map(|now| now());
        let suffix = match admission.settings.plugins.kinds() {
            Some(_) => generated_suffix(),
            None => String::new(),
        };
        let mut context = AdmissionContext::new(&*cluster)
            .with_decider(&*self.settings.decider)
            .with_plugins(PluginInputs::new(&view).at(since_epoch()).with_suffix(&suffix))
            .with_limits(limits);
        context.plugins.image_backend = self.settings.image_backend.as_deref();
        context.params = self.settings.params.as_deref();
        if let Some(model) = &model {
            context = context.with_object_model(&**model);
        }
        if self.settings.observers.is_empty() {
            let outcome = admission
                .run_chain((request, None), phases, context, &mut ())
                .await;
            return outcome.map_err(UnavailableReason::from);
        }
        let (received, began) = (SystemTime::now(), RunStopwatch::start());
        let mut observers = ObserverList::new(&self.settings.observers);
        let outcome = admission
            .run_chain((request, None), phases, context, &mut observers)
            .await;
        let outcome = outcome.map_err(UnavailableReason::from)?;
        let answered = AnsweredRequest {
            request,
            outcome: &outcome,
            received,
            took: began.elapsed(),
        };
        self.settings
            .observers
            .iter()
            .for_each(|observer| observer.answered(&answered));
        Ok(outcome)
    }

    /// The state that plugins look up besides namespaces, if there are plugins that look something up.
    async fn plugin_state(
        &self,
        admission: &Admission,
        request: &AdmissionRequest<'_>,
    ) -> Option<Arc<dyn ClusterState + Send + Sync>> {
        match admission.settings.plugins.kinds()? {
            [] => None,
            kinds => Some(self.settings.cluster.plugin_state(request, kinds)?.await),
        }
    }

    /// The cluster as it is now, with the namespace of the request looked up if it is newer than the view.
    async fn cluster_for(&self, request: &AdmissionRequest<'_>) -> Arc<dyn Cluster + Send + Sync> {
        let cluster = self.settings.cluster.now();
        let (namespace, resource) = (&request.namespace, &request.resource);
        let of_namespaces = resource.group.is_empty() && resource.resource == "namespaces";
        if namespace.is_empty() || of_namespaces || cluster.namespace(namespace).stored().is_some() {
            return cluster;
        }
        match self.settings.cluster.look_up(namespace) {
            Some(lookup) => lookup.await,
            None => cluster,
        }
    }
}
