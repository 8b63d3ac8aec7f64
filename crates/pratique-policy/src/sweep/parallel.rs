//! A sweep over many policies at the same time.
//!
//! What a thread finds out stays with it: policies that are left judge on the thread that was asked, from the beginning.

use std::sync::Arc;
use std::time::Duration;

use pratique_core::Phase;
use pratique_match::Matched;
use pratique_workers::{Workers, estimate, map};

use super::{Member, Sweep};
use crate::matcher::PolicyMatcher;
use crate::outcome::Unfinished;
use crate::policies::Policy;
use crate::session::{Case, Store};

/// A sweep that several threads have a part in.
pub(super) struct Parallel<'s> {
    pub(super) sweep: &'s Sweep,
    pub(super) policies: &'s [Arc<Policy>],
    pub(super) case: Case<'s>,
    pub(super) matched: Matched<'s>,
    pub(super) workers: &'s dyn Workers,
}

/// Members one after the other, and where the parts of the first begin.
#[derive(Clone, Copy)]
pub(super) struct Stretch<'s> {
    pub(super) members: &'s [Member],
    pub(super) begin: u32,
}

/// About what so many expressions take.
pub(super) fn cost(expressions: usize) -> Duration {
    const EXPRESSION: Duration = Duration::from_nanos(500);
    estimate(EXPRESSION, expressions)
}

impl Stretch<'_> {
    /// How many parts they have.
    fn parts(&self) -> usize {
        let end = self.members.last().map_or(self.begin, Member::end);
        end.saturating_sub(self.begin) as usize
    }

    fn halves(self) -> Option<[Self; 2]> {
        let (one, other) = self.members.split_at_checked(self.members.len() / 2)?;
        let middle = one.last()?.end();
        let other = Stretch {
            members: other,
            begin: middle,
        };
        Some([Stretch { members: one, ..self }, other])
    }
}

impl<'s> Parallel<'s> {
    /// The positions of the members that have to judge by themselves.
    pub(super) fn left(&self, all: Stretch<'s>) -> Result<Vec<u32>, Unfinished> {
        let mut stretches = Vec::new();
        self.cut(all, &mut stretches);
        let cost = |stretch: &Stretch<'_>| cost(stretch.parts());
        let found = map(self.workers, &stretches, cost, |stretch| self.left_of(*stretch));
        let mut left = Vec::new();
        for found in found {
            left.extend(found?);
        }
        Ok(left)
    }

    /// Into halves, for as long as they are worthwhile.
    fn cut(&self, stretch: Stretch<'s>, stretches: &mut Vec<Stretch<'s>>) {
        let halves = match cost(stretch.parts()) >= self.workers.worthwhile() {
            true => stretch.halves(),
            false => None,
        };
        match halves {
            Some(halves) => halves.into_iter().for_each(|half| self.cut(half, stretches)),
            None => stretches.push(stretch),
        }
    }

    fn left_of(&self, stretch: Stretch<'s>) -> Result<Vec<u32>, Unfinished> {
        let store = Store::within(self.case.memory);
        let session = self.case.session(&store);
        if session.find_namespace().is_err() {
            return Ok(stretch.members.iter().map(|member| member.position).collect());
        }
        let matcher = PolicyMatcher::new(Phase::Validating, &session);
        let is_bound = |terms: &_| matcher.is_bound(terms, true);
        let (left, _) = self
            .sweep
            .left_among(stretch, self.policies, &session, self.matched, is_bound)?;
        session.finished()?;
        Ok(left)
    }
}
