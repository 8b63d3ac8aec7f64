//! One mutation: evaluated, and applied to an object.

use pratique_cel::library::mutation::check_type_names;
use pratique_cel::{Context, Value};
use pratique_json as json;
use pratique_merge::structured_merge;
use pratique_schema::Release;
use pratique_types::GroupVersionKind;
use pratique_types::cel_limits::RUNTIME_BUDGET;

use super::conversion::ValueConversion;
use super::measure::SizeMeasure;
use super::refusal::MutationRefusal;
use super::version::VersionedObjects;
use super::{CompiledMutation, Form, patch, patch_form};
use crate::decode::DecodeError;
use crate::inputs::ExpressionInputs;
use crate::policy_core::PolicyCore;
use crate::round::{EvaluationHalt, EvaluationRound, OUT_OF_BUDGET};
use crate::session::RequestSession;
use crate::trace::ExpressionId;
use crate::typed;

/// The mutated object; `None` where a test of its patch fails.
pub(super) fn apply<'s>(
    session: &RequestSession<'s>,
    (index, mutation): (usize, &'s CompiledMutation),
    core: &'s PolicyCore,
    version: &VersionedObjects<'s>,
    inputs: &ExpressionInputs<'s>,
) -> Result<Option<&'s json::Value<'s>>, MutationRefusal> {
    let value = evaluate(session, (index, mutation), core, inputs)?;
    let object = match mutation.form {
        Form::JsonPatch => patch::patched(&value, version, session, &core.name)?,
        Form::ApplyConfiguration => merged(&value, version, session, &core.name)?,
    };
    check_requested(session.context.release, version.kind, &session.request.kind)?;
    Ok(object)
}

/// Checks that a built-in object can be converted back into the kind of the request: it has to be of it.
fn check_requested(
    release: &'static Release,
    kind: &GroupVersionKind,
    requested: &GroupVersionKind,
) -> Result<(), MutationRefusal> {
    let same = kind.group == requested.group && kind.version == requested.version;
    if same || !release.has_type(kind) {
        return Ok(());
    }
    let (from, to) = (&kind.version, &requested.version);
    let name = &kind.kind;
    Err(MutationRefusal::Policy(if kind.group == requested.group {
        format!("converting ({from}.{name}) to ({to}.{name}): unknown conversion")
    } else {
        let to = requested.api_version();
        let scheme = release.registry_name();
        format!("{from}.{name} is not suitable for converting to \"{to}\" in scheme \"{scheme}\"")
    }))
}

fn evaluate<'s>(
    session: &RequestSession<'s>,
    (index, mutation): (usize, &'s CompiledMutation),
    core: &'s PolicyCore,
    inputs: &ExpressionInputs<'s>,
) -> Result<Value<'s>, MutationRefusal> {
    if let Err(error) = &mutation.expression.expression {
        let error = error.to_string();
        let id = ExpressionId::Mutation(index);
        session.trace().inspect(|trace| trace.broken(id, &error));
        return Err(MutationRefusal::Policy(error));
    }
    let mut round = EvaluationRound::new(session, &core.variables, inputs, RUNTIME_BUDGET);
    match round.evaluate(ExpressionId::Mutation(index), &mutation.expression) {
        Ok(answer) => answer.map_err(MutationRefusal::Policy),
        Err(EvaluationHalt::OutOfBudget) => Err(MutationRefusal::Policy(OUT_OF_BUDGET.to_owned())),
        Err(EvaluationHalt::Unfinished(unfinished)) => Err(MutationRefusal::Unfinished(unfinished)),
        Err(EvaluationHalt::Undecided(missing)) => Err(MutationRefusal::Undecided(missing)),
    }
}

fn merged<'s>(
    value: &Value<'s>,
    version: &VersionedObjects<'s>,
    session: &RequestSession<'s>,
    policy: &str,
) -> Result<Option<&'s json::Value<'s>>, MutationRefusal> {
    let context = Context::new(session.arena(), u64::MAX);
    SizeMeasure::new(session.context.interrupt).add(value, &context)?;
    let progress = &session.progress;
    let go = |part: typed::ObjectPart<'_>| version.go_value(part, progress);
    let conversion = ValueConversion::new((session.context.release, version.kind), &go, progress);
    let names = check_type_names(value, conversion.joins_values, progress);
    progress.outcome()?;
    names.map_err(|error| MutationRefusal::Policy(format!("type mismatch: {error}")))?;
    let patch = patch_form::patch(value, &context, conversion);
    progress.outcome()?;
    let patch = patch.map_err(|error| MutationRefusal::Policy(error.to_string()))?;
    let schema = session.context.merge_schema(version.kind);
    let refused = |error| MutationRefusal::Policy(format!("error applying patch: {error}"));
    let of = schema.kind(version.kind);
    let of = of.map_err(|_| refused(structured_merge::Error::NoType(version.kind.clone())))?;
    let mut object = version.object.try_borrowed(progress)?;
    // Upstream: apiserver/pkg/admission/plugin/policy/mutating/patch/smd.go, ApplyStructuredMergeDiff: typed.AllowDuplicates since 1.35.
    let apply = if session.context.release.at_least(1, 35) {
        structured_merge::apply
    } else {
        structured_merge::apply_to_unique
    };
    apply(schema, of, &mut object, patch, progress).map_err(|error| match error {
        structured_merge::Error::Interrupted(interrupted) => interrupted.into(),
        error => refused(error),
    })?;
    typed::convert_object(session.context.release, version.kind, &mut object, progress).map_err(|error| {
        match error {
            DecodeError::Interrupted(interrupted) => interrupted.into(),
            DecodeError::Invalid(error) => {
                let kind = version.kind;
                MutationRefusal::Policy(format!(
                    "unable to convert unstructured object to {kind}: {error}"
                ))
            }
        }
    })?;
    session.default(version.kind, &mut object, policy);
    Ok(Some(session.keep(object)))
}
