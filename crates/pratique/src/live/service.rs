//! [`Live`] as a `tower` service.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pratique_types::{AdmissionRequest, AdmissionResponse};
use tower_service::Service;

use super::{Live, Unavailable};

/// An answer on its way. It can be dropped at any time.
pub type Reviewing = Pin<Box<dyn Future<Output = Result<AdmissionResponse, Unavailable>> + Send>>;

/// Ready once every source was loaded; fails once it was stopped.
impl Service<AdmissionRequest<'static>> for Live {
    type Response = AdmissionResponse;
    type Error = Unavailable;
    type Future = Reviewing;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Unavailable>> {
        self.core.readiness.poll(context)
    }

    fn call(&mut self, request: AdmissionRequest<'static>) -> Reviewing {
        let live = self.clone();
        Box::pin(async move { live.review(&request).await })
    }
}
