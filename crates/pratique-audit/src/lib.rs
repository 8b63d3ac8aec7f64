//! Audit events of admission, written as JSON lines beside the request path.
//!
//! An [`Event`] is an `audit.k8s.io/v1` `Event` with what admission knows of a request. A [`Log`] takes events in
//! without ever waiting: they stand in a queue that is bounded in number and size, which a thread of its own writes out.
//! Events that find the queue full are dropped, which is counted, told to an [`Observer`], and logged while it happens. A
//! write that fails, as on a full disk, is tried again until it succeeds, from where it stopped; a line that broke off is
//! ended before the next one.
//!
//! Files are made for their owner only, and the data of Secrets, and tokens, are left out of events unless asked for.
//!
//! Files may be rotated by renaming: within a second of the next event, events go to a new file of the old name
//! ([`Log::reopen`] asks for that at once). Copying and truncating works too, as files are only appended to.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use pratique_audit::{Event, Level, Log, Options, Target};
//! use pratique_types::{AdmissionRequest, AdmissionResponse};
//!
//! let directory = tempfile::tempdir()?;
//! let path = directory.path().join("audit.jsonl");
//! let log = Log::start(Options::new(Target::File(path.clone()), Level::Metadata))?;
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
mod secrets;
mod writer;

pub use event::{Event, Level};
pub use log::{Counts, Error, Log, Options, Target};
pub use losses::Observer;
