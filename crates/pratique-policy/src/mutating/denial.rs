//! Failures of mutating policies, and the status that they make.

use pratique_match::Target;
use pratique_types::{Reason, Status, StatusCause};

use crate::binding::Binding;
use crate::denial::forbidden;
use crate::hook::{FailurePolicy, Hook};

/// Failures in the order in which they happened.
#[derive(Debug, Default)]
pub(super) struct Failures(Vec<Failure>);

#[derive(Debug)]
struct Failure {
    text: String,
    reason: Option<Reason>,
}

impl Failures {
    /// An error of configuration.
    pub(super) fn of_configuration(&mut self, hook: &Hook, binding: Option<Binding<'_>>, error: &str) {
        let what = match binding {
            Some(_) => "binding",
            None => "policy",
        };
        self.add(
            hook,
            binding,
            &format!("failed to configure {what}: {error}"),
            None,
        );
    }

    /// A mutation, or a match condition, that failed.
    pub(super) fn of_mutation(&mut self, hook: &Hook, binding: Binding<'_>, error: &str) {
        self.add(hook, Some(binding), error, Some(Reason::Invalid));
    }

    fn add(&mut self, hook: &Hook, binding: Option<Binding<'_>>, error: &str, reason: Option<Reason>) {
        if hook.failure_policy == FailurePolicy::Ignore {
            return;
        }
        let policy = &hook.name;
        let text = match binding {
            Some(binding) => {
                format!(
                    "policy '{policy}' with binding '{}' denied request: {error}",
                    binding.name
                )
            }
            None => format!("policy {policy:?} denied request: {error}"),
        };
        self.0.push(Failure { text, reason });
    }

    /// The status of a request that met them: the first one's, with all of them as causes.
    pub(super) fn status(self, target: &Target<'_>) -> Option<Box<Status>> {
        let first = self.0.first()?;
        let mut status = forbidden(target, &first.text);
        status.message.clone_from(&first.text);
        if let Some(reason) = first.reason {
            status.reason = reason.as_str().to_owned();
        }
        let causes = self.0.into_iter().map(|failure| StatusCause {
            message: failure.text,
            ..StatusCause::default()
        });
        if let Some(details) = &mut status.details {
            details.causes.extend(causes);
        }
        Some(Box::new(status))
    }
}

/// An error of the server, not of a policy.
pub(super) fn internal(error: &str) -> Status {
    let message = format!("Internal error occurred: {error}");
    let mut status = Status::failure(Reason::InternalError, message);
    status.details = Some(pratique_types::StatusDetails {
        causes: vec![StatusCause {
            message: error.to_owned(),
            ..StatusCause::default()
        }],
        ..Default::default()
    });
    status
}
