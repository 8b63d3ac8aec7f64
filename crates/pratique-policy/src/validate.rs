//! A request before validating policies.

use pratique_match::Matched;
use pratique_types::Status;

use crate::annotations::{Annotations, Collected, Failure};
use crate::binding::{Action, Binding};
use crate::denial::{Denial, namespace_not_found};
use crate::hook::FailurePolicy;
use crate::meeting::{Meeting, Param};
use crate::observer::{Decision, Effect, ErrorType, Observer};
use crate::outcome::{Unfinished, Verdict};
use crate::policies::{Policies, Policy};
use crate::session::{Inputs, Session, Store, Submission, Surroundings};
use crate::trace::Does;
use crate::validator::{Annotated, Decided, Judgement, judge};
use pratique_exclusion::Origin;

/// Judges a request by sets of policies, in their order: static ones first.
///
/// All policies judge, whatever the others say; the first denial is the one that the user is told.
pub fn validate<'s>(
    sets: &[&Policies],
    submission: impl Into<Submission<'s>>,
    surroundings: Surroundings<'s>,
    observer: &mut dyn Observer,
) -> Result<Verdict, Unfinished> {
    judge_all(sets, submission.into(), surroundings, observer)
}

fn judge_all(
    sets: &[&Policies],
    submission: Submission<'_>,
    surroundings: Surroundings<'_>,
    observer: &mut dyn Observer,
) -> Result<Verdict, Unfinished> {
    let store = Store::default();
    let session = Session::new(submission, surroundings, &store).named_by_object();
    let mut bench = Bench {
        meeting: Meeting::new(Does::Validate, &session),
        session: &session,
        pending: false,
        decisions: Vec::new(),
        denials: Vec::new(),
        warnings: Vec::new(),
        annotations: Annotations::default(),
    };
    let ended = sets.iter().try_for_each(|set| bench.judge_set(set));
    match ended {
        Err(End::Unfinished(unfinished)) => return Err(unfinished),
        _ if bench.pending => return Err(Unfinished::Pending),
        _ => {}
    }
    bench.decisions.iter().for_each(|own| observer.decided(own));
    match ended {
        Err(End::Unfinished(unfinished)) => Err(unfinished),
        Err(End::Status(status)) => Ok(bench.verdict(Some(*status))),
        Ok(()) => {
            bench.annotations.publish_failures();
            let status = bench
                .denials
                .first()
                .map(|denial| denial.status(&bench.meeting.target));
            Ok(bench.verdict(status))
        }
    }
}

/// Where a request is judged.
struct Bench<'b, 's> {
    session: &'b Session<'s>,
    meeting: Meeting<'s>,
    /// Whether an authorization check has no answer yet. Judging goes on, so that all checks are asked before they
    /// are answered.
    pending: bool,
    decisions: Vec<Decision<'s>>,
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
        let hooks = set.policies.iter().map(|policy| &policy.hook);
        for position in self.meeting.candidates(set.origin, &set.index, hooks) {
            if let Some(policy) = set.policies.get(position as usize) {
                self.judge_policy(set.origin, policy)?;
            }
        }
        Ok(())
    }

    fn judge_policy(&mut self, origin: Origin, policy: &'s Policy) -> Result<(), End> {
        let matched = match self.meeting.policy(origin, &policy.hook) {
            Ok(Some(matched)) => matched,
            Ok(None) => return Ok(()),
            Err(error) => {
                self.fail(policy, None, &error);
                return Ok(());
            }
        };
        let mut collected = Collected::default();
        for binding in &policy.hook.bindings {
            match self.meeting.binding(&policy.hook, binding) {
                Ok(None) => {}
                Ok(Some(params)) => {
                    self.judge_binding(policy, binding, matched, params, &mut collected)?;
                }
                Err(error) => self.fail(policy, Some(binding), &error),
            }
        }
        self.annotations.publish(&policy.hook.name, collected);
        Ok(())
    }

    fn judge_binding(
        &mut self,
        policy: &'s Policy,
        binding: &'s Binding,
        matched: Matched<'s>,
        params: Vec<Param<'s>>,
        collected: &mut Collected<'s>,
    ) -> Result<(), End> {
        let namespace = self.session.namespace_of_request();
        let namespace = namespace.map_err(|_| {
            let status = namespace_not_found(self.meeting.target.namespace);
            End::Status(Box::new(status))
        })?;
        for param in params {
            let inputs = Inputs {
                matched,
                objects: self.session.objects(matched.kind),
                params: self.session.param(policy.hook.param_kind.as_ref(), param),
                namespace: namespace.reduced,
                authorizer: true,
            };
            let audited = Inputs {
                namespace: namespace.full,
                ..inputs
            };
            self.session.trace().inspect(|trace| trace.round(&inputs.params));
            match judge(policy, self.session, &inputs, &audited) {
                Ok(judgement) => self.take(policy, binding, judgement, collected),
                Err(Unfinished::Pending) => self.pending = true,
                Err(unfinished) => return Err(End::Unfinished(unfinished)),
            }
        }
        Ok(())
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
        policy: &'s Policy,
        binding: &'s Binding,
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
                    policy.hook.name, binding.name
                ));
            }
        }
    }

    /// An error of configuration, which denies whatever the binding's actions are.
    fn fail(&mut self, policy: &Policy, binding: Option<&Binding>, error: &str) {
        let message = match (&policy.hook.failure_policy, binding) {
            (FailurePolicy::Ignore, _) => return,
            (FailurePolicy::Unknown(name), _) => format!("unrecognized failure policy: '{name}'"),
            (FailurePolicy::Fail, None) => format!("failed to configure policy: {error}"),
            (FailurePolicy::Fail, Some(_)) => format!("failed to configure binding: {error}"),
        };
        self.deny(policy, binding, message, None);
    }

    fn deny(&mut self, policy: &Policy, binding: Option<&Binding>, message: String, reason: Option<String>) {
        self.denials.push(Denial {
            policy: policy.hook.name.clone(),
            binding: binding.map(|binding| binding.name.clone()),
            message,
            reason,
        });
    }

    fn observe(&mut self, policy: &'s Policy, binding: &'s Binding, effect: Effect, error: ErrorType) {
        self.decisions.push(Decision {
            policy: &policy.hook.name,
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
