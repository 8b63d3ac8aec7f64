//! State that all requests of a server share.

use std::sync::Arc;
use std::time::Duration;

use pratique_audit::{Log, RequestRecorder};
use pratique_metrics::Metrics;

use crate::audit_metrics;
use crate::backlog::RequestBacklog;
use crate::budget::RequestBudget;
use crate::evaluation::EvaluatorPools;
use crate::fair_semaphore::FairSemaphore;
use crate::frames::AddressShares;
use crate::handler::AdmissionHandler;
use crate::large_requests::LargeRequests;
use crate::limits::Limits;
use crate::recent::RecentDecisions;
use crate::refusal_metrics;
use crate::rotation::CertificateRotation;
use crate::settings::Settings;
use crate::supervision::TaskSupervision;
use crate::tls::Certificates;

/// The interval at which background tasks are checked.
const SUPERVISION_INTERVAL: Duration = Duration::from_secs(1);

/// The shared state of a server.
pub(crate) struct ServerContext {
    pub(crate) handler: Arc<dyn AdmissionHandler>,
    pub(crate) limits: Limits,
    pub(crate) metrics: Metrics,
    pub(crate) audit: Option<Log>,
    pub(crate) recorder: Option<Arc<RequestRecorder>>,
    pub(crate) certificates: Option<Arc<Certificates>>,
    pub(crate) rotation: Option<Arc<CertificateRotation>>,
    pub(crate) supervision: TaskSupervision,
    pub(crate) protected_metrics: bool,
    pub(crate) page_hosts: Vec<String>,
    pub(crate) recent: Option<RecentDecisions>,
    pub(crate) budget: Arc<RequestBudget>,
    pub(crate) large_requests: LargeRequests,
    pub(crate) address_shares: AddressShares,
    pub(crate) evaluators: EvaluatorPools,
    pub(crate) evaluation_permits: Arc<FairSemaphore>,
    pub(crate) backlog: Arc<RequestBacklog>,
}

impl ServerContext {
    /// Creates the state within a runtime. The addresses of [`Settings::health`] are not used.
    pub(crate) fn new(handler: Arc<dyn AdmissionHandler>, settings: Settings) -> Self {
        let Settings {
            mut limits,
            metrics,
            health: _,
            audit,
            recorder,
            certificates,
            rotation,
            protected_metrics,
            page,
            page_hosts,
        } = settings;
        refusal_metrics::init(&metrics);
        if let Some(audit) = &audit {
            audit_metrics::observe(audit, &metrics);
            limits.memory -= audit.bytes().min(limits.memory / 2);
        }
        if let Some(recorder) = &recorder {
            audit_metrics::observe_record(recorder, &metrics);
            limits.memory -= recorder.bytes().min(limits.memory / 2);
        }
        ServerContext {
            handler,
            limits,
            supervision: TaskSupervision::new(&metrics),
            metrics,
            audit,
            recorder,
            certificates,
            rotation,
            protected_metrics,
            page_hosts,
            recent: page.then(RecentDecisions::default),
            budget: Arc::new(RequestBudget::new(limits.memory)),
            large_requests: LargeRequests::new(),
            address_shares: AddressShares::default(),
            evaluators: EvaluatorPools::new(limits.requests),
            evaluation_permits: Arc::new(FairSemaphore::new(limits.requests.max(1))),
            backlog: Arc::new(RequestBacklog::new(limits.queue_timeout)),
        }
    }

    /// The background tasks that ended while the server runs. Each is logged and counted once.
    pub(crate) fn ended_tasks(&self) -> Vec<&'static str> {
        let mut ended = self.handler.ended_tasks();
        if self
            .rotation
            .as_ref()
            .is_some_and(|rotation| rotation.has_ended())
        {
            ended.push("certificates");
        }
        let log = self.audit.as_ref().is_some_and(|log| log.has_ended());
        let record = self
            .recorder
            .as_ref()
            .is_some_and(|recorder| recorder.has_ended());
        if log || record {
            ended.push("audit");
        }
        self.supervision.record(&ended, &self.metrics);
        ended
    }

    /// Checks the background tasks periodically.
    pub(crate) async fn supervise(&self) {
        loop {
            self.ended_tasks();
            tokio::time::sleep(SUPERVISION_INTERVAL).await;
        }
    }
}

impl std::fmt::Debug for ServerContext {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ServerContext")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
