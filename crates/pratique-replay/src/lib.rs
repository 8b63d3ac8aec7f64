//! Audit logs of an API server, turned back into the admission requests that it had.
//!
//! [`entries`] reads the pieces of a stream: events as the log backend writes them, one on a line, the batches of the webhook
//! backend, the AdmissionReviews that `pratique serve --record` keeps, and events within the entries of CloudWatch, of Azure, and of
//! Google Cloud. A [`LogReplayer`] gives for each what admission was asked, and [what came of it](RecordedOutcome).
//!
//! An audit event of level Request has the object as it was decoded and defaulted, before mutating admission saw it: creations
//! are known exactly. Of other requests more or less is known:
//!
//! - What was not in the event is [unknown](UnknownRequest), for a reason: nothing is decided about it.
//! - The old object of an update or deletion is unknown, and the request [says so][lacks_old_object]: only what
//!   reads it is undecided. With [`RecentObjects`] it is the one that an earlier event gave.
//! - What is close to what admission saw is marked as [approximation](RequestApproximation).
//!
//! ```
//! use pratique_replay::{LogReplayer, RecordedOutcome, EventRequests, entries};
//! use pratique_stream::{Limits, Splitter};
//!
//! let log = r#"{"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Request", "stage": "ResponseComplete",
//!     "verb": "create", "requestURI": "/api/v1/namespaces/shop/configmaps?dryRun=All", "user": {"username": "ann"},
//!     "objectRef": {"resource": "configmaps", "namespace": "shop", "name": "a", "apiVersion": "v1"},
//!     "responseStatus": {"code": 201}, "requestObject": {"kind": "ConfigMap", "apiVersion": "v1"}}"#;
//! let replayer = LogReplayer::default();
//! for piece in Splitter::new(log.as_bytes(), Limits::default()) {
//!     for located in entries(&piece?) {
//!         let replayed = replayer.replay(located.entry?, None);
//!         let EventRequests::Requests(requests) = replayed.what else { return Err("no request".into()) };
//!         let request = &requests[0].request;
//!         assert_eq!((request.user_info.username.as_str(), request.dry_run), ("ann", Some(true)));
//!         assert_eq!((request.kind.kind.as_str(), &replayed.then), ("ConfigMap", &RecordedOutcome::Allowed));
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [lacks_old_object]: pratique_types::AdmissionRequest::lacks_old_object

mod convert;
mod entries;
mod event;
mod log_piece;
mod managed_log;
mod recent_objects;
mod recorded_outcome;
mod replay_result;
mod replayer;
mod uri;

pub use entries::{EntryError, LocatedEntry, LogEntry, entries};
pub use event::{
    API_VERSION, AuditEvent, EventError, EventLevel, EventStage, ObjectReference, ResponseStatus,
};
pub use log_piece::is_log;
pub use recent_objects::RecentObjects;
pub use recorded_outcome::{RecordedOutcome, RecordedRefusal, RefusedBy};
pub use replay_result::{
    EventRequests, NotSubject, ObjectKnowledge, ReplayRequest, ReplayResult, RequestApproximation,
    UnknownRequest,
};
pub use replayer::LogReplayer;
