//! Why the server's own validation refuses an object, at the places of the fields.

use pratique_review::{FieldPath, InvalidCause};

use crate::evaluation::placed_field::{self, PlacedField};
use crate::evaluation::result::ReviewResult;
use crate::input::fields::PieceFields;
use crate::output::text::{IndentedLines, PrintableText, text};
use crate::style::StreamStyle;

/// A field for which an object is refused, and where it is.
pub(crate) type PlacedCause = PlacedField<InvalidCause>;

impl ReviewResult<'_> {
    /// Finds the causes of a refusal in the text that the object was read of.
    pub(crate) fn place_causes(&mut self, fields: Option<&PieceFields<'_>>) {
        let template = self
            .input
            .parent
            .as_ref()
            .map(|parent| match parent.kind.as_str() {
                "CronJob" => "spec.jobTemplate.spec.template",
                "PodTemplate" => "template",
                _ => "spec.template",
            });
        let causes = std::mem::take(&mut self.review.causes);
        self.placed = causes
            .into_iter()
            .map(|cause| {
                let path = FieldPath::parse(&cause.field);
                let path = template.map_or(path.clone(), |template| path.below(template));
                PlacedField::new(cause, self.place_field(fields, &path))
            })
            .collect();
    }
}

impl PlacedCause {
    /// `spec.replicas: Invalid value: …: did you mean …`
    pub(crate) fn message(&self) -> String {
        match &self.subject.help {
            Some(help) => format!("{}: {help}", self.subject.told()),
            None => self.subject.told(),
        }
    }
}

/// The causes as text: each with its place, its line, a help and the step that made it so.
pub(crate) fn human(
    causes: &[PlacedCause],
    fields: Option<&PieceFields<'_>>,
    style: StreamStyle,
) -> PrintableText {
    placed_field::human(causes, (fields, style), |cause, place| {
        let message = IndentedLines {
            text: &cause.message,
            indent: "      ",
        };
        let message = text!("    {}{}: {}\n", place, cause.field, message);
        (message, [("step", &cause.origin), ("help", &cause.help)])
    })
}
