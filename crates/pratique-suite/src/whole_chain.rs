//! The server's chain around a suite's policies.

use std::sync::{Arc, Mutex, PoisonError};

use pratique::object_model::Mutator;
use pratique::observer::ChainObserver;
use pratique::policy::PolicyObserver;
use pratique::{Admission, AdmissionContext, ObjectModel, Unfinished};
use pratique_json::Value;
use pratique_types::{AdmissionRequest, GroupVersionKind};

use crate::chain::{self, Admitted, PluginState};
use crate::request::cluster::{is_namespace, with_name_label};
use crate::scripted::{Script, ScriptedCaller};
use crate::suite::{Case, Suite};

/// What requests go through besides policies.
#[derive(Debug)]
pub(crate) struct WholeChain {
    caller: Arc<ScriptedCaller>,
    /// Held while a request is evaluated, for which webhooks answer by the scripts of its case.
    turn: Mutex<()>,
}

impl WholeChain {
    pub(crate) fn new(caller: Arc<ScriptedCaller>) -> Self {
        WholeChain {
            caller,
            turn: Mutex::default(),
        }
    }

    /// Evaluates a request by the whole chain; webhooks answer by these scripts.
    pub(crate) fn run(
        &self,
        scripts: Vec<Script>,
        admission: &Admission,
        request: (&AdmissionRequest<'_>, &Value<'_>),
        model: Option<&dyn ObjectModel>,
        context: AdmissionContext<'_>,
        policies: &mut (dyn PolicyObserver + Send),
    ) -> Result<Admitted, ChainError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.caller.follow(scripts);
        let mut observer = OfPolicies(policies);
        let model = model.unwrap_or(&Untouched);
        wait(chain::admit(admission, request, model, context, &mut observer))
    }
}

impl Suite {
    /// What admission plugins see when a case begins.
    pub(crate) fn plugin_state(&self, base: &PluginState, case: &Case) -> PluginState {
        let mut state = base.clone();
        let states = [&self.cluster, &case.input.cluster];
        let objects = || states.into_iter().flat_map(|given| &given.objects);
        objects().for_each(|object| state.add(&with_name_label(object.clone())));
        if states.iter().any(|given| given.complete.all) {
            state.complete(objects().any(is_namespace));
        }
        let snapshots = states.iter().flat_map(|given| &given.snapshots);
        for kind in snapshots.flat_map(|snapshot| &snapshot.complete) {
            state.complete_kind(kind);
        }
        for kind in states.iter().flat_map(|given| &given.complete.kinds) {
            state.complete_kind(&GroupVersionKind::new(kind.group, "", kind.kind));
        }
        state
    }
}

/// Why a request cannot be evaluated.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChainError {
    #[error(transparent)]
    Unfinished(#[from] Unfinished),
    /// There is nothing that could wait for webhooks.
    #[cfg(feature = "webhooks")]
    #[error("the chain cannot run: {0}")]
    Runtime(#[from] std::io::Error),
    #[cfg(feature = "webhooks")]
    #[error("the chain ended early")]
    Ended,
    #[cfg(not(feature = "webhooks"))]
    #[error("the chain cannot run: the program is built without webhooks")]
    NotBuilt,
}

/// Without threads and timers, nothing can wait.
#[cfg(not(feature = "webhooks"))]
fn wait(_: impl Future<Output = Result<Admitted, Unfinished>> + Send) -> Result<Admitted, ChainError> {
    Err(ChainError::NotBuilt)
}

/// Waits for a request. Within a runtime of tokio, which must not be blocked so, another thread does.
#[cfg(feature = "webhooks")]
fn wait(chain: impl Future<Output = Result<Admitted, Unfinished>> + Send) -> Result<Admitted, ChainError> {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
    };
    if tokio::runtime::Handle::try_current().is_err() {
        return Ok(runtime()?.block_on(chain)?);
    }
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| Ok(runtime()?.block_on(chain)?));
        waiting.join().unwrap_or(Err(ChainError::Ended))
    })
}

/// The observer of policies, as one of the chain.
struct OfPolicies<'o>(&'o mut (dyn PolicyObserver + Send));

impl ChainObserver for OfPolicies<'_> {
    fn policies(&mut self) -> Option<&mut dyn PolicyObserver> {
        Some(&mut *self.0)
    }
}

/// Leaves objects as they are.
struct Untouched;

impl ObjectModel for Untouched {
    fn set_defaults(&self, _: &GroupVersionKind, _: &mut Value<'_>, _: Mutator<'_>) {}
}
