//! The outcome of a request when it was made.

use std::fmt::{self, Display, Formatter};

use pratique_types::AdmissionResponse;

use crate::event::AuditEvent;

/// The outcome of a request when it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RecordedOutcome {
    /// It is not known.
    #[default]
    Unknown,
    /// It was carried out, or allowed.
    Allowed,
    /// Admission refused it.
    Refused(RecordedRefusal),
    /// It failed in another way, such as by the server's own validation, or a conflict.
    Failed {
        /// The HTTP code.
        code: i64,
        /// Why.
        message: String,
    },
}

/// A refusal by admission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRefusal {
    /// What refused the request.
    pub by: RefusedBy,
    /// The HTTP code.
    pub code: i64,
    /// The message for the user.
    pub message: String,
}

/// What refused a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefusedBy {
    /// A validating admission policy.
    ValidatingPolicy(String),
    /// A mutating admission policy.
    MutatingPolicy(String),
    /// A webhook, by an answer or because it failed.
    Webhook(String),
    /// A built-in admission plugin; which one, the answer does not say.
    Plugin,
    /// Admission, as a recorded review has it: by whom, it does not say.
    Recorded,
}

impl RefusedBy {
    /// Whether a policy refused it.
    pub fn is_policy(&self) -> bool {
        matches!(
            self,
            RefusedBy::ValidatingPolicy(_) | RefusedBy::MutatingPolicy(_)
        )
    }

    /// The policy or webhook that a message names as the one that refused; `None` if it names none.
    // Upstream: plugin/policy/validating/dispatcher.go, Dispatch; plugin/policy/generic/policy_dispatcher.go,
    // PolicyError.Error; plugin/webhook/errors/statuserror.go, ToStatusErr; plugin/webhook/errors.go, ErrCallingWebhook
    pub fn of_message(message: &str) -> Option<Self> {
        let between = |prefix: &str, quote: char| {
            let (_, rest) = message.split_once(prefix)?;
            let (name, _) = rest.split_once(quote)?;
            Some(name.to_owned())
        };
        if let Some(name) = between("ValidatingAdmissionPolicy '", '\'') {
            return Some(RefusedBy::ValidatingPolicy(name));
        }
        if let Some(name) =
            between("admission webhook \"", '"').or_else(|| between("failed calling webhook \"", '"'))
        {
            return Some(RefusedBy::Webhook(name));
        }
        let denied = message.contains(" denied request: ");
        let name = between("policy '", '\'').or_else(|| between("policy \"", '"'));
        name.filter(|_| denied).map(RefusedBy::MutatingPolicy)
    }
}

impl Display for RefusedBy {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            RefusedBy::ValidatingPolicy(name) => write!(formatter, "validating policy {name}"),
            RefusedBy::MutatingPolicy(name) => write!(formatter, "mutating policy {name}"),
            RefusedBy::Webhook(name) => write!(formatter, "webhook {name}"),
            RefusedBy::Plugin => formatter.write_str("an admission plugin"),
            RefusedBy::Recorded => formatter.write_str("admission"),
        }
    }
}

impl RecordedOutcome {
    /// The outcome of the request of an event.
    pub fn from_event(event: &AuditEvent<'_>) -> Self {
        let Some(status) = &event.response_status else {
            return RecordedOutcome::Unknown;
        };
        let (code, message) = (status.code, status.message.clone());
        match code {
            // 101: a connection that was upgraded.
            100..=399 => RecordedOutcome::Allowed,
            ..100 => RecordedOutcome::Unknown,
            _ => {
                // Plugins refuse with 403 whatever the authorizer allowed; quotas of the built-in plugins do, too.
                let by = RefusedBy::of_message(&message);
                match by.or((code == 403).then_some(RefusedBy::Plugin)) {
                    Some(by) => RecordedOutcome::Refused(RecordedRefusal { by, code, message }),
                    None => RecordedOutcome::Failed { code, message },
                }
            }
        }
    }

    /// The outcome of a recorded review.
    pub fn of_response(response: Option<&AdmissionResponse>) -> Self {
        let Some(response) = response else {
            return RecordedOutcome::Unknown;
        };
        if response.allowed {
            return RecordedOutcome::Allowed;
        }
        let result = response.result.as_ref();
        let message = result.map(|result| result.message.clone()).unwrap_or_default();
        RecordedOutcome::Refused(RecordedRefusal {
            by: RefusedBy::of_message(&message).unwrap_or(RefusedBy::Recorded),
            code: result.map_or(403, |result| i64::from(result.code)),
            message,
        })
    }

    /// A word for it: `allowed`, `denied`, `failed`, `unknown`.
    pub fn word(&self) -> &'static str {
        match self {
            RecordedOutcome::Unknown => "unknown",
            RecordedOutcome::Allowed => "allowed",
            RecordedOutcome::Refused(_) => "denied",
            RecordedOutcome::Failed { .. } => "failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_who_refused() {
        let by = |message: &str| RefusedBy::of_message(message).map(|by| by.to_string());
        for (message, expected) in [
            (
                r#"pods "a" is forbidden: ValidatingAdmissionPolicy 'few' with binding 'all' denied request: too many"#,
                Some("validating policy few"),
            ),
            (
                r#"pods "a" is forbidden: policy 'set' with binding 'all' denied request: invalid"#,
                Some("mutating policy set"),
            ),
            (
                r#"admission webhook "a.example.com" denied the request: no"#,
                Some("webhook a.example.com"),
            ),
            (
                r#"Internal error occurred: failed calling webhook "b": failed to call webhook: EOF"#,
                Some("webhook b"),
            ),
            (
                r#"pods "a" is forbidden: violates PodSecurity "restricted:latest": hostNetwork"#,
                None,
            ),
            (r#"pods "policy 'a'" not found"#, None),
            ("", None),
        ] {
            assert_eq!(by(message).as_deref(), expected, "{message}");
        }
    }
}
