//! Webhooks that follow a script: TLS listeners on the loopback address, with certificates that fit and some that do
//! not, which record what they are asked. For tests and benchmarks.
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! use pratique_webhook_backend::{Backend, Listener, Script};
//!
//! let backend = Backend::start().await?;
//! let script = Script::from_json(r#"{"respond": {"allowed": true}}"#)?;
//! backend.begin([("/yes".to_owned(), script)], false);
//! assert!(backend.url(Listener::Backend).starts_with("https://127.0.0.1:"));
//! let calls = backend.end().await;
//! assert!(calls.is_empty());
//! # Ok(()) }) }
//! ```

mod answer;
mod authority;
mod connection;
mod listener;
mod placeholders;
mod record;
mod script;
mod shared_stream;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub use listener::Listener;
pub use record::Call;
pub use script::{ClosePoint, HangPoint, RefusedCall, Script};

use authority::BackendCertificates;
use listener::ListeningBackend;
use record::BackendState;

/// Listeners that follow scripts; dropping it closes them and all their connections.
pub struct Backend {
    listening: Vec<ListeningBackend>,
    certificates: Arc<BackendCertificates>,
    state: Arc<BackendState>,
}

impl Backend {
    /// Starts all listeners on free ports, in the current runtime.
    ///
    /// # Errors
    /// No port, no certificate.
    pub async fn start() -> io::Result<Self> {
        let certificates = Arc::new(BackendCertificates::new().map_err(io::Error::other)?);
        let state = Arc::new(BackendState::default());
        let mut listening = Vec::new();
        for listener in Listener::ALL {
            listening.push(ListeningBackend::start(listener, &certificates, &state).await?);
        }
        let backend = Self {
            listening,
            certificates,
            state,
        };
        let values = backend.values();
        backend.state.values.get_or_init(|| values);
        Ok(backend)
    }

    /// Follows these scripts (path and script) from now on, and drops the recorded calls.
    pub fn begin(&self, scripts: impl IntoIterator<Item = (String, Script)>, headers: bool) {
        self.state.begin(scripts.into_iter().collect(), headers);
    }

    /// As `begin`, but records nothing: for benchmarks.
    pub fn begin_unrecorded(&self, scripts: impl IntoIterator<Item = (String, Script)>) {
        self.begin(scripts, false);
        self.state.records.store(false, Ordering::Relaxed);
    }

    /// The phase that calls belong to from now on.
    pub fn set_phase(&self, phase: &str) {
        phase.clone_into(&mut self.state.lock().phase);
    }

    /// Ends hanging handlers, waits for all handlers and returns the calls, in order of arrival.
    pub async fn end(&self) -> Vec<Call> {
        self.state.release();
        self.state.idle(Duration::from_secs(5)).await;
        self.state.lock().calls.clone()
    }

    /// The calls so far.
    pub fn calls(&self) -> Vec<Call> {
        self.state.lock().calls.clone()
    }

    /// The address of a listener; connections to that of [`Listener::Closed`] are refused.
    pub fn address(&self, listener: Listener) -> SocketAddr {
        let mut all = self.listening.iter();
        let bound_listener = all.find(|listening| listening.listener == listener);
        bound_listener.map_or(SocketAddr::from(([127, 0, 0, 1], 1)), |bound_listener| {
            bound_listener.address
        })
    }

    /// `https://` and the address, also of those that do not speak TLS.
    pub fn url(&self, listener: Listener) -> String {
        format!("https://{}", self.address(listener))
    }

    /// The authority that signed the certificates, as PEM.
    pub fn ca_pem(&self) -> &str {
        &self.certificates.ca_pem
    }

    /// A client certificate that the listeners accept, as PEM.
    pub fn client_certificate_pem(&self) -> &str {
        &self.certificates.client_pem
    }

    /// The key of the client certificate, as PEM.
    pub fn client_key_pem(&self) -> &str {
        &self.certificates.client_key_pem
    }

    /// Text with `$BACKEND`, `$BACKEND_ADDR`, `$CA`, `$CLIENT_CERT` and so on replaced.
    pub fn fill(&self, text: &str) -> String {
        self.state.filled(text)
    }

    /// The reverse of `fill`, for addresses, the uids of reviews and the clock.
    pub fn mask(&self, text: &str) -> String {
        placeholders::mask(text, &self.addresses(), &self.state.lock().uids)
    }

    /// How many connections are open.
    pub fn open_connections(&self) -> usize {
        self.state.open.load(Ordering::SeqCst)
    }

    /// How many connections there have been.
    pub fn accepted_connections(&self) -> usize {
        self.state.accepted.load(Ordering::SeqCst)
    }

    /// Closes all connections.
    pub fn disconnect(&self) {
        self.state.disconnect();
    }

    fn addresses(&self) -> BTreeMap<&'static str, SocketAddr> {
        let all = self.listening.iter();
        all.map(|one| (one.listener.placeholder(), one.address)).collect()
    }

    fn values(&self) -> Vec<(String, String)> {
        let base64 = |pem: &str| pratique_json::base64::encode(pem.as_bytes());
        let mut values = vec![
            ("$CLIENT_CERT".to_owned(), base64(&self.certificates.client_pem)),
            (
                "$CLIENT_KEY".to_owned(),
                base64(&self.certificates.client_key_pem),
            ),
            ("$CA".to_owned(), base64(&self.certificates.ca_pem)),
        ];
        for (name, address) in self.addresses() {
            values.push((format!("${name}_ADDR"), address.to_string()));
            values.push((format!("${name}"), format!("https://{address}")));
        }
        values
    }
}
