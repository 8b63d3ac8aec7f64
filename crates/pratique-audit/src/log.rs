//! The log: takes events in and never waits.

use std::fmt::{self, Debug, Formatter};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use pratique_types::AdmissionRequest;

use crate::event::{Event, Level};
use crate::losses::Observer;
use crate::queue::{Limits, Queue};
use crate::secrets;
use crate::writer::{self, Tally};

/// How many bytes events may have that wait to be written, or are being made, unless told otherwise.
const MOST_BYTES: usize = 64 << 20;
/// How long opening a file may take.
const OPENING: Duration = Duration::from_secs(5);
/// How long dropping a log waits for its events to be written.
const DROPPING: Duration = Duration::from_secs(1);

/// Where events go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// To standard output.
    Stdout,
    /// To the end of this file, which is made if there is none.
    File(PathBuf),
}

/// How events are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Where they go.
    pub target: Target,
    /// How much each tells; with [`Level::None`] there are none.
    pub level: Level,
    /// How many may wait to be written: 10,000 unless told otherwise.
    pub events: usize,
    /// How many bytes these may have, and those that are being made: 64 MiB unless told otherwise.
    pub bytes: usize,
    /// Whether events tell the data of Secrets, and tokens: not unless told so.
    pub secrets: bool,
}

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened.
    #[error("cannot open the audit log {}: {source}", target(path))]
    Open {
        /// The file; `None` for standard output.
        path: Option<PathBuf>,
        /// Why not.
        source: io::Error,
    },
    /// The system has no thread to write it.
    #[error("cannot start writing the audit log: {0}")]
    Thread(io::Error),
}

/// What became of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How many were written.
    pub written: u64,
    /// How many were not, because the queue was full or the log closed.
    pub dropped: u64,
    /// How often writing failed; it was tried again each time.
    pub failures: u64,
}

/// An audit log. Dropping it waits up to a second for events to be written; [`Log::close`] waits as long as it is told.
pub struct Log {
    level: Level,
    secrets: bool,
    queue: Arc<Queue>,
    tally: Arc<Tally>,
}

impl Options {
    /// The usual bounds.
    #[must_use]
    pub fn new(target: Target, level: Level) -> Self {
        Options {
            target,
            level,
            events: 10_000,
            bytes: MOST_BYTES,
            secrets: false,
        }
    }
}

impl Target {
    /// The target of this name: a file's path, or `-` for standard output.
    #[must_use]
    pub fn of(name: &str) -> Self {
        if name == "-" {
            Target::Stdout
        } else {
            Target::File(name.into())
        }
    }
}

impl Log {
    /// Opens the target and starts writing.
    ///
    /// # Errors
    /// When the file cannot be opened, or when opening takes longer than five seconds, as for a pipe without reader.
    pub fn start(options: Options) -> Result<Self, Error> {
        let Options {
            target,
            level,
            events,
            bytes,
            secrets,
        } = options;
        let path = match &target {
            Target::Stdout => None,
            Target::File(path) => Some(path.clone()),
        };
        let queue = Arc::new(Queue::new(Limits { lines: events, bytes }));
        let tally = Arc::new(Tally::default());
        let (opened, opening) = sync_channel(1);
        let (to_write, to_count) = (queue.clone(), tally.clone());
        std::thread::Builder::new()
            .name("audit".into())
            .spawn(move || writer::run(target, &to_write, &to_count, &opened))
            .map_err(Error::Thread)?;
        let log = Log {
            level,
            secrets,
            queue,
            tally,
        };
        let source = match opening.recv_timeout(OPENING) {
            Ok(Ok(())) => return Ok(log),
            Ok(Err(source)) => source,
            Err(RecvTimeoutError::Timeout) => io::ErrorKind::TimedOut.into(),
            Err(RecvTimeoutError::Disconnected) => io::ErrorKind::Other.into(),
        };
        // The thread may still be opening the file; it is not waited for.
        log.queue.close();
        log.queue.finish();
        Err(Error::Open { path, source })
    }

    /// How much events are to tell.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// How many bytes events may have that wait to be written, and those that are being made.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.queue.bytes()
    }

    /// Takes an event in without waiting. Tells whether there was room for it: one that is too large is not made to its end.
    pub fn record(&self, event: &Event<'_>) -> bool {
        if event.level() == Level::None {
            return true;
        }
        let mut line = self.queue.line();
        let written = match self.secrets {
            true => event.clone().with_secrets().write_to(&mut line),
            false => event.write_to(&mut line),
        };
        let taken = written.is_ok() && line.push();
        if !taken {
            self.tally.losses.lose(1);
        }
        taken
    }

    /// Whether events tell all that the objects of this request hold.
    #[must_use]
    pub fn tells_objects(&self, request: &AdmissionRequest<'_>) -> bool {
        self.level >= Level::Request && (self.secrets || secrets::of(request).is_empty())
    }

    /// Has an observer told of losses from now on, unless there is one already.
    pub fn observe(&self, observer: impl Observer + 'static) {
        self.tally.losses.observe(Box::new(observer));
    }

    /// Goes over to a new file of the same name, for whoever has renamed the old one.
    pub fn reopen(&self) {
        self.queue.reopen();
    }

    /// What became of events so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            written: self.tally.written.load(Ordering::Relaxed),
            dropped: self.tally.losses.events(),
            failures: self.tally.losses.failures(),
        }
    }

    /// Whether the thread that writes ended although the log was not closed, which only a panic does. Events are dropped
    /// then.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.queue.is_abandoned()
    }

    /// Takes nothing in any more, and waits for what is there to be written, but no longer than told. What fails to be
    /// written now is dropped.
    pub fn close(&self, wait: Duration) -> Counts {
        self.queue.close();
        let left = self.queue.wait(Instant::now() + wait);
        let counts = self.counts();
        Counts {
            dropped: counts.dropped + left as u64,
            ..counts
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.close(DROPPING);
    }
}

impl Debug for Log {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.debug_struct("Log")
            .field("level", &self.level)
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

fn target(path: &Option<PathBuf>) -> String {
    path.as_ref()
        .map_or_else(|| "standard output".into(), |path| path.display().to_string())
}
