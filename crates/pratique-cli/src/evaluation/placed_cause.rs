//! Why the server's own validation refuses an object, at the places of the fields.

use pratique_manifest::Location;
use pratique_review::{FieldPath, InvalidCause};
use serde::Serialize;

use crate::evaluation::result::ReviewResult;
use crate::input::fields::PieceFields;
use crate::output::json::is_zero;
use crate::output::problems;
use crate::output::text::{IndentedLines, PrintableText, text};
use crate::style::{StreamStyle, TextTone};

/// A field for which an object is refused, and where it is.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PlacedCause {
    #[serde(flatten)]
    pub(crate) cause: InvalidCause,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) line: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) column: u32,
    /// The field, or what should have it; `None` where the text is not known.
    #[serde(skip)]
    pub(crate) location: Option<Location>,
    /// The text that was read, if the location is in the source that the object was made of.
    #[serde(skip)]
    made: Option<Location>,
}

/// How many causes are shown with their lines.
const MAX_SHOWN: usize = 50;

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
                let (location, made) = self.place_field(fields, &path);
                let start = location.as_ref().map(|location| location.start);
                PlacedCause {
                    line: start.map_or(0, |start| start.line),
                    column: start.map_or(0, |start| start.column),
                    cause,
                    location,
                    made,
                }
            })
            .collect();
    }
}

impl PlacedCause {
    /// `spec.replicas: Invalid value: …: did you mean …`
    pub(crate) fn message(&self) -> String {
        let InvalidCause {
            field,
            message,
            help,
            origin,
            ..
        } = &self.cause;
        let origin = origin.as_ref().map(|origin| format!(" ({origin})"));
        let help = help.as_ref().map(|help| format!(": {help}"));
        format!(
            "{field}: {message}{}{}",
            origin.unwrap_or_default(),
            help.unwrap_or_default()
        )
    }
}

/// The causes as text: each with its place, its line, a help and the step that made it so.
pub(crate) fn human(
    causes: &[PlacedCause],
    fields: Option<&PieceFields<'_>>,
    style: StreamStyle,
) -> PrintableText {
    let mut out = PrintableText::new();
    for placed in causes.iter().take(MAX_SHOWN) {
        let InvalidCause {
            field,
            message,
            help,
            origin,
            ..
        } = &placed.cause;
        let place = placed.location.as_ref().map(|location| {
            let place = style.paint(TextTone::Place, problems::place(location));
            text!("{}: ", place)
        });
        let message = IndentedLines {
            text: message,
            indent: "      ",
        };
        out.push(&text!(
            "    {}{}: {}\n",
            place.unwrap_or_default(),
            field,
            message
        ));
        let excerpt = placed.made.as_ref().or(placed.location.as_ref());
        let excerpt = excerpt.and_then(|location| fields?.excerpt(location, style));
        out.push(&excerpt.unwrap_or_default().indented("    "));
        let made = placed.made.as_ref().map(problems::place);
        let notes = [("rendered", &made), ("step", origin), ("help", help)];
        for (what, note) in notes
            .into_iter()
            .filter_map(|(what, note)| Some((what, note.as_ref()?)))
        {
            let label = style.paint(TextTone::Faint, text!("= {}:", what));
            out.push(&text!("      {} {}\n", label, note));
        }
    }
    if let Some(more @ 1..) = causes.len().checked_sub(MAX_SHOWN) {
        out.push(&text!("    and {} more\n", more));
    }
    out
}
