//! The policies with equal match constraints as a batch.

use std::sync::Arc;

use pratique_cel::internal::into_boxed_exact;
use pratique_match::MatchedResource;

use super::expressions::BatchExpressions;
use super::member::{BatchMember, MemberChunk, PolicyPart, evaluation_cost};
use super::parallel::ParallelBatch;
use super::run::{BatchInputs, BatchRun};
use crate::binding::BindingTerms;
use crate::policies::RunnablePolicy;
use crate::session::RequestSession;
use crate::unmatched_reason::UnmatchedReason;
use pratique_core::UnfinishedEvaluation;

/// Evaluates the policies with equal match constraints.
#[derive(Debug, Default)]
pub(crate) struct BatchEvaluator {
    expressions: BatchExpressions,
    members: Vec<BatchMember>,
    /// The indices of the members' expressions.
    parts: Vec<u32>,
    /// The positions of policies that are always evaluated one by one.
    others: Vec<u32>,
}

impl BatchEvaluator {
    /// The batch of the policies at these positions.
    pub(crate) fn new(policies: &[Arc<RunnablePolicy>], positions: &[u32]) -> Self {
        let mut batch = BatchEvaluator::default();
        for position in positions {
            match policies.get(*position as usize) {
                Some(policy) if BatchMember::can_be(policy) => batch.add(policy, *position),
                _ => batch.others.push(*position),
            }
        }
        BatchEvaluator {
            expressions: batch.expressions.shrunk(),
            members: into_boxed_exact(batch.members).into(),
            parts: into_boxed_exact(batch.parts).into(),
            others: into_boxed_exact(batch.others).into(),
        }
    }

    fn add(&mut self, policy: &RunnablePolicy, position: u32) {
        let ends = PolicyPart::ALL.map(|part| {
            let bound = part
                .expressions(policy)
                .into_iter()
                .filter_map(|compiled| compiled.bound.as_ref());
            for bound in bound {
                let index = self.expressions.add(bound, part.role(), position);
                self.parts.push(index);
            }
            self.parts.len() as u32
        });
        let bindings = &policy.core.bindings;
        self.members.push(BatchMember {
            position,
            ends,
            depends_on_bindings: bindings.is_empty()
                || bindings.terms().iter().any(|terms| terms.resources.is_some()),
        });
    }

    /// The positions of the policies that the batch does not decide on. The namespace of the request is known;
    /// `is_bound` decides whether the request matches a binding.
    pub(crate) fn undecided<'s>(
        &'s self,
        policies: &'s [Arc<RunnablePolicy>],
        session: &RequestSession<'s>,
        matched: MatchedResource<'s>,
        is_bound: impl Fn(&BindingTerms) -> Result<bool, UnmatchedReason>,
    ) -> Result<Vec<u32>, UnfinishedEvaluation> {
        if self.members.is_empty() {
            return Ok(self.others.clone());
        }
        let all = MemberChunk {
            members: &self.members,
            begin: 0,
        };
        let workers = session.context.workers;
        let cost = evaluation_cost(self.expressions.len());
        let mut undecided = match workers.filter(|workers| cost >= workers.min_parallel_cost()) {
            Some(workers) => {
                let parallel = ParallelBatch {
                    expressions: &self.expressions,
                    parts: &self.parts,
                    policies,
                    seed: session.seed(),
                    matched,
                    workers,
                };
                parallel.undecided(all)?
            }
            None => match BatchInputs::new(&self.expressions, session, matched) {
                Some(inputs) => {
                    let mut run = BatchRun::new(&self.expressions, &self.parts, policies, session, &inputs);
                    let undecided = run.undecided(all, is_bound)?;
                    session.memo().keep(run.take_results());
                    undecided
                }
                None => all.positions().collect(),
            },
        };
        undecided.extend(&self.others);
        Ok(undecided)
    }

    /// The positions of the policies with match conditions that the batch has decided on, where it left these undecided.
    pub(crate) fn decided_conditions(
        &self,
        policies: &[Arc<RunnablePolicy>],
        undecided: &[u32],
    ) -> impl Iterator<Item = u32> {
        let mut undecided = undecided.to_vec();
        undecided.sort_unstable();
        let has_conditions = |position: &u32| {
            let policy = policies.get(*position as usize);
            policy.is_some_and(|policy| !policy.core.conditions.is_empty())
        };
        let positions = self.members.iter().map(|member| member.position);
        positions
            .filter(move |position| has_conditions(position) && undecided.binary_search(position).is_err())
    }
}
