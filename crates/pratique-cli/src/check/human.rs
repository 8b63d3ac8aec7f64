//! The text output of a check.

use pratique_lint::ExpressionCost;

use super::checked::Checked;
use super::connect;
use super::levels::Levels;
use super::loaded::{Loaded, LoadedObject, Refusal};
use crate::input::sources;
use crate::output::excerpt::Texts;
use crate::output::problems;
use crate::output::text::{Text, text};
use crate::style::{Style, Tone};

/// The loaded objects, path by path, or all errors.
pub(super) fn checked_text(checked: &[Checked], levels: &Levels<'_>) -> Text {
    let style = Style::of_stdout();
    let mut texts = Texts::default();
    for file in checked.iter().flat_map(|checked| &checked.texts) {
        texts.insert(&file.path, &file.content);
    }
    let reports = checked.iter().map(|checked| match &checked.loaded {
        Ok(loaded) => loads(checked, loaded, levels, &mut texts, style),
        Err(refusal) => refused(refusal, &mut texts, style),
    });
    let mut out = Text::new();
    for (number, report) in reports.enumerate() {
        if number > 0 {
            out.push(&text!("\n"));
        }
        out.push(&report);
    }
    out
}

fn refused(refusal: &Refusal, texts: &mut Texts, style: Style) -> Text {
    problems::refused(&refusal.errors, refusal.stops_server, texts, style)
}

fn loads(checked: &Checked, loaded: &[Loaded], levels: &Levels<'_>, texts: &mut Texts, style: Style) -> Text {
    let mut out = text!(
        "{}: {}\n",
        style.paint(Tone::Place, &checked.path),
        style.paint(Tone::Good, "valid")
    );
    if loaded.is_empty() && checked.started.is_empty() {
        out.push(&text!("  nothing to load\n"));
    }
    for plugin in &checked.started {
        out.push(&text!("\n{}\n  configuration in {}\n", plugin.name, plugin.path));
    }
    for plugin in loaded {
        let hash = match plugin.manifests.hash.as_str() {
            "" if plugin.objects.is_empty() => "no content",
            hash => hash,
        };
        let line = text!("{} {}", plugin.group, style.paint(Tone::Faint, hash));
        out.push(&text!("\n{}\n", line.trim_end()));
        if let Some(directory) = &plugin.directory {
            out.push(&text!("  manifests in {}\n", directory));
        }
        for LoadedObject { kind, name, location } in &plugin.objects {
            let place = style.paint(Tone::Faint, problems::place(location));
            out.push(&text!("  {} {} {}\n", kind, name, place));
        }
    }
    for cost in &checked.costs {
        out.push(&expression(cost, style));
    }
    for connection in &checked.connections {
        out.push(&connect::connection_text(connection, style));
    }
    if let Some(summary) = sources::summary(&checked.sources) {
        out.push(&text!("\n{}\n", summary));
    }
    out.push(&problems::listed(
        &checked.findings(levels),
        problems::Links::Each,
        texts,
        style,
    ));
    out
}

/// The type, the inputs and the cost of an expression.
fn expression(cost: &ExpressionCost, style: Style) -> Text {
    let usage = &cost.usage;
    let kind = cost
        .kind
        .as_ref()
        .map(|kind| format!(" for {kind}"))
        .unwrap_or_default();
    let share = usage.cost.max.saturating_mul(100) / ExpressionCost::LIMIT;
    let mut out = text!(
        "\n{}: {} {} {}\n  yields {}, costs {} to {} ({} % of the limit) for objects up to {} KiB{}\n",
        style.paint(Tone::Place, problems::place(&cost.location)),
        cost.object.kind,
        cost.object.name,
        cost.field,
        usage.result,
        usage.cost.min,
        usage.cost.max,
        share,
        ExpressionCost::LARGE / 1024,
        kind,
    );
    let lists = [
        (
            "reads",
            usage.paths.iter().map(String::as_str).collect::<Vec<_>>(),
        ),
        ("calls", usage.functions.iter().map(String::as_str).collect()),
    ];
    for (what, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
        out.push(&text!("  {} {}\n", what, names.join(", ")));
    }
    out
}
