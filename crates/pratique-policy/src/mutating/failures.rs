//! Failures of mutating policies, and the status that they make.

use pratique_gotext::strconv::quote;
use pratique_match::Target;
use pratique_types::{Reason, Status, StatusCause};

use crate::binding::CompiledBinding;
use crate::cause::DenialCause;
use crate::denial::forbidden;
use crate::ignored_failures::{IgnoredFailures, configuration_error};
use crate::observer::FailedPart;
use crate::policy_core::PolicyCore;

/// Failures in the order in which they happened.
#[derive(Debug, Default)]
pub(super) struct MutationFailures {
    refusing: Vec<MutationFailure>,
    /// Those that failure policies ignore, without those of mutations, which are steps.
    pub(super) ignored: IgnoredFailures,
}

#[derive(Debug)]
struct MutationFailure {
    text: String,
    reason: Option<Reason>,
    cause: DenialCause,
}

impl MutationFailures {
    /// An error of a policy's configuration, or of a binding's.
    pub(super) fn of_configuration(
        &mut self,
        core: &PolicyCore,
        binding: Option<CompiledBinding<'_>>,
        (error, cause): (&str, DenialCause),
    ) {
        let text = configuration_error(binding, error);
        if core.failure_policy.ignores() {
            self.ignored.add(core, binding, FailedPart::Configuration, text);
        } else {
            self.add(core, binding, &text, (None, cause));
        }
    }

    /// A mutation, or a match condition, that failed.
    pub(super) fn of_mutation(&mut self, core: &PolicyCore, binding: CompiledBinding<'_>, error: &str) {
        if !core.failure_policy.ignores() {
            let reason = Some(Reason::Invalid);
            self.add(core, Some(binding), error, (reason, DenialCause::Failure));
        }
    }

    /// Adds a failure that refuses the request.
    fn add(
        &mut self,
        core: &PolicyCore,
        binding: Option<CompiledBinding<'_>>,
        error: &str,
        (reason, cause): (Option<Reason>, DenialCause),
    ) {
        let policy = &core.name;
        let text = match binding {
            Some(binding) => {
                format!(
                    "policy '{policy}' with binding '{}' denied request: {error}",
                    binding.name
                )
            }
            None => format!("policy {} denied request: {error}", quote(policy)),
        };
        self.refusing.push(MutationFailure { text, reason, cause });
    }

    /// The status of a denial, and its cause: those of the first failure, with all failures as causes of the status.
    pub(super) fn status(self, target: &Target<'_>) -> Option<(Box<Status>, DenialCause)> {
        let first = self.refusing.first()?;
        let cause = first.cause;
        let mut status = forbidden(target, &first.text);
        status.message.clone_from(&first.text);
        if let Some(reason) = first.reason {
            status.reason = reason.as_str().to_owned();
        }
        let causes = self.refusing.into_iter().map(|failure| StatusCause {
            message: failure.text,
            ..StatusCause::default()
        });
        if let Some(details) = &mut status.details {
            details.causes.extend(causes);
        }
        Some((Box::new(status), cause))
    }
}
