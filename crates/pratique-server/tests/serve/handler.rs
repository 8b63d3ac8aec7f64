//! A handler that is controlled by the name of the object.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use pratique::Limits;
use pratique_server::{
    AdmissionHandler, AdmissionPhases, HandlerUnavailable, ReloadAttempt, ReviewFuture, ReviewResult, Source,
};
use pratique_types::{AdmissionRequest, AdmissionResponse, Reason, Status};

/// Nothing that ends by itself takes so long, not even on a machine with much else to do.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// Evaluates by names: `deny`, `panic`, `slow-<milliseconds>`, `compute` (without an end, and without giving way),
/// `hold` (until `released`), `answer-<bytes>` (of such a patch), anything else is allowed.
#[derive(Debug, Default)]
pub(crate) struct TestHandler {
    pub(crate) loading: AtomicBool,
    pub(crate) dead: AtomicBool,
    /// How many compute.
    pub(crate) computing: AtomicUsize,
    /// How many are held.
    pub(crate) held: AtomicUsize,
    pub(crate) released: AtomicBool,
}

impl TestHandler {
    /// Waits until so many requests are held.
    #[track_caller]
    pub(crate) fn wait_until_held(&self, count: usize) {
        let start = Instant::now();
        while self.held.load(Ordering::Relaxed) < count {
            assert!(start.elapsed() < DEADLINE, "not {count}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub(crate) fn release(&self) {
        self.released.store(true, Ordering::Relaxed);
    }
}

impl AdmissionHandler for TestHandler {
    fn handle<'a>(
        &'a self,
        phases: AdmissionPhases,
        request: &'a AdmissionRequest<'a>,
        limits: &'a Limits,
    ) -> ReviewFuture<'a> {
        Box::pin(async move {
            if let Some(millis) = request.name.strip_prefix("slow-") {
                tokio::time::sleep(Duration::from_millis(millis.parse().unwrap())).await;
            }
            if request.name == "hold" {
                self.held.fetch_add(1, Ordering::Relaxed);
                while !self.released.load(Ordering::Relaxed) {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
            if request.name == "compute" {
                self.computing.fetch_add(1, Ordering::Relaxed);
                while !limits.interrupt.is_set() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                self.computing.fetch_sub(1, Ordering::Relaxed);
                return Err(HandlerUnavailable("interrupted".into()));
            }
            assert_ne!(request.name, "panic", "told to");
            let longer = request.name.strip_prefix("answer-");
            let longer = longer.map(|bytes| "x".repeat(bytes.parse().unwrap()));
            Ok(ReviewResult {
                mutated_by: vec!["m.static.k8s.io".into()],
                response: AdmissionResponse {
                    patch: longer,
                    ..response(phases, &request.name)
                },
            })
        })
    }

    fn ready(&self) -> Result<(), HandlerUnavailable> {
        if self.loading.load(Ordering::Relaxed) {
            Err(HandlerUnavailable("still loading".into()))
        } else {
            Ok(())
        }
    }

    fn ended_tasks(&self) -> Vec<&'static str> {
        if self.dead.load(Ordering::Relaxed) {
            vec!["reload"]
        } else {
            Vec::new()
        }
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source {
            plugin: "ValidatingAdmissionPolicy".into(),
            location: "/etc/<manifests>".into(),
            hash: "sha256:1".into(),
            names: vec!["p.static.k8s.io".into()],
            loaded: SystemTime::UNIX_EPOCH,
            last_reload: ReloadAttempt {
                at: SystemTime::UNIX_EPOCH,
                error: Some("a.yaml: <no>".into()),
            },
        }]
    }
}

fn response(phases: AdmissionPhases, name: &str) -> AdmissionResponse {
    let denied = name == "deny";
    let status = Status {
        code: 422,
        ..Status::failure(Reason::Invalid, "no <b>such</b> names")
    };
    let annotations = [("p.static.k8s.io/key".into(), "value".into())];
    AdmissionResponse {
        allowed: !denied,
        result: denied.then_some(status),
        warnings: vec![format!("{phases:?}")],
        audit_annotations: annotations.into(),
        ..AdmissionResponse::default()
    }
}
