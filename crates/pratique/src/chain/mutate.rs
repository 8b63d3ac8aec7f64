//! The mutating half of the chain, in one round or two.

use std::sync::Arc;

use pratique_json::Value;
use pratique_policy::{Mutated, Observer, Reinvocation, Unfinished, mutate_once, same};

use super::{End, Passage};
use crate::step::Place;

/// What is remembered from the first round to the second.
#[derive(Default)]
struct Rounds {
    second: bool,
    policies: Reinvocation,
    /// The object as the policies left it; `None` where nobody had changed it by then.
    after_policies: Option<Arc<Value<'static>>>,
}

impl Rounds {
    /// Whether somebody changed the object, so that those before may want to see it again.
    fn again(&self) -> bool {
        self.policies.is_due()
    }
}

impl Passage<'_> {
    pub(super) async fn mutate(&mut self, observer: &mut (dyn Observer + Send)) -> Result<(), End> {
        let mut rounds = Rounds::default();
        self.round(&mut rounds, observer).await?;
        if rounds.again() {
            rounds.second = true;
            self.round(&mut rounds, observer).await?;
        }
        Ok(())
    }

    async fn round(&mut self, rounds: &mut Rounds, observer: &mut (dyn Observer + Send)) -> Result<(), End> {
        self.steps(Place::BeforeMutatingPolicies).await?;
        self.policies(rounds, observer).await?;
        self.steps(Place::BeforeMutatingWebhooks).await?;
        self.steps(Place::AfterMutatingWebhooks).await
    }

    async fn policies(
        &mut self,
        rounds: &mut Rounds,
        observer: &mut (dyn Observer + Send),
    ) -> Result<(), End> {
        if rounds.second {
            let before = rounds.after_policies.as_deref().unwrap_or(&self.request.object);
            let changed = !same(before, self.submission().object);
            rounds.policies.begin_second(changed);
        }
        let Mutated {
            object,
            status,
            steps,
        } = loop {
            self.in_time()?;
            let [first, second] = self.admission.mutating();
            let sets = [first, second];
            match mutate_once(
                &sets,
                self.submission(),
                self.surroundings(),
                &mut rounds.policies,
                observer,
            ) {
                Ok(mutated) => break mutated,
                Err(Unfinished::Pending) => self.answer().await?,
                Err(interrupted) => return Err(End::Unfinished(interrupted)),
            }
        };
        self.outcome.mutations.extend(steps);
        if let Some(status) = status {
            return Err(status.into());
        }
        if let Some(object) = object {
            self.object = Some(Arc::new(object));
        }
        rounds.after_policies = self.object.clone();
        Ok(())
    }
}
