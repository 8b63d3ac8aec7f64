//! Audit events of admission, written as JSON lines outside of the request path.
//!
//! An [`Event`] is an `audit.k8s.io/v1` `Event` with the parts of a request that admission has. A [`Log`] queues events
//! without blocking; the queue is bounded in number and size, and a background thread writes it. If the queue is full,
//! events are dropped, counted, logged, and reported to an [`LossObserver`]. A failed write, as on a full disk, is retried
//! from where it stopped until it succeeds; an incomplete line is ended before the next one.
//!
//! Files are created with permissions for their owner only. The data of Secrets, and tokens, are left out of events by
//! default.
//!
//! Files may be rotated by renaming: within a second, the next event goes to a new file of the old name, or at once after
//! [`Log::reopen`]. Copying and truncating works as well, as files are opened for appending.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use pratique_audit::{Event, Level, Log, LogOptions, Target};
//! use pratique_types::{AdmissionRequest, AdmissionResponse};
//!
//! let directory = tempfile::tempdir()?;
//! let path = directory.path().join("audit.jsonl");
//! let log = Log::start(LogOptions::new(Target::File(path.clone()), Level::Metadata))?;
//!
//! let (request, response) = (AdmissionRequest::default(), AdmissionResponse::default());
//! let now = SystemTime::now();
//! assert!(log.record(&Event::new(log.level(), &request, &response, (now, now))));
//! assert_eq!(log.close(Duration::from_secs(10)).written, 1);
//! assert_eq!(std::fs::read_to_string(path)?.lines().count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod event;
mod file;
mod log;
mod losses;
mod queue;
mod record;
mod review;
mod secrets;
mod target;
mod writer;

pub use event::{Event, Level};
pub use log::{Counts, Error, Log, LogOptions};
pub use losses::LossObserver;
pub use record::{RecordOptions, RequestRecorder};
pub use target::Target;
