//! Expressions that an object can make cost more than they may.
//!
//! # What
//!
//! Evaluating an expression may cost 1,000,000 at most, all of a policy 10,000,000 for each binding, its match
//! conditions, and those of a webhook, 2,500,000. A policy with `failurePolicy: Ignore` is always reported; that a policy which fails closed
//! denies large objects is only reported with `--warn cost-limit` or `--deny cost-limit`.
//!
//! The warning describes an object of at most 32 KiB that was generated for the policy and evaluated, with its kind,
//! its size and its large parts; it made the expression cost four fifths of the limit or more. `--output json` shows
//! the object itself (`example`). It has the required fields of its kind, values of enumerations and different keys in
//! keyed lists; a server validates more than that. The search covers up to three of the built-in kinds that a policy
//! matches, and ends after a bounded amount of work, so an expression without a warning may still reach the limit:
//! `--explain-cost` shows the estimated maximum cost of an expression, which is often far more than the cost for any
//! real object.
//!
//! # Why
//!
//! Exceeding a limit is an error: a policy with `failurePolicy: Ignore` then allows the request, whatever the object
//! contains.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: different}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//!   failurePolicy: Ignore
//!   validations:
//!   - expression: >-
//!       object.spec.containers.all(c, object.spec.containers.exists_one(d, c.name == d.name))
//! ```
//!
//! This is a loop over all containers in a loop over all containers. Test `size()` first, look through fewer lists, or
//! match fewer objects.

use pratique_expression::ExpressionPurpose;
use pratique_manifest::PathStep;
use pratique_sample::{CostExample, CostGoal, ObjectSpec, PolicyEvaluator, WorkBudget, most_expensive};
use pratique_types::Operation;
use pratique_types::builtin::ServedResource;
use pratique_types::cel_limits::{MATCH_CONDITIONS_BUDGET, RUNTIME_BUDGET};

use crate::cost::{CostEstimates, ExpressionCost};
use crate::interruption::LintInterruption;
use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::options::LintOptions;
use crate::report::{LintFinding, LintReport};
use crate::subject::{ExpressionSite, PolicyView, matched_operations, path};

/// The lint `cost-limit`.
pub(crate) struct CostLimit;

impl Lint for CostLimit {
    const META: &'static LintMeta = &LintMeta {
        name: "cost-limit",
        summary: "An object makes an expression, or a policy as a whole, cost about as much as it may, or more.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        if let Some(subject) = context.evaluated() {
            let mut work = context.work.get();
            check_policy(subject.policy, context.options, &mut work, report);
            context.work.set(work);
        }
    }
}

/// How much work goes into the objects of one policy and kind.
const WORK: u64 = 24_000_000;

/// The most kinds that objects are made of for one policy.
const KINDS: usize = 3;

/// An expression of a policy, or several together, whose cost is limited.
struct LimitedCost {
    label: &'static str,
    field: Vec<PathStep>,
    goal: CostGoal,
    limit: u64,
    /// The most that it costs by estimate, for each kind.
    estimates: Vec<(u64, &'static ServedResource)>,
    /// The object that makes it cost most.
    example: Option<CostExample>,
}

/// Estimates only select candidates; each warning is based on an evaluation over a generated object.
fn check_policy(
    policy: &PolicyView<'_>,
    options: &LintOptions,
    work: &mut WorkBudget,
    report: &mut LintReport,
) {
    if !policy.ignores_errors && !options.is_requested(CostLimit::META) {
        return;
    }
    let mut limited = limited(policy);
    limited.retain(|candidate| {
        candidate
            .estimates
            .iter()
            .any(|(cost, _)| is_near(*cost, candidate.limit))
    });
    if limited.is_empty() {
        return;
    }
    search(policy, &mut limited, work, &options.interruption);
    let mut alone = false;
    for candidate in limited {
        let is_sum = !matches!(candidate.goal, CostGoal::Expression(_));
        // If single expressions exceed the limit, totals add nothing.
        let Some(example) = candidate
            .example
            .filter(|example| is_near(example.cost, candidate.limit))
        else {
            continue;
        };
        if is_sum && alone {
            continue;
        }
        alone |= !is_sum;
        report.add(
            &policy.origin,
            &candidate.field,
            finding(candidate.label, example, candidate.limit, policy),
        );
    }
}

/// Everything in a policy whose cost is limited: each expression, then several together.
fn limited(policy: &PolicyView<'_>) -> Vec<LimitedCost> {
    let costs = CostEstimates::new(policy.expression_group());
    let estimates =
        |counts: &dyn Fn(usize, &ExpressionSite<'_>) -> bool| -> Vec<(u64, &'static ServedResource)> {
            let of_kind = |kind: usize| {
                let counted = policy
                    .sites
                    .iter()
                    .enumerate()
                    .filter(|(index, site)| counts(*index, site));
                let costs = counted.map(|(index, _)| costs.of_kind(kind, index, ExpressionCost::LARGE));
                costs.fold(0u64, u64::saturating_add)
            };
            costs
                .kinds()
                .map(|(kind, served)| (of_kind(kind), served))
                .collect()
        };
    let conditions = policy
        .sites
        .iter()
        .find(|site| site.usage == ExpressionPurpose::MatchCondition);
    let single = policy.sites.iter().enumerate();
    let mut all: Vec<LimitedCost> = single
        .map(|(index, site)| LimitedCost {
            label: "the expression",
            field: site.path.clone(),
            goal: CostGoal::Expression(site.id.clone()),
            limit: ExpressionCost::LIMIT,
            estimates: estimates(&|at, _| at == index),
            example: None,
        })
        .collect();
    all.extend(conditions.map(|condition| LimitedCost {
        label: "the match conditions",
        field: list_of(&condition.path),
        goal: CostGoal::Conditions,
        limit: MATCH_CONDITIONS_BUDGET,
        estimates: estimates(&|_, site| site.usage == ExpressionPurpose::MatchCondition),
        example: None,
    }));
    if policy.is_webhook {
        return all;
    }
    all.push(LimitedCost {
        label: "the expressions of the policy together",
        field: path("metadata.name"),
        goal: CostGoal::Policy,
        limit: RUNTIME_BUDGET,
        estimates: estimates(&|_, site| {
            !matches!(
                site.usage,
                ExpressionPurpose::MatchCondition | ExpressionPurpose::AuditAnnotation
            )
        }),
        example: None,
    });
    all
}

/// The list that a match condition is in.
fn list_of(condition: &[PathStep]) -> Vec<PathStep> {
    let index = condition
        .iter()
        .rposition(|step| matches!(step, PathStep::Index(_)));
    condition
        .get(..index.unwrap_or_default())
        .unwrap_or_default()
        .to_vec()
}

/// Makes objects of the kinds for which estimates come near limits, those that come nearest first.
fn search(
    policy: &PolicyView<'_>,
    limited: &mut [LimitedCost],
    work: &mut WorkBudget,
    interruption: &LintInterruption,
) {
    let reads = policy.manifest.reads();
    let mut kinds: Vec<(u64, &'static ServedResource)> = Vec::new();
    for candidate in &*limited {
        for (cost, served) in &candidate.estimates {
            let part = cost
                .saturating_mul(100)
                .checked_div(candidate.limit)
                .unwrap_or_default();
            match kinds.iter_mut().find(|(_, known)| std::ptr::eq(*known, *served)) {
                Some((most, _)) => *most = part.max(*most),
                None => kinds.push((part, served)),
            }
        }
    }
    kinds.sort_by_key(|(part, _)| std::cmp::Reverse(*part));
    // The answer of the authorizer decides which expressions are evaluated after it.
    let asks = policy.sites.iter().any(|site| site.text.contains("authorizer"));
    let seeds: &[u64] = if asks { &[1, 2] } else { &[1] };
    for (_, served) in kinds.into_iter().take(KINDS) {
        let Some(operation) = operation(policy, served) else {
            continue;
        };
        let spec = ObjectSpec {
            release: policy.release,
            served,
            operation,
            reads: &reads.object,
            density: 100,
        };
        for seed in seeds {
            if interruption.has_come() {
                return;
            }
            let mut open: Vec<&mut LimitedCost> = limited
                .iter_mut()
                .filter(|candidate| candidate.is_open(served))
                .collect();
            let goals: Vec<(CostGoal, u64)> = open
                .iter()
                .map(|candidate| (candidate.goal.clone(), candidate.limit))
                .collect();
            if goals.is_empty() {
                break;
            }
            let evaluator = PolicyEvaluator::new(
                policy.release,
                policy.manifest,
                served,
                operation,
                &reads.params,
                *seed,
            );
            let mut part = work.take(WORK);
            let examples = most_expensive(&evaluator, &spec, &goals, &mut part, &|| interruption.has_come());
            work.give_back(part);
            for (candidate, example) in open.iter_mut().zip(examples) {
                candidate.example = [candidate.example.take(), example]
                    .into_iter()
                    .flatten()
                    .max_by_key(|example| example.cost);
            }
        }
    }
}

impl LimitedCost {
    /// Whether its limit is not reached yet, and objects of a kind may.
    fn is_open(&self, served: &ServedResource) -> bool {
        let reached = self
            .example
            .as_ref()
            .is_some_and(|example| example.cost >= self.limit);
        let mut estimates = self.estimates.iter();
        !reached
            && estimates.any(|(cost, resource)| std::ptr::eq(*resource, served) && is_near(*cost, self.limit))
    }
}

/// The operations of a resource that the policy matches, creation first.
fn operation(policy: &PolicyView<'_>, served: &ServedResource) -> Option<Operation> {
    let operations = matched_operations(policy.rules.iter().filter(|rule| rule.matches(served)));
    let known = [Operation::Create, Operation::Update, Operation::Delete];
    known.into_iter().find(|operation| operations.contains(operation))
}

/// Four fifths of a limit are near it.
fn is_near(cost: u64, limit: u64) -> bool {
    cost >= limit / 5 * 4
}

fn finding(label: &str, example: CostExample, limit: u64, policy: &PolicyView<'_>) -> LintFinding {
    let outcome = if policy.ignores_errors && policy.is_webhook {
        "lets the request in without calling the webhook"
    } else if policy.ignores_errors {
        "lets the request in unseen"
    } else {
        "denies the request"
    };
    let object = format!(
        "{} {} of {}{}",
        example.kind.api_version(),
        example.kind.kind,
        size(example.object.len()),
        match example.large.as_str() {
            "" => String::new(),
            large => format!(" with {large}"),
        },
    );
    let message = if example.cost >= limit {
        format!("{object} makes {label} cost more than the {limit} that are allowed, which {outcome}")
    } else {
        format!(
            "{object} makes {label} cost {}, near the {limit} that are allowed; more than that {outcome}",
            example.cost
        )
    };
    LintFinding::new(CostLimit::META, message)
        .help("bound it: test size() first, look through fewer lists, or match fewer objects")
        .example(example)
}

/// `300 bytes`, `12 KiB`
fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        _ => format!("{} KiB", bytes.div_ceil(1024)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use pratique_schema::Release;

    use super::*;
    use crate::Warning;
    use crate::lints::testing::{load, policy, policy_for};

    const PODS: &str = "v1 Pod of ";

    fn found(manifests: &str, options: &LintOptions) -> Vec<Warning> {
        let set = load(manifests);
        let mut found = crate::lint_with(&[&set], options);
        found.retain(|warning| warning.lint == CostLimit::META);
        found
    }

    /// Warnings of a policy that fails open: a part of the message of each.
    #[track_caller]
    fn check(spec: &str, expected: &[&str]) {
        let spec = format!("failurePolicy: Ignore\n{spec}");
        check_all(&policy("CREATE", &spec), &LintOptions::default(), expected);
    }

    #[track_caller]
    fn check_all(manifests: &str, options: &LintOptions, expected: &[&str]) {
        let found = found(manifests, options);
        let fits = found.len() == expected.len()
            && found
                .iter()
                .zip(expected)
                .all(|(warning, part)| warning.message.contains(part));
        assert!(fits, "expected {expected:#?}\nfound {found:#?}\nin {manifests}");
        for warning in &found {
            let example = warning.example.as_ref().unwrap();
            assert!(
                example.object.len() <= pratique_sample::LARGEST,
                "{}",
                example.object.len()
            );
        }
    }

    fn validations(expressions: &[&str]) -> String {
        let lines = expressions
            .iter()
            .map(|text| format!("- expression: >-\n    {text}\n"));
        format!("validations:\n{}", lines.collect::<String>())
    }

    const TWICE: &str =
        "object.spec.containers.all(c, object.spec.containers.exists_one(d, c.name == d.name))";
    const CHECK: &str = "authorizer.group('').resource('pods').check('get').allowed()";

    #[test]
    fn loops_in_loops() {
        check(
            &validations(&[TWICE]),
            &["items in spec.containers makes the expression cost more than the 1000000"],
        );
        check(
            &validations(&["object.metadata.labels.all(k, object.metadata.annotations.exists(a, k == a))"]),
            &["makes the expression cost"],
        );
        // Over the whole of a list that a variable holds.
        check(
            "variables: [{name: all, expression: 'object.spec.containers + object.spec.?initContainers.orValue([])'}]
validations: [{expression: 'variables.all.all(c, variables.all.exists_one(d, c.name == d.name))'}]
",
            &["makes the expression cost more than"],
        );
    }

    #[test]
    fn checks_of_authorization() {
        check(
            &validations(&[&format!("{CHECK} || {CHECK} || {CHECK}")]),
            &["bytes makes the expression cost more than"],
        );
        check(&validations(&[CHECK]), &[]);
    }

    #[test]
    fn what_costs_little() {
        for expression in [
            "object.spec.containers.all(c, c.image.startsWith('example.com/'))",
            "object.spec.containers.all(c, c.env.all(e, e.name != 'a' && e.value != 'b'))",
            "object.metadata.name.matches('^[a-z]+$')",
            "request.userInfo.groups.exists(g, g == 'a')",
            // Loops over constants are short.
            "object.spec.containers.all(c, ['a', 'b'].all(p, ['c', 'd'].all(q, c.image != p + q)))",
            // As is what a test of the size guards.
            "object.spec.containers.size() > 20 || object.spec.containers.all(c, object.spec.containers.exists_one(d, c.name == d.name))",
        ] {
            check(&validations(&[expression]), &[]);
        }
        check(
            "variables:
- {name: allowed, expression: \"['a', 'b', 'c']\"}
- {name: names, expression: 'object.spec.containers.map(c, c.name)'}
validations: [{expression: 'variables.names.all(n, variables.allowed.exists(a, n == a))'}]
",
            &[],
        );
    }

    #[test]
    fn policies_that_fail_closed_on_request() {
        let manifests = policy("CREATE", &validations(&[TWICE]));
        check_all(&manifests, &LintOptions::default(), &[]);
        let options = LintOptions::default().with_requested(CostLimit::META);
        check_all(&manifests, &options, &["which denies the request"]);
        // Another request changes nothing.
        let options = LintOptions::default().with_requested(crate::lints::null_object::NullObject::META);
        check_all(&manifests, &options, &[]);
    }

    #[test]
    fn examples_cost_what_is_said() {
        let text = policy(
            "CREATE",
            &format!("failurePolicy: Ignore\n{}", validations(&[TWICE])),
        );
        let warnings = found(&text, &LintOptions::default());
        let example = warnings[0].example.clone().unwrap();
        assert!(warnings[0].message.starts_with(PODS), "{}", warnings[0].message);
        // A fresh evaluation comes to the same, and an object that is somewhat smaller stays below the limit.
        let set = load(&text);
        let manifests = crate::ManifestView::new(Release::latest(), &[&set]);
        let policy = &manifests.policies[0];
        let pods = Release::latest().resources().named("pods").unwrap();
        let reads = policy.manifest.reads();
        let evaluator = PolicyEvaluator::new(
            Release::latest(),
            policy.manifest,
            pods,
            Operation::Create,
            &reads.params,
            1,
        );
        let goal = CostGoal::Expression(pratique_sample::ExpressionId::Validation(0));
        let cost = |object: &str| {
            let object = pratique_cel::json::parse(object.as_bytes()).unwrap();
            goal.cost(&evaluator.evaluate(&object, None))
        };
        assert_eq!(Some(cost(&example.object)), example.cost);
        assert!(example.cost > Some(ExpressionCost::LIMIT), "{:?}", example.cost);
        let mut object: serde_json::Value = serde_json::from_str(&example.object).unwrap();
        let containers = object["spec"]["containers"].as_array_mut().unwrap();
        containers.truncate(containers.len() * 4 / 5);
        assert!(cost(&object.to_string()) < ExpressionCost::LIMIT);
    }

    #[test]
    fn policies_as_a_whole() {
        let numbers: Vec<String> = (0..60).map(|number| format!("'x{number}'")).collect();
        let one = format!(
            "object.spec.containers.all(c, [{}].all(n, c.name != n))",
            numbers.join(", ")
        );
        check(&validations(&[&one]), &[]);
        let many = vec![one.as_str(); 60];
        let large = "items in spec.containers makes the expressions of the policy together cost more than the 10000000";
        check(&validations(&many), &[large]);
    }

    #[test]
    fn conditions_together() {
        let condition = |index: usize| format!("- {{name: c{index}, expression: \"!{CHECK} || {CHECK}\"}}\n");
        let conditions: String = (0..4).map(condition).collect();
        let spec = format!("matchConditions:\n{conditions}validations: [{{expression: 'true'}}]");
        check(&spec, &["makes the match conditions cost more than"]);
    }

    #[test]
    fn conditions_of_webhooks() {
        use crate::lints::testing::webhook;

        let failing_open = |condition: &str| {
            let webhook = webhook("Validating", "pods", "CREATE", condition);
            webhook.replace(
                "  sideEffects: None",
                "  sideEffects: None\n  failurePolicy: Ignore",
            )
        };
        let expected = "which lets the request in without calling the webhook";
        check_all(&failing_open(TWICE), &LintOptions::default(), &[expected]);
        check_all(
            &failing_open("object.spec.containers.size() > 20"),
            &LintOptions::default(),
            &[],
        );
        // It fails closed.
        let closed = webhook("Validating", "pods", "CREATE", TWICE);
        check_all(&closed, &LintOptions::default(), &[]);
    }

    #[test]
    fn only_kinds_that_are_known() {
        let spec = format!("failurePolicy: Ignore\n{}", validations(&[TWICE]));
        let manifests = policy_for("example.com", "v1", "gadgets", "CREATE", &spec);
        check_all(&manifests, &LintOptions::default(), &[]);
    }

    #[test]
    fn work_is_bounded() {
        // As many nested loops as a policy may have, over lists that objects cannot fill so that they end soon.
        let hostile = "object.spec.containers.all(a, object.spec.volumes.all(b, object.spec.containers.all(c, \
                       object.spec.volumes.all(d, a.name + b.name + c.name + d.name != ''))))";
        let text = policy(
            "CREATE",
            &format!("failurePolicy: Ignore\n{}", validations(&vec![hostile; 60])),
        );
        let set = load(&text);
        let manifests = crate::ManifestView::new(Release::latest(), &[&set]);
        // The last evaluation may exceed that by the limit of a whole policy.
        let mut work = WorkBudget::new(5_000_000);
        check_with(&manifests.policies[0], &mut work);
        assert!(work.spent() <= 5_000_000 + 13_000_000, "{}", work.spent());
        assert!(work.is_spent());
        // Nothing is done where nothing may be.
        let mut none = WorkBudget::new(0);
        check_with(&manifests.policies[0], &mut none);
        assert_eq!(none.spent(), 0);
    }

    #[test]
    fn an_interruption_ends_the_search() {
        let text = policy(
            "CREATE",
            &format!("failurePolicy: Ignore\n{}", validations(&[TWICE])),
        );
        let set = load(&text);
        let manifests = crate::ManifestView::new(Release::latest(), &[&set]);
        // How much is done until the interruption is asked for the last time, of so many.
        let spent = |asked: usize| {
            let left = AtomicUsize::new(asked);
            let is_due = move || {
                let next = |left: usize| left.checked_sub(1);
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next)
                    .is_err()
            };
            let mut options = LintOptions::default();
            options.interruption = LintInterruption::new(is_due);
            let mut work = WorkBudget::new(super::WORK);
            super::check_policy(
                &manifests.policies[0],
                &options,
                &mut work,
                &mut LintReport::default(),
            );
            work.spent()
        };
        assert_eq!(spent(0), 0);
        let [few, more, all] = [3, 20, usize::MAX].map(spent);
        assert!(0 < few && few < more && more < all, "{few} {more} {all}");
    }

    fn check_with(policy: &PolicyView<'_>, work: &mut WorkBudget) {
        super::check_policy(policy, &LintOptions::default(), work, &mut LintReport::default());
    }
}
