//! The log, which never blocks.

use std::fmt::{self, Debug, Formatter};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use pratique_types::{AdmissionRequest, AdmissionResponse};

use crate::event::{Event, Level};
use crate::losses::{LossCounts, LossObserver};
use crate::queue::{LineQueue, PendingLine, QueueLimits};
use crate::review::RecordedReview;
use crate::secrets;
use crate::target::Target;
use crate::writer::{self, EventCounters};

/// The default maximum size of events that are queued or being serialised, in bytes.
const MOST_BYTES: usize = 64 << 20;
/// The timeout for opening a file.
const OPEN_TIMEOUT: Duration = Duration::from_secs(5);
/// How long dropping a log waits for queued events.
const DROP_TIMEOUT: Duration = Duration::from_secs(1);

/// Options of [`Log::start`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// The target.
    pub target: Target,
    /// The level of detail; with [`Level::None`], there are no events.
    pub level: Level,
    /// The maximum number of queued events; 10,000 by default.
    pub events: usize,
    /// The maximum size of events that are queued or being serialised, in bytes; 64 MiB by default.
    pub bytes: usize,
    /// Whether events include the data of Secrets, and tokens; false by default.
    pub secrets: bool,
    /// The maximum size of a file and of the one that it takes the place of, in bytes: files that reach half of it are rotated.
    /// `None`, the default, leaves that to others.
    pub max_size: Option<u64>,
    /// The audit plugin's name in log messages; `log` by default.
    pub plugin: &'static str,
}

/// An error of [`Log::start`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened.
    #[error("cannot open the audit log {}: {source}", target(path))]
    Open {
        /// The file; `None` for standard output.
        path: Option<PathBuf>,
        /// The cause.
        source: io::Error,
    },
    /// The writer thread cannot be started.
    #[error("cannot start writing the audit log: {0}")]
    Thread(io::Error),
}

/// Counts of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Written events.
    pub written: u64,
    /// Events that were dropped because the queue was full or the log closed.
    pub dropped: u64,
    /// Failed writes, each of which was retried.
    pub failures: u64,
}

/// An audit log. Clones are the same log. Dropping the last one waits up to a second for queued events; [`Log::close`] has a
/// timeout.
#[derive(Clone)]
pub struct Log {
    level: Level,
    secrets: bool,
    queue: Arc<LineQueue>,
    counters: Arc<EventCounters>,
    /// The maximum length of a line.
    longest: usize,
    _closer: Arc<QueueCloser>,
}

/// Closes the queue once the last clone of a log is dropped.
struct QueueCloser(Arc<LineQueue>);

impl LogOptions {
    /// Options with default bounds.
    #[must_use]
    pub fn new(target: Target, level: Level) -> Self {
        LogOptions {
            target,
            level,
            events: 10_000,
            bytes: MOST_BYTES,
            secrets: false,
            max_size: None,
            plugin: "log",
        }
    }
}

impl Log {
    /// Opens the target and starts the writer thread.
    ///
    /// # Errors
    /// If the file cannot be opened within five seconds, as a pipe without a reader, or the thread cannot be started.
    pub fn start(options: LogOptions) -> Result<Self, Error> {
        let LogOptions {
            target,
            level,
            events,
            bytes,
            secrets,
            max_size,
            plugin,
        } = options;
        let file_size = max_size.map(|size| size / 2);
        let path = match &target {
            Target::Stdout => None,
            Target::File(path) => Some(path.clone()),
        };
        let queue = Arc::new(LineQueue::new(QueueLimits { lines: events, bytes }));
        let counters = Arc::new(EventCounters {
            losses: LossCounts::new(plugin),
            ..EventCounters::default()
        });
        let (opened, opening) = sync_channel(1);
        let (writer_queue, writer_counters) = (queue.clone(), counters.clone());
        std::thread::Builder::new()
            .name("audit".into())
            .spawn(move || writer::run((target, file_size), &writer_queue, &writer_counters, &opened))
            .map_err(Error::Thread)?;
        let log = Log {
            level,
            secrets,
            _closer: Arc::new(QueueCloser(queue.clone())),
            queue,
            counters,
            longest: file_size.map_or(usize::MAX, |size| usize::try_from(size).unwrap_or(usize::MAX)),
        };
        let source = match opening.recv_timeout(OPEN_TIMEOUT) {
            Ok(Ok(())) => return Ok(log),
            Ok(Err(source)) => source,
            Err(RecvTimeoutError::Timeout) => io::ErrorKind::TimedOut.into(),
            Err(RecvTimeoutError::Disconnected) => io::ErrorKind::Other.into(),
        };
        // The thread may still be opening the file, and is not joined.
        log.queue.close();
        log.queue.finish();
        Err(Error::Open { path, source })
    }

    /// The level of detail of events.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// The maximum size of events that are queued or being serialised, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.queue.bytes()
    }

    /// Queues an event without blocking. Returns whether there was space for it. Serialisation stops once the event is too
    /// large.
    pub fn record(&self, event: &Event<'_>) -> bool {
        if event.level() == Level::None {
            return true;
        }
        self.write(|line| {
            if self.secrets {
                event.clone().with_secrets().write_to(line)
            } else {
                event.write_to(line)
            }
        })
    }

    /// Queues a request with its answer in the same way.
    pub(crate) fn record_review(&self, request: &AdmissionRequest<'_>, response: &AdmissionResponse) -> bool {
        let review = RecordedReview::new(request, response);
        self.write(|line| serde_json::to_writer(line, &review))
    }

    fn write(&self, write: impl FnOnce(&mut PendingLine<'_>) -> Result<(), serde_json::Error>) -> bool {
        let mut line = self.queue.line();
        let is_queued = write(&mut line).is_ok() && line.len() < self.longest && line.push();
        if !is_queued {
            self.counters.losses.lose(1);
        }
        is_queued
    }

    /// Whether events include the objects of this request completely.
    #[must_use]
    pub fn includes_objects(&self, request: &AdmissionRequest<'_>) -> bool {
        self.level >= Level::Request && (self.secrets || secrets::find_secret_paths(request).is_empty())
    }

    /// Sets the observer of losses, unless there is one.
    pub fn observe(&self, observer: impl LossObserver + 'static) {
        self.counters.losses.observe(Box::new(observer));
    }

    /// Reopens the file, for use after renaming it.
    pub fn reopen(&self) {
        self.queue.reopen();
    }

    /// The counts of events so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            written: self.counters.written.load(Ordering::Relaxed),
            dropped: self.counters.losses.events(),
            failures: self.counters.losses.failures(),
        }
    }

    /// Whether the writer thread ended although the log was not closed, by a panic. Events are dropped then.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.queue.is_abandoned()
    }

    /// Closes the log, and waits until queued events are written, with a timeout. Events whose write fails now are dropped.
    pub fn close(&self, timeout: Duration) -> Counts {
        self.queue.close();
        let left = self.queue.wait(Instant::now() + timeout);
        let counts = self.counts();
        Counts {
            dropped: counts.dropped + left as u64,
            ..counts
        }
    }
}

impl Drop for QueueCloser {
    fn drop(&mut self) {
        self.0.close();
        self.0.wait(Instant::now() + DROP_TIMEOUT);
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
