//! Results as annotations of GitHub Actions.

use pratique_manifest::Location;

use super::run::{CaseRun, Run};
use crate::output::counted::counted;
use crate::output::github::Commands;
use crate::output::text::text;
use crate::unbound;

/// Annotations for failures, and for points that are not covered.
pub(super) fn github(run: &Run, lists_passed_over: bool) -> Commands {
    let mut out = Commands::default();
    for suite in &run.suites {
        for problem in &suite.problems {
            let title = format!("{}: not run", suite.name);
            out.annotate("error", problem.location.as_ref(), &title, &problem.message);
        }
        for policy in &suite.unbound {
            let title = format!("{}: not evaluated", suite.name);
            out.annotate(
                "warning",
                Some(&policy.location),
                &title,
                &unbound::message(policy),
            );
        }
        for test in &suite.not_evaluated {
            let title = format!("{}: {}: not evaluated", suite.name, test.name);
            out.annotate("warning", Some(&test.location), &title, &test.why);
        }
        for case in suite.cases.iter().filter(|case| !case.tested.passed()) {
            let title = format!("{}: {}", suite.name, case.case.name);
            out.annotate("error", Some(&case.case.location), &title, &message(case));
        }
    }
    let missing = run.coverage.iter().flat_map(|report| &report.policies);
    let missing = missing.flat_map(|policy| policy.missing.iter().map(move |missing| (policy, missing)));
    let level = if run.covers_enough() { "notice" } else { "warning" };
    for (policy, missing) in missing {
        let expression = missing.expression.as_ref().map(|text| format!(": {text}"));
        let text = format!(
            "{} {}{}",
            missing.field,
            missing.what,
            expression.unwrap_or_default()
        );
        let location: &Location = &missing.location;
        out.annotate(level, Some(location), &policy.name, &text);
    }
    let (passed, failed) = run.counts();
    let count = unbound::count(run.unbound().len());
    let count = count.map(|count| format!(", {count}")).unwrap_or_default();
    let not_evaluated = match run.not_evaluated() {
        0 => String::new(),
        count => format!(", {} not evaluated", counted(count, "test", "tests")),
    };
    out.log(&text!(
        "{} passed, {} failed{}{}\n{}",
        passed,
        failed,
        count,
        not_evaluated,
        run.passed_over.text(lists_passed_over)
    ));
    out
}

fn message(run: &CaseRun) -> String {
    if let Err(why) = &run.tested.actual {
        return format!("no decision: {why}");
    }
    let differences = run.tested.differences.iter();
    let messages = differences.map(|difference| {
        format!(
            "{}: expected {}, actual {}",
            difference.field, difference.expected, difference.actual
        )
    });
    messages.collect::<Vec<_>>().join("\n")
}
