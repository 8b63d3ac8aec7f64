//! [`Live`] as a `tower` service.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pratique_types::{AdmissionRequest, AdmissionResponse};
use tower_service::Service;

use super::{AdmitError, Live};
use crate::observer::AdmissionPhases;

/// An answer on its way. It can be dropped at any time.
pub type PendingReview = Pin<Box<dyn Future<Output = Result<AdmissionResponse, AdmitError>> + Send>>;

/// A [`Live`] as a `tower` service, of one phase of the chain or both: [`Live::service`]. What it answers is
/// [`Live::review`].
#[derive(Clone, Debug)]
pub struct PhaseService {
    live: Live,
    phases: AdmissionPhases,
}

impl PhaseService {
    pub(super) fn new(live: Live, phases: AdmissionPhases) -> Self {
        PhaseService { live, phases }
    }
}

/// Ready once every source was loaded; fails once it was stopped.
impl Service<AdmissionRequest<'static>> for PhaseService {
    type Response = AdmissionResponse;
    type Error = AdmitError;
    type Future = PendingReview;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), AdmitError>> {
        self.live
            .core
            .readiness
            .poll(context)
            .map_err(AdmitError::Unavailable)
    }

    fn call(&mut self, request: AdmissionRequest<'static>) -> PendingReview {
        let PhaseService { live, phases } = self.clone();
        Box::pin(async move { live.review(&request, phases).await })
    }
}
