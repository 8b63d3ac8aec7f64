//! Quantities that are taken for numbers or for texts.
//!
//! # What
//!
//! An expression makes a number of a quantity (`int(c.resources.limits.cpu)`), which fails for `500m` and `1Gi`, or compares a
//! quantity with a text (`c.resources.limits.memory < '1Gi'`), letter by letter; or one of a built-in kind is to be equal to a text
//! that no server writes (`c.resources.limits.cpu == '1000m'`, which is `1`).
//!
//! # Why
//!
//! The server stores quantities as they are written, apart from their canonical form: `2` and `2000m` become `2`, and `0.5`
//! becomes `500m`. The request is denied, or allowed if `failurePolicy` is `Ignore`; as texts, `9Mi` is more than `10Gi`.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: cpu}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//!   validations: [{expression: "object.spec.containers.all(c, !has(c.resources.limits) || !has(c.resources.limits.cpu) || int(c.resources.limits.cpu) <= 4)"}]
//! ```
//!
//! Compare quantities: `quantity(c.resources.limits.cpu).compareTo(quantity('4')) <= 0`.

use std::collections::BTreeMap;

use pratique_cel::Issue;
use pratique_cel::ast::{Ast, Expr, ExprId};
use pratique_gotext::quantity::Quantity;
use pratique_types::GroupVersionKind;

use super::type_check::kinds_text;
use crate::analysis::{TextRange, chain_place, constant_key};
use crate::lint::{Lint, LintContext, PolicySubject};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::subject::RuleView;

/// The lint `quantity-as-text`.
pub(crate) struct QuantityAsText;

const HELP: &str =
    "compare quantities: quantity(…).compareTo(quantity('4')) <= 0, or isLessThan, isGreaterThan";

impl Lint for QuantityAsText {
    const META: &'static LintMeta = &LintMeta {
        name: "quantity-as-text",
        summary: "An expression makes a number of a quantity, which fails for fractions, or compares one with a text.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        if let Some(subject) = context.evaluated() {
            check_conversions(subject, report);
            check_comparisons(subject, report);
            check_equalities(subject, report);
        }
    }
}

/// What fails once quantities are fractions.
fn check_conversions(subject: &PolicySubject<'_>, report: &mut LintReport) {
    let policy = subject.policy;
    let mut failures: BTreeMap<(usize, PlaceKey, String, String), Vec<GroupVersionKind>> = BTreeMap::new();
    for kind in &subject.observations().kinds {
        for (site, node, text) in kind.failures_of_fractions() {
            let Some(Some(ast)) = subject.parsed().asts.get(site) else {
                continue;
            };
            let (place, name) = chain_place(ast, argument(ast, node));
            let kinds = failures
                .entry((site, (place.start, place.end), name, text))
                .or_default();
            kinds.push(kind.served.kind.clone());
        }
    }
    for ((index, (start, end), name, text), kinds) in failures {
        let Some(site) = policy.sites.get(index) else {
            continue;
        };
        let outcome = policy.outcome_of_errors(site.usage);
        let message = format!(
            "{}: {name} is a quantity, such as 500m or 1Gi: then \"{text}\", and {outcome}",
            kinds_text(&kinds)
        );
        let finding = LintFinding::new(QuantityAsText::META, message).help(HELP);
        report.add_in(&policy.origin, &site.path, start..end, finding);
    }
}

/// A range that has an order.
type PlaceKey = (usize, usize);

/// The value that a call converts; the node itself otherwise.
fn argument(ast: &Ast, node: ExprId) -> ExprId {
    match ast.expr(node) {
        Expr::Call {
            args, target: None, ..
        } => args.first().copied().unwrap_or(node),
        Expr::Call {
            target: Some(target), ..
        } => argument(ast, *target),
        _ => node,
    }
}

/// Comparisons of a quantity with a text that is one.
fn check_comparisons(subject: &PolicySubject<'_>, report: &mut LintReport) {
    let policy = subject.policy;
    for (site, ast) in policy.sites.iter().zip(&subject.parsed().asts) {
        let Some(ast) = ast else { continue };
        for (place, name) in compared(ast) {
            let message = format!(
                "{name} is a quantity: it is compared letter by letter, so that 9Mi is more than 10Gi"
            );
            let finding = LintFinding::new(QuantityAsText::META, message).help(HELP);
            report.add_in(&policy.origin, &site.path, place, finding);
        }
    }
}

/// Comparisons of a quantity with a constant that no server writes so: it has one form for each, the shortest.
fn check_equalities(subject: &PolicySubject<'_>, report: &mut LintReport) {
    let policy = subject.policy;
    // Those of custom resources stay as they were written.
    if !policy.rules.iter().all(RuleView::is_builtin_only) {
        return;
    }
    for (site, ast) in policy.sites.iter().zip(&subject.parsed().asts) {
        let Some(ast) = ast else { continue };
        for (amount, written, canonical) in ast.ids().flat_map(|id| find_unequal(ast, id)) {
            let (place, name) = chain_place(ast, amount);
            let message = format!(
                "{name} is a quantity, which the server writes as {canonical}: it is never '{written}'"
            );
            let help = format!(
                "compare with '{canonical}', or quantities: quantity(…).compareTo(quantity('{written}')) == 0"
            );
            let finding = LintFinding::new(QuantityAsText::META, message).help(help);
            report.add_in(&policy.origin, &site.path, place, finding);
        }
    }
}

/// The function of a node with two operands, and these.
fn binary_call(ast: &Ast, id: ExprId) -> Option<(&str, ExprId, ExprId)> {
    let Expr::Call {
        function,
        target: None,
        args,
    } = ast.expr(id)
    else {
        return None;
    };
    let [left, right] = args.as_slice() else {
        return None;
    };
    Some((function, *left, *right))
}

/// The amounts that a node compares with a constant for being equal, with the constant and its canonical form, where that is
/// another one.
fn find_unequal(ast: &Ast, id: ExprId) -> Vec<(ExprId, String, String)> {
    let Some((function, left, right)) = binary_call(ast, id) else {
        return Vec::new();
    };
    let (amount, constants) = match function {
        "_==_" | "_!=_" if is_amount(ast, left) => (left, vec![right]),
        "_==_" | "_!=_" if is_amount(ast, right) => (right, vec![left]),
        "@in" if is_amount(ast, left) => match ast.expr(right) {
            Expr::List { elements, .. } => (left, elements.clone()),
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let constants = constants
        .into_iter()
        .filter_map(|constant| constant_key(ast, constant));
    let others = constants.filter_map(|written| {
        let canonical = Quantity::parse(written).ok()?.to_string();
        (canonical != written).then(|| (amount, written.to_owned(), canonical))
    });
    others.collect()
}

/// Where the quantities are, and how they are read.
fn compared(ast: &Ast) -> Vec<(TextRange, String)> {
    let places = ast.ids().filter_map(|id| {
        let (function, left, right) = binary_call(ast, id)?;
        let is_order = matches!(function, "_<_" | "_<=_" | "_>_" | "_>=_");
        let is_quantity = |id| constant_key(ast, id).is_some_and(|text| Quantity::parse(text).is_ok());
        let operand = match (is_quantity(left), is_quantity(right)) {
            (true, false) => right,
            (false, true) => left,
            _ => return None,
        };
        (is_order && is_amount(ast, operand)).then(|| chain_place(ast, operand))
    });
    places.collect()
}

/// Help for a fault of types that is a quantity compared with a number: a number that is made of one fails for fractions.
pub(super) fn help_for_quantity(asts: &[Option<Ast>], index: usize, issue: &Issue) -> Option<&'static str> {
    let ast = asts.get(index)?.as_ref()?;
    let is_compared = |id: ExprId| {
        let Some((function, left, right)) = binary_call(ast, id) else {
            return false;
        };
        let is_comparison = matches!(function, "_<_" | "_<=_" | "_>_" | "_>=_" | "_==_" | "_!=_");
        let is_here = ast.source.position(ast.node(id).offset) == issue.position;
        is_comparison && is_here && (is_amount(ast, left) || is_amount(ast, right))
    };
    let is_mismatch = issue.message.starts_with("found no matching overload");
    (is_mismatch && ast.ids().any(is_compared)).then_some(HELP)
}

/// Whether a chain reads an amount of a resource: `c.resources.limits.memory`, `object.spec.capacity['storage']`.
fn is_amount(ast: &Ast, id: ExprId) -> bool {
    const MAPS: [&str; 5] = ["limits", "requests", "capacity", "allocatable", "hard"];
    let holder = match ast.expr(id) {
        Expr::Select { operand, .. } => *operand,
        Expr::Call { function, args, .. } if matches!(&**function, "_[_]" | "_?._" | "_[?_]") => {
            match args.first() {
                Some(operand) => *operand,
                None => return false,
            }
        }
        Expr::Call {
            function,
            target: Some(target),
            ..
        } if matches!(&**function, "orValue" | "value") => {
            return is_amount(ast, *target);
        }
        _ => return false,
    };
    match ast.expr(holder) {
        Expr::Select { field, .. } => MAPS.contains(&&**field),
        Expr::Call { args, .. } => {
            let key = args.get(1).and_then(|key| constant_key(ast, *key));
            key.is_some_and(|key| MAPS.contains(&key))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, first_help, policy, webhook};

    #[track_caller]
    fn check(condition: &str, expected: &[(&str, &str)]) {
        let spec = format!(
            "validations: [{{expression: \"object.spec.containers.all(c, !has(c.resources.limits) || !('cpu' in c.resources.limits) || {condition})\"}}]"
        );
        find(QuantityAsText::META, &policy("CREATE", &spec), expected);
    }

    #[test]
    fn numbers_and_texts() {
        check(
            "int(c.resources.limits.cpu) <= 4",
            &[(
                "c.resources.limits.cpu",
                "c.resources.limits.cpu is a quantity, such as 500m or 1Gi: then \"type conversion error",
            )],
        );
        check(
            "quantity(c.resources.limits.cpu).asInteger() <= 4",
            &[("c.resources.limits.cpu", "is a quantity, such as 500m")],
        );
        check(
            "c.resources.limits.cpu < '4'",
            &[("c.resources.limits.cpu", "letter by letter")],
        );
        check(
            "c.resources.limits['cpu'] < '4'",
            &[("c.resources.limits['cpu']", "letter by letter")],
        );
    }

    #[test]
    fn numbers_have_the_help_of_quantities() {
        use crate::lints::type_check::TypeCheck;
        let help = |condition: &str| {
            let expression = format!("object.spec.containers.all(c, {condition})");
            first_help(TypeCheck::META, &expression)
        };
        for condition in [
            "!has(c.resources.limits.memory) || c.resources.limits.memory <= 512",
            "4 > c.resources.limits['cpu']",
            "c.?resources.limits.cpu.orValue('0') == 1",
        ] {
            assert_eq!(help(condition), HELP, "{condition}");
        }
        assert_ne!(help("c.name <= 512"), HELP);
    }

    #[test]
    fn forms_that_no_server_writes() {
        check(
            "c.resources.limits.cpu == '1000m'",
            &[(
                "c.resources.limits.cpu",
                "which the server writes as 1: it is never '1000m'",
            )],
        );
        check(
            "c.resources.?limits.memory.orValue('') != '1024Mi'",
            &[("c.resources.?limits.memory", "as 1Gi: it is never '1024Mi'")],
        );
        check(
            "c.resources.limits['cpu'] in ['1', '0.5']",
            &[("c.resources.limits['cpu']", "as 500m: it is never '0.5'")],
        );
        for canonical in [
            "c.resources.limits.cpu == '1'",
            "c.resources.limits.cpu in ['500m', '2']",
            "c.resources.?limits.memory.orValue('') != ''",
            "c.name != '1000m'",
        ] {
            check(canonical, &[]);
        }
    }

    #[test]
    fn places_of_optional_values() {
        check(
            "int(c.?resources.limits.cpu.orValue('1')) < 4",
            &[("c.?resources.limits.cpu", "c.?resources.limits.cpu is a quantity")],
        );
        check(
            "c.resources.?limits['memory'].orValue('0') <= '1Gi'",
            &[(
                "c.resources.?limits['memory']",
                "c.resources.?limits['memory'] is a quantity",
            )],
        );
    }

    #[test]
    fn conditions_of_webhooks() {
        let limit = "object.spec.containers.all(c, int(c.?resources.limits.cpu.orValue('1')) < 4)";
        let hook = webhook("Validating", "pods", "CREATE", limit);
        let set = crate::lints::testing::load(&hook);
        let warnings = crate::lint(&[&set]);
        let is_own = |warning: &&crate::Warning| warning.lint == QuantityAsText::META;
        let messages: Vec<&str> = warnings
            .iter()
            .filter(is_own)
            .map(|warning| warning.message.as_str())
            .collect();
        assert!(
            messages.len() == 1 && messages[0].contains("is a quantity, such as 500m or 1Gi"),
            "{messages:?}"
        );
    }

    #[test]
    fn quantities() {
        for condition in [
            "quantity(c.resources.limits.cpu).compareTo(quantity('4')) <= 0",
            "quantity(c.resources.limits.cpu).asApproximateFloat() <= 4.0",
            "c.resources.limits.cpu == '1'",
            "c.name < '4'",
            "!c.resources.limits.cpu.matches('^[0-9]+$') || int(c.resources.limits.cpu) <= 4",
            "int(object.metadata.labels['n']) < 4",
        ] {
            check(condition, &[]);
        }
    }
}
