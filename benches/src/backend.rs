//! The webhooks that both sides of `cargo xtask bench webhook` call: in a process of their own, as in clusters.

use pratique_benches::BenchError;
use pratique_benches::contest::{ContestOrder, ContestSide, TurnSample};
use pratique_webhook_backend::{Backend, Listener, Script};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// Listeners that run until they are stopped.
pub(crate) struct BackendListeners {
    backend: Backend,
    _runtime: Runtime,
}

impl BackendListeners {
    pub(crate) fn new(scripts: Value) -> Result<Self, BenchError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let backend = runtime.block_on(Backend::start())?;
        let scripts = scripts.as_object().into_iter().flatten();
        let scripts =
            scripts.map(|(path, script)| Ok((path.clone(), Script::from_json(&script.to_string())?)));
        let scripts: Vec<(String, Script)> = scripts.collect::<Result<_, BenchError>>()?;
        backend.begin_unrecorded(scripts);
        Ok(BackendListeners {
            backend,
            _runtime: runtime,
        })
    }
}

impl ContestSide for BackendListeners {
    fn facts(&self) -> Result<Value, BenchError> {
        Ok(json!({
            "http1": self.backend.url(Listener::Backend),
            "http2": self.backend.url(Listener::Http2),
            "caBundle": self.backend.fill("$CA"),
        }))
    }

    fn measure(&self, order: &ContestOrder) -> Result<TurnSample, BenchError> {
        Err(format!("no work is named {:?}", order.measure).into())
    }
}
