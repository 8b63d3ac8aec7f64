//! The mutating phase of the chain, in one round or two.

use std::sync::Arc;

use pratique_json::Value;
use pratique_manifest::ManifestPlugin;
use pratique_plugin::Stage;
use pratique_policy::{
    DenialCause, MutatedRequest, Reinvocation, UnfinishedEvaluation, mutate_once, seen_the_same,
};

use super::ChainRun;
use super::end::ChainEnd;
use crate::clock::RunStopwatch;
use crate::observer::{AdmissionPhase, ChainObserver, LoggingObserver};
use crate::step::{Attributes, StepPlace};

/// The state that the second round takes from the first.
#[derive(Default)]
struct RoundState<'r> {
    second: bool,
    policies: Reinvocation,
    /// The object as the policies left it; `None` if it was still unchanged.
    after_policies: Option<Arc<Value<'r>>>,
    #[cfg(feature = "webhooks")]
    webhooks: pratique_webhook::Reinvocation,
}

impl RoundState<'_> {
    /// Whether a policy or webhook changed the object, so that a second round is due.
    fn needs_second(&self) -> bool {
        #[cfg(feature = "webhooks")]
        if self.webhooks.is_due() {
            return true;
        }
        self.policies.is_due()
    }
}

impl<'r> ChainRun<'r> {
    pub(super) async fn mutate(&mut self, observer: &mut dyn ChainObserver) -> Result<(), ChainEnd> {
        let mut rounds = RoundState::default();
        self.round(&mut rounds, observer).await?;
        if rounds.needs_second() {
            rounds.second = true;
            self.is_reinvoked = true;
            self.round(&mut rounds, observer).await?;
        }
        Ok(())
    }

    async fn round(
        &mut self,
        rounds: &mut RoundState<'r>,
        observer: &mut dyn ChainObserver,
    ) -> Result<(), ChainEnd> {
        self.plugins(AdmissionPhase::Mutating, Stage::BeforeDynamic, observer)
            .await?;
        self.steps(StepPlace::BeforeMutatingPolicies, observer).await?;
        let began = RunStopwatch::start_if(observer.measures_time());
        let ended = self.mutating_policies(rounds, observer).await;
        let plugin = ManifestPlugin::MutatingAdmissionPolicy;
        self.record(plugin.name(), AdmissionPhase::Mutating, began, ended, observer)?;
        self.steps(StepPlace::BeforeMutatingWebhooks, observer).await?;
        #[cfg(feature = "webhooks")]
        {
            let began = RunStopwatch::start_if(observer.measures_time());
            if rounds.second {
                rounds.webhooks.begin_second();
            }
            let ended = self.mutating_webhooks(&mut rounds.webhooks, observer).await;
            let plugin = ManifestPlugin::MutatingAdmissionWebhook;
            self.record(plugin.name(), AdmissionPhase::Mutating, began, ended, observer)?;
        }
        self.steps(StepPlace::AfterMutatingWebhooks, observer).await?;
        self.plugins(AdmissionPhase::Mutating, Stage::AfterDynamic, observer)
            .await
    }

    async fn mutating_policies(
        &mut self,
        rounds: &mut RoundState<'r>,
        observer: &mut dyn ChainObserver,
    ) -> Result<(), ChainEnd> {
        if rounds.second {
            let previous_object = rounds.after_policies.as_deref().unwrap_or(&self.request.object);
            let changed = !seen_the_same(previous_object, self.attributes().object);
            rounds.policies.begin_second(changed);
        }
        let MutatedRequest {
            object,
            status,
            undecided,
            cause,
            steps,
        } = loop {
            self.in_time()?;
            let mutated = self.evaluate_mutating(&mut rounds.policies, observer);
            match mutated {
                Ok(mutated) => break mutated,
                Err(unfinished) => self.resume(unfinished).await?,
            }
        };
        self.outcome.mutations.extend(steps);
        if let Some(status) = status {
            return Err(ChainEnd::Refused(status, cause.unwrap_or(DenialCause::Failure)));
        }
        if let Some(undecided) = undecided {
            return Err(ChainEnd::Undecided(undecided));
        }
        if let Some(object) = object {
            let form = Attributes::mutated(self.admission.release(), self.request, &object).form;
            self.changed(object, form);
        }
        rounds.after_policies = self.object.clone();
        Ok(())
    }

    fn evaluate_mutating(
        &self,
        turns: &mut Reinvocation,
        observer: &mut dyn ChainObserver,
    ) -> Result<MutatedRequest, UnfinishedEvaluation> {
        let sets = self.admission.mutating();
        let (attributes, context) = (self.attributes(), self.eval_context());
        let mut logging = LoggingObserver(observer.policies());
        mutate_once(&sets, attributes, &context, turns, &mut logging)
    }
}
