//! The mutating phase of the chain, in one round or two.

use std::sync::Arc;

use pratique_json::Value;
use pratique_manifest::ManifestPlugin;
use pratique_plugin::Stage;
use pratique_policy::{DenialCause, Mutated, Reinvocation, Unfinished, mutate_once, seen_the_same};

use super::ChainRun;
use super::end::End;
use crate::clock::Stopwatch;
use crate::observer::{ChainObserver, Logging, Phase};
use crate::step::{Attributes, Place};

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
    pub(super) async fn mutate(&mut self, observer: &mut dyn ChainObserver) -> Result<(), End> {
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
    ) -> Result<(), End> {
        self.plugins(Phase::Mutating, Stage::BeforeDynamic, observer)
            .await?;
        self.steps(Place::BeforeMutatingPolicies, observer).await?;
        let began = Stopwatch::start();
        let ended = self.mutating_policies(rounds, observer).await;
        let plugin = ManifestPlugin::MutatingAdmissionPolicy;
        self.record(plugin.name(), Phase::Mutating, began, ended, observer)?;
        self.steps(Place::BeforeMutatingWebhooks, observer).await?;
        #[cfg(feature = "webhooks")]
        {
            let began = Stopwatch::start();
            if rounds.second {
                rounds.webhooks.begin_second();
            }
            let ended = self.mutating_webhooks(&mut rounds.webhooks, observer).await;
            let plugin = ManifestPlugin::MutatingAdmissionWebhook;
            self.record(plugin.name(), Phase::Mutating, began, ended, observer)?;
        }
        self.steps(Place::AfterMutatingWebhooks, observer).await?;
        self.plugins(Phase::Mutating, Stage::AfterDynamic, observer).await
    }

    async fn mutating_policies(
        &mut self,
        rounds: &mut RoundState<'r>,
        observer: &mut dyn ChainObserver,
    ) -> Result<(), End> {
        if rounds.second {
            let previous_object = rounds.after_policies.as_deref().unwrap_or(&self.request.object);
            let changed = !seen_the_same(previous_object, self.attributes().object);
            rounds.policies.begin_second(changed);
        }
        let Mutated {
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
            return Err(End::Refused(status, cause.unwrap_or(DenialCause::Failure)));
        }
        if let Some(undecided) = undecided {
            return Err(End::Undecided(undecided));
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
    ) -> Result<Mutated, Unfinished> {
        let sets = self.admission.mutating();
        let (attributes, context) = (self.attributes(), self.eval_context());
        let mut logging = Logging(observer.policies());
        mutate_once(&sets, attributes, &context, turns, &mut logging)
    }
}
