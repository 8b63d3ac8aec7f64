//! Answers that clients have not read yet.
//!
//! HTTP/2 lets a client ask without taking what is answered, and so does a reader of HTTP/1 that stops. What waits for
//! them holds its share of the memory, and their connections are closed when they take too long, or when others need it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tokio::time::sleep;

use crate::budget::{Client, Pressure, Share};
use crate::connections::Slot;
use crate::refused;
use crate::respond::{Answer, busy};
use crate::routes;
use crate::server::Shared;

/// What a request takes besides its body and its evaluation: its head, its stream, the state of its handling.
const REQUEST: usize = 8 << 10;
/// How often to look for answers that wait for too long.
const EVERY: Duration = Duration::from_secs(1);
/// How long not to tell again of too little memory.
const QUIET: Duration = Duration::from_secs(10);

/// An answer that is to be sent.
pub(crate) type Sending = Response<Full<Bytes>>;

/// An answer's bytes. They hold their shares of the memory until the last of them is sent.
struct Unsent {
    bytes: Bytes,
    _shares: (Option<Share>, Option<Arc<Share>>),
}

impl AsRef<[u8]> for Unsent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The share of a request; `None` for a health check that there is no share for. Without one, a connection that could pile
/// up answers ends.
///
/// # Errors
/// The answer where there is no memory left.
pub(crate) fn share<B>(
    request: &Request<B>,
    slot: &Slot,
    shared: &Shared,
) -> Result<Option<Share>, Box<Answer>> {
    match shared.budget.share(REQUEST) {
        Ok(share) => Ok(Some(share)),
        Err(_) if routes::is_health(request.uri().path()) => Ok(None),
        Err(_) => {
            slot.leave();
            let answer = busy();
            if routes::is_review(request.uri().path()) {
                refused::count(&answer, &shared.metrics);
            }
            Err(answer.into())
        }
    }
}

/// An answer, with the share of its request and its own, if it has one.
pub(crate) fn send(answer: Answer, share: Option<Share>, slot: &Arc<Slot>) -> Sending {
    let (mut head, mut bytes) = answer.into_parts();
    let evaluated = head.extensions.remove::<Arc<Share>>();
    let waits = || Client::Reading(slot.clone());
    if let Some(share) = &share {
        if evaluated.is_none() && share.resize(REQUEST.saturating_add(bytes.len())).is_err() {
            (head, bytes) = busy().into_parts();
        }
        share.wait_for(waits());
    }
    if let Some(evaluated) = &evaluated {
        evaluated.wait_for(waits());
    }
    let unsent = Unsent {
        bytes,
        _shares: (share, evaluated),
    };
    Response::from_parts(head, Full::new(Bytes::from_owner(unsent)))
}

/// Closes connections whose clients take too long to read answers, and tells of too little memory, but not all the time.
pub(crate) async fn expire(shared: &Shared) {
    let (mut told, mut pressure) = (None::<Instant>, Pressure::default());
    loop {
        shared.budget.expire(shared.limits.answer_time);
        let more = shared.budget.pressure();
        pressure.refused += more.refused;
        pressure.evicted += more.evicted;
        if pressure != Pressure::default() && told.is_none_or(|told| told.elapsed() >= QUIET) {
            let Pressure { refused, evicted } = std::mem::take(&mut pressure);
            told = Some(Instant::now());
            tracing::warn!(
                refused,
                evicted,
                "Too little memory for all requests: see --max-memory"
            );
        }
        sleep(EVERY).await;
    }
}
