//! Expressions that a large object can make cost more than they may.
//!
//! An evaluation that costs too much fails: a policy that fails closed then denies the object, one that fails open
//! lets it in, whatever it holds.

use crate::cost::{Costs, ExpressionCost};
use crate::lint::Lint;
use crate::report::{Finding, Report};
use crate::subject::{Policy, Role, path};

pub(crate) const LINT: Lint = Lint {
    name: "cost-limit",
    summary: "A large object can make an expression, or a policy as a whole, cost about as much as it may, or more.",
};

/// What the match conditions of a policy may cost together.
const CONDITIONS: u64 = 2_500_000;
/// What all else of a policy may cost together, for one binding.
const POLICY: u64 = 10_000_000;

pub(crate) fn check(policy: &Policy<'_>, report: &mut Report) {
    let costs = Costs::new(&policy.sites, &policy.rules);
    let mut alone = false;
    for (index, site) in policy.sites.iter().enumerate() {
        let cost = costs.worst(index, ExpressionCost::LARGE);
        if is_near(cost, ExpressionCost::LIMIT) {
            alone = true;
            let at = |bytes| costs.worst(index, bytes);
            let finding = finding("the expression", cost, ExpressionCost::LIMIT, at, policy);
            report.add(&policy.origin, &site.path, finding);
        }
    }
    // Where single expressions cost too much, sums tell nothing new.
    if alone {
        return;
    }
    let is_condition = |index: usize| {
        policy
            .sites
            .get(index)
            .is_some_and(|site| site.role == Role::Condition)
    };
    let groups = [
        ("the match conditions", "matchConditions", CONDITIONS, true),
        (
            "the expressions of the policy together",
            "matchConstraints",
            POLICY,
            false,
        ),
    ];
    for (what, field, limit, conditions) in groups {
        let sum = |bytes| {
            let own = (0..policy.sites.len()).filter(|index| is_condition(*index) == conditions);
            own.fold(0u64, |sum, index| sum.saturating_add(costs.worst(index, bytes)))
        };
        let cost = sum(ExpressionCost::LARGE);
        if is_near(cost, limit) {
            let finding = finding(what, cost, limit, sum, policy);
            let field = match conditions {
                true => path(&["spec", field]),
                false => path(&["metadata", "name"]),
            };
            report.add(&policy.origin, &field, finding);
        }
    }
}

/// Four fifths of a limit are near it.
fn is_near(cost: u64, limit: u64) -> bool {
    cost >= limit / 5 * 4
}

fn finding(what: &str, cost: u64, limit: u64, at: impl Fn(u64) -> u64, policy: &Policy<'_>) -> Finding {
    let outcome = match policy.ignores_errors {
        true => "lets the request in unseen",
        false => "denies the request",
    };
    let message = match size_that_reaches(limit, &at) {
        Some(0) => {
            let cost = if cost == u64::MAX {
                "more than can be told".to_owned()
            } else {
                cost.to_string()
            };
            format!(
                "{what} may cost {cost} even for a small object, of {limit} that are allowed; more than that {outcome}"
            )
        }
        Some(bytes) => format!(
            "an object of about {} KiB can make {what} cost more than the {limit} that are allowed, which {outcome}",
            bytes.div_ceil(1024)
        ),
        None => format!(
            "an object of {} KiB can make {what} cost {cost}, near the {limit} that are allowed; more than that {outcome}",
            ExpressionCost::LARGE / 1024
        ),
    };
    Finding::new(&LINT, message)
        .help("bound it: test size() first, look through fewer lists, or match fewer objects")
}

/// About how many bytes an object needs for a cost to reach a limit; 0 for none.
fn size_that_reaches(limit: u64, at: &impl Fn(u64) -> u64) -> Option<u64> {
    if at(0) >= limit {
        return Some(0);
    }
    let (mut below, mut reached) = (0, ExpressionCost::LARGE);
    if at(reached) < limit {
        return None;
    }
    while reached - below > 1024 {
        let middle = below + (reached - below) / 2;
        match at(middle) >= limit {
            true => reached = middle,
            false => below = middle,
        }
    }
    Some(reached)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, policy};

    #[track_caller]
    fn check(expression: &str, expected: &[&str]) {
        let spec = format!("validations: [{{expression: \"{expression}\"}}]\n");
        let quoted = format!("\"{expression}\"");
        let expected: Vec<_> = expected.iter().map(|part| (quoted.as_str(), *part)).collect();
        find(&LINT, &policy("CREATE", &spec), &expected);
    }

    #[test]
    fn loops_in_loops() {
        let twice = "object.spec.containers.all(c, object.spec.containers.exists_one(d, c.name == d.name))";
        check(twice, &["cost more than the 1000000"]);
        check(
            "object.metadata.labels.all(k, object.metadata.annotations.exists(a, k == a))",
            &["KiB can make the expression"],
        );
    }

    #[test]
    fn checks_of_authorization() {
        let one = "authorizer.group('').resource('pods').check('get').allowed()";
        check(&format!("{one} || {one} || {one}"), &["even for a small object"]);
        check(one, &[]);
    }

    #[test]
    fn plain_loops() {
        check(
            "object.spec.containers.all(c, c.image.startsWith('example.com/'))",
            &[],
        );
        check(
            "object.spec.containers.all(c, c.env.all(e, e.name != 'a' && e.value != 'b'))",
            &[],
        );
        check("object.metadata.name.matches('^[a-z]+$')", &[]);
        check("request.userInfo.groups.exists(g, g == 'a')", &[]);
    }

    #[test]
    fn policies_as_a_whole() {
        let one = "- expression: object.spec.containers.all(c, c.image.matches('^(a|b|c)[a-z]+$') && c.name.matches('^[a-z]+$') && c.workingDir.matches('^[a-z/]+$'))\n";
        find(&LINT, &policy("CREATE", &format!("validations:\n{one}")), &[]);
        let many = format!("validations:\n{}", one.repeat(150));
        find(
            &LINT,
            &policy("CREATE", &many),
            &[("p.static.k8s.io", "together")],
        );
    }

    #[test]
    fn conditions_together() {
        let check = "authorizer.group('').resource('pods').check('get').allowed()";
        let condition = |index: usize| format!("- {{name: c{index}, expression: \"{check} || {check}\"}}\n");
        let conditions: String = (0..4).map(condition).collect();
        let spec = format!("matchConditions:\n{conditions}validations: [{{expression: 'true'}}]");
        let set = crate::lints::testing::load(&policy("CREATE", &spec));
        let found = crate::lint(&[&set]);
        let own: Vec<_> = found.iter().filter(|warning| warning.lint == &LINT).collect();
        assert_eq!(own.len(), 1, "{own:?}");
        assert!(own[0].message.contains("the match conditions"), "{own:?}");
    }
}
