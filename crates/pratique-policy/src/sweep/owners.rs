//! The policies whose variables the expressions of a sweep read.

use std::sync::Arc;

use pratique_cel::Activation;

use super::Swept;
use super::run::evaluated;
use crate::memo::{Key, Known, ended};
use crate::outcome::Unfinished;
use crate::policies::Policy;
use crate::session::{Inputs, Session};
use crate::variables::Variables;

/// Evaluates expressions with the variables of their owners, one owner after the other.
pub(super) struct Owners<'e, 's> {
    session: &'e Session<'s>,
    policies: &'s [Arc<Policy>],
    current: Option<Box<Current<'s>>>,
    /// What variables cost that are accounted for.
    cost: u64,
}

struct Current<'s> {
    position: u32,
    variables: &'s Variables<'s>,
    activation: Activation<'s>,
}

impl<'e, 's> Owners<'e, 's> {
    pub(super) fn new(session: &'e Session<'s>, policies: &'s [Arc<Policy>]) -> Self {
        Owners {
            session,
            policies,
            current: None,
            cost: 0,
        }
    }

    /// What an expression gives, known or not.
    pub(super) fn known(
        &mut self,
        swept: &'s Swept,
        inputs: &Inputs<'s>,
        activation: &Activation<'s>,
    ) -> Result<Known<'s>, Unfinished> {
        let closed = &swept.closed;
        let key = Key::new(closed, inputs.frame);
        if let Some(known) = key.and_then(|key| self.session.memo().get(key)) {
            if known.reads != 0 {
                let current = self.current(swept.owner, inputs, activation);
                let replayed = current.variables.replay(closed, known.reads);
                replayed.map_err(|fault| ended(&fault))?;
            }
            return Ok(known);
        }
        let session = self.session;
        if !swept.reads_variables() {
            return Ok(evaluated(session, swept, activation));
        }
        let current = self.current(swept.owner, inputs, activation);
        let note = current.variables.note(Some(closed));
        let known = evaluated(session, swept, &current.activation);
        let reads = current.variables.noted(note);
        Ok(Known { reads, ..known })
    }

    /// The variables of a policy.
    fn current(&mut self, owner: u32, inputs: &Inputs<'s>, activation: &Activation<'s>) -> &Current<'s> {
        let session = self.session;
        if self.current.as_ref().is_some_and(|own| own.position != owner) {
            self.cost();
            self.current = None;
        }
        let policy = self.policies.get(owner as usize);
        self.current.get_or_insert_with(|| {
            let compiled = policy.map_or(&[][..], |policy| &policy.hook.variables);
            let mut activation = activation.clone();
            let variables = Variables::new(session, compiled, inputs, &mut activation);
            session.with_variables(&mut activation, variables);
            Box::new(Current {
                position: owner,
                variables,
                activation,
            })
        })
    }

    /// What all variables cost that were read.
    pub(super) fn cost(&mut self) -> u64 {
        let of_current = self.current.as_ref().map_or(0, |own| own.variables.take_cost());
        self.cost = self.cost.saturating_add(of_current);
        self.cost
    }
}
