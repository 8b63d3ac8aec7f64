//! Batches that several threads evaluate.
//!
//! The results of a thread are dropped with its session: policies that are undecided are evaluated from the beginning on
//! the thread of the request.

use std::sync::Arc;

use pratique_core::AdmissionPhase;
use pratique_match::MatchedResource;
use pratique_workers::{Workers, map};

use super::expressions::BatchExpressions;
use super::member::MemberChunk;
use super::run::{BatchInputs, BatchRun};
use crate::arena::RequestArena;
use crate::matcher::PolicyMatcher;
use crate::policies::RunnablePolicy;
use crate::session::seed::SessionSeed;
use pratique_core::UnfinishedEvaluation;

/// A batch that several threads evaluate.
pub(super) struct ParallelBatch<'s> {
    pub(super) expressions: &'s BatchExpressions,
    pub(super) parts: &'s [u32],
    pub(super) policies: &'s [Arc<RunnablePolicy>],
    pub(super) seed: SessionSeed<'s>,
    pub(super) matched: MatchedResource<'s>,
    pub(super) workers: &'s dyn Workers,
}

impl<'s> ParallelBatch<'s> {
    /// The positions of the members that are undecided.
    pub(super) fn undecided(&self, all: MemberChunk<'s>) -> Result<Vec<u32>, UnfinishedEvaluation> {
        let mut chunks = Vec::new();
        self.split(all, &mut chunks);
        let cost = |chunk: &MemberChunk<'_>| chunk.cost();
        let chunk_results = map(self.workers, &chunks, cost, |chunk| self.undecided_of(*chunk));
        let mut undecided = Vec::new();
        for chunk_result in chunk_results {
            undecided.extend(chunk_result?);
        }
        Ok(undecided)
    }

    /// Into halves, for as long as they are worth a thread.
    fn split(&self, chunk: MemberChunk<'s>, chunks: &mut Vec<MemberChunk<'s>>) {
        let halves = if chunk.cost() >= self.workers.min_parallel_cost() {
            chunk.halves()
        } else {
            None
        };
        match halves {
            Some(halves) => halves.into_iter().for_each(|half| self.split(half, chunks)),
            None => chunks.push(chunk),
        }
    }

    fn undecided_of(&self, chunk: MemberChunk<'s>) -> Result<Vec<u32>, UnfinishedEvaluation> {
        let arena = RequestArena::with_limit(self.seed.release, self.seed.memory);
        let session = self.seed.session(&arena);
        if session.find_namespace().is_err() {
            return Ok(chunk.positions().collect());
        }
        let matcher = PolicyMatcher::new(AdmissionPhase::Validating, &session);
        let is_bound = |terms: &_| matcher.is_bound(terms, true);
        let undecided = match BatchInputs::new(self.expressions, &session, self.matched) {
            Some(inputs) => {
                let mut run = BatchRun::new(self.expressions, self.parts, self.policies, &session, &inputs);
                run.undecided(chunk, is_bound)?
            }
            None => chunk.positions().collect(),
        };
        session.finished()?;
        Ok(undecided)
    }
}
