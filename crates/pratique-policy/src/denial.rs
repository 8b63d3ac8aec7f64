//! The status of a denied request.

use pratique_json::Value;
use pratique_match::{Target, labels_of};
use pratique_types::{Reason, Status, StatusCause, status};

use crate::cause::DenialCause;

/// A denial by a policy.
#[derive(Debug)]
pub(crate) struct PolicyDenial {
    pub(crate) policy: String,
    pub(crate) binding: Option<String>,
    pub(crate) message: String,
    pub(crate) reason: Option<String>,
    pub(crate) cause: DenialCause,
}

impl PolicyDenial {
    /// The status that the user gets.
    pub(crate) fn status(&self, target: &Target<'_>) -> Status {
        let message = self.to_text();
        let mut status = forbidden(target, &message);
        status.reason = match self.reason.as_deref() {
            None | Some("") => Reason::Invalid.as_str().to_owned(),
            Some(reason) => reason.to_owned(),
        };
        status.code = code_of(&status.reason);
        if let Some(details) = &mut status.details {
            details.causes.push(StatusCause {
                message,
                ..StatusCause::default()
            });
        }
        status
    }

    fn to_text(&self) -> String {
        let PolicyDenial { policy, message, .. } = self;
        match &self.binding {
            Some(binding) => format!(
                "ValidatingAdmissionPolicy '{policy}' with binding '{binding}' denied request: {message}"
            ),
            None => format!("ValidatingAdmissionPolicy '{policy}' denied request: {message}"),
        }
    }
}

/// `pods "p" is forbidden: …`
pub(crate) fn forbidden(target: &Target<'_>, message: &str) -> Status {
    status::forbidden(target.resource, name_of(target), message)
}

/// The name of the request's object, which the server may have yet to generate.
fn name_of<'r>(target: &Target<'r>) -> &'r str {
    if !target.name.is_empty() {
        return target.name;
    }
    if target.object.is_null() {
        return "Unknown";
    }
    if labels_of(target.kind, target.object).is_none() {
        return "Unknown/errorGettingName";
    }
    let text = |field| target.object.at(&["metadata", field]).and_then(Value::as_str);
    let names = [text("name"), text("generateName")];
    let mut names = names.into_iter().flatten().filter(|name| !name.is_empty());
    names.next().unwrap_or("Unknown")
}

fn code_of(reason: &str) -> i32 {
    let reasons = [
        Reason::Forbidden,
        Reason::Unauthorized,
        Reason::RequestEntityTooLarge,
    ];
    let reason = reasons.into_iter().find(|known| known.as_str() == reason);
    reason.unwrap_or(Reason::Invalid).code()
}
