//! Tests of pages.

use super::*;
use crate::{Action, Decision, Evaluation, Finding, InputShard, Limits, ReportRun, Tally};

const HOSTILE: &str = "<script>alert(\"1\")</script>' onload='x";

fn report(text: &str) -> Report {
    let run = ReportRun {
        command: "scan".to_owned(),
        inputs: vec![text.to_owned()],
        operation: text.to_owned(),
        policies: text.to_owned(),
        version: text.to_owned(),
        policy_count: 3,
        can_deny: true,
    };
    let mut report = Report::new(run, InputShard::WHOLE, Tally::new(Limits::default()));
    let mut evaluation = Evaluation {
        decision: Decision::Denied,
        operation: text,
        api_version: text,
        kind: text,
        namespace: text,
        name: text,
        uid: text,
        user: text,
        owner: text,
        place: text,
        time: text,
        is_changed: false,
        is_unmatched: false,
        findings: vec![Finding {
            policy: text,
            binding: text,
            action: Action::Deny,
            is_error: true,
            message: text,
        }],
    };
    report.tally_mut().count(&evaluation);
    evaluation.user = "";
    report.tally_mut().count(&evaluation);
    report.add_note(text);
    report.add_notice(text, text, text);
    report.set_evaluated(text);
    report.add_problem(text, text);
    report
}

fn page(report: &Report, text: &str) -> String {
    Page {
        report,
        title: text,
        time: text,
    }
    .to_string()
}

#[test]
fn what_is_not_ours_is_text() {
    let plain = page(&report("plain"), "plain");
    let hostile = page(&report(HOSTILE), HOSTILE);
    assert!(
        !hostile.contains("<script") && !hostile.contains("onload='"),
        "{hostile}"
    );
    let shown = hostile.matches("&lt;script&gt;").count();
    assert_eq!(shown, plain.matches("plain").count(), "{plain}");
    // Nothing but texts differs.
    let elements = |page: &str| page.matches('<').count();
    assert_eq!(elements(&plain), elements(&hostile));
}

#[test]
fn nothing_is_loaded() {
    let page = page(&report("plain"), "plain");
    for loading in [
        "<script", "<link", "<img", "src=", "href=", "url(", "@import", "http:", "https:",
    ] {
        assert!(!page.contains(loading), "{loading}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn the_summary_says_what_matters() {
    let found = page(&report("plain"), "plain");
    assert!(
        found.contains("<strong>2</strong> of 2 objects (100.0%) would be refused, by 1 of 3 policies."),
        "{found}"
    );
    let empty = Report::new(
        ReportRun::default(),
        InputShard { index: 1, of: 3 },
        Tally::new(Limits::default()),
    );
    let empty = page(&empty, "plain");
    assert!(
        empty.contains("Nothing was evaluated.") && empty.contains("2 shards are missing (0, 2)"),
        "{empty}"
    );
    let mut unknown = Report::new(
        ReportRun::default(),
        InputShard::WHOLE,
        Tally::new(Limits::default()),
    );
    unknown.tally_mut().count(&Evaluation::default());
    let unknown = page(&unknown, "plain");
    assert!(
        unknown.contains("None of 1 requests are refused.")
            && unknown.contains("Of 1 requests it is not known")
    );
}

#[test]
fn comparisons_are_text() {
    let report = report(HOSTILE);
    let page = ComparisonPage {
        title: HOSTILE,
        lead: HOSTILE,
        numbers: &[(HOSTILE, 3)],
        sections: &[(HOSTILE, report.tally())],
        notes: &[HOSTILE.to_owned()],
        about: &[(HOSTILE, HOSTILE.to_owned())],
    };
    let page = page.to_string();
    assert!(!page.contains("<script") && !page.contains("onload='"), "{page}");
    assert!(
        page.contains("default-src 'none'") && page.contains("By policy"),
        "{page}"
    );
}

/// A cell that may break anywhere has no width of its own: on a phone, a name would be a column of letters. Tables are scrolled.
#[test]
fn names_in_cells_are_not_broken() {
    let style = include_str!("style.css");
    let cells = style.lines().find(|line| line.starts_with("th, td {"));
    assert!(
        cells.is_some_and(|cells| cells.contains("overflow-wrap: break-word")),
        "{cells:?}"
    );
    let page = page(&report("plain"), "plain");
    assert!(page.contains("<table>"), "{page}");
    let around = page
        .split("<table>")
        .map(|before| before.ends_with("<div class=\"scroll\">"));
    let tables = page.matches("<table>").count();
    assert_eq!(
        around.filter(|is_scrolled| *is_scrolled).count(),
        tables,
        "{page}"
    );
}
