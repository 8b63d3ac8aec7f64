//! The parts of a page.

use std::cmp::Reverse;
use std::fmt::{self, Formatter};

use super::escaped_text::EscapedText;
use crate::{Counts, Report, Tally, TallyTable};

/// How many rows a table shows.
const MAX_ROWS: usize = 200;
/// Who refuses a request or warns about it where no policy, webhook or plugin does.
const SERVER: &str = "the server itself";

/// How many combinations of policy and action have their examples shown.
const MAX_EXAMPLES: usize = 200;

/// The summary: the result in a sentence, and the numbers.
pub(super) fn summary(out: &mut Formatter<'_>, report: &Report) -> fmt::Result {
    let tally = report.tally();
    let total = tally.total();
    let objects = total.requests();
    let (done, things) = match report.run().command.as_str() {
        "scan" => ("would be refused", "objects"),
        _ => ("are refused", "requests"),
    };
    let refusing: u64 = tally.policies().rows().filter(|(_, row)| row.denied > 0).count() as u64;
    let incomplete = !report.missing().is_empty();
    let state = match total {
        _ if incomplete => "unknown",
        Counts { denied: 1.., .. } => "bad",
        Counts { failed: 1.., .. } | Counts { undecided: 1.., .. } => "unknown",
        _ => "good",
    };
    write!(out, "<p class=\"lead {state}\">")?;
    match (objects, total.denied) {
        (0, _) => write!(out, "Nothing was evaluated.")?,
        (_, 0) if total.accepted > 0 => write!(
            out,
            "{} of {} {things} {done}, all of which is accepted.",
            number(total.accepted),
            number(objects)
        )?,
        (_, 0) => write!(out, "None of {} {things} {done}.", number(objects))?,
        (_, denied) => write!(
            out,
            "<strong>{}</strong> of {} {things} ({}) {done}{}.",
            number(denied),
            number(objects),
            percent(denied, objects),
            match (refusing, report.run().policy_count) {
                (0, _) => String::new(),
                (count, 0) => format!(", by {} {}", number(count), plural(count, "policy", "policies")),
                (count, all) => format!(
                    ", by {} of {} {}",
                    number(count.min(all)),
                    number(all),
                    plural(all, "policy", "policies")
                ),
            }
        )?,
    }
    out.write_str("</p>\n")?;
    if incomplete {
        let missing = report.missing();
        let named: Vec<String> = missing.iter().take(20).map(u32::to_string).collect();
        writeln!(
            out,
            "<p class=\"lead unknown\">This is a part of the report: {} {} missing ({}{}).</p>",
            number(missing.len() as u64),
            plural(missing.len() as u64, "shard is", "shards are"),
            named.join(", "),
            if missing.len() > 20 { ", …" } else { "" }
        )?;
    }
    if total.undecided + total.failed > 0 {
        writeln!(
            out,
            "<p class=\"lead unknown\">Of {} {things} it is not known: {} depend on something that was not given, and {} could \
             not be read or evaluated. They are not counted as allowed.</p>",
            number(total.undecided.saturating_add(total.failed)),
            number(total.undecided),
            number(total.failed)
        )?;
    }
    let numbers = [
        ("allowed", total.allowed, "good"),
        ("denied", total.denied, "bad"),
        ("undecided", total.undecided, "unknown"),
        ("not evaluated", total.failed, "unknown"),
        ("warnings", total.warned, "mild"),
        ("audited", total.audited, "mild"),
        ("errors ignored", total.ignored, "unknown"),
    ];
    let accepted = (total.accepted > 0).then_some(("accepted", total.accepted, "mild"));
    tiles(out, numbers.into_iter().chain(accepted))
}

/// Numbers with their names and tones.
pub(super) fn tiles<'n>(
    out: &mut Formatter<'_>,
    numbers: impl IntoIterator<Item = (&'n str, u64, &'n str)>,
) -> fmt::Result {
    out.write_str("<ul class=\"tiles\">\n")?;
    for (name, count, tone) in numbers {
        let tone = if count == 0 { "none" } else { tone };
        writeln!(
            out,
            "<li class=\"{tone}\"><b>{}</b> {}</li>",
            number(count),
            EscapedText(name)
        )?;
    }
    out.write_str("</ul>\n")
}

/// Begins a section about a part of what is counted; `of` is that part, or empty.
fn section(out: &mut Formatter<'_>, of: &str, what: &str) -> fmt::Result {
    let separator = if of.is_empty() { "" } else { ": " };
    writeln!(out, "<section>\n<h2>{}{separator}{what}</h2>", EscapedText(of))
}

/// What policies found.
pub(super) fn policies(out: &mut Formatter<'_>, tally: &Tally, of: &str) -> fmt::Result {
    let policies = tally.policies();
    if policies.rows().len() == 0 && policies.other().is_empty() {
        return Ok(());
    }
    section(out, of, "By policy")?;
    let columns: [NumberColumn; 5] = [
        ("Denied", |counts| counts.denied),
        ("Warned", |counts| counts.warned),
        ("Audited", |counts| counts.audited),
        ("Ignored", |counts| counts.ignored),
        ("Undecided", |counts| counts.undecided),
    ];
    let has_accepted =
        policies.rows().any(|(_, counts)| counts.accepted > 0) || policies.other().accepted > 0;
    if has_accepted {
        let [denied, warned, audited, ignored, undecided] = columns;
        let accepted: NumberColumn = ("Accepted", |counts| counts.accepted);
        let columns = [denied, warned, audited, ignored, undecided, accepted];
        table(out, &["Policy", "Binding"], &columns, policies)?;
    } else {
        table(out, &["Policy", "Binding"], &columns, policies)?;
    }
    out.write_str("</section>\n")
}

/// Where policies found something.
pub(super) fn places(out: &mut Formatter<'_>, tally: &Tally, of: &str) -> fmt::Result {
    let columns: [NumberColumn; 4] = [
        ("Denied", |counts| counts.denied),
        ("All", Counts::requests),
        ("Undecided", |counts| counts.undecided),
        ("Not evaluated", |counts| counts.failed),
    ];
    if tally.total().requests() == 0 {
        return Ok(());
    }
    section(out, of, "By namespace")?;
    table(out, &["Namespace"], &columns, tally.namespaces())?;
    out.write_str("</section>\n")?;
    section(out, of, "By kind")?;
    table(out, &["Version", "Kind"], &columns, tally.kinds())?;
    out.write_str("</section>\n")?;
    if tally.owners().rows().len() > 0 {
        section(out, of, "By owner")?;
        out.write_str("<p>Only those in which something was found.</p>\n")?;
        table(out, &["Namespace", "Owner"], &columns, tally.owners())?;
        out.write_str("</section>\n")?;
    }
    if tally.users().rows().len() > 1 {
        section(out, of, "By user")?;
        table(out, &["User"], &columns, tally.users())?;
        out.write_str("</section>\n")?;
    }
    Ok(())
}

/// Examples of what was found.
pub(super) fn examples(out: &mut Formatter<'_>, tally: &Tally, of: &str) -> fmt::Result {
    let mut kinds = tally.examples().peekable();
    if kinds.peek().is_none() {
        return Ok(());
    }
    section(out, of, "Examples")?;
    for (kind, examples) in kinds.by_ref().take(MAX_EXAMPLES) {
        let policy = if kind.policy.is_empty() {
            SERVER
        } else {
            &kind.policy
        };
        let action = kind.action.as_str();
        write!(
            out,
            "<details>\n<summary><span class=\"tag {action}\">{action}</span> {}",
            EscapedText(policy)
        )?;
        if !kind.binding.is_empty() {
            write!(out, " <small>{}</small>", EscapedText(&kind.binding))?;
        }
        out.write_str("</summary>\n<ul class=\"examples\">\n")?;
        for example in examples {
            let namespace = match example.namespace.as_str() {
                "" => String::new(),
                namespace => format!("{namespace}/"),
            };
            write!(
                out,
                "<li><b>{} {}{}</b> <small>{}",
                EscapedText(&example.kind),
                EscapedText(&namespace),
                EscapedText(&example.name),
                EscapedText(&example.place)
            )?;
            for more in [&example.owner, &example.user, &example.time] {
                if !more.is_empty() {
                    write!(out, " · {}", EscapedText(more))?;
                }
            }
            let error = if example.is_error { "error: " } else { "" };
            writeln!(out, "</small><br>{error}{}</li>", EscapedText(&example.message))?;
        }
        out.write_str("</ul>\n</details>\n")?;
    }
    let more = kinds.count();
    if more > 0 {
        writeln!(
            out,
            "<p>Examples of {} more findings are in the report as JSON.</p>",
            number(more as u64)
        )?;
    }
    out.write_str("</section>\n")
}

/// What could not be read or evaluated.
pub(super) fn problems(out: &mut Formatter<'_>, report: &Report) -> fmt::Result {
    if report.problems().len() == 0 {
        return Ok(());
    }
    out.write_str("<section>\n<h2>Not evaluated</h2>\n<ul class=\"examples\">\n")?;
    for problem in report.problems() {
        writeln!(
            out,
            "<li><b>{}</b><br>{}</li>",
            EscapedText(&problem.place),
            EscapedText(&problem.message)
        )?;
    }
    out.write_str("</ul>\n</section>\n")
}

/// How the report was made.
pub(super) fn about(out: &mut Formatter<'_>, report: &Report, time: &str) -> fmt::Result {
    let run = report.run();
    let facts = [
        ("Command", format!("pratique {} {}", run.command, run.version)),
        ("Time", time.to_owned()),
        ("Inputs", run.inputs.join(", ")),
        ("Operation", run.operation.clone()),
        ("Policies", run.policies.clone()),
        ("Evaluated", report.evaluated().to_owned()),
    ];
    let notices = report.notices().map(|notice| match notice.place.as_str() {
        "" => notice.message.clone(),
        place => format!("{place}: {}", notice.message),
    });
    let notes: Vec<String> = report.notes().map(str::to_owned).chain(notices).collect();
    footer(out, notes.iter().map(String::as_str), &facts)
}

/// Notes, and facts with their names.
pub(super) fn footer<'n>(
    out: &mut Formatter<'_>,
    notes: impl Iterator<Item = &'n str>,
    facts: &[(&str, String)],
) -> fmt::Result {
    out.write_str("<footer>\n<h2>About this report</h2>\n")?;
    let mut notes = notes.peekable();
    if notes.peek().is_some() {
        out.write_str("<ul>\n")?;
        for note in notes {
            writeln!(out, "<li>{}</li>", EscapedText(note))?;
        }
        out.write_str("</ul>\n")?;
    }
    out.write_str("<dl>\n")?;
    for (name, fact) in facts {
        if !fact.trim().is_empty() {
            writeln!(
                out,
                "<dt>{}</dt><dd>{}</dd>",
                EscapedText(name),
                EscapedText(fact)
            )?;
        }
    }
    out.write_str("</dl>\n</footer>\n")
}

/// A column of numbers; the first of a table has bars.
type NumberColumn = (&'static str, fn(&Counts) -> u64);

fn table<const N: usize, const M: usize>(
    out: &mut Formatter<'_>,
    names: &[&str; N],
    columns: &[NumberColumn; M],
    rows: &TallyTable<N>,
) -> fmt::Result {
    let values = |counts: &Counts| columns.map(|(_, value)| value(counts));
    let mut sorted: Vec<([&str; N], Counts)> = rows.rows().collect();
    // Rows of equal weight stay in the order of their names.
    sorted.sort_by_key(|(_, counts)| Reverse(values(counts)));
    let first = |counts: &Counts| values(counts).first().copied().unwrap_or_default();
    let most = sorted.first().map_or(0, |(_, counts)| first(counts));
    out.write_str("<div class=\"scroll\"><table>\n<thead><tr>")?;
    for name in names {
        write!(out, "<th scope=\"col\">{name}</th>")?;
    }
    for (name, _) in columns {
        write!(out, "<th scope=\"col\" class=\"n\">{name}</th>")?;
    }
    out.write_str("</tr></thead>\n<tbody>\n")?;
    for (key, counts) in sorted.iter().take(MAX_ROWS) {
        out.write_str("<tr>")?;
        for name in key {
            write!(
                out,
                "<td>{}</td>",
                EscapedText(if name.is_empty() { "–" } else { name })
            )?;
        }
        // A bar of up to 100 parts.
        let bar = match most {
            0 => 0,
            most => (u128::from(first(counts)) * 100).div_ceil(u128::from(most)),
        };
        for (index, value) in values(counts).into_iter().enumerate() {
            match index {
                0 if bar > 0 => write!(
                    out,
                    "<td class=\"n bar\" style=\"--share:{bar}%\">{}</td>",
                    number(value)
                )?,
                _ if value == 0 => out.write_str("<td class=\"n zero\">0</td>")?,
                _ => write!(out, "<td class=\"n\">{}</td>", number(value))?,
            }
        }
        out.write_str("</tr>\n")?;
    }
    let mut rest = rows.other();
    sorted
        .iter()
        .skip(MAX_ROWS)
        .for_each(|(_, counts)| rest.add(*counts));
    if !rest.is_empty() {
        write!(out, "<tr class=\"rest\"><td colspan=\"{N}\">all others</td>")?;
        for value in values(&rest) {
            write!(out, "<td class=\"n\">{}</td>", number(value))?;
        }
        out.write_str("</tr>\n")?;
    }
    out.write_str("</tbody>\n</table></div>\n")
}

/// A number with its thousands apart.
fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share as a percentage that is 0 or 100 only where it is that.
fn percent(part: u64, whole: u64) -> String {
    let whole = u128::from(whole.max(1));
    let tenths = (u128::from(part) * 1000 + whole / 2) / whole;
    match tenths {
        0 if part > 0 => "less than 0.1%".to_owned(),
        1000 if u128::from(part) < whole => "more than 99.9%".to_owned(),
        tenths => format!("{}.{}%", tenths / 10, tenths % 10),
    }
}

fn plural<'t>(count: u64, one: &'t str, more: &'t str) -> &'t str {
    if count == 1 { one } else { more }
}

#[cfg(test)]
mod tests {
    use super::{number, percent};

    #[test]
    fn numbers_are_read_easily() {
        for (count, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(number(count), expected);
        }
        for (part, whole, expected) in [
            (0, 0, "0.0%"),
            (1, 3, "33.3%"),
            (1, 1_000_000, "less than 0.1%"),
            (999_999, 1_000_000, "more than 99.9%"),
            (7, 7, "100.0%"),
        ] {
            assert_eq!(percent(part, whole), expected);
        }
    }
}
