//! A call from its start to its answer: attempts, waits between them, the body, and the deadline over all of it.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::Response;
use tokio::time::{Instant, sleep, timeout_at};

use super::client::EndpointClient;
use super::redirect::{posting, send};
use super::status::FailedStatus;
use super::{LONGEST_CALL, TransportRules, failure, media_type};
use crate::caller::{Call, CallError, CallErrorKind};
use crate::memory::CallMemory;

/// Go's message for a deadline that passed.
pub(super) const DEADLINE: &str = "context deadline exceeded";

/// How often a call is repeated.
const MOST_REPEATS: usize = 10;

/// How much is read at most of an answer that is not used, so that its connection can be used again.
const MOST_DISCARDED: usize = 2048;

/// Posts a review and reads the answer.
pub(super) async fn exchange(
    client: &EndpointClient,
    call: &Call,
    rules: TransportRules,
) -> Result<Bytes, CallError> {
    let now = Instant::now();
    let deadline = call.deadline.map_or(now + LONGEST_CALL, Instant::from_std);
    if deadline <= now {
        return Err(failed(DEADLINE, CallErrorKind::Timeout));
    }
    let mut repeats = 0;
    loop {
        let response = send(client, call, rules, deadline).await?;
        let wait = wait(&response).filter(|_| repeats < MOST_REPEATS);
        let Some(wait) = wait else {
            return read(response, deadline, rules.largest, call).await;
        };
        repeats += 1;
        let waited = timeout_at(deadline, async {
            discard(response).await;
            sleep(wait).await;
        });
        if waited.await.is_err() {
            let (url, _) = client.target.with_timeout(call.timeout);
            return Err(posting(&url, DEADLINE, CallErrorKind::Timeout));
        }
    }
}

/// Reads a short rest of the body, so that the connection can be used again.
pub(super) async fn discard(mut response: Response) {
    let mut left = MOST_DISCARDED;
    if response
        .content_length()
        .is_some_and(|length| length > MOST_DISCARDED as u64)
    {
        return;
    }
    while let Ok(Some(chunk)) = response.chunk().await {
        left = left.saturating_sub(chunk.len());
        if left == 0 {
            return;
        }
    }
}

/// The delay that the webhook requests before a retry.
fn wait(response: &Response) -> Option<Duration> {
    let status = response.status().as_u16();
    if status != 429 && status < 500 {
        return None;
    }
    let seconds: i64 = response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

async fn read(
    response: Response,
    deadline: Instant,
    largest: usize,
    call: &Call,
) -> Result<Bytes, CallError> {
    let code = response.status().as_u16();
    let content_type = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let content_type = String::from_utf8_lossy(content_type.unwrap_or_default()).into_owned();
    let body = timeout_at(deadline, whole(response, largest, &call.memory)).await;
    let body = body.unwrap_or_else(|_| Err(unreadable(DEADLINE, CallErrorKind::Timeout)))?;
    check_status(code, &content_type, body)
}

/// Checks the status code of an answer whose body was read.
fn check_status(code: u16, content_type: &str, body: Bytes) -> Result<Bytes, CallError> {
    let success = (200..=206).contains(&code);
    let kind = if success {
        CallErrorKind::Transport
    } else {
        CallErrorKind::Status(code)
    };
    if !content_type.is_empty() {
        media_type::parse(content_type)
            .map_err(|reason| failed(&format!("Internal error occurred: mime: {reason}"), kind))?;
    }
    if !success {
        let status = FailedStatus {
            code,
            content_type,
            body: &body,
        };
        return Err(failed(&status.message(), kind));
    }
    if body.is_empty() {
        let media_type = if content_type.is_empty() {
            "application/json"
        } else {
            content_type
        };
        let message = format!("0-length response with status code: {code} and content type: {media_type}");
        return Err(failed(&message, kind));
    }
    Ok(body)
}

/// The body. One that comes in one piece is not copied; one that grows takes as much again while it does.
async fn whole(mut response: Response, largest: usize, memory: &CallMemory) -> Result<Bytes, CallError> {
    let broken = |error: reqwest::Error| {
        let (message, is_stream) = failure::body_message(&error);
        if is_stream {
            cut_off(&message)
        } else {
            unreadable(&message, CallErrorKind::Transport)
        }
    };
    let too_large = || unreadable("http: response body too large", CallErrorKind::Transport);
    let Some(first) = response.chunk().await.map_err(broken)? else {
        return Ok(Bytes::new());
    };
    memory.grow(first.len())?;
    let mut read: Option<BytesMut> = None;
    let mut length = first.len();
    while length <= largest {
        let Some(chunk) = response.chunk().await.map_err(broken)? else {
            return Ok(read.map_or(first, BytesMut::freeze));
        };
        length += chunk.len();
        memory.grow(chunk.len().saturating_mul(2))?;
        let all = read.get_or_insert_with(|| BytesMut::from(&*first));
        all.extend_from_slice(&chunk);
    }
    Err(too_large())
}

fn failed(message: &str, kind: CallErrorKind) -> CallError {
    CallError {
        message: format!("failed to call webhook: {message}"),
        kind,
    }
}

fn unreadable(message: &str, kind: CallErrorKind) -> CallError {
    let text = "unexpected error when reading response body. Please retry. Original error:";
    failed(&format!("{text} {message}"), kind)
}

fn cut_off(message: &str) -> CallError {
    let text = "stream error when reading response body, may be caused by closed connection. Please retry. Original \
                error:";
    failed(&format!("{text} {message}"), CallErrorKind::Transport)
}
