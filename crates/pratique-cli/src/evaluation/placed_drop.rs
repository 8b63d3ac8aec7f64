//! Fields that a server drops without a word, at their places.

use pratique_review::{DroppedField, FieldPath};

use crate::evaluation::placed_field::{self, PlacedField};
use crate::evaluation::result::ReviewResult;
use crate::input::fields::PieceFields;
use crate::output::text::{PrintableText, text};
use crate::style::{StreamStyle, TextTone};

/// A field that is dropped, and where it is.
pub(crate) type PlacedDrop = PlacedField<DroppedField>;

impl ReviewResult<'_> {
    /// Finds the dropped fields in the text that the object was read of. Those of the Pod of a workload are told of its template.
    pub(crate) fn place_drops(&mut self, fields: Option<&PieceFields<'_>>) {
        let dropped = std::mem::take(&mut self.review.dropped);
        let told = dropped.into_iter().filter(|_| self.input.parent.is_none());
        self.drops = told
            .map(|dropped| {
                let place = self.place_field(fields, &FieldPath::parse(&dropped.field));
                PlacedField::new(dropped, place)
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
    placed_field::human(drops, (fields, style), |dropped, place| {
        let label = style.paint(TextTone::Warning, "warning: ");
        let message = text!("  {}{}{}\n", label, place, dropped.message);
        (message, [("help", &dropped.help)])
    })
}
