//! Messages that the server does not use.
//!
//! # What
//!
//! A `messageExpression` has a value that is no message: it is empty, has several lines, or more than 5,120 bytes.
//!
//! # Why
//!
//! The server takes the `message` instead, or the text of the expression if there is none, and tells nobody. The person whose
//! request is denied reads `failed expression: …`.
//!
//! The warning is only given if every message of the expression was so, over generated objects that the validation denies.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: few}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE]}]
//!   validations:
//!   - expression: "!object.spec.template.spec.?hostNetwork.orValue(false)"
//!     messageExpression: "'no host network:\\n' + object.metadata.name"
//! ```
//!
//! Write the message on one line. A text that ends with a line break is fine: blanks at both ends are removed.

use pratique_expression::Use;
use pratique_types::cel_limits::{MAX_MESSAGE_BYTES, MessageFault};

use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};

/// The lint `unused-message`.
pub(crate) struct UnusedMessage;

impl Lint for UnusedMessage {
    const META: &'static LintMeta = &LintMeta {
        name: "unused-message",
        summary: "A messageExpression gives a text that the server does not use: empty, of several lines, or too long.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(subject) = context.policy() else { return };
        let policy = subject.policy;
        let sites = policy.sites.iter().enumerate();
        for (index, site) in sites.filter(|(_, site)| site.usage == Use::Message) {
            let Some(fault) = subject.observations().unused_message(index) else {
                continue;
            };
            let too_long = format!("it has more than {MAX_MESSAGE_BYTES} bytes");
            let (what, help) = match fault {
                MessageFault::Empty => ("it is empty", "write a text, or leave messageExpression out"),
                MessageFault::SeveralLines => (
                    "it has several lines",
                    "write the message on one line: join texts with '; ' in place of line breaks",
                ),
                MessageFault::TooLong => (
                    too_long.as_str(),
                    "name the first of what is wrong, as in list.filter(x, …)[0].name, and not all of it",
                ),
            };
            let message = format!(
                "the message is never used, since {what}: the server takes message, or the text of the expression"
            );
            let finding = LintFinding::new(Self::META, message).help(help);
            report.add(&policy.origin, &site.path, finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, policy};

    #[track_caller]
    fn check(message: &str, expected: &[&str]) {
        let quoted = format!("\"{message}\"");
        let expected: Vec<(&str, &str)> = expected.iter().map(|part| (quoted.as_str(), *part)).collect();
        let spec = format!(
            "validations: [{{expression: \"object.spec.hostNetwork != true\", messageExpression: \"{message}\"}}]"
        );
        find(UnusedMessage::META, &policy("CREATE", &spec), &expected);
    }

    #[test]
    fn messages_that_are_no_messages() {
        check(r"'no:\\n' + object.metadata.name", &["it has several lines"]);
        check("' '", &["it is empty"]);
        let long = format!("'{}'", "too long ".repeat(600));
        check(&long, &["it has more than 5120 bytes"]);
    }

    #[test]
    fn messages_that_are_used() {
        check(r"'no: ' + object.metadata.name + '\\n'", &[]);
        // Of some objects only.
        check("has(object.spec.hostPID) ? '' : 'no'", &[]);
    }
}
