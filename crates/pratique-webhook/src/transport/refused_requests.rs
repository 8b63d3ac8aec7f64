//! Retries of requests that a server did not process, as by Go's client.
// Upstream: Go's net/http/transport.go, shouldRetryRequest; golang.org/x/net/http2, shouldRetryRequest
//!
//! An HTTP/2 server may refuse a stream, or close the connection and say which streams it still answers. The first retry
//! follows at once, further ones after a second, two, four and so on, until the deadline of the call.

use std::time::Duration;

use h2::Reason;
use reqwest::{Request, Response};
use tokio::time::{Instant, sleep, timeout_at};

use super::alert::read_alert;
use super::client::EndpointClient;
use super::failure::find;

/// Why a request has no response.
pub(super) enum SendError {
    /// It could not be sent, or the response could not be received.
    Failed(reqwest::Error),
    /// The server refuses connections.
    Refused(rustls::Error),
    /// Its deadline passed.
    DeadlinePassed,
}

/// How often a request is retried that was not sent because the connection was closed.
const MAX_UNSENT_RETRIES: u32 = 2;

/// Sends a request until a server processes it.
pub(super) async fn execute(
    client: &EndpointClient,
    mut request: Request,
    deadline: Instant,
) -> Result<Response, SendError> {
    for repeats in 0.. {
        let next = request.try_clone();
        let sent = timeout_at(deadline, client.http.execute(request)).await;
        let error = match sent.map_err(|_| SendError::DeadlinePassed)? {
            Ok(response) => return Ok(response),
            Err(error) => error,
        };
        request = match (next, wait(&error, repeats)) {
            (Some(next), Some(wait)) if wait.is_zero() => next,
            (Some(next), Some(wait)) => {
                let waited = timeout_at(deadline, sleep(wait)).await;
                waited.map_err(|_| SendError::DeadlinePassed)?;
                next
            }
            (Some(unsent), None) if is_unsent(&error) && unsent.url().scheme() == "https" => {
                let alert = read_alert(client, unsent.url(), deadline).await;
                return Err(alert.map_or(SendError::Failed(error), SendError::Refused));
            }
            _ => return Err(SendError::Failed(error)),
        };
    }
    Err(SendError::DeadlinePassed)
}

/// Whether a request was not sent, as the connection was closed.
fn is_unsent(error: &reqwest::Error) -> bool {
    find::<hyper::Error>(error).is_some_and(|http| http.is_canceled() || http.is_closed())
}

/// How long to wait before a retry; `None` for no retry.
fn wait(error: &reqwest::Error, repeats: u32) -> Option<Duration> {
    let Some(stream) = find::<h2::Error>(error) else {
        return (is_unsent(error) && repeats < MAX_UNSENT_RETRIES).then_some(Duration::ZERO);
    };
    let reason = stream.reason().filter(|_| stream.is_remote())?;
    let refused = stream.is_reset() && matches!(reason, Reason::REFUSED_STREAM | Reason::PROTOCOL_ERROR);
    let left = stream.is_go_away();
    // A server that sends GOAWAY for another reason may do so on each connection.
    if !refused && !(left && (reason == Reason::NO_ERROR || repeats == 0)) {
        return None;
    }
    let seconds = repeats
        .checked_sub(1)
        .map_or(0, |doublings| 1 << doublings.min(16));
    Some(Duration::from_secs(seconds))
}
