//! Writes objects of a program to a cluster, and removes those that it wrote before.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use kube::core::ApiResource;
use kube::{Client, Error};
use pratique::types::{GroupVersionKind, GroupVersionResource};
use tokio::runtime::Handle;

use super::background::{BackgroundRuntime, wait_within};
use super::failure;

/// How long a request may take, with its retries.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many objects are requested at a time.
const PAGE: u32 = 500;

/// Writes objects of a program to a cluster. Each call blocks the calling thread, which must not be one of a runtime.
#[derive(Clone)]
pub struct ClusterWriter {
    client: Client,
    handle: Handle,
    /// Keeps the runtime.
    _background: Arc<BackgroundRuntime>,
}

/// The objects of a kind, which are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenKind {
    /// The resource.
    pub resource: GroupVersionResource,
    /// The kind.
    pub kind: GroupVersionKind,
}

/// An object, by its namespace, if it has one, and its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectName {
    /// The namespace; `None` of an object of the cluster.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

/// Why something is not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The API server does not serve the kind, or there is no such namespace or object.
    #[error("{message}")]
    NotFound {
        /// The server's message.
        message: String,
    },
    /// The API server answers with another error.
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
    /// It takes too long.
    #[error("no answer within {} seconds", .0.as_secs())]
    TimedOut(Duration),
}

impl ClusterWriter {
    pub(super) fn new(client: Client, handle: &Handle, background: &Arc<BackgroundRuntime>) -> Self {
        ClusterWriter {
            client,
            handle: handle.clone(),
            _background: background.clone(),
        }
    }

    /// Creates or changes an object by server-side apply, with force: fields of other managers are taken over.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn apply(
        &self,
        of: &WrittenKind,
        at: &ObjectName,
        object: serde_json::Value,
        manager: &str,
    ) -> Result<(), WriteError> {
        let (api, name) = (self.api(of, at.namespace.as_deref()), at.name.clone());
        let parameters = PatchParams::apply(manager).force();
        self.run(async move { api.patch(&name, &parameters, &Patch::Apply(object)).await })
            .map(drop)
    }

    /// The objects of a kind in all namespaces that have certain labels, as in `a=b,c=d`.
    ///
    /// # Errors
    /// They cannot be listed.
    pub fn labelled(&self, of: &WrittenKind, labels: &str) -> Result<Vec<ObjectName>, WriteError> {
        let api = self.api(of, None);
        let first = ListParams::default().labels(labels).limit(PAGE);
        self.run(async move {
            let (mut names, mut parameters) = (Vec::new(), first);
            loop {
                let page = api.list_metadata(&parameters).await?;
                names.extend(page.items.into_iter().map(|object| ObjectName {
                    namespace: object.metadata.namespace,
                    name: object.metadata.name.unwrap_or_default(),
                }));
                match page.metadata.continue_.filter(|token| !token.is_empty()) {
                    Some(token) => parameters = parameters.continue_token(&token),
                    None => return Ok(names),
                }
            }
        })
    }

    /// Removes an object. An absent object is no error.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn delete(&self, of: &WrittenKind, at: &ObjectName) -> Result<(), WriteError> {
        let (api, name) = (self.api(of, at.namespace.as_deref()), at.name.clone());
        let removed = self.run(async move { api.delete(&name, &DeleteParams::default()).await });
        match removed {
            Ok(_) | Err(WriteError::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn api(&self, of: &WrittenKind, namespace: Option<&str>) -> Api<DynamicObject> {
        let GroupVersionKind { group, version, kind } = &of.kind;
        let resource = ApiResource {
            group: group.clone(),
            version: version.clone(),
            api_version: of.kind.api_version(),
            kind: kind.clone(),
            plural: of.resource.resource.clone(),
        };
        match namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &resource),
            None => Api::all_with(self.client.clone(), &resource),
        }
    }

    fn run<T: Send + 'static>(
        &self,
        request: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, WriteError> {
        match wait_within(&self.handle, request, PATIENCE) {
            Ok(done) => done.map_err(|error| write_error(&error)),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(WriteError::TimedOut(PATIENCE)),
            Err(error) => Err(WriteError::Failed(error.to_string())),
        }
    }
}

fn write_error(error: &Error) -> WriteError {
    let message = failure::error_text(error);
    match error {
        Error::Api(status) if status.code == 404 => WriteError::NotFound { message },
        Error::Api(status) => WriteError::Refused {
            code: status.code,
            message,
        },
        _ => WriteError::Failed(message),
    }
}

impl fmt::Debug for ClusterWriter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ClusterWriter").finish_non_exhaustive()
    }
}
