//! Match conditions of policies.

use pratique_cel::Value;
use pratique_core::{
    ConditionsOutcome, EvaluationHalt, OnConditionError, UnfinishedEvaluation, evaluate_conditions,
};
use pratique_types::cel_limits::MATCH_CONDITIONS_BUDGET;

use crate::inputs::{ExpressionInputs, InputKey, NamespaceForm};
use crate::policy_core::PolicyCore;
use crate::round::EvaluationRound;
use crate::session::RequestSession;
use crate::trace::ExpressionId;

/// Evaluates the match conditions of a policy; `None` for a policy without, which applies.
///
/// `namespaceObject` is null here, and `request.resource` is that of the request even where the policy matched an
/// equivalent.
pub(crate) fn evaluate<'s>(
    core: &'s PolicyCore,
    session: &RequestSession<'s>,
    inputs: &ExpressionInputs<'s>,
) -> Result<Option<ConditionsOutcome>, UnfinishedEvaluation> {
    let conditions = &core.conditions;
    if conditions.is_empty() {
        return Ok(None);
    }
    let mut inputs = *inputs;
    inputs.matched.resource = &session.request.resource;
    inputs.namespace = NamespaceForm::Absent;
    if inputs.key != InputKey::UNSHARED {
        inputs.key = session.input_key(&inputs.matched, inputs.namespace);
    }
    let mut round = EvaluationRound::new(session, &core.variables, &inputs, MATCH_CONDITIONS_BUDGET);
    let results = conditions.iter().enumerate().map(|(index, condition)| {
        let result = round.evaluate(ExpressionId::Condition(index), condition)?;
        Ok::<_, EvaluationHalt>(result.map(|value| !matches!(value, Value::Bool(false))))
    });
    let on_error = if core.failure_policy.ignores() {
        OnConditionError::Exclude
    } else {
        OnConditionError::Fail
    };
    evaluate_conditions(results, on_error).map(Some)
}
