//! Requests to an API server that read objects once, and their paths.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::Request;
use http::header::ACCEPT;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kube::client::Body;
use kube::{Client, Error};
use pratique::json::{self, Value};
use pratique::types::GroupVersionKind;
use tokio::time::{sleep, timeout};

use super::failure;
use super::read::ReadError;

/// Requests that share a limit of bytes to read.
#[derive(Clone)]
pub(super) struct BoundedRequests {
    pub(super) client: Client,
    /// How many bytes may still be read.
    remaining: Arc<AtomicUsize>,
}

/// A failed request.
pub(super) struct RequestFailure {
    pub(super) error: ReadError,
    /// Whether the same request may succeed a little later.
    pub(super) passes: bool,
    /// The token to continue a list that has expired, if the server gives one.
    pub(super) continues: String,
}

impl From<ReadError> for RequestFailure {
    fn from(error: ReadError) -> Self {
        RequestFailure::new(error, false)
    }
}

/// How much is read of a cluster.
const MOST_BYTES: usize = 256 << 20;

/// How much an answer may have: to read one takes several times its size. Of lists, fewer objects are requested then.
const MOST_OF_ANSWER: usize = 32 << 20;

/// How long an answer may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// How long the objects of a kind may take.
pub(super) const LONGEST: Duration = Duration::from_secs(120);

/// How many objects are requested at a time, as `kubectl` does it.
const PAGE: usize = 500;

/// Between attempts, in milliseconds.
const PAUSES: [u64; 3] = [200, 400, 800];

/// How often a list is begun again because its version has expired.
const RESTARTS: usize = 3;

impl BoundedRequests {
    pub(super) fn new(client: Client) -> Self {
        BoundedRequests {
            client,
            remaining: Arc::new(AtomicUsize::new(MOST_BYTES)),
        }
    }

    /// The objects of a kind that `keep` accepts, page by page.
    pub(super) async fn list(
        &self,
        path: &str,
        kind: &GroupVersionKind,
        keep: fn(&Value<'_>) -> bool,
    ) -> Result<Vec<Value<'static>>, ReadError> {
        let mut restarts = RESTARTS;
        let mut objects = Vec::new();
        let mut next = String::new();
        let mut chunk_size = PAGE;
        loop {
            let query = match next.as_str() {
                "" => format!("{path}?limit={chunk_size}"),
                next => format!("{path}?limit={chunk_size}&continue={}", encoded(next)),
            };
            let page = match self.get(&query).await {
                Err(ReadError::TooLarge { mebibytes }) if mebibytes < MOST_BYTES >> 20 && chunk_size > 1 => {
                    chunk_size /= 2;
                    continue;
                }
                // The list took so long that its version has expired.
                Err(ReadError::Refused { code: 410, .. }) if restarts > 0 && !next.is_empty() => {
                    restarts -= 1;
                    objects.clear();
                    next.clear();
                    continue;
                }
                page => page?,
            };
            let token = page.at(&["metadata", "continue"]).and_then(Value::as_str);
            let token = token.unwrap_or_default().to_owned();
            let items = page.get("items").and_then(Value::as_array).unwrap_or_default();
            let items = items.iter().filter(|object| keep(object));
            objects.extend(items.map(|object| with_kind(object.clone(), kind).into_owned()));
            match token {
                token if token.is_empty() => return Ok(objects),
                token if token == next => {
                    return Err(ReadError::Failed(
                        "the server gives the same page again".to_owned(),
                    ));
                }
                token => next = token,
            }
        }
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value<'static>, ReadError> {
        let text = self.read_text(path).await?;
        let value = json::parse(&text).map_err(|error| ReadError::Failed(error.to_string()))?;
        Ok(value.into_owned())
    }

    /// Requests a path, with retries after transient failures.
    pub(super) async fn read_text(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let remaining = self.remaining.load(Ordering::Relaxed);
            let most = remaining.min(MOST_OF_ANSWER);
            let failure = match self.get_once(path, most, PATIENCE).await {
                Ok(text) => {
                    self.remaining
                        .fetch_sub(text.len().min(remaining), Ordering::Relaxed);
                    return Ok(text);
                }
                Err(RequestFailure {
                    error: ReadError::TooLarge { .. },
                    ..
                }) => {
                    let mebibytes = if most < MOST_OF_ANSWER {
                        MOST_BYTES >> 20
                    } else {
                        MOST_OF_ANSWER >> 20
                    };
                    return Err(ReadError::TooLarge { mebibytes });
                }
                Err(failure) => failure,
            };
            let may_pass = failure.passes && !matches!(failure.error, ReadError::TimedOut(_));
            match pauses.next().filter(|_| may_pass) {
                Some(pause) => sleep(Duration::from_millis(pause)).await,
                None => return Err(failure.error),
            }
        }
    }

    /// Requests a path; the answer may have at most `bytes`.
    pub(super) async fn get_once(
        &self,
        path: &str,
        bytes: usize,
        patience: Duration,
    ) -> Result<Vec<u8>, RequestFailure> {
        match timeout(patience, self.answer(path, bytes)).await {
            Ok(answer) => answer,
            Err(_) => Err(RequestFailure::new(ReadError::TimedOut(patience), true)),
        }
    }

    async fn answer(&self, path: &str, bytes: usize) -> Result<Vec<u8>, RequestFailure> {
        let failed = |error: Error| RequestFailure::new(read_error(&error), failure::is_passing(&error));
        let request = Request::get(path)
            .header(ACCEPT, "application/json")
            .body(Body::empty())
            .map_err(|error| failed(Error::HttpError(error)))?;
        let response = self.client.send(request).await.map_err(failed)?;
        let status = response.status();
        let body = Limited::new(response.into_body(), bytes).collect().await;
        let text = match body {
            // This does not copy it once more.
            Ok(body) => Vec::from(body.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => {
                let mebibytes = bytes >> 20;
                return Err(RequestFailure::new(ReadError::TooLarge { mebibytes }, false));
            }
            Err(error) => {
                return Err(RequestFailure::new(
                    ReadError::Failed(failure::cause_text(&*error)),
                    true,
                ));
            }
        };
        if status.is_success() {
            return Ok(text);
        }
        let answer = json::parse(&text).unwrap_or(Value::Null);
        let text_at = |path: &[&str]| {
            let member = answer.at(path).and_then(Value::as_str);
            member.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let code = status.as_u16();
        let message = text_at(&["message"]).unwrap_or_else(|| format!("the server answered {status}"));
        Err(RequestFailure {
            error: ReadError::Refused { code, message },
            // The client has retried after 429, 503 and 504 by itself.
            passes: code == 500,
            continues: text_at(&["metadata", "continue"]).unwrap_or_default(),
        })
    }
}

impl RequestFailure {
    fn new(error: ReadError, passes: bool) -> Self {
        RequestFailure {
            error,
            passes,
            continues: String::new(),
        }
    }
}

pub(super) fn read_error(error: &Error) -> ReadError {
    match error {
        Error::Api(status) => ReadError::Refused {
            code: status.code,
            message: failure::error_text(error),
        },
        error => ReadError::Failed(failure::error_text(error)),
    }
}

/// Adds `apiVersion` and `kind`, which objects in lists of built-in kinds lack.
pub(super) fn with_kind<'v>(mut object: Value<'v>, kind: &GroupVersionKind) -> Value<'v> {
    if let Value::Object(members) = &mut object {
        members.insert("apiVersion", Value::from(kind.api_version()));
        members.insert("kind", Value::from(kind.kind.clone()));
    }
    object
}

/// The path of a version of a group.
pub(super) fn root(group: &str, version: &str) -> Result<String, ReadError> {
    let version = segment(version)?;
    Ok(match group {
        "" => format!("/api/{version}"),
        group => format!("/apis/{}/{version}", segment(group)?),
    })
}

/// A part of a path: names come from policies and arguments.
pub(super) fn segment(name: &str) -> Result<&str, ReadError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':');
    let is_name = !name.is_empty() && name != "." && name != ".." && name.bytes().all(is_plain);
    if is_name {
        Ok(name)
    } else {
        Err(ReadError::Name(name.to_owned()))
    }
}

/// A token within a query.
pub(super) fn encoded(token: &str) -> String {
    let byte = |byte: u8| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_') {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    token.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_place() {
        for name in ["a", "system:node", "widgets.example.com"] {
            assert_eq!(segment(name), Ok(name));
        }
        for name in ["", ".", "..", "a/b", "a?b", "a b", "ä"] {
            assert_eq!(segment(name), Err(ReadError::Name(name.to_owned())));
        }
        assert_eq!(encoded("a+b/c=="), "a%2Bb%2Fc%3D%3D");
    }
}
