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
