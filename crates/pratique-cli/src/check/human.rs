//! The answer of a check for people.

use pratique_lint::ExpressionCost;

use super::levels::Levels;
use super::subject::{Found, Loaded};
use super::{Checked, Refusal, connect};
use crate::output::excerpt::Texts;
use crate::output::problems;
use crate::style::{Style, Tone};

/// What was loaded, path by path, or everything that is wrong with it.
pub(super) fn text(checked: &[Checked], levels: &Levels<'_>) -> String {
    let style = Style::of_stdout();
    let mut texts = Texts::default();
    for file in checked.iter().filter_map(|checked| checked.text.as_ref()) {
        texts.insert(&file.path, &file.content);
    }
    let reports = checked.iter().map(|checked| match &checked.loaded {
        Ok(loaded) => loads(checked, loaded, levels, &mut texts, style),
        Err(refusal) => refused(refusal, &mut texts, style),
    });
    reports.collect::<Vec<_>>().join("\n")
}

fn refused(refusal: &Refusal, texts: &mut Texts, style: Style) -> String {
    problems::refused(&refusal.errors, texts, style)
}

fn loads(
    checked: &Checked,
    loaded: &[Loaded],
    levels: &Levels<'_>,
    texts: &mut Texts,
    style: Style,
) -> String {
    let mut out = format!(
        "{}: {}\n",
        style.paint(Tone::Place, &checked.path),
        style.paint(Tone::Good, "valid")
    );
    if loaded.is_empty() {
        out.push_str("  nothing to load\n");
    }
    for plugin in loaded {
        let hash = match plugin.manifests.hash.as_str() {
            "" if plugin.objects.is_empty() => "no content",
            hash => hash,
        };
        let line = format!("{} {}", plugin.plugin, style.paint(Tone::Faint, hash));
        out.push_str(&format!("\n{}\n", line.trim_end()));
        if let Some(directory) = &plugin.directory {
            out.push_str(&format!("  manifests in {directory}\n"));
        }
        for Found { kind, name, location } in &plugin.objects {
            let place = style.paint(Tone::Faint, &problems::place(location));
            out.push_str(&format!("  {kind} {name} {place}\n"));
        }
    }
    for cost in &checked.costs {
        out.push_str(&expression(cost, style));
    }
    for connection in &checked.connections {
        out.push_str(&connect::text(connection, style));
    }
    out.push_str(&problems::listed(
        &checked.findings(levels),
        problems::Links::Each,
        texts,
        style,
    ));
    out
}

/// What an expression yields, reads and costs.
fn expression(cost: &ExpressionCost, style: Style) -> String {
    let usage = &cost.usage;
    let kind = cost
        .kind
        .as_ref()
        .map(|kind| format!(" for {kind}"))
        .unwrap_or_default();
    let share = usage.cost.max.saturating_mul(100) / ExpressionCost::LIMIT;
    let mut out = format!(
        "\n{}: {} {} {}\n  yields {}, costs {} to {} ({share} % of the limit) for objects up to {} KiB{kind}\n",
        style.paint(Tone::Place, &problems::place(&cost.location)),
        cost.object.kind,
        cost.object.name,
        cost.field,
        usage.result,
        usage.cost.min,
        usage.cost.max,
        ExpressionCost::LARGE / 1024,
    );
    let lists = [
        (
            "reads",
            usage.paths.iter().map(String::as_str).collect::<Vec<_>>(),
        ),
        ("calls", usage.functions.iter().map(String::as_str).collect()),
    ];
    for (what, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
        out.push_str(&format!("  {what} {}\n", names.join(", ")));
    }
    out
}
