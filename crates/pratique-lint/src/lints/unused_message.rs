//! Messages that the server does not use.
//!
//! # What
//!
//! A `messageExpression` has a value that is no message: it is empty, has several lines, or more than 5,120 bytes; or it fails,
//! whatever the object is, since a function in it takes no values of their types.
//!
//! # Why
//!
//! The server takes the `message` instead, or the text of the expression if there is none, and tells nobody. The person whose
//! request is denied reads `failed expression: …`.
//!
//! The warning is only given if every message of the expression was so, over generated objects that the validation denies. Where
//! it denies none of them, messages count that have no condition within them.
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

use pratique_cel::ast::{Ast, Expr};
use pratique_expression::ExpressionPurpose;
use pratique_types::cel_limits::{MAX_MESSAGE_BYTES, MessageFault};

use crate::lint::{Lint, LintContext, PolicySubject};
use crate::lint_meta::LintMeta;
use crate::observations::UselessMessage;
use crate::report::{LintFinding, LintReport};
use crate::typing::{type_of, type_stored_sites};

/// The lint `unused-message`.
pub(crate) struct UnusedMessage;

impl Lint for UnusedMessage {
    const META: &'static LintMeta = &LintMeta {
        name: "unused-message",
        summary: "A messageExpression gives no text that the server uses: it is empty, has several lines, is too long, or always fails.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(subject) = context.policy() else { return };
        let policy = subject.policy;
        let sites = policy.sites.iter().enumerate();
        for (index, site) in sites.filter(|(_, site)| site.usage == ExpressionPurpose::Message) {
            let Some(useless) = useless_message(subject, index) else {
                continue;
            };
            let (what, help) = match &useless {
                UselessMessage::Fault(fault) => describe_fault(*fault),
                UselessMessage::Failing { text, .. } => (
                    format!("it fails for every object with \"{text}\""),
                    "no text is made of quantities, lists and maps by string(…): write what they are made of, or a part of them",
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

/// What is wrong with all messages of an expression, if nothing else tells it.
fn useless_message(subject: &PolicySubject<'_>, index: usize) -> Option<UselessMessage> {
    let observations = subject.observations();
    let useless = observations.useless_message(index).or_else(|| {
        let ast = subject.parsed().asts.get(index)?.as_ref()?;
        let fault = observations.idle_message(index)?;
        // A field may be empty in one object, and not in another.
        (fault != MessageFault::Empty && has_one_form(ast)).then_some(UselessMessage::Fault(fault))
    })?;
    match &useless {
        UselessMessage::Failing { expressions, .. } if is_type_error(subject, index, expressions) => None,
        _ => Some(useless),
    }
}

/// Whether a message is made in one way, whatever the object is: what it is for a validation that holds has the form of what it
/// would be otherwise.
fn has_one_form(ast: &Ast) -> bool {
    const CHOICES: [&str; 4] = ["_?_:_", "_?._", "_[?_]", "orValue"];
    ast.ids().all(|id| match ast.expr(id) {
        Expr::Call { function, .. } => !CHOICES.contains(&&**function),
        Expr::Ident(name) => &**name != "variables",
        Expr::Comprehension(_) => false,
        _ => true,
    })
}

/// Whether the types of a kind show that a message or what it reads fails, which is told by `type-check`.
fn is_type_error(subject: &PolicySubject<'_>, index: usize, expressions: &[usize]) -> bool {
    let release = subject.policy.release;
    let kinds = subject.kinds().builtin.iter();
    let mut objects = kinds.filter_map(|served| type_of(release, &served.kind));
    objects.any(|object| {
        let typed = type_stored_sites(release, &subject.policy.sites, subject.parsed(), &object);
        let mut failing = expressions.iter().chain([&index]);
        failing.any(|at| typed.get(*at).is_some_and(|typed| typed.checked.is_err()))
    })
}

fn describe_fault(fault: MessageFault) -> (String, &'static str) {
    match fault {
        MessageFault::Empty => (
            "it is empty".to_owned(),
            "write a text, or leave messageExpression out",
        ),
        MessageFault::SeveralLines => (
            "it has several lines".to_owned(),
            "write the message on one line: join texts with '; ' in place of line breaks",
        ),
        MessageFault::TooLong => (
            format!("it has more than {MAX_MESSAGE_BYTES} bytes"),
            "name the first of what is wrong, as in list.filter(x, …)[0].name, and not all of it",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check_whole, policy};

    #[track_caller]
    fn check(message: &str, expected: &[&str]) {
        check_of("object.spec.hostNetwork != true", message, expected);
    }

    #[track_caller]
    fn check_of(validation: &str, message: &str, expected: &[&str]) {
        let spec =
            format!("validations: [{{expression: \"{validation}\", messageExpression: \"{message}\"}}]");
        check_whole(UnusedMessage::META, &policy("CREATE", &spec), message, expected);
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

    #[test]
    fn messages_that_fail_for_other_objects() {
        check(
            r"'no:\\n' + object.metadata.labels['a']",
            &["it has several lines"],
        );
        check("'no ' + object.metadata.labels['a']", &[]);
    }

    #[test]
    fn messages_that_fail_for_all_objects() {
        let of_quantity = "'no ' + string(dyn(quantity('1Gi')))";
        check(
            of_quantity,
            &["it fails for every object with \"no such overload"],
        );
        // Told by type-check.
        check("'no ' + string(object.spec.containers)", &[]);
        // Objects may have it, or another value.
        check("'no ' + object.spec.nodeSelector['never']", &[]);
        check("'no ' + string(int(object.metadata.name))", &[]);
        check("'no ' + string(dyn(quantity('1Gi')).asApproximateFloat())", &[]);
    }

    #[test]
    fn messages_of_what_no_object_violates() {
        let holds = "object.metadata.name.size() < 1000";
        check_of(
            holds,
            r"'no:\\n' + object.metadata.name",
            &["it has several lines"],
        );
        check_of(holds, "'no ' + object.metadata.name", &[]);
        // A field may be empty in one object, and not in another.
        check_of(holds, "object.spec.hostname.replace('example', '')", &[]);
        // It may have another form where the validation is violated.
        check_of(holds, "object.metadata.name == 'a' ? 'no' : ''", &[]);
        check_of(
            holds,
            "object.spec.containers.filter(c, c.image == 'a').map(c, c.name).join(', ')",
            &[],
        );
    }
}
