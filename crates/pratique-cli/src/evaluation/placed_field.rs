//! What there is to say about fields of an object, at the places of the fields.

use pratique_manifest::Location;
use serde::Serialize;

use crate::input::fields::PieceFields;
use crate::output::json::is_zero;
use crate::output::problems;
use crate::output::text::{PrintableText, text};
use crate::style::{StreamStyle, TextTone};

/// Something about a field, and where the field is.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PlacedField<T> {
    #[serde(flatten)]
    pub(crate) subject: T,
    #[serde(skip_serializing_if = "is_zero")]
    line: u32,
    #[serde(skip_serializing_if = "is_zero")]
    column: u32,
    /// The field, or what should have it; `None` where the text is not known.
    #[serde(skip)]
    pub(crate) location: Option<Location>,
    /// The text that was read, if the location is in the source that the object was made of.
    #[serde(skip)]
    made: Option<Location>,
}

/// How many fields are shown with their lines.
const MAX_SHOWN: usize = 50;

impl<T> PlacedField<T> {
    /// With where the field is shown to be, and where it was read, if that is elsewhere.
    pub(crate) fn new(subject: T, (location, made): (Option<Location>, Option<Location>)) -> Self {
        let start = location.as_ref().map(|location| location.start);
        PlacedField {
            subject,
            line: start.map_or(0, |start| start.line),
            column: start.map_or(0, |start| start.column),
            location,
            made,
        }
    }

    /// `file:line:column: `; nothing where the text is not known.
    fn place(&self, style: StreamStyle) -> PrintableText {
        let place = self.location.as_ref().map(|location| {
            let place = style.paint(TextTone::Place, problems::place(location));
            text!("{}: ", place)
        });
        place.unwrap_or_default()
    }
}

/// The fields as text: each with its place, its line and notes. `describe` says what there is to say of one at a place, with the notes.
pub(crate) fn human<'f, T, const NOTES: usize>(
    placed_fields: &'f [PlacedField<T>],
    (fields, style): (Option<&PieceFields<'_>>, StreamStyle),
    describe: impl Fn(&'f T, PrintableText) -> (PrintableText, [(&'static str, &'f Option<String>); NOTES]),
) -> PrintableText {
    let mut out = PrintableText::new();
    for placed in placed_fields.iter().take(MAX_SHOWN) {
        let (message, notes) = describe(&placed.subject, placed.place(style));
        out.push(&message);
        let excerpt = placed.made.as_ref().or(placed.location.as_ref());
        let excerpt = excerpt.and_then(|location| fields?.excerpt(location, style));
        out.push(&excerpt.unwrap_or_default().indented("    "));
        let made = placed.made.as_ref().map(problems::place);
        for (what, note) in [("rendered", &made)].into_iter().chain(notes) {
            if let Some(note) = note {
                let label = style.paint(TextTone::Faint, text!("= {}:", what));
                out.push(&text!("      {} {}\n", label, note));
            }
        }
    }
    if let Some(more @ 1..) = placed_fields.len().checked_sub(MAX_SHOWN) {
        out.push(&text!("    and {} more\n", more));
    }
    out
}
