//! The server's chain around a suite's policies.

use pratique_schema::Release;
use std::sync::{Arc, Mutex, PoisonError};

use pratique::object_model::ObjectMutator;
use pratique::observer::ChainObserver;
use pratique::policy::PolicyObserver;
use pratique::{Admission, AdmissionContext, Attributes, ObjectModel, UnfinishedEvaluation};
use pratique_json::Value;
use pratique_types::{AdmissionRequest, GroupVersionKind};

use crate::case_error::CaseError;
use crate::scripted_webhooks::{ScriptedCaller, WebhookScript};
use crate::suite::{Case, Suite};
use pratique_review::chain::{self, AdmittedRequest};
use pratique_state::PluginState;
use pratique_state::cluster::{is_namespace, with_name_label};

/// The chain of an API server, which requests go through besides the policies.
#[derive(Debug)]
pub(crate) struct WholeChain {
    caller: Arc<ScriptedCaller>,
    /// Locked while a request is evaluated: webhooks answer by the scripts of its case.
    turn: Mutex<()>,
}

impl WholeChain {
    pub(crate) fn new(caller: Arc<ScriptedCaller>) -> Self {
        WholeChain {
            caller,
            turn: Mutex::default(),
        }
    }

    /// Evaluates a request by the whole chain; webhooks answer by these scripts. With the object as it is stored; null where the
    /// request is not allowed.
    pub(crate) fn run(
        &self,
        scripts: Vec<WebhookScript>,
        admission: &Admission,
        request: (&AdmissionRequest<'_>, &Value<'_>),
        model: Option<&dyn ObjectModel>,
        context: AdmissionContext<'_>,
        policies: &mut (dyn PolicyObserver + Send),
    ) -> Result<(AdmittedRequest, Value<'static>), CaseError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.caller.set_scripts(scripts);
        let mut observer = CaseObserver {
            policies,
            release: admission.release(),
            stored: Value::Null,
        };
        let model = model.unwrap_or(&NoDefaults);
        let admitted = wait(chain::admit(admission, request, model, context, &mut observer))?;
        Ok((admitted, observer.stored))
    }
}

impl Suite {
    /// The state that admission plugins look up when a case begins.
    pub(crate) fn plugin_state(&self, base: &PluginState, case: &Case) -> PluginState {
        let mut state = base.clone();
        let states = [&self.cluster, &case.input.cluster];
        let objects = || self.objects(case);
        objects().for_each(|object| state.add(&with_name_label(object.clone())));
        if self.has_all_objects(case) {
            state.complete(objects().any(is_namespace));
        }
        for kind in self.snapshots(case).flat_map(|snapshot| &snapshot.complete) {
            state.complete_kind(kind);
        }
        for kind in states.iter().flat_map(|state| &state.complete.kinds) {
            state.complete_given(&GroupVersionKind::new(kind.group, "", kind.kind));
        }
        state
    }
}

/// Without threads and timers, nothing can wait.
#[cfg(not(feature = "webhooks"))]
fn wait(
    _: impl Future<Output = Result<AdmittedRequest, UnfinishedEvaluation>> + Send,
) -> Result<AdmittedRequest, CaseError> {
    Err(CaseError::NotBuilt)
}

/// Runs the chain to its end. Within a runtime of tokio, which must not be blocked, it runs on another thread.
#[cfg(feature = "webhooks")]
fn wait(
    chain: impl Future<Output = Result<AdmittedRequest, UnfinishedEvaluation>> + Send,
) -> Result<AdmittedRequest, CaseError> {
    let runtime = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        runtime.map_err(|error| CaseError::Runtime(error.to_string()))
    };
    if tokio::runtime::Handle::try_current().is_err() {
        return Ok(runtime()?.block_on(chain)?);
    }
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| Ok(runtime()?.block_on(chain)?));
        waiting.join().unwrap_or(Err(CaseError::Ended))
    })
}

/// Observes the policies of the chain, and takes the object that is stored.
struct CaseObserver<'o> {
    policies: &'o mut (dyn PolicyObserver + Send),
    release: &'static Release,
    stored: Value<'static>,
}

impl ChainObserver for CaseObserver<'_> {
    fn measures_time(&self) -> bool {
        false
    }

    fn policies(&mut self) -> Option<&mut dyn PolicyObserver> {
        Some(&mut *self.policies)
    }

    fn admitted(&mut self, attributes: &Attributes<'_>) {
        self.stored = attributes.object.owned_within(self.release.tables().types);
    }
}

/// Leaves objects as they are.
struct NoDefaults;

impl ObjectModel for NoDefaults {
    fn set_defaults(&self, _: &GroupVersionKind, _: &mut Value<'_>, _: ObjectMutator<'_>) {}
}
