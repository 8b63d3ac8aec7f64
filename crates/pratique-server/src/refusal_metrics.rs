//! Metrics of AdmissionReviews that get an HTTP error instead of a decision.

use http::StatusCode;
use pratique_metrics::Metrics;

use crate::respond::{HttpResponse, StatusReason};

/// The codes and reasons that a correct client can get. Their counters are initialised with 0, so that the first error is
/// an increase.
const EXPECTED: [(StatusCode, &str); 6] = [
    (StatusCode::REQUEST_TIMEOUT, "Timeout"),
    (StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge"),
    (StatusCode::TOO_MANY_REQUESTS, "TooManyRequests"),
    (StatusCode::INTERNAL_SERVER_ERROR, "InternalError"),
    (StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable"),
    (StatusCode::GATEWAY_TIMEOUT, "Timeout"),
];

/// Initialises the counters.
pub(crate) fn init(metrics: &Metrics) {
    for (code, reason) in EXPECTED {
        metrics.reviews_refused(code.as_u16(), reason, 0);
    }
}

/// Counts a response to a review, unless it has a decision.
pub(crate) fn record(answer: &HttpResponse, metrics: &Metrics) {
    let code = answer.status();
    if code != StatusCode::OK {
        let reason = answer
            .extensions()
            .get()
            .map_or("", |StatusReason(reason)| reason);
        metrics.reviews_refused(code.as_u16(), reason, 1);
    }
}
