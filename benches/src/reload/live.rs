//! Admission that follows a directory, and a request for it to evaluate.

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Waker};

use pratique::cluster::SharedObjects;
use pratique::live::{AdmissionObserver, DirectoryReload, ReloadResult};
use pratique::manifest::ManifestPlugin;
use pratique::types::AdmissionRequest;
use pratique::{Admission, Objects, Outcome, json};
use pratique_benches::BenchError;

/// Admission that follows a directory.
pub(crate) struct FollowingAdmission {
    live: pratique::Live,
    request: AdmissionRequest<'static>,
}

/// A Deployment that every policy refuses, in a namespace that the first policy's binding selects.
const REQUEST: &str = r#"{"uid":"u","kind":{"group":"apps","version":"v1","kind":"Deployment"},"resource":{"group":"apps","version":"v1","resource":"deployments"},"name":"web","namespace":"shop","operation":"CREATE","userInfo":{"username":"ann","groups":["system:authenticated"]},"object":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"},"spec":{"replicas":1000000000,"template":{"spec":{"containers":[{"name":"web","image":"registry.example.com/web:1","resources":{"limits":{"memory":"64Gi"}}},{"name":"proxy","image":"registry.example.com/proxy:2"}]}}}}}"#;
const NAMESPACE: &[u8] =
    br#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop","labels":{"team":"0"}}}"#;

impl FollowingAdmission {
    /// Loads a directory and follows it. The receiver gets the result of every later attempt to load it.
    pub(crate) fn start(directory: &Path) -> Result<(Self, Receiver<LoadResult>), BenchError> {
        let (sender, results) = channel();
        let mut objects = Objects::new();
        let namespace = json::parse(NAMESPACE)?;
        // It has a kind and a name, so it is kept.
        let _ = objects.insert(namespace.into_owned());
        let path = directory.to_str().ok_or("the path is no text")?;
        let builder = Admission::builder().directory(path, ManifestPlugin::ValidatingAdmissionPolicy);
        let builder = builder.live().cluster(SharedObjects::new(objects));
        let live = builder.observer(ResultSender(Mutex::new(sender))).start();
        let live = FollowingAdmission {
            live: live?,
            request: serde_json::from_str(REQUEST)?,
        };
        // The result of the first load.
        let _ = results.recv();
        Ok((live, results))
    }

    /// The message of the decision, if the request is denied.
    pub(crate) fn evaluate(&self) -> Result<Option<String>, BenchError> {
        Ok(self.outcome()?.status.map(|status| status.message))
    }

    /// The whole outcome.
    pub(crate) fn outcome(&self) -> Result<Outcome, BenchError> {
        match pin!(self.live.admit(&self.request)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => Ok(outcome?),
            Poll::Pending => Err("nothing here waits".into()),
        }
    }
}

/// The result of an attempt to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadResult {
    Loaded,
    Unchanged,
    Failed,
}

/// Sends the result of each attempt to load.
struct ResultSender(Mutex<Sender<LoadResult>>);

impl AdmissionObserver for ResultSender {
    fn reloaded(&self, reload: &DirectoryReload<'_>) {
        let results = match reload.result {
            ReloadResult::Loaded { .. } => LoadResult::Loaded,
            ReloadResult::Unchanged => LoadResult::Unchanged,
            ReloadResult::Failed { .. } => LoadResult::Failed,
        };
        if let Ok(sender) = self.0.lock() {
            let _ = sender.send(results);
        }
    }
}
