//! Results for people: what failed, and how much did not.

use std::fmt::Write as _;

use pratique_explain::Explanation;
use pratique_suite::{CoverageReport, Decision, Difference};

use super::{CaseRun, Run, SuiteRun};
use crate::explanation;
use crate::output::excerpt::Texts;
use crate::output::problems;
use crate::style::{Style, Tone};
use crate::unbound;

/// Everything that failed, and the counts.
pub(super) fn human(run: &Run, verbose: bool, style: Style) -> String {
    let mut texts = Texts::default();
    let mut out = String::new();
    for suite in &run.suites {
        out.push_str(&one_suite(suite, verbose, &mut texts, style));
    }
    if let Some(report) = &run.coverage {
        out.push_str(&coverage(report, style));
    }
    let (passed, failed) = run.counts();
    let _ = write!(out, "\n{passed} passed, {failed} failed");
    let broken = run
        .suites
        .iter()
        .filter(|suite| !suite.problems.is_empty())
        .count();
    if broken > 0 {
        let _ = write!(out, ", {broken} not run");
    }
    if let Some(count) = unbound::count(run.unbound().len()) {
        let _ = write!(out, ", {count}");
    }
    out.push('\n');
    if let (Some(report), Some(threshold)) = (&run.coverage, run.threshold)
        && !run.covers_enough()
    {
        let text = match report.percent() {
            Some(percent) => format!("coverage is {percent} %, less than {threshold} %"),
            None => format!("there is nothing to cover, so not {threshold} %"),
        };
        let _ = writeln!(out, "{}", style.paint(Tone::Bad, &text));
    }
    out
}

fn one_suite(suite: &SuiteRun, verbose: bool, texts: &mut Texts, style: Style) -> String {
    let name = style.paint(Tone::Place, &suite.name);
    let file = style.paint(Tone::Faint, &suite.file);
    let failed = suite.failed();
    let passed = suite.cases.len() - failed;
    let verdict = match (suite.problems.is_empty(), failed) {
        (false, _) => style.paint(Tone::Bad, "not run"),
        (true, 0) => style.paint(Tone::Good, &format!("{passed} passed")),
        (true, _) => format!(
            "{passed} passed, {}",
            style.paint(Tone::Bad, &format!("{failed} failed"))
        ),
    };
    let mut out = match suite.name == suite.file {
        true => format!("{name}: {verdict}\n"),
        false => format!("{name} {file}: {verdict}\n"),
    };
    for problem in &suite.problems {
        out.push_str(&problems::one(problem, texts, style));
    }
    for policy in &suite.unbound {
        let text = style.paint(Tone::Warning, &unbound::told(policy));
        let place = style.paint(Tone::Faint, &problems::place(&policy.location));
        let _ = writeln!(out, "  {text} {place}");
    }
    for case in suite.cases.iter().filter(|case| verbose || !case.tested.passed()) {
        out.push_str(&one_case(case, style));
    }
    out
}

fn one_case(run: &CaseRun, style: Style) -> String {
    let name = &run.case.name;
    if run.tested.passed() {
        return format!("  {} {name}\n", style.paint(Tone::Good, "pass"));
    }
    let place = style.paint(Tone::Faint, &problems::place(&run.case.location));
    let mut out = format!("  {} {name} {place}\n", style.paint(Tone::Bad, "FAIL"));
    if let Err(why) = &run.tested.actual {
        let _ = writeln!(out, "    no decision: {why}");
    }
    for difference in &run.tested.differences {
        out.push_str(&one_difference(difference, style));
    }
    if let Some(explanation) = &run.tested.explanation {
        for line in explained(run, explanation, style).lines() {
            let _ = writeln!(out, "  {line}");
        }
    }
    out
}

/// What was false or failed; of a request that should have been denied and was not, all that could have denied it.
fn explained(run: &CaseRun, explanation: &Explanation, style: Style) -> String {
    let expected = run.case.expected.as_ref();
    let wanted = expected.filter(|expected| expected.decision.denies());
    let actual = run.tested.actual.as_ref();
    let allowed = actual.is_ok_and(|actual| actual.decision == Decision::Allowed);
    match wanted.filter(|_| allowed) {
        Some(expected) => explanation::allowed(explanation, expected.policy.as_deref(), style),
        None => explanation::excerpt(explanation, style),
    }
}

fn one_difference(difference: &Difference, style: Style) -> String {
    let Difference {
        field,
        expected,
        actual,
        help,
    } = difference;
    let indented = |text: &str| text.lines().collect::<Vec<_>>().join("\n               ");
    let mut out = format!(
        "    {field}\n      {} {}\n      {} {}\n",
        style.paint(Tone::Faint, "expected"),
        style.paint(Tone::Good, &indented(expected)),
        style.paint(Tone::Faint, "actual  "),
        style.paint(Tone::Bad, &indented(actual)),
    );
    if let Some(help) = help {
        let _ = writeln!(out, "      {} {help}", style.paint(Tone::Faint, "help    "));
    }
    out
}

/// A line for each policy, and what is missing.
fn coverage(report: &CoverageReport, style: Style) -> String {
    let width = report
        .policies
        .iter()
        .map(|policy| policy.name.chars().count())
        .max();
    let width = width.unwrap_or_default();
    let mut out = format!("\n{}\n", style.paint(Tone::Place, "coverage"));
    for policy in &report.policies {
        let percent = percent(policy.percent());
        let tone = if policy.missing.is_empty() {
            Tone::Good
        } else {
            Tone::Warning
        };
        let (name, covered, total) = (&policy.name, policy.covered, policy.total);
        let _ = writeln!(
            out,
            "  {name:width$} {} {covered:>3} of {total}",
            style.paint(tone, &percent)
        );
        for missing in &policy.missing {
            let place = style.paint(Tone::Faint, &problems::place(&missing.location));
            let (field, what) = (&missing.field, missing.what);
            let expression = missing.expression.as_ref().map(|text| format!(": {text}"));
            let _ = writeln!(
                out,
                "    {place} {field} {what}{}",
                expression.unwrap_or_default()
            );
        }
    }
    let (covered, total) = (report.covered(), report.total());
    match report.percent() {
        None => out.push_str("  nothing to cover\n"),
        whole => {
            let percent = percent(whole);
            let _ = writeln!(out, "  {:width$} {percent} {covered:>3} of {total}", "all");
        }
    }
    out
}

/// A part of what there is to cover, in seven columns.
fn percent(percent: Option<f64>) -> String {
    percent.map_or_else(|| "   none".to_owned(), |percent| format!("{percent:>5.1} %"))
}
