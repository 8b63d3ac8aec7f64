//! A request before mutating policies.

use pratique_cel::Value;
use pratique_json as json;
use pratique_match::Matched;
use pratique_schema::merge::NoMergeType;
use pratique_types::{GroupVersion, GroupVersionKind, Operation, Reason, Status};

use super::apply::{self, Refusal};
use super::denial::{Failures, internal};
use super::outcome::{Mutated, Step, StepResult};
use super::reinvocation::{Invocation, Reinvocation};
use super::version::{Version, Viewer};
use super::{MutatingPolicies, MutatingPolicy, Mutation};
use crate::binding::Binding;
use crate::conditions;
use crate::denial::namespace_not_found;
use crate::meeting::Meeting;
use crate::observer::{ErrorType, Mutating, Observer};
use crate::outcome::Unfinished;
use crate::request::borrow;
use crate::session::{Inputs, Session, Store, Submission, Surroundings};
use crate::trace::Does;
use crate::typed;
use pratique_exclusion::Origin;

/// Puts a request before sets of policies, in their order: static ones first. When policies change the object, those
/// before them that want it have a second turn.
pub fn mutate<'s>(
    sets: &[&MutatingPolicies],
    submission: impl Into<Submission<'s>>,
    surroundings: Surroundings<'s>,
    observer: &mut dyn Observer,
) -> Result<Mutated, Unfinished> {
    let submission = submission.into();
    let mut turns = Reinvocation::default();
    let first = mutate_once(sets, submission, surroundings.clone(), &mut turns, observer)?;
    if !first.allowed() || !turns.is_due() {
        return Ok(first);
    }
    turns.begin_second(false);
    let mutated = Submission {
        request: submission.request,
        object: first.object.as_ref().unwrap_or(submission.object),
    };
    let second = mutate_once(sets, mutated, surroundings, &mut turns, observer)?;
    let object = match second.status {
        Some(_) => None,
        None => second.object.or(first.object),
    };
    Ok(Mutated {
        object: object.filter(|object| !same(object, submission.object)),
        status: second.status,
        steps: first.steps.into_iter().chain(second.steps).collect(),
    })
}

/// One turn of [`mutate`], for those who have other things to do between the two.
pub fn mutate_once<'s>(
    sets: &[&MutatingPolicies],
    submission: impl Into<Submission<'s>>,
    surroundings: Surroundings<'s>,
    turns: &mut Reinvocation,
    observer: &mut dyn Observer,
) -> Result<Mutated, Unfinished> {
    let submission = submission.into();
    // There is nothing to mutate in what is deleted.
    if submission.request.operation == Operation::Delete {
        return Ok(Mutated::default());
    }
    run(sets, submission, surroundings, turns, observer)
}

fn run(
    sets: &[&MutatingPolicies],
    submission: Submission<'_>,
    surroundings: Surroundings<'_>,
    turns: &mut Reinvocation,
    observer: &mut dyn Observer,
) -> Result<Mutated, Unfinished> {
    let store = Store::default();
    let session = Session::new(submission, surroundings, &store);
    let mut bench = Bench {
        meeting: Meeting::new(Does::Mutate, &session),
        session: &session,
        object: submission.object,
        versions: Vec::new(),
        failures: Failures::default(),
        // What an unfinished turn did counts for nothing.
        turns: turns.clone(),
        last: None,
        steps: Vec::new(),
        decisions: Vec::new(),
    };
    let ended = bench.run(sets);
    let decisions = std::mem::take(&mut bench.decisions);
    let tell = |observer: &mut dyn Observer| decisions.iter().for_each(|own| observer.mutating(own));
    let status = match ended {
        Err(End::Unfinished(unfinished)) => return Err(unfinished),
        Err(End::Status(status)) => Some(*status),
        Ok(()) => std::mem::take(&mut bench.failures).status(&bench.meeting.target),
    };
    tell(observer);
    *turns = bench.turns.clone();
    let object = match status {
        Some(_) => None,
        None => bench.result(),
    };
    Ok(Mutated {
        object,
        status,
        steps: bench.steps,
    })
}

/// Where a request is mutated.
struct Bench<'b, 's> {
    session: &'b Session<'s>,
    meeting: Meeting<'s>,
    object: &'s json::Value<'s>,
    /// One for each kind that policies matched; the one that was last at work is what goes on.
    versions: Vec<Version<'s>>,
    failures: Failures,
    turns: Reinvocation,
    /// Where the objects are that were last at work.
    last: Option<usize>,
    steps: Vec<Step>,
    decisions: Vec<Mutating<'s>>,
}

/// A policy to invoke with a binding and a param.
struct Call<'s> {
    origin: Origin,
    policy: &'s MutatingPolicy,
    binding: &'s Binding,
    matched: Matched<'s>,
    param: Option<&'s json::Value<'s>>,
}

/// Why mutating ends before the last policy.
enum End {
    Unfinished(Unfinished),
    /// An error of the server, not of a policy.
    Status(Box<Status>),
}

impl From<Status> for End {
    fn from(status: Status) -> Self {
        End::Status(Box::new(status))
    }
}

impl<'s> Bench<'_, 's> {
    /// Rules and selectors are asked about all policies before the first one changes anything.
    fn run(&mut self, sets: &[&'s MutatingPolicies]) -> Result<(), End> {
        let mut calls = Vec::new();
        for set in sets {
            self.gather(set, &mut calls);
        }
        if calls.is_empty() {
            return Ok(());
        }
        let namespace = self.session.namespace_of_request();
        let namespace = namespace.map_err(|_| namespace_not_found(self.meeting.target.namespace))?;
        for call in &calls {
            let version = self.version(call.matched.kind);
            self.invoke(call, version, namespace.full)?;
        }
        if let Some(changed) = self.changed() {
            self.returns(changed)?;
            self.turns.require();
        }
        Ok(())
    }

    fn gather(&mut self, set: &'s MutatingPolicies, calls: &mut Vec<Call<'s>>) {
        let hooks = set.policies.iter().map(|policy| &policy.hook);
        let candidates = self.meeting.candidates(set.origin, &set.index, hooks);
        for policy in candidates
            .into_iter()
            .filter_map(|at| set.policies.get(at as usize))
        {
            match self.meeting.policy(set.origin, &policy.hook) {
                Ok(None) => {}
                Ok(Some(matched)) => self.gather_bindings((set.origin, policy), matched, calls),
                Err(error) => self.failures.of_configuration(&policy.hook, None, &error),
            }
        }
    }

    fn gather_bindings(
        &mut self,
        (origin, policy): (Origin, &'s MutatingPolicy),
        matched: Matched<'s>,
        calls: &mut Vec<Call<'s>>,
    ) {
        for binding in &policy.hook.bindings {
            match self.meeting.binding(&policy.hook, binding) {
                Ok(params) => calls.extend(params.into_iter().flatten().map(|param| Call {
                    origin,
                    policy,
                    binding,
                    matched,
                    param,
                })),
                Err(error) => self
                    .failures
                    .of_configuration(&policy.hook, Some(binding), &error),
            }
        }
    }

    fn invoke(&mut self, call: &Call<'s>, at: usize, namespace: Value<'s>) -> Result<(), End> {
        let policy = call.policy;
        if policy.mutations.len() != policy.declared {
            let (name, given, got) = (&policy.hook.name, policy.declared, policy.mutations.len());
            let error = format!("expected {given} compiled evaluators for policy {name}, got {got}");
            return Err(internal(&error).into());
        }
        if let Some(trace) = self.session.trace() {
            self.meeting.resume(call.origin, &policy.hook, call.binding);
            trace.round(&self.params(call));
        }
        let invocation = invocation(call);
        if !self.applies(call, at)? || !self.turns.has_turn(&invocation) {
            return Ok(());
        }
        let before = self.versions.get(at).map(|version| version.object);
        for (index, mutation) in policy.mutations.iter().enumerate() {
            self.mutate(call, at, namespace, (index, mutation))?;
        }
        if !policy.mutations.is_empty() {
            self.last = Some(at);
        }
        if before != self.versions.get(at).map(|version| version.object) {
            self.turns.require();
        }
        if policy.reinvoked {
            self.turns.remember(invocation);
        }
        Ok(())
    }

    fn applies(&mut self, call: &Call<'s>, at: usize) -> Result<bool, End> {
        let hook = &call.policy.hook;
        if hook.conditions.is_empty() {
            return Ok(true);
        }
        let Some(inputs) = self.inputs(call, at, Value::Null, Viewer::Condition) else {
            return Ok(false);
        };
        match conditions::apply(hook, self.session, &inputs).map_err(End::Unfinished)? {
            Ok(applies) => Ok(applies),
            Err(error) => {
                self.failures.of_mutation(hook, call.binding, &error);
                Ok(false)
            }
        }
    }

    fn mutate(
        &mut self,
        call: &Call<'s>,
        at: usize,
        namespace: Value<'s>,
        (index, mutation): (usize, &'s Mutation),
    ) -> Result<(), End> {
        let cluster = self.session.surroundings.cluster;
        let (Some(version), Some(inputs)) = (
            self.versions.get(at),
            self.inputs(call, at, namespace, Viewer::Mutation),
        ) else {
            return Ok(());
        };
        if version.object.is_null() {
            return Ok(());
        }
        let schema = cluster.merge_schema(version.kind);
        if schema.kind(version.kind) == Err(NoMergeType::Version) {
            return Err(no_schema(version.kind).into());
        }
        let applied = apply::apply(
            self.session,
            (index, mutation),
            &call.policy.hook,
            version,
            &inputs,
        );
        let before = version.object;
        let (result, error) = match applied {
            Ok(object) => {
                let object = object.unwrap_or(before);
                if let Some(version) = self.versions.get_mut(at) {
                    version.set(object);
                }
                let result = match object == before {
                    true => StepResult::Unchanged,
                    false => StepResult::Changed,
                };
                (result, ErrorType::None)
            }
            Err(Refusal::Unfinished(unfinished)) => return Err(End::Unfinished(unfinished)),
            Err(Refusal::Server(error)) => {
                self.decided(call, ErrorType::Invalid);
                return Err(internal(&error).into());
            }
            Err(Refusal::Policy(error)) => {
                self.failures.of_mutation(&call.policy.hook, call.binding, &error);
                let kind = ErrorType::of_message(&error);
                (StepResult::Failed(error), kind)
            }
        };
        self.decided(call, error);
        self.step(call, index, mutation, result);
        Ok(())
    }

    fn decided(&mut self, call: &Call<'s>, error: ErrorType) {
        self.decisions.push(Mutating {
            policy: &call.policy.hook.name,
            binding: &call.binding.name,
            error,
        });
    }

    fn step(&mut self, call: &Call<'s>, index: usize, mutation: &Mutation, result: StepResult) {
        let Invocation {
            policy,
            binding,
            param,
        } = invocation(call);
        self.steps.push(Step {
            policy,
            binding,
            param,
            mutation: index,
            form: mutation.form,
            reinvoked: self.turns.is_second(),
            result,
        });
    }

    fn inputs(&self, call: &Call<'s>, at: usize, namespace: Value<'s>, viewer: Viewer) -> Option<Inputs<'s>> {
        Some(Inputs {
            matched: call.matched,
            objects: self.versions.get(at)?.objects(viewer),
            params: self.params(call),
            namespace,
            authorizer: true,
        })
    }

    fn params(&self, call: &Call<'s>) -> Value<'s> {
        let kind = call.policy.hook.param_kind.as_ref();
        self.session.bare_param(kind, call.param)
    }

    /// What goes on, where mutations were applied to it.
    fn changed(&self) -> Option<&Version<'s>> {
        let last = self.last.and_then(|at| self.versions.get(at));
        last.filter(|version| version.changed)
    }

    /// Where the objects in a kind are.
    fn version(&mut self, kind: &'s GroupVersionKind) -> usize {
        let known = self.versions.iter().position(|version| version.kind == kind);
        known.unwrap_or_else(|| {
            self.versions.push(Version::new(kind, self.object, self.session));
            self.versions.len() - 1
        })
    }

    /// Whether an object of a custom kind can go back into the version of the request; its group has to be the same.
    fn returns(&self, changed: &Version<'s>) -> Result<(), End> {
        let requested = &self.session.request.kind;
        if typed::is_builtin(changed.kind) {
            return Ok(());
        }
        let text = |field| {
            changed
                .object
                .get(field)
                .and_then(json::Value::as_str)
                .unwrap_or_default()
        };
        let version = GroupVersion::parse(text("apiVersion")).unwrap_or_default();
        let of = version.clone().with_kind(text("kind"));
        let known = |kind: &GroupVersionKind| {
            let schema = self.session.surroundings.cluster.merge_schema(kind);
            schema.kind(kind) != Err(NoMergeType::Version)
        };
        if of.group != requested.group {
            let (of, to) = (shown(&of), requested.api_version());
            return Err(internal(&format!(
                "failed to convert object: {of} is unstructured and is not suitable for converting to \"{to}\""
            )).into());
        }
        if of.version != requested.version && !known(&of) {
            return Err(internal(&format!(
                "failed to convert object: request to convert CR from an invalid group/version: {}",
                of.api_version()
            ))
            .into());
        }
        Ok(())
    }

    /// The object as it goes on; `None` where nothing changed it.
    fn result(&self) -> Option<json::Value<'static>> {
        let changed = self.changed()?;
        let kind = &self.session.request.kind;
        let object = match typed::is_builtin(kind) {
            true => self.session.typed(kind, changed.object),
            false => self.session.versioned(kind, changed.object),
        };
        let before = self.session.typed(kind, self.object);
        if same(object, before) {
            return None;
        }
        // It is written before anybody reads it.
        let written = typed::reread(object).unwrap_or_else(|| borrow(object));
        Some(written.into_owned())
    }
}

fn invocation(call: &Call<'_>) -> Invocation {
    let text = |param: &json::Value<'_>, field| {
        let text = param.at(&["metadata", field]).and_then(json::Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    Invocation {
        policy: call.policy.hook.name.clone(),
        binding: call.binding.name.clone(),
        param: call
            .param
            .map(|param| (text(param, "namespace"), text(param, "name"))),
    }
}

/// A kind as Go shows it, even one without a version.
fn shown(kind: &GroupVersionKind) -> String {
    match kind.version.as_str() {
        "" => format!("{}/, Kind={}", kind.group, kind.kind),
        _ => kind.to_string(),
    }
}

fn no_schema(kind: &GroupVersionKind) -> Status {
    let message = format!(
        "Resource kind {kind} not found. There can be a delay between when CustomResourceDefinitions are created \
         and when they are available."
    );
    Status::failure(Reason::ServiceUnavailable, message)
}

/// Whether two objects are written the same: 1.0 is 1.
fn same(left: &json::Value<'_>, right: &json::Value<'_>) -> bool {
    use json::Value::{Array, Float, Int, Object};
    match (left, right) {
        (Int(_), Float(_)) | (Float(_), Int(_)) => left.to_string() == right.to_string(),
        (Array(left), Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Object(left), Object(right)) => {
            let mut pairs = left.iter().zip(right.iter());
            left.len() == right.len() && pairs.all(|(left, right)| left.0 == right.0 && same(left.1, right.1))
        }
        _ => left == right,
    }
}
