//! Reads a cluster once: its version, what it serves, and the objects of some kinds.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::Request;
use http::header::ACCEPT;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kube::client::Body;
use kube::{Client, Error};
use pratique::json::{self, Value};
use pratique::types::builtin::ServedResource;
use pratique::types::{GroupVersion, GroupVersionKind, GroupVersionResource};
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

use super::background::{Background, wait_within};
use super::discovery;
use super::failure;

/// Reads a cluster once, within bounds of memory and time that hold for all that it reads. Each call blocks the calling
/// thread, which must not be one of a runtime.
#[derive(Clone)]
pub struct ClusterReader {
    requests: Requests,
    handle: Handle,
    /// Keeps the runtime.
    _background: Arc<Background>,
}

/// Why something of a cluster is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The API server answers with an error.
    #[error("{message}")]
    Refused {
        /// The HTTP status code.
        code: u16,
        /// The server's message.
        message: String,
    },
    /// The API server is not reached, or its answer cannot be read.
    #[error("{0}")]
    Failed(String),
    /// What was read so far, and this, is more than is kept.
    #[error("larger than the {mebibytes} MiB that are read of a cluster")]
    TooLarge {
        /// The bound.
        mebibytes: usize,
    },
    /// It takes too long.
    #[error("no answer within {} seconds", .0.as_secs())]
    TimedOut(Duration),
    /// A name that no object can have, so that it is not asked for.
    #[error("{0:?} is no name of an object")]
    Name(String),
}

impl ReadError {
    /// Whether the API server does not have what was asked for.
    pub fn is_not_found(&self) -> bool {
        matches!(self, ReadError::Refused { code: 404, .. })
    }

    /// Whether nothing else can be read either: the API server is not reached, or does not know who asks.
    pub fn is_of_connection(&self) -> bool {
        match self {
            ReadError::Refused { code, .. } => *code == 401,
            ReadError::Failed(_) | ReadError::TimedOut(_) => true,
            ReadError::TooLarge { .. } | ReadError::Name(_) => false,
        }
    }
}

/// What a list asks for.
#[derive(Clone, Copy, Debug)]
pub struct ListOf<'a> {
    /// The resource.
    pub resource: &'a GroupVersionResource,
    /// The kind of its objects.
    pub kind: &'a GroupVersionKind,
    /// The namespace; `None` for all of them, and for kinds of cluster scope.
    pub namespace: Option<&'a str>,
}

impl ClusterReader {
    pub(super) fn new(client: Client, handle: &Handle, background: &Arc<Background>) -> Self {
        ClusterReader {
            requests: Requests {
                client,
                left: Arc::new(AtomicUsize::new(MOST_BYTES)),
            },
            handle: handle.clone(),
            _background: background.clone(),
        }
    }

    /// The version of the API server, such as `v1.36.3`.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn version(&self) -> Result<String, ReadError> {
        let answer = self.run(|requests| async move { requests.get("/version").await })?;
        let version = answer.get("gitVersion").and_then(Value::as_str);
        Ok(version.unwrap_or_default().to_owned())
    }

    /// All resources that the cluster serves. Groups whose server is down may be missing.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn served(&self) -> Result<Vec<ServedResource>, ReadError> {
        self.run(|requests| async move {
            let discovered = timeout(PATIENCE, discovery::discover(&requests.client)).await;
            match discovered {
                Ok(discovered) => discovered.map_err(|error| read_error(&error)),
                Err(_) => Err(ReadError::TimedOut(PATIENCE)),
            }
        })
    }

    /// The resources that the cluster serves in a version of a group; `None` if it serves none.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn served_in(&self, version: &GroupVersion) -> Result<Option<Vec<ServedResource>>, ReadError> {
        let path = root(&version.group, &version.version)?;
        let found = self.run(|requests| async move {
            let list = requests.text(&path).await?;
            discovery::of_version(&list).map_err(|error| ReadError::Failed(error.to_string()))
        });
        absent_as_none(found)
    }

    /// The objects of a kind that `kept` accepts, page by page.
    ///
    /// # Errors
    /// They cannot be read, or are too many.
    pub fn list(
        &self,
        of: ListOf<'_>,
        kept: fn(&Value<'_>) -> bool,
    ) -> Result<Vec<Value<'static>>, ReadError> {
        let mut path = root(&of.resource.group, &of.resource.version)?;
        if let Some(namespace) = of.namespace {
            path += &format!("/namespaces/{}", segment(namespace)?);
        }
        path += &format!("/{}", segment(&of.resource.resource)?);
        let kind = of.kind.clone();
        self.run(|requests| async move { requests.list(&path, &kind, kept).await })
    }

    /// An object; `None` if there is none.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn get(&self, of: ListOf<'_>, name: &str) -> Result<Option<Value<'static>>, ReadError> {
        let mut path = root(&of.resource.group, &of.resource.version)?;
        if let Some(namespace) = of.namespace {
            path += &format!("/namespaces/{}", segment(namespace)?);
        }
        path += &format!("/{}/{}", segment(&of.resource.resource)?, segment(name)?);
        let kind = of.kind.clone();
        let found = self.run(|requests| async move {
            let object = requests.get(&path).await?;
            Ok(with_kind(object, &kind))
        });
        absent_as_none(found)
    }

    /// Runs requests on the runtime, and blocks until they are done.
    fn run<T, F>(&self, run: impl FnOnce(Requests) -> F) -> Result<T, ReadError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, ReadError>> + Send + 'static,
    {
        let done = wait_within(&self.handle, run(self.requests.clone()), LONGEST);
        match done {
            Ok(done) => done,
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(ReadError::TimedOut(LONGEST)),
            Err(error) => Err(ReadError::Failed(error.to_string())),
        }
    }
}

fn absent_as_none<T>(found: Result<T, ReadError>) -> Result<Option<T>, ReadError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Requests that together read no more than is left.
#[derive(Clone)]
struct Requests {
    client: Client,
    /// How many bytes may still be read.
    left: Arc<AtomicUsize>,
}

/// How much is read of a cluster.
const MOST_BYTES: usize = 256 << 20;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long the objects of a kind may take.
const LONGEST: Duration = Duration::from_secs(120);

/// How many objects are asked for at a time, as `kubectl` does it.
const PAGE: usize = 500;

/// Between attempts, in milliseconds.
const PAUSES: [u64; 3] = [200, 400, 800];

/// How often a list is begun again because its version has expired.
const RESTARTS: usize = 3;

impl Requests {
    async fn list(
        &self,
        path: &str,
        kind: &GroupVersionKind,
        kept: fn(&Value<'_>) -> bool,
    ) -> Result<Vec<Value<'static>>, ReadError> {
        let mut restarts = RESTARTS;
        let mut objects = Vec::new();
        let mut next = String::new();
        loop {
            let query = match next.as_str() {
                "" => format!("{path}?limit={PAGE}"),
                next => format!("{path}?limit={PAGE}&continue={}", encoded(next)),
            };
            let page = match self.get(&query).await {
                // The list took so long that its version is gone.
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
            let items = items.iter().filter(|object| kept(object));
            objects.extend(items.map(|object| with_kind(object.clone(), kind)));
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

    async fn get(&self, path: &str) -> Result<Value<'static>, ReadError> {
        let text = self.text(path).await?;
        let value = json::parse(&text).map_err(|error| ReadError::Failed(error.to_string()))?;
        Ok(value.into_owned())
    }

    /// Asks for a path, again where that may help.
    async fn text(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let answer = timeout(PATIENCE, self.get_once(path)).await;
            let (error, passes) = match answer {
                Ok(Ok(text)) => return Ok(text),
                Ok(Err(failed)) => failed,
                Err(_) => (ReadError::TimedOut(PATIENCE), false),
            };
            match pauses.next().filter(|_| passes) {
                Some(pause) => sleep(Duration::from_millis(pause)).await,
                None => return Err(error),
            }
        }
    }

    /// Asks for a path; of an error, whether the same request may succeed a little later.
    async fn get_once(&self, path: &str) -> Result<Vec<u8>, (ReadError, bool)> {
        let failed = |error: Error| (read_error(&error), failure::is_passing(&error));
        let request = Request::get(path)
            .header(ACCEPT, "application/json")
            .body(Body::empty())
            .map_err(|error| failed(Error::HttpError(error)))?;
        let response = self.client.send(request).await.map_err(failed)?;
        let status = response.status();
        let left = self.left.load(Ordering::Relaxed);
        let body = Limited::new(response.into_body(), left).collect().await;
        let text = match body {
            Ok(body) => body.to_bytes().to_vec(),
            Err(error) if error.is::<LengthLimitError>() => {
                let mebibytes = MOST_BYTES >> 20;
                return Err((ReadError::TooLarge { mebibytes }, false));
            }
            Err(error) => return Err((ReadError::Failed(failure::of(&*error)), true)),
        };
        self.left.fetch_sub(text.len().min(left), Ordering::Relaxed);
        if status.is_success() {
            return Ok(text);
        }
        let message = json::parse(&text).ok().and_then(|status| {
            let message = status.get("message").and_then(Value::as_str);
            message.filter(|message| !message.is_empty()).map(str::to_owned)
        });
        let code = status.as_u16();
        let message = message.unwrap_or_else(|| format!("the server answered {status}"));
        // The client has asked again after 429, 503 and 504 by itself.
        Err((ReadError::Refused { code, message }, code == 500))
    }
}

pub(super) fn read_error(error: &Error) -> ReadError {
    match error {
        Error::Api(status) => ReadError::Refused {
            code: status.code,
            message: failure::text(error),
        },
        error => ReadError::Failed(failure::text(error)),
    }
}

/// Those in lists of built-in kinds do not say what they are.
fn with_kind(object: Value<'_>, kind: &GroupVersionKind) -> Value<'static> {
    let mut object = object.into_owned();
    if let Value::Object(members) = &mut object {
        members.insert("apiVersion", Value::from(kind.api_version()));
        members.insert("kind", Value::from(kind.kind.clone()));
    }
    object
}

/// The path of a version of a group.
fn root(group: &str, version: &str) -> Result<String, ReadError> {
    let version = segment(version)?;
    Ok(match group {
        "" => format!("/api/{version}"),
        group => format!("/apis/{}/{version}", segment(group)?),
    })
}

/// A part of a path: names come from policies and arguments.
fn segment(name: &str) -> Result<&str, ReadError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':');
    let is_name = !name.is_empty() && name != "." && name != ".." && name.bytes().all(is_plain);
    match is_name {
        true => Ok(name),
        false => Err(ReadError::Name(name.to_owned())),
    }
}

/// A token within a query.
fn encoded(token: &str) -> String {
    let byte = |byte: u8| match byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_') {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    token.bytes().map(byte).collect()
}

impl fmt::Debug for ClusterReader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ClusterReader").finish_non_exhaustive()
    }
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
