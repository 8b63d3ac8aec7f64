//! Reads a cluster once: its version, what it serves, and the objects of some kinds.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use pratique::json::Value;
use pratique::types::builtin::ServedResource;
use pratique::types::{GroupVersion, GroupVersionKind, GroupVersionResource};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::background::{BackgroundRuntime, wait_within};
use super::discovery::{self, ApiDiscovery};
use super::pages::{ListPages, ListPosition, PageOptions};
use super::requests::{BoundedRequests, LONGEST, PATIENCE, read_error, root, segment, with_kind};

/// Reads a cluster once, within bounds of memory and time that hold for all that it reads. Each call blocks the calling
/// thread, which must not be one of a runtime.
#[derive(Clone)]
pub struct ClusterReader {
    requests: BoundedRequests,
    handle: Handle,
    /// Keeps the runtime.
    _background: Arc<BackgroundRuntime>,
}

/// Why an object or list of a cluster cannot be read.
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
    /// The objects so far take more memory than is allowed.
    #[error("larger than the {mebibytes} MiB that are read of a cluster")]
    TooLarge {
        /// The bound.
        mebibytes: usize,
    },
    /// It takes too long.
    #[error("no answer within {} seconds", .0.as_secs_f64())]
    TimedOut(Duration),
    /// A list took so long that its version has expired, and cannot be continued: the server gives no new token, and
    /// its order is not that of names.
    #[error("the list has expired, and nothing tells which of its objects were listed")]
    Expired,
    /// A name that no object can have, so that it is not requested.
    #[error("{0:?} is no name of an object")]
    Name(String),
}

impl ReadError {
    /// Whether the API server does not have the requested object or resource.
    pub fn is_not_found(&self) -> bool {
        matches!(self, ReadError::Refused { code: 404, .. })
    }

    /// Whether nothing else can be read either: the API server is not reached, or refuses the credentials.
    pub fn is_of_connection(&self) -> bool {
        match self {
            ReadError::Refused { code, .. } => *code == 401,
            ReadError::Failed(_) | ReadError::TimedOut(_) => true,
            ReadError::TooLarge { .. } | ReadError::Expired | ReadError::Name(_) => false,
        }
    }
}

/// The objects that a list requests.
#[derive(Clone, Copy, Debug)]
pub struct ListOf<'a> {
    /// The resource.
    pub resource: &'a GroupVersionResource,
    /// The kind of its objects.
    pub kind: &'a GroupVersionKind,
    /// The namespace; `None` for all of them, and for kinds of cluster scope.
    pub namespace: Option<&'a str>,
}

impl ListOf<'_> {
    /// The path of the collection, such as `/apis/apps/v1/deployments`.
    ///
    /// # Errors
    /// A name is none.
    pub fn path(&self) -> Result<String, ReadError> {
        let mut path = root(&self.resource.group, &self.resource.version)?;
        if let Some(namespace) = self.namespace {
            path += &format!("/namespaces/{}", segment(namespace)?);
        }
        path += &format!("/{}", segment(&self.resource.resource)?);
        Ok(path)
    }
}

impl ClusterReader {
    pub(super) fn new(client: Client, handle: &Handle, background: &Arc<BackgroundRuntime>) -> Self {
        ClusterReader {
            requests: BoundedRequests::new(client),
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
        Ok(self.discovered()?.served())
    }

    /// All resources that the cluster serves, with the verbs of each, and the groups whose server is down.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn discovered(&self) -> Result<ApiDiscovery, ReadError> {
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
        let answer = self.run(|requests| async move {
            let list = requests.read_text(&path).await?;
            discovery::of_version(&list).map_err(|error| ReadError::Failed(error.to_string()))
        });
        absent_as_none(answer)
    }

    /// The objects of a kind that `keep` accepts, page by page.
    ///
    /// # Errors
    /// They cannot be read, or are too many.
    pub fn list(
        &self,
        of: ListOf<'_>,
        keep: fn(&Value<'_>) -> bool,
    ) -> Result<Vec<Value<'static>>, ReadError> {
        let path = of.path()?;
        let kind = of.kind.clone();
        self.run(|requests| async move { requests.list(&path, &kind, keep).await })
    }

    /// The objects of a kind, page by page, from a position on: none of them is kept, so there may be any number.
    ///
    /// # Errors
    /// A name is none. Whether there are objects shows when the first page is read.
    pub fn pages(
        &self,
        of: ListOf<'_>,
        from: ListPosition,
        options: PageOptions,
    ) -> Result<ListPages, ReadError> {
        let path = of.path()?;
        Ok(ListPages::new(self.clone(), path, of.kind.clone(), from, options))
    }

    /// An object; `None` if there is none.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn get(&self, of: ListOf<'_>, name: &str) -> Result<Option<Value<'static>>, ReadError> {
        let path = format!("{}/{}", of.path()?, segment(name)?);
        let kind = of.kind.clone();
        let answer = self.run(|requests| async move {
            let object = requests.get(&path).await?;
            Ok(with_kind(object, &kind))
        });
        absent_as_none(answer)
    }

    /// Runs requests on the runtime, and blocks until they are done.
    pub(super) fn run<T, E, F>(&self, run: impl FnOnce(BoundedRequests) -> F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<ReadError> + Send + 'static,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let done = wait_within(&self.handle, run(self.requests.clone()), LONGEST);
        let failed = match done {
            Ok(done) => return done,
            Err(error) if error.kind() == io::ErrorKind::TimedOut => ReadError::TimedOut(LONGEST),
            Err(error) => ReadError::Failed(error.to_string()),
        };
        Err(failed.into())
    }
}

fn absent_as_none<T>(answer: Result<T, ReadError>) -> Result<Option<T>, ReadError> {
    match answer {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

impl fmt::Debug for ClusterReader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ClusterReader").finish_non_exhaustive()
    }
}
