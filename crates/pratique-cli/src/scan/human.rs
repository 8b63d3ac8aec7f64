//! A report as text.

use pratique_report::{Counts, Report, TallyTable};

use crate::evaluation::limitations::{self, ObjectLimitations};
use crate::evaluation::record::namespaced;
use crate::output::counted_nouns::{counted, noun};
use crate::output::notice::InputNotice;
use crate::output::table::{or, table};
use crate::output::text::{IndentedLines, PrintableText, text};

/// How many rows a table shows.
const MAX_ROWS: usize = 25;
/// How many examples are shown of what a policy finds.
const EXAMPLES: usize = 3;
/// How many characters of a notice are compared with one of a report.
const COMPARED: usize = 1000;

/// The report as tables, with examples. What `limitations` say of kinds is told with numbers of objects and a place, which the
/// report itself, whose parts are merged, has not.
pub(crate) fn report_text(report: &Report, limitations: &ObjectLimitations) -> PrintableText {
    let tally = report.tally();
    let mut out = PrintableText::new();
    out.push(&findings("POLICY", "BINDING", tally.policies()));
    out.push(&requests(["NAMESPACE"], tally.namespaces()));
    out.push(&requests(["VERSION", "KIND"], tally.kinds()));
    out.push(&requests(["NAMESPACE", "OWNER"], tally.owners()));
    out.push(&examples(report));
    out.push(&notes(report));
    let without_numbers: Vec<InputNotice> = limitations.kind_notices().collect();
    let others = report.notices().map(InputNotice::from);
    let others = others.filter(|notice| !without_numbers.iter().any(|known| is_same(known, notice)));
    for notice in others.chain(limitations::notices(&limitations.list(true))) {
        out.push(&notice.report_line());
    }
    if report.more_notices() > 0 {
        let more = counted(report.more_notices(), "more warning is", "more warnings are");
        out.push(&text!("{} not listed\n", more));
    }
    out.push(&counts(report));
    out
}

/// Whether a report has a notice as another one, whose text it may have bounded.
fn is_same(known: &InputNotice, reported: &InputNotice) -> bool {
    let start = |notice: &InputNotice| notice.message.chars().take(COMPARED).collect::<String>();
    (&known.rule, &known.place) == (&reported.rule, &reported.place) && start(known) == start(reported)
}

/// What is said of the whole run, for outputs that have its findings and warnings in another form.
pub(super) fn ending_text(report: &Report) -> PrintableText {
    let mut out = notes(report);
    out.push(&counts(report));
    out
}

fn notes(report: &Report) -> PrintableText {
    let mut out = PrintableText::new();
    for note in report.notes() {
        out.push(&text!("note: {}\n", note));
    }
    out
}

fn counts(report: &Report) -> PrintableText {
    let mut out = PrintableText::new();
    let missing = report.missing();
    if !missing.is_empty() {
        let missing: Vec<String> = missing.iter().map(u32::to_string).collect();
        out.push(&text!(
            "this is a part of the report: shards {} are missing; of the objects, those that several shards have are told once all are \
             merged\n",
            missing.join(", ")
        ));
    }
    out.push(&text!("{}\n", line(&report.tally().total())));
    if !report.evaluated().is_empty() {
        out.push(&text!("{}\n", report.evaluated()));
    }
    out
}

/// The counts on a line: `3 objects: 2 allowed, 1 denied`.
pub(crate) fn line(total: &Counts) -> String {
    let more = |count: u64, what: &str| match count {
        0 => String::new(),
        count => format!(", {count} {what}"),
    };
    format!(
        "{}: {} allowed, {} denied{}{}{}{}{}{}{}",
        counted(total.requests(), "object", "objects"),
        total.allowed,
        total.denied,
        more(total.accepted, "accepted"),
        more(total.undecided, "undecided"),
        more(total.failed, "not evaluated"),
        more(total.warned, noun(total.warned, "warning", "warnings")),
        more(total.audited, "audited"),
        more(
            total.ignored,
            noun(total.ignored, "error ignored", "errors ignored")
        ),
        more(total.changed, "changed meanwhile"),
    )
}

/// What policies found, those that denied most first.
fn findings(first: &str, second: &str, rows: &TallyTable<2>) -> PrintableText {
    let header = [
        first,
        second,
        "DENIED",
        "WARNED",
        "AUDITED",
        "IGNORED",
        "UNDECIDED",
    ];
    let cells = |counts: Counts| {
        let counts = [
            counts.denied,
            counts.warned,
            counts.audited,
            counts.ignored,
            counts.undecided,
        ];
        counts.map(|count| count.to_string())
    };
    let weight = |counts: Counts| {
        [
            counts.denied,
            counts.warned,
            counts.undecided,
            counts.audited,
            counts.ignored,
        ]
    };
    let has_accepted = rows.rows().any(|(_, counts)| counts.accepted > 0) || rows.other().accepted > 0;
    if !has_accepted {
        return show_table(&header, rows, cells, weight);
    }
    let header = [header.as_slice(), &["ACCEPTED"]].concat();
    let cells = |counts: Counts| {
        let [denied, warned, audited, ignored, undecided] = cells(counts);
        let accepted = counts.accepted.to_string();
        [denied, warned, audited, ignored, undecided, accepted]
    };
    show_table(&header, rows, cells, weight)
}

/// Requests, those with most denials first.
fn requests<const N: usize>(names: [&str; N], rows: &TallyTable<N>) -> PrintableText {
    let header: Vec<&str> = names
        .into_iter()
        .chain(["OBJECTS", "DENIED", "UNDECIDED", "NOT EVALUATED"])
        .collect();
    let cells = |counts: Counts| {
        let counts = [counts.requests(), counts.denied, counts.undecided, counts.failed];
        counts.map(|count| count.to_string())
    };
    show_table(&header, rows, cells, |counts| {
        [
            counts.denied,
            counts.failed,
            counts.undecided,
            counts.warned,
            counts.requests(),
        ]
    })
}

/// The rows of a table that weigh most.
fn show_table<const N: usize, const M: usize>(
    header: &[&str],
    rows: &TallyTable<N>,
    cells: impl Fn(Counts) -> [String; M],
    weight: impl Fn(Counts) -> [u64; 5],
) -> PrintableText {
    let mut sorted: Vec<([&str; N], Counts)> = rows.rows().collect();
    if sorted.is_empty() && rows.other().is_empty() {
        return PrintableText::new();
    }
    // Rows of equal weight stay in the order of their names.
    sorted.sort_by_key(|(_, counts)| std::cmp::Reverse(weight(*counts)));
    let lines = sorted.iter().take(MAX_ROWS).map(|(key, counts)| {
        let names = key.iter().map(|name| or(name, "-").to_owned());
        names.chain(cells(*counts)).collect::<Vec<_>>()
    });
    let mut out = table(header, N, &lines.collect::<Vec<_>>());
    let mut rest = rows.other();
    let more = sorted.iter().skip(MAX_ROWS);
    more.for_each(|(_, counts)| rest.add(*counts));
    if !rest.is_empty() {
        let count = sorted.len().saturating_sub(MAX_ROWS);
        let unknown = if rows.other().is_empty() { "" } else { "more than " };
        out.push(&text!(
            "and {}{} other rows: {}\n",
            unknown,
            count,
            cells(rest).join("  ")
        ));
    }
    out.push(&text!("\n"));
    out
}

/// The first examples of each finding.
fn examples(report: &Report) -> PrintableText {
    let mut out = PrintableText::new();
    for (kind, examples) in report.tally().examples().take(MAX_ROWS) {
        let action = kind.action.as_str();
        out.push(&match (kind.policy.as_str(), kind.binding.as_str()) {
            ("", _) => text!("the server itself ({})\n", action),
            (policy, "") => text!("{} ({})\n", policy, action),
            (policy, binding) => text!("{} ({}, {})\n", policy, binding, action),
        });
        for example in examples.take(EXAMPLES) {
            let message = IndentedLines {
                text: &example.message,
                indent: "    ",
            };
            out.push(&text!(
                "  {} {} ({}): {}\n",
                example.kind,
                namespaced(&example.namespace, &example.name),
                example.place,
                message
            ));
        }
    }
    let problems = report.problems();
    if problems.len() > 0 {
        out.push(&text!("not evaluated\n"));
    }
    for problem in problems.take(MAX_ROWS) {
        let message = IndentedLines {
            text: &problem.message,
            indent: "    ",
        };
        out.push(&text!("  {}: {}\n", problem.place, message));
    }
    if !out.as_str().is_empty() {
        out.push(&text!("\n"));
    }
    out
}
