//! The policies of a batch.

use std::time::Duration;

use pratique_workers::estimate;

use super::expressions::ExpressionRole;
use crate::compiled_expressions::CompiledExpression;
use crate::policies::RunnablePolicy;

/// A policy whose decision follows from the results of its expressions.
#[derive(Debug)]
pub(super) struct BatchMember {
    pub(super) position: u32,
    /// The ends of its match conditions, validations and messages, in this order, in the list of all expressions of
    /// members. They begin where those of the member before it end. Messages count for their cost only.
    pub(super) ends: [u32; 3],
    /// Whether it has no binding, or one with constraints.
    pub(super) depends_on_bindings: bool,
}

/// Expressions of a policy.
#[derive(Clone, Copy, Debug)]
pub(super) enum PolicyPart {
    Condition,
    Validation,
    Message,
}

/// Members one after the other.
#[derive(Clone, Copy)]
pub(super) struct MemberChunk<'s> {
    pub(super) members: &'s [BatchMember],
    /// Where the expressions of the first begin.
    pub(super) begin: u32,
}

impl BatchMember {
    /// Whether the decision of a policy follows from the results of its expressions, which other policies may share.
    pub(super) fn can_be(policy: &RunnablePolicy) -> bool {
        let mut parts = PolicyPart::ALL
            .into_iter()
            .flat_map(|part| part.expressions(policy));
        policy.core.param_kind.is_none()
            && policy.expressions.annotations.is_empty()
            && !policy.asks_authorizer
            && parts.all(|compiled| compiled.bound.is_some())
    }

    /// Where its expressions end.
    fn end(&self) -> u32 {
        let [.., end] = self.ends;
        end
    }
}

impl PolicyPart {
    pub(super) const ALL: [PolicyPart; 3] =
        [PolicyPart::Condition, PolicyPart::Validation, PolicyPart::Message];

    pub(super) fn role(self) -> ExpressionRole {
        match self {
            PolicyPart::Condition => ExpressionRole::Condition,
            PolicyPart::Validation | PolicyPart::Message => ExpressionRole::Other,
        }
    }

    /// These expressions of a policy.
    pub(super) fn expressions(self, policy: &RunnablePolicy) -> Vec<&CompiledExpression> {
        let validations = policy.expressions.validations.iter();
        match self {
            PolicyPart::Condition => policy.core.conditions.iter().collect(),
            PolicyPart::Validation => validations.map(|validation| &validation.expression).collect(),
            PolicyPart::Message => validations
                .filter_map(|validation| validation.message_expression.as_ref())
                .collect(),
        }
    }
}

impl<'s> MemberChunk<'s> {
    /// Its members, with the beginnings of their expressions.
    pub(super) fn iter(self) -> impl Iterator<Item = (&'s BatchMember, u32)> {
        let mut begin = self.begin;
        self.members
            .iter()
            .map(move |member| (member, std::mem::replace(&mut begin, member.end())))
    }

    pub(super) fn positions(self) -> impl Iterator<Item = u32> {
        self.members.iter().map(|member| member.position)
    }

    /// About how long it takes to evaluate it.
    pub(super) fn cost(self) -> Duration {
        let end = self.members.last().map_or(self.begin, BatchMember::end);
        evaluation_cost(end.saturating_sub(self.begin) as usize)
    }

    pub(super) fn halves(self) -> Option<[Self; 2]> {
        let (first, second) = self.members.split_at_checked(self.members.len() / 2)?;
        let middle = first.last()?.end();
        let second = MemberChunk {
            members: second,
            begin: middle,
        };
        Some([
            MemberChunk {
                members: first,
                ..self
            },
            second,
        ])
    }
}

/// The estimated time to evaluate a number of expressions.
pub(super) fn evaluation_cost(expressions: usize) -> Duration {
    const EXPRESSION: Duration = Duration::from_nanos(500);
    estimate(EXPRESSION, expressions)
}
