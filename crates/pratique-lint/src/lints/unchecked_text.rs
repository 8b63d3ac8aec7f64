//! Labels and annotations that are converted without a test of their text.
//!
//! # What
//!
//! An expression makes a number, a quantity or a time of a label or an annotation, and fails for a text that is none.
//!
//! The warning is only given if the conversion failed for a generated object: `matches`, `isQuantity` and match conditions count as
//! tests. Labels and annotations of Kubernetes itself (`kubernetes.io`, `k8s.io`) give none, as controllers write them.
//!
//! # Why
//!
//! Whoever may create the object writes any text there. The request is denied with an error that does not name the annotation, or
//! allowed if `failurePolicy` is `Ignore`: then a text that is no number passes what the policy is to refuse.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: levels}
//! spec:
//!   failurePolicy: Ignore
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//!   validations: [{expression: "int(object.metadata.?annotations['level'].orValue('0')) <= 3"}]
//! ```
//!
//! Test the text first: `object.metadata.annotations['level'].matches('^[0-9]+$') && …`, or compare texts.

use std::collections::BTreeMap;

use pratique_cel::ast::{Ast, Expr, ExprId};
use pratique_sample::{ConvertedText, TextConversion};
use pratique_types::GroupVersionKind;

use super::type_check::kinds_text;
use crate::analysis::{TextRange, chain_place};
use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::observations::{NO_KEY, NO_OVERLOAD};
use crate::report::{LintFinding, LintReport};

/// The lint `unchecked-text`.
pub(crate) struct UncheckedText;

/// A conversion that fails.
struct FailedConversion {
    place: TextRange,
    name: String,
    conversion: &'static TextConversion,
    kinds: Vec<GroupVersionKind>,
}

impl Lint for UncheckedText {
    const META: &'static LintMeta = &LintMeta {
        name: "unchecked-text",
        summary: "An expression makes a number, a quantity or a time of a label or an annotation, and fails for other texts.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(subject) = context.evaluated() else {
            return;
        };
        let policy = subject.policy;
        let mut conversions: BTreeMap<(usize, String), FailedConversion> = BTreeMap::new();
        for kind in &subject.observations().kinds {
            for failure in kind.failures() {
                let ast = subject.parsed().asts.get(failure.site).and_then(Option::as_ref);
                let is_other = [NO_KEY, NO_OVERLOAD]
                    .iter()
                    .any(|start| failure.text.starts_with(start));
                let Some(ast) = ast.filter(|_| !is_other) else {
                    continue;
                };
                let Some(converted) = find_conversion(ast, failure.node) else {
                    continue;
                };
                let (place, name) = chain_place(ast, converted.text);
                let conversion = conversions
                    .entry((failure.site, name.clone()))
                    .or_insert_with(|| FailedConversion {
                        place,
                        name,
                        conversion: converted.conversion,
                        kinds: Vec::new(),
                    });
                if !conversion.kinds.contains(&kind.served.kind) {
                    conversion.kinds.push(kind.served.kind.clone());
                }
            }
        }
        for ((index, _), failed) in conversions {
            let Some(site) = policy.sites.get(index) else {
                continue;
            };
            let (kinds, name) = (kinds_text(&failed.kinds), &failed.name);
            let outcome = policy.outcome_of_errors(site.usage);
            let TextConversion { function, test, .. } = failed.conversion;
            let message =
                format!("{kinds}: {name} may be any text: {function}(…) fails for most, and {outcome}");
            let is_optional = [".?", "[?"].iter().any(|sign| name.contains(sign));
            let text = if is_optional {
                format!("{name}.orValue('')")
            } else {
                name.clone()
            };
            let help = if test.starts_with("is") {
                format!("test it first: {test}({text}) && …")
            } else {
                format!("test it first: {text}.{test} && …")
            };
            let finding = LintFinding::new(Self::META, message).help(help);
            report.add_in(&policy.origin, &site.path, failed.place, finding);
        }
    }
}

/// The label or annotation that a node, or what it is called on, converts.
fn find_conversion(ast: &Ast, node: ExprId) -> Option<ConvertedText<'_>> {
    let mut at = node;
    while let Expr::Call {
        target: Some(target), ..
    } = ast.expr(at)
    {
        at = *target;
    }
    ConvertedText::find(ast, at).filter(|converted| !is_of_kubernetes(converted.key))
}

/// Whether controllers of Kubernetes write what has a key.
fn is_of_kubernetes(key: &str) -> bool {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    let mut own = ["kubernetes.io", "k8s.io"].iter();
    own.any(|own| domain == *own || domain.strip_suffix(own).is_some_and(|rest| rest.ends_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, policy};
    use crate::lints::unguarded_field::UnguardedField;

    #[track_caller]
    fn check(condition: &str, expected: &[(&str, &str)]) {
        let spec = format!("validations: [{{expression: \"{condition}\"}}]");
        find(UncheckedText::META, &policy("CREATE", &spec), expected);
    }

    #[test]
    fn conversions_of_any_text() {
        let level = "object.metadata.annotations['level']";
        let has = "!has(object.metadata.annotations) || !('level' in object.metadata.annotations) || ";
        check(
            &format!("{has}int({level}) <= 3"),
            &[(
                level,
                "annotations['level'] may be any text: int(…) fails for most, and the request is denied",
            )],
        );
        check(
            &format!("{has}quantity({level}).isLessThan(quantity('1Gi'))"),
            &[(level, "annotations['level'] may be any text")],
        );
        check(
            "duration(object.metadata.?labels['ttl'].orValue('1h')) < duration('2h')",
            &[("object.metadata.?labels['ttl']", "labels['ttl'] may be any text")],
        );
        // What is behind it is evaluated with a text that it takes.
        let spec =
            format!("validations: [{{expression: \"{has}int({level}) <= 3 && object.spec.hostNetwork\"}}]");
        let behind = [(
            "object.spec.hostNetwork",
            "object.spec.hostNetwork may be left out",
        )];
        find(UnguardedField::META, &policy("CREATE", &spec), &behind);
    }

    #[test]
    fn texts_that_are_tested() {
        let level = "object.metadata.annotations['level']";
        let has = "!has(object.metadata.annotations) || !('level' in object.metadata.annotations) || ";
        check(
            &format!("{has}({level}.matches('^[0-9]+$') && int({level}) <= 3)"),
            &[],
        );
        check(
            &format!("{has}(isQuantity({level}) && quantity({level}).isLessThan(quantity('1Gi')))"),
            &[],
        );
        check(&format!("{has}{level} in ['1', '2', '3']"), &[]);
        // A controller writes it.
        let revision = "object.metadata.?annotations['deployment.kubernetes.io/revision']";
        check(&format!("int({revision}.orValue('0')) < 9"), &[]);
    }
}
