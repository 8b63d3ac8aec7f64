//! Fields that a server drops without a word, at their places.

use pratique_manifest::Location;
use pratique_review::{DroppedField, FieldPath};
use serde::Serialize;

use crate::evaluation::result::ReviewResult;
use crate::input::fields::PieceFields;
use crate::output::json::is_zero;
use crate::output::problems;
use crate::output::text::{PrintableText, text};
use crate::style::{StreamStyle, TextTone};

/// A field that is dropped, and where it is.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PlacedDrop {
    #[serde(flatten)]
    pub(crate) dropped: DroppedField,
    #[serde(skip_serializing_if = "is_zero")]
    line: u32,
    #[serde(skip_serializing_if = "is_zero")]
    column: u32,
    /// The field; `None` where the text is not known.
    #[serde(skip)]
    pub(crate) location: Option<Location>,
    /// The text that was read, if the location is in the source that the object was made of.
    #[serde(skip)]
    made: Option<Location>,
}

/// How many of them are shown with their lines.
const MAX_SHOWN: usize = 50;

impl ReviewResult<'_> {
    /// Finds the dropped fields in the text that the object was read of. Those of the Pod of a workload are told of its template.
    pub(crate) fn place_drops(&mut self, fields: Option<&PieceFields<'_>>) {
        let dropped = std::mem::take(&mut self.review.dropped);
        let told = dropped.into_iter().filter(|_| self.input.parent.is_none());
        self.drops = told
            .map(|dropped| {
                let path = FieldPath::parse(&dropped.field);
                let (location, made) = self.place_field(fields, &path);
                let start = location.as_ref().map(|location| location.start);
                PlacedDrop {
                    dropped,
                    line: start.map_or(0, |start| start.line),
                    column: start.map_or(0, |start| start.column),
                    location,
                    made,
                }
            })
            .collect();
    }
}

/// The fields as text: each with its place, its line and a help.
pub(crate) fn human(
    drops: &[PlacedDrop],
    fields: Option<&PieceFields<'_>>,
    style: StreamStyle,
) -> PrintableText {
    let mut out = PrintableText::new();
    for placed in drops.iter().take(MAX_SHOWN) {
        let location = placed.location.as_ref();
        let place = location.map(|location| {
            let place = style.paint(TextTone::Place, problems::place(location));
            text!("{}: ", place)
        });
        let label = style.paint(TextTone::Warning, "warning: ");
        out.push(&text!(
            "  {}{}{}\n",
            label,
            place.unwrap_or_default(),
            placed.dropped.message
        ));
        let excerpt = placed.made.as_ref().or(location);
        let excerpt = excerpt.and_then(|location| fields?.excerpt(location, style));
        out.push(&excerpt.unwrap_or_default().indented("    "));
        let made = placed.made.as_ref().map(problems::place);
        for (what, note) in [("rendered", &made), ("help", &placed.dropped.help)] {
            if let Some(note) = note {
                let label = style.paint(TextTone::Faint, text!("= {}:", what));
                out.push(&text!("      {} {}\n", label, note));
            }
        }
    }
    if let Some(more @ 1..) = drops.len().checked_sub(MAX_SHOWN) {
        out.push(&text!("    and {} more\n", more));
    }
    out
}
