//! The evaluation of a batch for one request.

use std::sync::Arc;

use pratique_cel::Value;
use pratique_match::MatchedResource;
use pratique_types::cel_limits::{MATCH_CONDITIONS_BUDGET, RUNTIME_BUDGET};

use super::expressions::{BatchExpressions, ExpressionRole};
use super::member::{BatchMember, MemberChunk};
use super::results::{BatchResults, ExpressionTruth};
use crate::binding::BindingTerms;
use crate::compiled_expressions::NamedVariable;
use crate::evaluator::{EvaluableExpression, PolicyEvaluator};
use crate::inputs::{ExpressionInputs, InputKey, NamespaceForm};
use crate::memo::{MemoKey, ended};
use crate::policies::RunnablePolicy;
use crate::session::RequestSession;
use crate::unmatched_reason::UnmatchedReason;
use pratique_core::UnfinishedEvaluation;

/// Evaluates a batch for one request.
pub(super) struct BatchRun<'e, 's> {
    expressions: &'s BatchExpressions,
    parts: &'s [u32],
    policies: &'s [Arc<RunnablePolicy>],
    session: &'e RequestSession<'s>,
    /// Evaluates match conditions, if there are any.
    conditions: Option<Box<PolicyEvaluator<'e, 's>>>,
    /// Evaluates all others.
    others: PolicyEvaluator<'e, 's>,
    results: BatchResults<'s>,
    /// Whether the memo was empty, so that it need not be searched.
    is_first: bool,
}

/// The inputs of the expressions of a batch.
pub(super) struct BatchInputs<'s> {
    conditions: Option<ExpressionInputs<'s>>,
    others: ExpressionInputs<'s>,
}

impl<'s> BatchInputs<'s> {
    /// `None` where the request has more forms than input keys distinguish, or where its objects cannot be converted
    /// into the matched kind: each policy reports that.
    pub(super) fn new(
        expressions: &BatchExpressions,
        session: &RequestSession<'s>,
        matched: MatchedResource<'s>,
    ) -> Option<Self> {
        let of_request = MatchedResource {
            resource: &session.request.resource,
            ..matched
        };
        let conditions = match expressions.condition_inputs() {
            Some(_) => Some(inputs(session, of_request, NamespaceForm::Absent)?),
            None => None,
        };
        let others = inputs(session, matched, NamespaceForm::Reduced)?;
        Some(BatchInputs { conditions, others })
    }
}

impl<'e, 's> BatchRun<'e, 's> {
    // Inlined, as it is large to move.
    #[inline(always)]
    pub(super) fn new(
        expressions: &'s BatchExpressions,
        parts: &'s [u32],
        policies: &'s [Arc<RunnablePolicy>],
        session: &'e RequestSession<'s>,
        inputs: &BatchInputs<'s>,
    ) -> Self {
        let BatchInputs { conditions, others } = inputs;
        let key = |inputs: &ExpressionInputs<'s>| inputs.key;
        let keys = [conditions.as_ref().map_or(InputKey::UNSHARED, key), others.key];
        let evaluator = |inputs| Box::new(PolicyEvaluator::for_batch(session, inputs));
        BatchRun {
            expressions,
            parts,
            policies,
            session,
            results: BatchResults::new(expressions, keys),
            conditions: conditions.as_ref().map(evaluator),
            is_first: session.memo().is_empty(),
            others: PolicyEvaluator::for_batch(session, others),
        }
    }

    /// The positions of the members that are undecided.
    pub(super) fn undecided(
        &mut self,
        chunk: MemberChunk<'s>,
        is_bound: impl Fn(&BindingTerms) -> Result<bool, UnmatchedReason>,
    ) -> Result<Vec<u32>, UnfinishedEvaluation> {
        self.supply();
        let mut undecided = Vec::new();
        for (member, begin) in chunk.iter() {
            if !self.allows(member, begin, &is_bound)? {
                undecided.push(member.position);
            }
        }
        Ok(undecided)
    }

    /// Adds the request to the inputs, once the evaluators do not move any more.
    fn supply(&mut self) {
        if let (Some(role), Some(set)) = (&mut self.conditions, self.expressions.condition_inputs()) {
            role.supply_inputs(set);
        }
        self.others.supply_inputs(self.expressions.other_inputs());
    }

    /// Takes the results.
    pub(super) fn take_results(&mut self) -> BatchResults<'s> {
        self.results.take()
    }

    /// Whether a policy, whose expressions begin at `begin`, does not apply or allows the request without further
    /// effects.
    fn allows(
        &mut self,
        member: &BatchMember,
        begin: u32,
        is_bound: impl Fn(&BindingTerms) -> Result<bool, UnmatchedReason>,
    ) -> Result<bool, UnfinishedEvaluation> {
        if member.depends_on_bindings {
            match self.is_bound(member, is_bound) {
                Ok(true) => {}
                Ok(false) => return Ok(true),
                // The policy reports that.
                Err(_) => return Ok(false),
            }
        }
        let [conditions, validations, end] = member.ends;
        let mut applies = true;
        let mut cost = 0_u64;
        for index in self.part(begin, conditions) {
            match self.truth(*index)? {
                ExpressionTruth::True => {}
                ExpressionTruth::Other(other) if self.results.is_false(other) => applies = false,
                _ => return Ok(false),
            }
            cost = cost.saturating_add(self.results.cost(*index));
        }
        if self.with_variables(cost, ExpressionRole::Condition) > MATCH_CONDITIONS_BUDGET {
            return Ok(false);
        }
        if !applies {
            return Ok(true);
        }
        let mut cost = 0_u64;
        for index in self.part(conditions, validations) {
            if self.truth(*index)? != ExpressionTruth::True {
                return Ok(false);
            }
            cost = cost.saturating_add(self.results.cost(*index));
        }
        for index in self.part(validations, end) {
            self.truth(*index)?;
            cost = cost.saturating_add(self.results.cost(*index));
        }
        Ok(self.with_variables(cost, ExpressionRole::Other) <= RUNTIME_BUDGET)
    }

    /// Whether any binding of a policy matches; fails if the match of one fails.
    fn is_bound(
        &self,
        member: &BatchMember,
        is_bound: impl Fn(&BindingTerms) -> Result<bool, UnmatchedReason>,
    ) -> Result<bool, UnmatchedReason> {
        let policy = self.policies.get(member.position as usize);
        let mut terms = policy.into_iter().flat_map(|policy| policy.core.bindings.terms());
        terms.try_fold(false, |any, terms| Ok(is_bound(terms)? || any))
    }

    /// The indices of a part of a member.
    fn part(&self, begin: u32, end: u32) -> &'s [u32] {
        self.parts.get(begin as usize..end as usize).unwrap_or_default()
    }

    /// The cost of a policy's expressions and at least that of its variables: these are among all that were read.
    fn with_variables(&mut self, cost: u64, role: ExpressionRole) -> u64 {
        let of_variables = self.evaluator(role).map_or(0, PolicyEvaluator::variables_cost);
        // Validations and their messages are each charged for variables.
        cost.saturating_add(of_variables.saturating_mul(2))
    }

    /// The value of an expression, evaluated when it is first needed.
    #[inline]
    fn truth(&mut self, index: u32) -> Result<ExpressionTruth, UnfinishedEvaluation> {
        match self.results.truth(index) {
            ExpressionTruth::Unknown => self.evaluate(index),
            known => Ok(known),
        }
    }

    fn evaluate(&mut self, index: u32) -> Result<ExpressionTruth, UnfinishedEvaluation> {
        self.session.proceed()?;
        let (policies, is_first) = (self.policies, self.is_first);
        let expression = self.expressions.get(index);
        let Some((expression, role)) = expression
            .and_then(|batch_expression| Some((batch_expression, self.evaluator(batch_expression.role)?)))
        else {
            return Ok(ExpressionTruth::Unknown);
        };
        let key = if is_first {
            None
        } else {
            MemoKey::new(&expression.bound, role.inputs().key)
        };
        let evaluable = EvaluableExpression {
            expression: &expression.expression,
            bound: Some(&expression.bound),
        };
        let variables = || variables_of(policies, expression.owner);
        let entry = role.evaluate(evaluable, variables, key);
        self.results.add(index, entry.map_err(|fault| ended(&fault))?)
    }

    fn evaluator(&mut self, role: ExpressionRole) -> Option<&mut PolicyEvaluator<'e, 's>> {
        match role {
            ExpressionRole::Condition => self.conditions.as_deref_mut(),
            ExpressionRole::Other => Some(&mut self.others),
        }
    }
}

/// The inputs of expressions that see the namespace in a form. `None` as for [`BatchInputs::new`].
#[inline]
fn inputs<'s>(
    session: &RequestSession<'s>,
    matched: MatchedResource<'s>,
    namespace: NamespaceForm,
) -> Option<ExpressionInputs<'s>> {
    let key = session.input_key(&matched, namespace);
    let inputs = ExpressionInputs {
        matched,
        objects: session.objects(matched.kind).ok()?,
        params: Value::Null,
        namespace,
        authorizer: false,
        key,
        repeats: false,
    };
    (key != InputKey::UNSHARED).then_some(inputs)
}

/// The variables of the policy at a position.
fn variables_of(policies: &[Arc<RunnablePolicy>], position: u32) -> &[NamedVariable] {
    let policy = policies.get(position as usize);
    policy.map_or(&[], |policy| &policy.core.variables)
}
