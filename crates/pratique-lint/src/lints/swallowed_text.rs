//! Comments that swallow the rest of an expression.
//!
//! # What
//!
//! An expression stands on several lines of a YAML scalar whose lines are joined: a folded block (`>`), or a plain or
//! quoted scalar. A comment on one of them then ends with the expression instead of with its line, and the lines after it are
//! not part of the expression.
//!
//! The warning is given where these lines would be part of the expression if the comment ended with its line. A comment that is
//! itself on several lines gives none.
//!
//! # Why
//!
//! The expression still compiles, and does less than it seems to: the policy below lets every privileged container in.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: hosts}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//!   validations:
//!   - expression: >-
//!       !object.spec.?hostNetwork.orValue(false) // no network of the host
//!       && object.spec.containers.all(c, !c.?securityContext.?privileged.orValue(false))
//! ```
//!
//! Keep the lines apart with a literal block, `expression: |`.

use pratique_manifest::{LITERAL_BLOCK, SwallowedText};

use crate::analysis::parse_site;
use crate::definition_rules::report_swallowed_text;
use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::subject::ExpressionSite;

/// The lint `swallowed-text`.
pub(crate) struct SwallowedTextLint;

impl Lint for SwallowedTextLint {
    const META: &'static LintMeta = &LintMeta {
        name: "swallowed-text",
        summary: "A comment swallows the lines of an expression that stand after it, as YAML joins them.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        if let Some(definition) = context.definition() {
            report_swallowed_text(definition, Self::META, report);
        }
        let Some(group) = context.expression_group() else {
            return;
        };
        for site in group.sites {
            let swallowed = SwallowedText::find_all(group.origin.source, &site.path);
            let Some(first) = swallowed.first().filter(|_| is_meant(site, &swallowed)) else {
                continue;
            };
            let locate = |offset| group.origin.source.locate_in(&site.path, offset).start.line;
            let message = format!(
                "the comment of line {} goes on to the end of the expression, whose lines YAML joins: what stands on line \
                 {} is never evaluated",
                locate(first.comment.start),
                locate(first.lost.start)
            );
            let finding = LintFinding::new(Self::META, message).help(LITERAL_BLOCK);
            report.add_in(group.origin, &site.path, first.lost.clone(), finding);
        }
    }
}

/// Whether the lost lines are a part of an expression, rather than of a comment on several lines.
fn is_meant(site: &ExpressionSite<'_>, swallowed: &[SwallowedText]) -> bool {
    let unfolded = ExpressionSite {
        text: &SwallowedText::unfold(site.text, swallowed),
        ..site.clone()
    };
    let continues = |text: &SwallowedText| {
        let lost = site.text.get(text.lost.clone()).unwrap_or_default();
        ["&&", "||", "? ", ": ", "== ", "!= "]
            .iter()
            .any(|operator| lost.starts_with(operator))
    };
    parse_site(&unfolded).is_some() || swallowed.iter().any(continues)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, policy};

    #[track_caller]
    fn check(expression: &str, expected: &[(&str, &str)]) {
        let spec = format!("validations:\n- expression: {expression}\n");
        find(SwallowedTextLint::META, &policy("CREATE", &spec), expected);
    }

    #[test]
    fn lines_that_are_lost() {
        let folded = ">-\n    has(object.spec) // all have it\n    && object.metadata.name != 'a'";
        check(folded, &[("&& object.metadata.name != 'a'", "never evaluated")]);
        check(
            &folded.replacen(">-\n    ", "", 1),
            &[("&& object.metadata.name != 'a'", "line 10")],
        );
        check(
            "\"true // é\n    && false\"",
            &[("&& false", "the comment of line 9")],
        );
        check(
            "'true // it''s so\n    && false'",
            &[("&& false", "line 10 is never evaluated")],
        );
        check(">-\n    true // so\n    // and\n    || (", &[("|| (", "line 12")]);
    }

    #[test]
    fn lines_that_are_not() {
        for expression in [
            "|-\n    has(object.spec) // all have it\n    && object.metadata.name != 'a'",
            ">-\n    has(object.spec)\n    && object.metadata.name != 'a' // a comment",
            ">-\n    has(object.spec) // a comment that\n    is on two lines",
            ">-\n    has(object.spec) // a comment that\n    // is on two lines",
            ">-\n    object.metadata.name != 'http://a'\n    && object.metadata.name != 'b'",
            ">-\n    has(object.spec) // more indented lines are not joined\n      && true",
            "\"true // so\\n && false\"",
        ] {
            check(expression, &[]);
        }
    }

    #[test]
    fn all_expressions() {
        let spec = "matchConditions:\n- name: c\n  expression: >-\n    true // so\n    && false\nvariables:\n- name: v\n  \
                    expression: >-\n    1 // so\n    + 1\nvalidations:\n- expression: variables.v == 1\n  messageExpression: \
                    >-\n    'a' // so\n    + 'b'\nauditAnnotations:\n- key: a\n  valueExpression: >-\n    'a' // so\n    + \
                    'c'\n";
        let lost = ["&& false", "+ 1", "+ 'b'", "+ 'c'"].map(|lost| (lost, "never evaluated"));
        find(SwallowedTextLint::META, &policy("CREATE", spec), &lost);
    }
}
