//! A request before validating policies.

use pratique_cel::Value;
use pratique_match::{MatchResources, Matched, Target};
use pratique_types::{AdmissionRequest, GroupVersionKind, Status};

use crate::annotations::{Annotations, Collected, Failure};
use crate::binding::{Action, Binding};
use crate::denial::{Denial, namespace_not_found};
use crate::exclusion::is_excluded;
use crate::observer::{Decision, Effect, ErrorType, Observer};
use crate::outcome::{Unfinished, Verdict};
use crate::policies::{FailurePolicy, Origin, Policies, Policy};
use crate::session::{Inputs, Namespace, Session, Store, Surroundings};
use crate::trace::{Does, Met, Subject};
use crate::validator::{Annotated, Decided, Judgement, judge};

/// Judges a request by sets of policies, in their order: static ones first.
///
/// All policies judge, whatever the others say; the first denial is the one that the user is told.
pub fn validate(
    sets: &[&Policies],
    request: &AdmissionRequest<'_>,
    surroundings: Surroundings<'_>,
    observer: &mut dyn Observer,
) -> Result<Verdict, Unfinished> {
    let store = Store::default();
    let session = Session::new(request, surroundings, &store);
    let mut bench = Bench {
        target: Target {
            name: session.name,
            ..Target::new(request)
        },
        session: &session,
        observer,
        denials: Vec::new(),
        warnings: Vec::new(),
        annotations: Annotations::default(),
    };
    let ended = sets.iter().try_for_each(|set| bench.judge_set(set));
    match ended {
        Err(End::Unfinished(unfinished)) => Err(unfinished),
        Err(End::Status(status)) => Ok(bench.verdict(Some(*status))),
        Ok(()) => {
            bench.annotations.publish_failures();
            let status = bench.denials.first().map(|denial| denial.status(&bench.target));
            Ok(bench.verdict(status))
        }
    }
}

/// Where a request is judged.
struct Bench<'b, 's> {
    session: &'b Session<'s>,
    target: Target<'s>,
    observer: &'b mut dyn Observer,
    denials: Vec<Denial>,
    warnings: Vec<String>,
    annotations: Annotations,
}

/// Why judging ends before the last policy.
enum End {
    Unfinished(Unfinished),
    /// An error of the server, not of a policy.
    Status(Box<Status>),
}

impl<'s> Bench<'_, 's> {
    fn judge_set(&mut self, set: &'s Policies) -> Result<(), End> {
        if is_excluded(self.target.resource, set.origin) {
            for policy in set.policies.iter().filter(|_| self.session.trace().is_some()) {
                self.meet(set.origin, policy, Met::Excluded);
            }
            return Ok(());
        }
        // Who looks on wants to know of the others too.
        if self.session.trace().is_some() {
            return set
                .policies
                .iter()
                .try_for_each(|policy| self.judge_policy(set.origin, policy));
        }
        let equivalents = self.session.surroundings.cluster.equivalents();
        for position in set.index.candidates(&self.target, equivalents) {
            if let Some(policy) = set.policies.get(position as usize) {
                self.judge_policy(set.origin, policy)?;
            }
        }
        Ok(())
    }

    fn judge_policy(&mut self, origin: Origin, policy: &'s Policy) -> Result<(), End> {
        let cluster = self.session.surroundings.cluster;
        let matched = policy
            .constraints
            .matches(&self.target, cluster.equivalents(), cluster);
        let matched = match matched {
            Ok(Some(matched)) => matched,
            Ok(None) => {
                self.meet(origin, policy, self.mismatch(&policy.constraints));
                return Ok(());
            }
            Err(error) => {
                let error = error.to_string();
                self.meet(origin, policy, Met::Error(&error));
                self.fail(policy, None, &error);
                return Ok(());
            }
        };
        if let Some(kind) = unknown_kind(policy, self.session) {
            let error = format!("failed to find resource referenced by paramKind: '{kind}'");
            self.meet(origin, policy, Met::Error(&error));
            self.fail(policy, None, &error);
            return Ok(());
        }
        self.meet(origin, policy, Met::Yes);
        let mut collected = Collected::default();
        for binding in &policy.bindings {
            self.judge_binding(policy, binding, matched, &mut collected)?;
        }
        self.annotations.publish(&policy.name, collected);
        Ok(())
    }

    fn judge_binding(
        &mut self,
        policy: &'s Policy,
        binding: &'s Binding,
        matched: Matched<'s>,
        collected: &mut Collected<'s>,
    ) -> Result<(), End> {
        let cluster = self.session.surroundings.cluster;
        let resources = binding.resources.as_ref();
        let matches = resources.map(|own| own.matches(&self.target, cluster.equivalents(), cluster));
        match matches {
            Some(Ok(None)) => {
                let met = resources.map_or(Met::Yes, |own| self.mismatch(own));
                self.bind(binding, met);
                return Ok(());
            }
            Some(Err(error)) => {
                let error = error.to_string();
                self.bind(binding, Met::Error(&error));
                self.fail(policy, Some(binding), &error);
                return Ok(());
            }
            Some(Ok(Some(_))) | None => {}
        }
        let params = match params(policy, binding, self.session) {
            Ok(params) => params,
            Err(error) => {
                self.bind(binding, Met::Error(&error));
                self.fail(policy, Some(binding), &error);
                return Ok(());
            }
        };
        self.bind(binding, Met::Yes);
        let namespace = self.namespace()?;
        for params in params {
            let inputs = Inputs {
                matched,
                params,
                namespace: namespace.reduced,
                authorizer: true,
            };
            let audited = Inputs {
                namespace: namespace.full,
                ..inputs
            };
            self.session.trace().inspect(|trace| trace.round(&params));
            let judgement = judge(policy, self.session, &inputs, &audited).map_err(End::Unfinished)?;
            self.take(policy, binding, judgement, collected);
        }
        Ok(())
    }

    /// Tells who looks on whether a policy meets the request.
    fn meet(&self, origin: Origin, policy: &Policy, met: Met<'_>) {
        let subject = Subject {
            does: Does::Validate,
            origin,
            name: &policy.name,
        };
        self.session.trace().inspect(|trace| trace.policy(subject, met));
    }

    /// Tells who looks on whether a binding meets the request.
    fn bind(&self, binding: &Binding, met: Met<'_>) {
        self.session
            .trace()
            .inspect(|trace| trace.binding(&binding.name, met));
    }

    /// Why constraints do not match, found out only for those who look on.
    fn mismatch(&self, constraints: &MatchResources) -> Met<'static> {
        let cluster = self.session.surroundings.cluster;
        let traced = self.session.trace().is_some();
        let mismatch = traced.then(|| constraints.mismatch(&self.target, cluster.equivalents(), cluster));
        mismatch.flatten().map_or(Met::Yes, Met::No)
    }

    /// `namespaceObject`: none for namespaces themselves, though their requests carry a namespace.
    fn namespace(&self) -> Result<Namespace<'s>, End> {
        let kind = self.target.kind;
        let of_namespace = kind.kind == "Namespace" && kind.version == "v1" && kind.group.is_empty();
        if self.target.namespace.is_empty() || of_namespace {
            return Ok(Namespace {
                reduced: Value::Null,
                full: Value::Null,
            });
        }
        let namespace = self.session.surroundings.cluster.namespace(self.target.namespace);
        let namespace =
            namespace.ok_or_else(|| End::Status(Box::new(namespace_not_found(self.target.namespace))))?;
        Ok(self.session.namespace(namespace))
    }

    /// Takes what a policy decided, and does what the binding says.
    fn take(
        &mut self,
        policy: &'s Policy,
        binding: &'s Binding,
        judgement: Judgement<'s>,
        collected: &mut Collected<'s>,
    ) {
        for (index, decided) in judgement.decisions.into_iter().enumerate() {
            match decided {
                Decided::Admit => {}
                Decided::Ignored(error) => self.observe(policy, binding, Effect::Allow, error),
                Decided::Deny {
                    message,
                    reason,
                    error,
                } => {
                    for action in &binding.actions {
                        self.act(*action, policy, binding, index, (&message, &reason, error));
                    }
                }
            }
        }
        for annotated in judgement.annotations {
            match annotated {
                Annotated::Publish { key, value } => collected.add(key, &value),
                Annotated::Exclude => {}
                Annotated::Error(message) => {
                    self.observe(policy, binding, Effect::Deny, ErrorType::of_message(&message));
                    self.deny(policy, Some(binding), message, None);
                }
            }
        }
    }

    fn act(
        &mut self,
        action: Action,
        policy: &Policy,
        binding: &Binding,
        index: usize,
        (message, reason, error): (&str, &Option<String>, ErrorType),
    ) {
        match action {
            Action::Deny => {
                self.observe(policy, binding, Effect::Deny, error);
                self.deny(policy, Some(binding), message.to_owned(), reason.clone());
            }
            Action::Audit => {
                self.observe(policy, binding, Effect::Audit, error);
                self.annotations.add_failure(Failure {
                    message: message.to_owned(),
                    policy: binding.policy.clone(),
                    binding: binding.name.clone(),
                    expression_index: index,
                    validation_actions: binding.action_names.clone(),
                });
            }
            Action::Warn => {
                self.observe(policy, binding, Effect::Warn, error);
                self.warnings.push(format!(
                    "Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': {message}",
                    policy.name, binding.name
                ));
            }
        }
    }

    /// An error of configuration, which denies whatever the binding's actions are.
    fn fail(&mut self, policy: &Policy, binding: Option<&Binding>, error: &str) {
        let message = match (&policy.failure_policy, binding) {
            (FailurePolicy::Ignore, _) => return,
            (FailurePolicy::Unknown(name), _) => format!("unrecognized failure policy: '{name}'"),
            (FailurePolicy::Fail, None) => format!("failed to configure policy: {error}"),
            (FailurePolicy::Fail, Some(_)) => format!("failed to configure binding: {error}"),
        };
        self.deny(policy, binding, message, None);
    }

    fn deny(&mut self, policy: &Policy, binding: Option<&Binding>, message: String, reason: Option<String>) {
        self.denials.push(Denial {
            policy: policy.name.clone(),
            binding: binding.map(|binding| binding.name.clone()),
            message,
            reason,
        });
    }

    fn observe(&mut self, policy: &Policy, binding: &Binding, effect: Effect, error: ErrorType) {
        self.observer.decided(&Decision {
            policy: &policy.name,
            binding: &binding.name,
            effect,
            error,
        });
    }

    fn verdict(self, status: Option<Status>) -> Verdict {
        Verdict {
            status,
            warnings: self.warnings,
            audit_annotations: self.annotations.into_map(),
        }
    }
}

/// The policy's `paramKind`, where the cluster does not know it.
fn unknown_kind<'s>(policy: &'s Policy, session: &Session<'s>) -> Option<&'s GroupVersionKind> {
    let kind = policy.param_kind.as_ref()?;
    let scope = session.surroundings.cluster.param_scope(kind);
    scope.is_none().then_some(kind)
}

/// The values of `params` to judge with, one after the other; a policy or binding without params judges once, with null.
fn params<'s>(
    policy: &'s Policy,
    binding: &'s Binding,
    session: &Session<'s>,
) -> Result<Vec<Value<'s>>, String> {
    let (Some(kind), Some(param_ref)) = (&policy.param_kind, &binding.param_ref) else {
        return Ok(vec![Value::Null]);
    };
    let cluster = session.surroundings.cluster;
    let Some(scope) = cluster.param_scope(kind) else {
        return Ok(Vec::new());
    };
    let found = param_ref.find(kind, scope, &session.request.namespace, cluster);
    let found = found.map_err(|error| error.to_string())?;
    Ok(found
        .into_iter()
        .map(|param| session.param(kind, param))
        .collect())
}
