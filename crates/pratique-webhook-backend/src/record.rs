//! Recorded calls, and the state that the handlers of all listeners share.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;

use crate::placeholders::fill;
use crate::script::Script;

/// One request that came.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Call {
    /// The phase that `set_phase` set.
    pub phase: String,
    /// Absent: POST.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The URL's path, decoded.
    pub path: String,
    /// The URL's query.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub query: String,
    /// Host, Accept, Authorization, Content-Type, User-Agent and `(client certificate)`, if they are recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<BTreeMap<String, String>>,
    /// The body without `request.uid`; text if it is not JSON. Absent: no body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<Value>,
}

/// The state that handlers share.
pub(crate) struct BackendState {
    record: Mutex<RecordState>,
    /// The values of placeholders.
    pub(crate) values: OnceLock<Vec<(String, String)>>,
    pub(crate) records: AtomicBool,
    pub(crate) open: AtomicUsize,
    pub(crate) accepted: AtomicUsize,
    active: watch::Sender<usize>,
    rounds: watch::Sender<u64>,
    disconnects: watch::Sender<u64>,
}

/// The state behind the lock.
#[derive(Default)]
pub(crate) struct RecordState {
    pub(crate) scripts: HashMap<String, Arc<Script>>,
    pub(crate) calls: Vec<Call>,
    pub(crate) uids: Vec<String>,
    pub(crate) counts: HashMap<String, usize>,
    pub(crate) phase: String,
    pub(crate) headers: bool,
}

/// A handler at work.
pub(crate) struct ActiveHandler<'a>(&'a BackendState);

impl Default for BackendState {
    fn default() -> Self {
        Self {
            record: Mutex::default(),
            values: OnceLock::new(),
            records: AtomicBool::new(true),
            open: AtomicUsize::new(0),
            accepted: AtomicUsize::new(0),
            active: watch::Sender::new(0),
            rounds: watch::Sender::new(0),
            disconnects: watch::Sender::new(0),
        }
    }
}

impl BackendState {
    pub(crate) fn lock(&self) -> MutexGuard<'_, RecordState> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin(&self, scripts: BTreeMap<String, Script>, headers: bool) {
        self.release();
        let scripts = scripts.into_iter();
        *self.lock() = RecordState {
            scripts: scripts.map(|(path, script)| (path, Arc::new(script))).collect(),
            headers,
            ..RecordState::default()
        };
        self.records.store(true, Ordering::Relaxed);
    }

    pub(crate) fn filled(&self, text: &str) -> String {
        let values = self.values.get().filter(|_| text.contains('$'));
        values.map_or_else(|| text.to_owned(), |values| fill(text, values))
    }

    /// Counts a handler.
    pub(crate) fn enter(&self) -> ActiveHandler<'_> {
        self.active.send_modify(|active| *active += 1);
        ActiveHandler(self)
    }

    /// Ends all waits that have begun.
    pub(crate) fn release(&self) {
        self.rounds.send_modify(|round| *round += 1);
    }

    /// Until handlers that hang may go on.
    pub(crate) fn round(&self) -> watch::Receiver<u64> {
        self.rounds.subscribe()
    }

    pub(crate) fn disconnect(&self) {
        self.disconnects.send_modify(|count| *count += 1);
    }

    /// Until `disconnect`.
    pub(crate) fn disconnected(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut disconnects = self.disconnects.subscribe();
        async move {
            if disconnects.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Until no handler is at work, or for that long.
    pub(crate) async fn idle(&self, most: Duration) {
        let mut active = self.active.subscribe();
        let _ = tokio::time::timeout(most, active.wait_for(|active| *active == 0)).await;
    }
}

impl Drop for ActiveHandler<'_> {
    fn drop(&mut self) {
        self.0.active.send_modify(|active| *active -= 1);
    }
}
