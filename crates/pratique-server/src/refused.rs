//! AdmissionReviews that get an HTTP error instead of a decision: counted by what kept them from one.

use http::StatusCode;
use pratique_metrics::Metrics;

use crate::respond::{Answer, Reason};

/// What an API server may run into without a fault of its own, by code and reason. They are counted from 0 on, so that
/// the first one is an increase.
const USUAL: [(StatusCode, &str); 6] = [
    (StatusCode::REQUEST_TIMEOUT, "Timeout"),
    (StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge"),
    (StatusCode::TOO_MANY_REQUESTS, "TooManyRequests"),
    (StatusCode::INTERNAL_SERVER_ERROR, "InternalError"),
    (StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable"),
    (StatusCode::GATEWAY_TIMEOUT, "Timeout"),
];

/// Counts nothing yet.
pub(crate) fn announce(metrics: &Metrics) {
    for (code, reason) in USUAL {
        metrics.reviews_refused(code.as_u16(), reason, 0);
    }
}

/// Counts an answer to a review unless it has a decision.
pub(crate) fn count(answer: &Answer, metrics: &Metrics) {
    let code = answer.status();
    if code != StatusCode::OK {
        let reason = answer.extensions().get().map_or("", |Reason(reason)| reason);
        metrics.reviews_refused(code.as_u16(), reason, 1);
    }
}
