//! One policy with a binding and a param: whether it applies, and what its mutations do.

use pratique_cel::Value;
use pratique_core::ConditionError;
use pratique_json as json;
use pratique_schema::merge::NoMergeType;
use pratique_types::status::internal_error;
use pratique_types::{GroupVersionKind, Reason, Status};

use super::CompiledMutation;
use super::apply;
use super::outcome::{MutationStep, StepResult};
use super::refusal::MutationRefusal;
use super::reinvocation::InvocationKey;
use super::run::{MutatingEnd, MutationRun, PolicyInvocation};
use super::version::{ObjectViewer, VersionedObjects};
use crate::conditions;
use crate::inputs::{ExpressionInputs, InputKey, NamespaceForm, UnconvertedObject};
use crate::observer::{Conditions, ErrorType, FailedPart, MutationAttempt};

impl<'s> MutationRun<'_, 's> {
    pub(super) fn invoke(&mut self, invocation: &PolicyInvocation<'s>, at: usize) -> Result<(), MutatingEnd> {
        let policy = invocation.policy;
        if policy.mutations.len() != policy.declared {
            let (name, declared, compiled) = (&policy.core.name, policy.declared, policy.mutations.len());
            let error = format!("expected {declared} compiled evaluators for policy {name}, got {compiled}");
            return Err(internal_error(&error).into());
        }
        if let Some(trace) = self.session.trace() {
            self.matcher
                .resume(invocation.origin, &policy.core, invocation.binding);
            trace.round(&self.params(invocation));
        }
        let key = key_of(invocation);
        if !self.applies(invocation, at)? || !self.reinvocation.runs(&key) {
            return Ok(());
        }
        let previous_object = self.versions.get(at).map(|version| version.object);
        let mut changes = 0;
        for (index, mutation) in policy.mutations.iter().enumerate() {
            changes += usize::from(self.mutate(invocation, at, (index, mutation))?);
        }
        if !policy.mutations.is_empty() {
            self.last = Some(at);
        }
        // A mutation may have undone another.
        let changed = match changes {
            0 | 1 => changes == 1,
            _ => previous_object != self.versions.get(at).map(|version| version.object),
        };
        if changed {
            self.reinvocation.changed();
        }
        if policy.reinvoked {
            self.reinvocation.remember(key);
        }
        Ok(())
    }

    fn applies(&mut self, invocation: &PolicyInvocation<'s>, at: usize) -> Result<bool, MutatingEnd> {
        let core = &invocation.policy.core;
        if core.conditions.is_empty() {
            return Ok(true);
        }
        let Some(inputs) = self.inputs(invocation, at, NamespaceForm::Absent, ObjectViewer::Condition) else {
            return Ok(false);
        };
        let Some(outcome) = conditions::evaluate(core, self.session, &inputs)? else {
            return Ok(true);
        };
        let undecided = matches!(outcome.matches, Err(ConditionError::Undecided(_)));
        if !undecided {
            self.conditions.push(Conditions {
                policy: &core.name,
                operation: self.session.request.operation,
                errors: outcome.errors,
            });
        }
        if let Some(error) = outcome.ignored {
            let ignored = &mut self.failures.ignored;
            ignored.add(core, Some(invocation.binding), FailedPart::Conditions, error);
        }
        let error = match outcome.matches {
            Ok(matches) => return Ok(matches),
            Err(ConditionError::Failed(error)) => error,
            Err(ConditionError::Undecided(missing)) => {
                let error = format!("undecided: {missing}");
                self.undecided(core, Some(invocation.binding), *missing)?;
                error
            }
        };
        self.failures.of_mutation(core, invocation.binding, &error);
        Ok(false)
    }

    /// Runs a mutation; returns whether it changed the object.
    fn mutate(
        &mut self,
        invocation: &PolicyInvocation<'s>,
        at: usize,
        (index, mutation): (usize, &'s CompiledMutation),
    ) -> Result<bool, MutatingEnd> {
        let (Some(version), Some(inputs)) = (
            self.versions.get(at),
            self.inputs(invocation, at, NamespaceForm::Full, ObjectViewer::Mutation),
        ) else {
            return Ok(false);
        };
        if version.object.is_null() {
            return Ok(false);
        }
        let schema = self.session.context.merge_schema(version.kind);
        if schema.kind(version.kind) == Err(NoMergeType::Version) {
            return Err(no_schema(version.kind).into());
        }
        let applied = apply::apply(
            self.session,
            (index, mutation),
            &invocation.policy.core,
            version,
            &inputs,
        );
        let previous_object = version.object;
        let (result, error) = match applied {
            Ok(object) => {
                let object = object.unwrap_or(previous_object);
                if let Some(version) = self.versions.get_mut(at) {
                    version.set(object);
                }
                let result = if object == previous_object {
                    StepResult::Unchanged
                } else {
                    StepResult::Changed
                };
                (result, ErrorType::None)
            }
            Err(MutationRefusal::Unfinished(unfinished)) => return Err(MutatingEnd::Unfinished(unfinished)),
            Err(MutationRefusal::Server(error)) => {
                self.decided(invocation, ErrorType::Invalid);
                return Err(internal_error(&error).into());
            }
            Err(MutationRefusal::Policy(error)) => self.failed(invocation, error),
            Err(MutationRefusal::Undecided(missing)) => {
                let error = format!("undecided: {missing}");
                self.undecided(&invocation.policy.core, Some(invocation.binding), *missing)?;
                self.failed(invocation, error)
            }
        };
        self.decided(invocation, error);
        let changed = result == StepResult::Changed;
        self.step(invocation, index, mutation, result);
        Ok(changed)
    }

    fn failed(&mut self, invocation: &PolicyInvocation<'s>, error: String) -> (StepResult, ErrorType) {
        self.failures
            .of_mutation(&invocation.policy.core, invocation.binding, &error);
        let kind = ErrorType::of_message(&error);
        (StepResult::Failed(error), kind)
    }

    fn decided(&mut self, invocation: &PolicyInvocation<'s>, error: ErrorType) {
        self.decisions.push(MutationAttempt {
            policy: &invocation.policy.core.name,
            binding: invocation.binding.name.assemble(self.session.arena()),
            error,
        });
    }

    fn step(
        &mut self,
        invocation: &PolicyInvocation<'s>,
        index: usize,
        mutation: &CompiledMutation,
        result: StepResult,
    ) {
        let InvocationKey {
            policy,
            binding,
            param,
        } = key_of(invocation);
        self.steps.push(MutationStep {
            policy,
            binding,
            param,
            mutation: index,
            form: mutation.form,
            reinvoked: self.reinvocation.is_second(),
            result,
        });
    }

    fn inputs(
        &self,
        invocation: &PolicyInvocation<'s>,
        at: usize,
        namespace: NamespaceForm,
        viewer: ObjectViewer,
    ) -> Option<ExpressionInputs<'s>> {
        Some(ExpressionInputs {
            matched: invocation.matched,
            objects: self.versions.get(at)?.objects(viewer),
            params: self.params(invocation),
            namespace,
            authorizer: true,
            // Each mutation may see the result of the one before it.
            key: InputKey::UNSHARED,
            repeats: false,
        })
    }

    fn params(&self, invocation: &PolicyInvocation<'s>) -> Value<'s> {
        let kind = invocation.policy.core.param_kind.as_ref();
        self.session.bare_param(kind, invocation.param)
    }

    /// The index of the objects in a kind. Fails for objects that cannot be converted into it.
    pub(super) fn version(&mut self, kind: &'s GroupVersionKind) -> Result<usize, UnconvertedObject> {
        let position = self.versions.iter().position(|version| version.kind == kind);
        if let Some(at) = position {
            return Ok(at);
        }
        self.versions
            .push(VersionedObjects::new(kind, self.object, self.session)?);
        Ok(self.versions.len() - 1)
    }
}

/// The key by which an invocation is reinvoked.
fn key_of(invocation: &PolicyInvocation<'_>) -> InvocationKey {
    let text = |param: &json::Value<'_>, field| {
        let text = param.at(&["metadata", field]).and_then(json::Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    InvocationKey {
        policy: invocation.policy.core.name.clone(),
        binding: invocation.binding.name.to_string(),
        param: invocation
            .param
            .map(|param| (text(param, "namespace"), text(param, "name"))),
    }
}

fn no_schema(kind: &GroupVersionKind) -> Status {
    let message = format!(
        "Resource kind {kind} not found. There can be a delay between when CustomResourceDefinitions are created \
         and when they are available."
    );
    Status::failure(Reason::ServiceUnavailable, message)
}
