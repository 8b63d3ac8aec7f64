//! Results as annotations of GitHub Actions.

use super::run::{CaseRun, TestRun};
use crate::output::finding::{AnnotationLevel, OutputFinding};
use crate::output::github::WorkflowCommands;
use crate::output::place::InputPlace;
use crate::output::text::text;
use crate::project;
use crate::unbound;

/// Annotations for warnings about policies, for failures, and for points that are not covered.
pub(super) fn github(
    run: &TestRun,
    lints: &[OutputFinding<'_>],
    lists_passed_over: bool,
) -> WorkflowCommands {
    let mut out = WorkflowCommands::default();
    for lint in lints {
        out.annotate_finding(lint);
    }
    let notices = run.notices.iter().cloned().chain(project::notices("test"));
    notices.for_each(|notice| notice.annotate(&mut out));
    for suite in &run.suites {
        for problem in &suite.problems {
            let title = format!("{}: not run", suite.name);
            match &problem.location {
                Some(location) => out.annotate(AnnotationLevel::Error, location, &title, &problem.message),
                None => {
                    let place = InputPlace::parse(&suite.file);
                    out.annotate_place(AnnotationLevel::Error, &place, &title, &problem.message);
                }
            }
        }
        for policy in &suite.unbound {
            let title = format!("{}: not evaluated", suite.name);
            let message = unbound::message(policy);
            out.annotate(AnnotationLevel::Warning, &policy.location, &title, &message);
        }
        for test in suite.not_evaluated.iter().filter(|test| !test.skipped) {
            let title = format!("{}: {}: not evaluated", suite.name, test.name);
            out.annotate(AnnotationLevel::Warning, &test.location, &title, &test.why);
        }
        for case in &suite.cases {
            for warning in &case.warnings {
                let title = format!("{}: {}", suite.name, case.case.name);
                out.annotate(AnnotationLevel::Warning, &case.case.location, &title, warning);
            }
        }
        for case in suite.cases.iter().filter(|case| !case.tested.passed()) {
            let title = format!("{}: {}", suite.name, case.case.name);
            out.annotate(
                AnnotationLevel::Error,
                &case.case.location,
                &title,
                &message(case),
            );
        }
    }
    let missing = run.coverage.iter().flat_map(|report| &report.policies);
    let missing = missing.flat_map(|policy| policy.missing.iter().map(move |missing| (policy, missing)));
    let level = if run.covers_enough() {
        AnnotationLevel::Note
    } else {
        AnnotationLevel::Warning
    };
    for (policy, missing) in missing {
        let expression = missing.expression.as_ref().map(|text| format!(": {text}"));
        let text = format!(
            "{} {}{}",
            missing.field,
            missing.what,
            expression.unwrap_or_default()
        );
        out.annotate(level, &missing.location, &policy.name, &text);
    }
    let (passed, failed) = run.counts();
    let count = unbound::count(run.unbound().len());
    let count = count.map(|count| format!(", {count}")).unwrap_or_default();
    out.log(&text!(
        "{} passed, {} failed{}{}{}\n{}",
        passed,
        failed,
        count,
        run.counted_rest(),
        run.told_releases(),
        run.passed_over.to_text(lists_passed_over)
    ));
    out
}

fn message(run: &CaseRun) -> String {
    if let Err(why) = &run.tested.actual {
        return format!("no decision: {why}");
    }
    let differences: Vec<String> = run.tested.differences.iter().map(ToString::to_string).collect();
    differences.join("\n")
}
