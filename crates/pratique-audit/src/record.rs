//! A record of requests, sampled and bounded.

use std::fmt::{self, Debug, Formatter};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pratique_types::{AdmissionRequest, AdmissionResponse};

use crate::event::Level;
use crate::log::{Counts, Error, Log, LogOptions};
use crate::losses::LossObserver;
use crate::target::Target;

/// A record of requests with their answers, as lines of AdmissionReviews, which can be evaluated again.
///
/// Files are rotated: once the file has half of the maximum size, it takes the place of the former one, whose name ends with
/// `.1`. As in an audit log, requests are queued without blocking, and those that find no place are counted as lost; a request that
/// alone is larger than half of the maximum size is lost, too.
///
/// ```
/// use std::time::Duration;
///
/// use pratique_audit::{RequestRecorder, RecordOptions};
/// use pratique_types::{AdmissionRequest, AdmissionResponse};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("record.ndjson");
/// let recorder = RequestRecorder::start(RecordOptions { share: 0.5, ..RecordOptions::new(path.clone()) })?;
/// for _ in 0..10 {
///     recorder.record(&AdmissionRequest::default(), &AdmissionResponse::default());
/// }
/// assert_eq!(recorder.close(Duration::from_secs(10)).written, 5);
/// assert_eq!(std::fs::read_to_string(path)?.lines().count(), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RequestRecorder {
    log: Log,
    share: f64,
    /// The number of requests so far.
    requests: AtomicU64,
}

/// Options of [`RequestRecorder::start`].
#[derive(Clone, Debug, PartialEq)]
pub struct RecordOptions {
    /// The file.
    pub path: PathBuf,
    /// Which share of requests is recorded, from 0 to 1; all by default.
    pub share: f64,
    /// The maximum size of the files together, in bytes; 100 MiB by default.
    pub max_size: u64,
    /// The maximum size of requests that are queued or being serialised, in bytes; 64 MiB by default.
    pub queued_bytes: usize,
}

impl RecordOptions {
    /// Options with default bounds.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        RecordOptions {
            queued_bytes: LogOptions::new(Target::Stdout, Level::None).bytes,
            path,
            share: 1.0,
            max_size: 100 << 20,
        }
    }
}

impl RequestRecorder {
    /// Opens the file and starts the writer thread.
    ///
    /// # Errors
    /// If the file cannot be opened, or the thread cannot be started.
    pub fn start(options: RecordOptions) -> Result<Self, Error> {
        let usual = LogOptions::new(Target::File(options.path), Level::RequestResponse);
        let log = Log::start(LogOptions {
            bytes: options.queued_bytes,
            max_size: Some(options.max_size),
            plugin: "record",
            ..usual
        })?;
        Ok(RequestRecorder {
            log,
            share: options.share.clamp(0.0, 1.0),
            requests: AtomicU64::new(0),
        })
    }

    /// Queues a request with its answer, if it is among those that are sampled. Returns whether it is among them.
    pub fn record(&self, request: &AdmissionRequest<'_>, response: &AdmissionResponse) -> bool {
        let requests = self.requests.fetch_add(1, Ordering::Relaxed);
        let is_sampled = is_sampled(requests, self.share);
        if is_sampled {
            // The log counts losses.
            let _ = self.log.record_review(request, response);
        }
        is_sampled
    }

    /// The maximum size of requests that are queued or being serialised, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.log.bytes()
    }

    /// Sets the observer of losses, unless there is one.
    pub fn observe(&self, observer: impl LossObserver + 'static) {
        self.log.observe(observer);
    }

    /// Whether the writer thread ended although the record was not closed, by a panic.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.log.has_ended()
    }

    /// Closes the record, and waits until queued requests are written, with a timeout.
    pub fn close(&self, timeout: Duration) -> Counts {
        self.log.close(timeout)
    }
}

/// Whether the request with a number is sampled: of any number of requests in a row, the share of them.
#[allow(
    clippy::cast_precision_loss,
    reason = "beyond 2^52 requests, samples are not spread evenly"
)]
fn is_sampled(number: u64, share: f64) -> bool {
    let previous_samples = (number as f64 * share).floor();
    ((number as f64 + 1.0) * share).floor() > previous_samples
}

impl Debug for RequestRecorder {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.debug_struct("RequestRecorder")
            .field("log", &self.log)
            .field("share", &self.share)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use pratique_types::{GroupVersionResource, Status};

    use super::*;

    #[test]
    fn samples_are_spread() {
        let sampled = |share: f64| (0..100).filter(|number| is_sampled(*number, share)).count();
        assert_eq!([0.0, 0.01, 0.25, 0.5, 1.0].map(sampled), [0, 1, 25, 50, 100]);
    }

    fn request(resource: &str, data: &str) -> AdmissionRequest<'static> {
        let object = format!(r#"{{"data":{{"a":"{data}"}},"metadata":{{"name":"x"}}}}"#);
        let object = pratique_json::parse(object.as_bytes()).unwrap().into_owned();
        AdmissionRequest {
            uid: "u".to_owned(),
            resource: GroupVersionResource::new("", "v1", resource),
            old_object: object.clone(),
            object,
            ..AdmissionRequest::default()
        }
    }

    #[test]
    fn secrets_and_patches_are_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("record.ndjson");
        let recorder = RequestRecorder::start(RecordOptions::new(path.clone())).unwrap();
        let response = AdmissionResponse {
            patch: Some("c2VjcmV0".to_owned()),
            result: Some(Status {
                message: "no".to_owned(),
                ..Status::default()
            }),
            ..AdmissionResponse::default()
        };
        recorder.record(&request("secrets", "secret"), &response);
        recorder.record(&request("configmaps", "plain"), &response);
        assert_eq!(recorder.close(Duration::from_secs(60)).written, 2);
        let text = std::fs::read_to_string(path).unwrap();
        let reviews: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let object = &reviews[0]["request"]["object"];
        assert_eq!(
            (object, object == &reviews[0]["request"]["oldObject"]),
            (&serde_json::json!({"metadata": {"name": "x"}}), true)
        );
        assert_eq!(reviews[1]["request"]["object"]["data"]["a"], "plain");
        assert_eq!(
            reviews[0]["response"],
            serde_json::json!({"uid": "u", "allowed": false, "status": {"message": "no"}})
        );
    }

    #[test]
    fn files_are_bounded() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("record.ndjson");
        let max_size = 8000;
        let recorder = RequestRecorder::start(RecordOptions {
            max_size,
            ..RecordOptions::new(path.clone())
        });
        let recorder = recorder.unwrap();
        let answer = AdmissionResponse::default();
        for number in 0..200 {
            recorder.record(&request("configmaps", &number.to_string()), &answer);
        }
        recorder.record(&request("configmaps", &"x".repeat(5000)), &answer);
        let counts = recorder.close(Duration::from_secs(60));
        assert_eq!(
            (counts.written, counts.dropped),
            (200, 1),
            "what is too large is lost"
        );
        let read = |path: &std::path::Path| std::fs::read_to_string(path).unwrap();
        let (current, former) = (read(&path), read(&directory.path().join("record.ndjson.1")));
        assert!(
            current.len() + former.len() <= 8000,
            "{} {}",
            current.len(),
            former.len()
        );
        let whole = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
        assert!(current.lines().chain(former.lines()).all(whole));
        assert!(current.contains("\"199\"") && !former.contains("\"0\""));
    }
}
