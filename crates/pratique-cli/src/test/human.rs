//! Results as text.

use pratique_explain::Explanation;
use pratique_review::Decision;
use pratique_suite::{CoverageReport, Difference};

use super::run::{CaseRun, SuiteRun, TestRun};
use crate::explanation;
use crate::output::excerpt::FileTexts;
use crate::output::problems;
use crate::output::text::{IndentedLines, PrintableText, text};
use crate::style::{StreamStyle, TextTone};
use crate::unbound;

/// All failures, and the counts.
pub(super) fn human(run: &TestRun, verbose: bool, style: StreamStyle) -> PrintableText {
    let mut texts = FileTexts::default();
    let mut out = PrintableText::new();
    for suite in &run.suites {
        out.push(&one_suite(suite, verbose, &mut texts, style));
    }
    if let Some(report) = &run.coverage {
        out.push(&coverage(report, style));
    }
    let (passed, failed) = run.counts();
    out.push(&text!("\n{}", run.passed_over.to_text(verbose)));
    for notice in &run.notices {
        out.push(&notice.report_line());
    }
    out.push(&text!("{} passed, {} failed", passed, failed));
    let broken = run
        .suites
        .iter()
        .filter(|suite| !suite.problems.is_empty())
        .count();
    if broken > 0 {
        out.push(&text!(", {} not run", broken));
    }
    if let Some(count) = unbound::count(run.unbound().len()) {
        out.push(&text!(", {}", count));
    }
    out.push(&text!("{}\n", run.counted_rest()));
    if let (Some(report), Some(threshold)) = (&run.coverage, run.threshold)
        && !run.covers_enough()
    {
        let text = match report.percent() {
            Some(percent) => format!("coverage is {percent} %, less than {threshold} %"),
            None => format!("there is nothing to cover, so not {threshold} %"),
        };
        out.push(&text!("{}\n", style.paint(TextTone::Bad, text)));
    }
    out
}

fn one_suite(suite: &SuiteRun, verbose: bool, texts: &mut FileTexts, style: StreamStyle) -> PrintableText {
    let name = style.paint(TextTone::Place, &suite.name);
    let file = style.paint(TextTone::Faint, &suite.file);
    let failed = suite.failed();
    let passed = suite.cases.len() - failed;
    let result = match (suite.problems.is_empty(), failed) {
        (false, _) => style.paint(TextTone::Bad, "not run"),
        (true, 0) if passed == 0 && suite.is_skipped() => style.paint(TextTone::Faint, "skipped"),
        (true, 0) if passed == 0 && !suite.not_evaluated.is_empty() => {
            style.paint(TextTone::Warning, "not evaluated")
        }
        (true, 0) => style.paint(TextTone::Good, text!("{} passed", passed)),
        (true, _) => text!(
            "{} passed, {}",
            passed,
            style.paint(TextTone::Bad, text!("{} failed", failed))
        ),
    };
    let mut out = if suite.name == suite.file {
        text!("{}: {}\n", name, result)
    } else {
        text!("{} {}: {}\n", name, file, result)
    };
    for problem in &suite.problems {
        out.push(&problems::one(problem, texts, style));
    }
    for policy in &suite.unbound {
        let text = style.paint(TextTone::Warning, unbound::message(policy));
        let place = style.paint(TextTone::Faint, problems::place(&policy.location));
        out.push(&text!("  {} {}\n", text, place));
    }
    for test in &suite.not_evaluated {
        let text = if test.skipped {
            text!("skipped: {}", test.name)
        } else {
            style.paint(
                TextTone::Warning,
                text!("not evaluated: {}: {}", test.name, test.why),
            )
        };
        let place = style.paint(TextTone::Faint, problems::place(&test.location));
        out.push(&text!("  {} {}\n", text, place));
    }
    for case in suite.cases.iter().filter(|case| verbose || !case.tested.passed()) {
        out.push(&one_case(case, style));
    }
    out
}

fn one_case(run: &CaseRun, style: StreamStyle) -> PrintableText {
    let name = &run.case.name;
    if run.tested.passed() {
        return text!("  {} {}\n", style.paint(TextTone::Good, "pass"), name);
    }
    let place = style.paint(TextTone::Faint, problems::place(&run.case.location));
    let mut out = text!("  {} {} {}\n", style.paint(TextTone::Bad, "FAIL"), name, place);
    if let Err(error) = &run.tested.actual {
        let (text, indent) = (&error.to_string(), "      ");
        out.push(&text!("    no decision: {}\n", IndentedLines { text, indent }));
    }
    for difference in &run.tested.differences {
        out.push(&one_difference(difference, style));
    }
    out.push(&run.explained.indented("  "));
    out
}

/// The explanation of a failure: what was false or failed; for a missing denial, all policies that could have denied.
pub(super) fn explained(run: &CaseRun, explanation: &Explanation, style: StreamStyle) -> PrintableText {
    let expected = run.case.expected.as_ref();
    let wanted = expected.filter(|expected| expected.decision.is_none_or(Decision::denies));
    let actual = run.tested.actual.as_ref();
    let allowed = actual.is_ok_and(|actual| actual.decision == Decision::Allowed);
    match wanted.filter(|_| allowed) {
        Some(expected) => explanation::allowed(explanation, expected.policy.as_deref(), style),
        None => explanation::excerpt(explanation, style),
    }
}

fn one_difference(difference: &Difference, style: StreamStyle) -> PrintableText {
    let Difference {
        field,
        expected,
        actual,
        help,
    } = difference;
    let indented = |text| IndentedLines {
        text,
        indent: "               ",
    };
    let mut out = text!(
        "    {}\n      {} {}\n      {} {}\n",
        field,
        style.paint(TextTone::Faint, "expected"),
        style.paint(TextTone::Good, text!("{}", indented(expected))),
        style.paint(TextTone::Faint, "actual  "),
        style.paint(TextTone::Bad, text!("{}", indented(actual))),
    );
    if let Some(help) = help {
        let label = style.paint(TextTone::Faint, "help    ");
        out.push(&text!("      {} {}\n", label, help));
    }
    out
}

/// A line for each policy, and the points that are not covered.
fn coverage(report: &CoverageReport, style: StreamStyle) -> PrintableText {
    let width = report
        .policies
        .iter()
        .map(|policy| text!("{}", policy.name).width())
        .max();
    let width = width.unwrap_or_default();
    let mut out = text!("\n{}\n", style.paint(TextTone::Place, "coverage"));
    for policy in &report.policies {
        let percent = percent(policy.percent());
        let tone = if policy.missing.is_empty() {
            TextTone::Good
        } else {
            TextTone::Warning
        };
        let name = text!("{}", policy.name).padded(width);
        let covered = format!("{:>3}", policy.covered);
        let percent = style.paint(tone, percent);
        out.push(&text!("  {} {} {} of {}\n", name, percent, covered, policy.total));
        for missing in &policy.missing {
            let place = style.paint(TextTone::Faint, problems::place(&missing.location));
            let (field, what) = (&missing.field, missing.what);
            let expression = missing.expression.as_ref().map(|text| format!(": {text}"));
            let expression = expression.unwrap_or_default();
            out.push(&text!("    {} {} {}{}\n", place, field, what, expression));
        }
    }
    let covered = format!("{:>3}", report.covered());
    out.push(&match report.percent() {
        None => text!("  nothing to cover\n"),
        whole => {
            let all = text!("all").padded(width);
            text!("  {} {} {} of {}\n", all, percent(whole), covered, report.total())
        }
    });
    out
}

/// A percentage, in seven columns.
fn percent(percent: Option<f64>) -> String {
    percent.map_or_else(|| "   none".to_owned(), |percent| format!("{percent:>5.1} %"))
}
