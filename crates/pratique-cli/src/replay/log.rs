//! Reads audit logs: each entry becomes what is known of its requests.

use std::sync::{Arc, Mutex, PoisonError};

use pratique_manifest::{Location, Position};
use pratique_replay::{
    EntryError, EventRequests, LocatedEntry, LogReplayer, NotSubject, RecentObjects, RecordedOutcome,
    ReplayResult, entries,
};
use pratique_stream::{Piece, StreamPlace};

use super::engine::RequestCluster;
use super::faults::InputFaults;
use crate::input::InputError;
use crate::output::problems;
use crate::stream::ordered_work;

/// Reads entries of audit logs.
pub(crate) struct LogReader {
    replayer: LogReplayer,
    remembered: Option<Mutex<RecentObjects>>,
}

impl LogReader {
    /// A reader that knows the custom resources of a cluster, and remembers so many MiB of objects.
    pub(crate) fn new(cluster: &RequestCluster, remembered: u32) -> Self {
        let mut replayer = LogReplayer::default().with_gates(cluster.gates);
        for definition in &cluster.definitions {
            // Unusable definitions were reported when the state was read.
            let _ = replayer.define(definition);
        }
        let bytes = usize::try_from(u64::from(remembered) << 20).unwrap_or(usize::MAX);
        LogReader {
            replayer,
            remembered: (bytes > 0).then(|| Mutex::new(RecentObjects::within(bytes))),
        }
    }

    /// Whether what entries hold counts for later ones.
    pub(crate) fn remembers(&self) -> bool {
        self.remembered.is_some()
    }

    /// Remembers what a part of the log of this path holds, which was counted before.
    pub(crate) fn remember(&self, path: &Arc<str>, piece: &Piece) {
        // What cannot be read was counted as well.
        let mut faults = InputFaults::default();
        for located in entries(piece) {
            let _ = self.read(path, located, &mut faults);
        }
    }

    /// How many threads may read: objects are remembered in the order of the log.
    pub(crate) fn threads(&self) -> usize {
        if self.remembers() {
            1
        } else {
            ordered_work::cores()
        }
    }

    /// The requests of an entry of the log of this path, and its location.
    pub(crate) fn read<'e>(
        &self,
        path: &Arc<str>,
        located: LocatedEntry<'e>,
        faults: &mut InputFaults,
    ) -> Option<(Location, ReplayResult<'e>)> {
        let location = location(path, located.place);
        let entry = match located.entry {
            Ok(entry) => entry,
            Err(EntryError::OtherLog) => {
                let replayed = ReplayResult {
                    id: String::new(),
                    at: String::new(),
                    then: RecordedOutcome::Unknown,
                    what: EventRequests::NotSubject(NotSubject::OtherLog),
                };
                return Some((location, replayed));
            }
            Err(error) => {
                faults.add(InputError::Faulty {
                    place: problems::place(&location),
                    why: error.to_string(),
                });
                return None;
            }
        };
        let mut remembered = self
            .remembered
            .as_ref()
            .map(|remembered| remembered.lock().unwrap_or_else(PoisonError::into_inner));
        let replayed = self.replayer.replay(entry, remembered.as_deref_mut());
        Some((location, replayed))
    }

    /// How many objects were forgotten, as there was no room for them.
    pub(crate) fn forgotten(self) -> u64 {
        self.remembered.map_or(0, |remembered| {
            let remembered = remembered.into_inner().unwrap_or_else(PoisonError::into_inner);
            remembered.forgotten()
        })
    }
}

/// A place of a file.
fn location(path: &Arc<str>, place: StreamPlace) -> Location {
    let saturated = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let position = Position {
        line: saturated(place.line),
        column: saturated(place.column).saturating_add(1),
        offset: place.offset,
    };
    Location {
        file: Arc::clone(path),
        document: 0,
        start: position,
        end: position,
    }
}
