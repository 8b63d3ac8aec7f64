//! What the expressions of each policy cost in the evaluation of a request.

use std::cell::RefCell;

use pratique_cel::value::Evaluation;
use pratique_policy::{MatchOutcome, PolicyTrace, TracedPolicy};

/// What the expressions of a policy cost, over all its bindings and params.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyCost {
    /// The policy.
    pub policy: String,
    /// The cost of all its expressions that were evaluated.
    pub cost: u64,
}

/// Records the costs of policies.
#[derive(Debug, Default)]
pub struct CostRecorder(RefCell<Vec<PolicyCost>>);

impl CostRecorder {
    /// The costs of the policies of which something was evaluated, in order.
    pub fn into_costs(self) -> Vec<PolicyCost> {
        let mut costs = self.0.into_inner();
        costs.retain(|policy| policy.cost > 0);
        costs
    }
}

impl PolicyTrace for CostRecorder {
    fn policy(&self, policy: TracedPolicy<'_>, _: MatchOutcome<'_>) {
        let mut costs = self.0.borrow_mut();
        // A mutating policy may be invoked again.
        if costs.last().is_none_or(|last| last.policy != policy.name) {
            costs.push(PolicyCost {
                policy: policy.name.to_owned(),
                cost: 0,
            });
        }
    }

    fn wants_values(&self) -> bool {
        false
    }

    fn end(&self, _: &Evaluation<'_>, cost: u64) {
        if let Some(policy) = self.0.borrow_mut().last_mut() {
            policy.cost = policy.cost.saturating_add(cost);
        }
    }
}
