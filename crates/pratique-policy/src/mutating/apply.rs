//! One mutation: evaluated, and applied to an object.

use pratique_cel::library::mutation::check_type_names;
use pratique_cel::{Context, Value};
use pratique_json as json;
use pratique_merge::structured;
use pratique_schema::Release;
use pratique_types::GroupVersionKind;
use pratique_types::cel_limits::RUNTIME_BUDGET;

use super::conversion::Conversion;
use super::measure::Measure;
use super::refusal::Refusal;
use super::version::Version;
use super::{Form, Mutation, patch, patch_form};
use crate::decode::DecodeError;
use crate::inputs::Inputs;
use crate::policy_core::PolicyCore;
use crate::round::{Halt, OUT_OF_BUDGET, Round};
use crate::session::Session;
use crate::trace::ExpressionId;
use crate::typed;

/// The mutated object; `None` where a test of its patch fails.
pub(super) fn apply<'s>(
    session: &Session<'s>,
    (index, mutation): (usize, &'s Mutation),
    core: &'s PolicyCore,
    version: &Version<'s>,
    inputs: &Inputs<'s>,
) -> Result<Option<&'s json::Value<'s>>, Refusal> {
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
) -> Result<(), Refusal> {
    let same = kind.group == requested.group && kind.version == requested.version;
    if same || !release.has_type(kind) {
        return Ok(());
    }
    let (from, to) = (&kind.version, &requested.version);
    let name = &kind.kind;
    Err(Refusal::Policy(if kind.group == requested.group {
        format!("converting ({from}.{name}) to ({to}.{name}): unknown conversion")
    } else {
        let to = requested.api_version();
        let scheme = release.registry_name();
        format!("{from}.{name} is not suitable for converting to \"{to}\" in scheme \"{scheme}\"")
    }))
}

fn evaluate<'s>(
    session: &Session<'s>,
    (index, mutation): (usize, &'s Mutation),
    core: &'s PolicyCore,
    inputs: &Inputs<'s>,
) -> Result<Value<'s>, Refusal> {
    if let Err(error) = &mutation.expression.expression {
        let error = error.to_string();
        let id = ExpressionId::Mutation(index);
        session.trace().inspect(|trace| trace.broken(id, &error));
        return Err(Refusal::Policy(error));
    }
    let mut round = Round::new(session, &core.variables, inputs, RUNTIME_BUDGET);
    match round.evaluate(ExpressionId::Mutation(index), &mutation.expression) {
        Ok(answer) => answer.map_err(Refusal::Policy),
        Err(Halt::OutOfBudget) => Err(Refusal::Policy(OUT_OF_BUDGET.to_owned())),
        Err(Halt::Unfinished(unfinished)) => Err(Refusal::Unfinished(unfinished)),
        Err(Halt::Undecided(missing)) => Err(Refusal::Undecided(missing)),
    }
}

fn merged<'s>(
    value: &Value<'s>,
    version: &Version<'s>,
    session: &Session<'s>,
    policy: &str,
) -> Result<Option<&'s json::Value<'s>>, Refusal> {
    let context = Context::new(session.arena(), u64::MAX);
    Measure::new(session.context.interrupt).add(value, &context)?;
    let progress = &session.progress;
    let names = check_type_names(value, progress);
    progress.outcome()?;
    names.map_err(|error| Refusal::Policy(format!("type mismatch: {error}")))?;
    let go = |part: typed::Part<'_>| version.go_value(part, progress);
    let conversion = Conversion {
        go: &go,
        progress,
        has_go_type: session.context.release.has_type(version.kind),
        keeps_infinite: false,
    };
    let patch = patch_form::patch(value, &context, conversion);
    progress.outcome()?;
    let patch = patch.map_err(|error| Refusal::Policy(error.to_string()))?;
    let schema = session.context.merge_schema(version.kind);
    let refused = |error| Refusal::Policy(format!("error applying patch: {error}"));
    let of = schema.kind(version.kind);
    let of = of.map_err(|_| refused(structured::Error::NoType(version.kind.clone())))?;
    let mut object = version.object.try_borrowed(progress)?;
    // Upstream: apiserver/pkg/admission/plugin/policy/mutating/patch/smd.go, ApplyStructuredMergeDiff: typed.AllowDuplicates since 1.35.
    let apply = if session.context.release.at_least(1, 35) {
        structured::apply
    } else {
        structured::apply_to_unique
    };
    apply(schema, of, &mut object, patch, progress).map_err(|error| match error {
        structured::Error::Interrupted(interrupted) => interrupted.into(),
        error => refused(error),
    })?;
    typed::convert_object(session.context.release, version.kind, &mut object, progress).map_err(|error| {
        match error {
            DecodeError::Interrupted(interrupted) => interrupted.into(),
            DecodeError::Invalid(error) => {
                let kind = version.kind;
                Refusal::Policy(format!(
                    "unable to convert unstructured object to {kind}: {error}"
                ))
            }
        }
    })?;
    session.default(version.kind, &mut object, policy);
    Ok(Some(session.keep(object)))
}
