//! The text output of a check.

use pratique_lint::ExpressionCost;

use super::checked_path::CheckedPath;
use super::connect;
use super::levels::WarningLevels;
use super::loaded_plugin::{LoadedObject, LoadedPlugin, StartRefusal};
use crate::input::sources;
use crate::output::excerpt::FileTexts;
use crate::output::problems;
use crate::output::text::{PrintableText, text};
use crate::style::{StreamStyle, TextTone};

/// The loaded objects, path by path, or all errors.
pub(super) fn checked_text(checked: &[CheckedPath], levels: &WarningLevels<'_>) -> PrintableText {
    let style = StreamStyle::of_stdout();
    let mut texts = FileTexts::default();
    for file in checked.iter().flat_map(|checked| &checked.texts) {
        texts.insert(&file.path, &file.content);
    }
    let reports = checked.iter().map(|checked| match &checked.loaded {
        Ok(loaded) => loads(checked, loaded, levels, &mut texts, style),
        Err(refusal) => refused(refusal, &mut texts, style),
    });
    let mut out = PrintableText::new();
    for (number, report) in reports.enumerate() {
        if number > 0 {
            out.push(&text!("\n"));
        }
        out.push(&report);
    }
    out
}

fn refused(refusal: &StartRefusal, texts: &mut FileTexts, style: StreamStyle) -> PrintableText {
    problems::refused(&refusal.errors, refusal.stops_server, texts, style)
}

fn loads(
    checked: &CheckedPath,
    loaded: &[LoadedPlugin],
    levels: &WarningLevels<'_>,
    texts: &mut FileTexts,
    style: StreamStyle,
) -> PrintableText {
    let mut out = text!(
        "{}: {}\n",
        style.paint(TextTone::Place, &checked.path),
        style.paint(TextTone::Good, "valid")
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
        let line = text!("{} {}", plugin.group, style.paint(TextTone::Faint, hash));
        out.push(&text!("\n{}\n", line.trim_end()));
        if let Some(directory) = &plugin.directory {
            out.push(&text!("  manifests in {}\n", directory));
        }
        for LoadedObject { kind, name, location } in &plugin.objects {
            let place = style.paint(TextTone::Faint, problems::place(location));
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
        problems::RuleLinks::Each,
        texts,
        style,
    ));
    out
}

/// The type, the inputs and the cost of an expression.
fn expression(cost: &ExpressionCost, style: StreamStyle) -> PrintableText {
    let usage = &cost.usage;
    let kind = cost
        .kind
        .as_ref()
        .map(|kind| format!(" for {kind}"))
        .unwrap_or_default();
    let share = usage.cost.max.saturating_mul(100) / ExpressionCost::LIMIT;
    let mut out = text!(
        "\n{}: {} {} {}\n  yields {}, costs {} to {} ({} % of the limit) for objects up to {} KiB{}\n",
        style.paint(TextTone::Place, problems::place(&cost.location)),
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
