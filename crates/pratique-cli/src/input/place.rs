//! Shifts what was found in a piece of a stream to its place in the stream.

use pratique_manifest::{LoadErrors, Location, Position};
use pratique_stream::StreamPlace;

use super::{InputError, ParsedObjects};

/// Where a text begins that was read on its own: the place, and the documents before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlaceShift {
    pub(super) place: StreamPlace,
    pub(super) documents: usize,
}

impl PlaceShift {
    /// The position in the stream of a position in the text.
    fn position(self, at: Position) -> Position {
        let column = if at.line <= 1 { self.place.column } else { 0 };
        Position {
            line: at
                .line
                .saturating_add(saturated(self.place.line.saturating_sub(1))),
            column: at.column.saturating_add(saturated(column)),
            offset: at.offset.saturating_add(self.place.offset),
        }
    }

    pub(super) fn location(self, location: &mut Location) {
        location.start = self.position(location.start);
        location.end = self.position(location.end);
        location.document += self.documents;
    }

    pub(super) fn objects(self, objects: &mut ParsedObjects<'_>) {
        for object in &mut objects.objects {
            self.location(&mut object.location);
        }
        let warnings = objects.reading_warnings.iter_mut();
        for location in warnings.filter_map(|problem| problem.location.as_mut()) {
            self.location(location);
        }
        for fault in &mut objects.faults {
            self.fault(fault);
        }
    }

    fn fault(self, fault: &mut InputError) {
        if let InputError::Invalid { file, line, errors } = fault {
            *line = line.saturating_add(saturated(self.place.line.saturating_sub(1)));
            let lead = vec![b' '; self.place.column];
            file.content.splice(0..0, lead);
            let mut failures = std::mem::take(errors).into_failures();
            for failure in &mut failures {
                for problem in &mut failure.problems {
                    if let Some(location) = &mut problem.location {
                        self.location(location);
                    }
                }
            }
            *errors = LoadErrors::new(failures);
        }
    }
}

pub(super) fn saturated(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
