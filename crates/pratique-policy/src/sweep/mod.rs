//! Validations of many policies at once.
//!
//! Most policies have nothing to say to most requests, and many have expressions in common. A [`Sweep`] knows the
//! expressions of the policies with equal constraints, each once, and evaluates them as their policies need them. A policy
//! that does not apply or whose validations are all true has nothing to say; those that do, and those whose verdict
//! depends on more than that, judge by themselves, with what the sweep has found.

mod findings;
mod owners;
mod parallel;
mod run;

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use pratique_cel::exact;
use pratique_expression::{Closed, Expression, Sees, slots};
use pratique_match::Matched;

use crate::binding::Terms;
use crate::compiled::Compiled;
use crate::matcher::Unmatched;
use crate::outcome::Unfinished;
use crate::policies::Policy;
use crate::session::Session;

pub(crate) use findings::Findings;
use parallel::{Parallel, Stretch, cost};
use run::Run;

/// The expressions of policies with equal constraints, each once.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    expressions: Vec<Swept>,
    places: HashMap<Address, u32, RandomState>,
    members: Vec<Member>,
    /// The places of the members' expressions.
    parts: Vec<u32>,
    /// The positions of policies that judge by themselves in any case.
    others: Vec<u32>,
    /// What match conditions see, if there are any.
    condition_sees: Option<Sees>,
    /// What all others see.
    sees: Sees,
}

/// The address of a closed expression, and whether it is a match condition: these see less.
type Address = (usize, Role);

/// What an expression is to a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Role {
    Condition,
    /// A validation or its message.
    Other,
}

#[derive(Debug)]
struct Swept {
    closed: Arc<Closed>,
    /// That of the closed one: at hand, as every request wants it.
    expression: Arc<Expression>,
    role: Role,
    /// The position of the policy that it was first found in, whose variables it reads.
    owner: u32,
}

#[derive(Clone, Copy, Debug)]
enum Part {
    Condition,
    Validation,
    Message,
}

/// A policy whose verdict is known once its expressions are.
#[derive(Debug)]
struct Member {
    position: u32,
    /// Where its parts end: its match conditions, the validations after these, and their messages, which are there for
    /// their cost. They begin where those of the member before it end.
    ends: [u32; 3],
    /// Whether it has no binding, or one with constraints.
    depends_on_bindings: bool,
}

impl Sweep {
    /// Of the policies at these positions.
    pub(crate) fn new(policies: &[Arc<Policy>], positions: &[u32]) -> Self {
        let mut sweep = Sweep::default();
        for position in positions {
            match policies.get(*position as usize) {
                Some(policy) if is_simple(policy) => sweep.add(policy, *position),
                _ => sweep.others.push(*position),
            }
        }
        sweep.places.shrink_to_fit();
        Sweep {
            expressions: exact(sweep.expressions).into(),
            members: exact(sweep.members).into(),
            parts: exact(sweep.parts).into(),
            others: exact(sweep.others).into(),
            ..sweep
        }
    }

    fn add(&mut self, policy: &Policy, position: u32) {
        let ends = [Part::Condition, Part::Validation, Part::Message].map(|part| {
            for compiled in part.of(policy) {
                self.add_part(compiled, part.role(), position);
            }
            self.parts.len() as u32
        });
        let bindings = &policy.hook.bindings;
        self.members.push(Member {
            position,
            ends,
            depends_on_bindings: bindings.is_empty()
                || bindings.terms().iter().any(|own| own.resources.is_some()),
        });
    }

    fn add_part(&mut self, compiled: &Compiled, role: Role, owner: u32) {
        let Some(closed) = &compiled.closed else {
            return;
        };
        let next = self.expressions.len() as u32;
        let address = Arc::as_ptr(closed).addr();
        let place = *self.places.entry((address, role)).or_insert(next);
        self.parts.push(place);
        if place == next {
            let sees = match role {
                Role::Condition => self.condition_sees.get_or_insert_default(),
                Role::Other => &mut self.sees,
            };
            *sees = sees.and(closed.sees());
            self.expressions.push(Swept {
                expression: closed.expression().clone(),
                closed: closed.clone(),
                role,
                owner,
            });
        }
    }

    /// The positions of the policies that have to judge a request by themselves; its namespace is known. `is_bound`
    /// tells whether it matches a binding.
    pub(crate) fn left<'s>(
        &'s self,
        policies: &'s [Arc<Policy>],
        session: &Session<'s>,
        matched: Matched<'s>,
        is_bound: impl Fn(&Terms) -> Result<bool, Unmatched>,
    ) -> Result<Vec<u32>, Unfinished> {
        if self.members.is_empty() {
            return Ok(self.others.clone());
        }
        let all = Stretch {
            members: &self.members,
            begin: 0,
        };
        let workers = session.surroundings.workers;
        let cost = cost(self.expressions.len());
        let mut left = match workers.filter(|workers| cost >= workers.worthwhile()) {
            Some(workers) => {
                let (sweep, case) = (self, session.case());
                let parallel = Parallel {
                    sweep,
                    policies,
                    case,
                    matched,
                    workers,
                };
                parallel.left(all)?
            }
            None => {
                let (left, findings) = self.left_among(all, policies, session, matched, is_bound)?;
                findings.into_iter().for_each(|own| session.memo().keep(own));
                left
            }
        };
        left.extend(&self.others);
        Ok(left)
    }

    /// The positions of the policies with match conditions that are not among those left: the sweep has evaluated them.
    pub(crate) fn evaluated(&self, policies: &[Arc<Policy>], left: &[u32]) -> impl Iterator<Item = u32> {
        let mut left = left.to_vec();
        left.sort_unstable();
        let has_conditions = |position: &u32| {
            let policy = policies.get(*position as usize);
            policy.is_some_and(|policy| !policy.hook.conditions.is_empty())
        };
        let positions = self.members.iter().map(|member| member.position);
        positions.filter(move |position| has_conditions(position) && left.binary_search(position).is_err())
    }

    /// The same for some of its members, with what was found out on the way.
    fn left_among<'s>(
        &'s self,
        stretch: Stretch<'s>,
        policies: &'s [Arc<Policy>],
        session: &Session<'s>,
        matched: Matched<'s>,
        is_bound: impl Fn(&Terms) -> Result<bool, Unmatched>,
    ) -> Result<(Vec<u32>, Option<Findings<'s>>), Unfinished> {
        let positions = stretch.members.iter().map(|member| member.position);
        let Some(mut run) = Run::new(self, policies, session, matched) else {
            return Ok((positions.collect(), None));
        };
        let mut left = Vec::new();
        let mut begin = stretch.begin;
        for member in stretch.members {
            if !run.passes(member, begin, &is_bound)? {
                left.push(member.position);
            }
            begin = member.end();
        }
        Ok((left, Some(run.end())))
    }

    /// The places of a part of a member.
    fn places(&self, begin: u32, end: u32) -> &[u32] {
        self.parts.get(begin as usize..end as usize).unwrap_or_default()
    }
}

impl Member {
    /// Where its parts end.
    fn end(&self) -> u32 {
        let [.., end] = self.ends;
        end
    }
}

impl Part {
    fn role(self) -> Role {
        match self {
            Part::Condition => Role::Condition,
            Part::Validation | Part::Message => Role::Other,
        }
    }

    /// The expressions of a policy that are such parts.
    fn of(self, policy: &Policy) -> Vec<&Compiled> {
        let validations = policy.expressions.validations.iter();
        match self {
            Part::Condition => policy.hook.conditions.iter().collect(),
            Part::Validation => validations.map(|own| &own.expression).collect(),
            Part::Message => validations
                .filter_map(|own| own.message_expression.as_ref())
                .collect(),
        }
    }
}

impl Swept {
    fn reads_variables(&self) -> bool {
        self.expression.program().reads(slots().variables)
    }
}

/// Whether what a policy says depends on nothing but its expressions, whose values are the same for all who ask.
fn is_simple(policy: &Policy) -> bool {
    let mut parts = [Part::Condition, Part::Validation, Part::Message]
        .into_iter()
        .flat_map(|part| part.of(policy));
    policy.hook.param_kind.is_none()
        && policy.expressions.annotations.is_empty()
        && !policy.asks_authorizer
        && parts.all(|compiled| compiled.closed.is_some())
}
