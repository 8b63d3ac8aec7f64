//! Admission that follows a directory, and a request that is evaluated by it.

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Waker};

use pratique::cluster::SharedObjects;
use pratique::live::{AdmissionObserver, Reload, ReloadResult};
use pratique::manifest::Plugin;
use pratique::types::AdmissionRequest;
use pratique::{Admission, Objects, Outcome, json};
use pratique_harness::Error;

/// Admission that follows a directory.
pub(crate) struct Live {
    live: pratique::Live,
    request: AdmissionRequest<'static>,
}

/// A Deployment that every policy refuses, in a namespace that the first policy's binding selects.
const REQUEST: &str = r#"{"uid":"u","kind":{"group":"apps","version":"v1","kind":"Deployment"},"resource":{"group":"apps","version":"v1","resource":"deployments"},"name":"web","namespace":"shop","operation":"CREATE","userInfo":{"username":"ann","groups":["system:authenticated"]},"object":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"},"spec":{"replicas":1000000000,"template":{"spec":{"containers":[{"name":"web","image":"registry.example.com/web:1","resources":{"limits":{"memory":"64Gi"}}},{"name":"proxy","image":"registry.example.com/proxy:2"}]}}}}}"#;
const NAMESPACE: &[u8] =
    br#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop","labels":{"team":"0"}}}"#;

impl Live {
    /// Loads a directory and follows it. What comes of every later attempt to load it can be heard.
    pub(crate) fn start(directory: &Path) -> Result<(Self, Receiver<Heard>), Error> {
        let (tell, heard) = channel();
        let mut objects = Objects::new();
        let namespace = json::parse(NAMESPACE).map_err(|error| error.to_string())?;
        // It has a kind and a name, so it is kept.
        let _ = objects.insert(namespace.into_owned());
        let path = directory.to_str().ok_or("the path is no text")?;
        let builder = Admission::builder().directory(path, Plugin::ValidatingAdmissionPolicy);
        let builder = builder.live().cluster(SharedObjects::new(objects));
        let live = builder.observer(Teller(Mutex::new(tell))).start();
        let live = Live {
            live: live.map_err(|error| error.to_string())?,
            request: serde_json::from_str(REQUEST).map_err(|error| error.to_string())?,
        };
        // That of the start.
        let _ = heard.recv();
        Ok((live, heard))
    }

    /// What the user is told.
    pub(crate) fn evaluate(&self) -> Result<Option<String>, Error> {
        Ok(self.outcome()?.status.map(|status| status.message))
    }

    /// The whole outcome.
    pub(crate) fn outcome(&self) -> Result<Outcome, Error> {
        match pin!(self.live.admit(&self.request)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => outcome.map_err(|error| Error::from(error.to_string())),
            Poll::Pending => Err("nothing here waits".into()),
        }
    }
}

/// What came of an attempt to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Loaded,
    Unchanged,
    Failed,
}

/// Tells of attempts, if there is a listener.
struct Teller(Mutex<Sender<Heard>>);

impl AdmissionObserver for Teller {
    fn reloaded(&self, reload: &Reload<'_>) {
        let heard = match reload.result {
            ReloadResult::Loaded { .. } => Heard::Loaded,
            ReloadResult::Unchanged => Heard::Unchanged,
            ReloadResult::Failed { .. } => Heard::Failed,
        };
        if let Ok(tell) = self.0.lock() {
            let _ = tell.send(heard);
        }
    }
}
