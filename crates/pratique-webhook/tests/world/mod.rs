//! A backend that follows scripts, and a caller of it.
#![allow(dead_code, reason = "each test uses its share")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use pratique_webhook::transport::{CredentialError, CredentialSource, Credentials};
use pratique_webhook::{Call, CallError, Caller, Endpoint, HttpCaller};
use pratique_webhook_backend::{Backend, Script};

const REVIEW: &str =
    r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u-1"}}"#;

/// Nothing that ends by itself takes so long, not even on a machine with much else to do.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// A webhook that says yes.
pub(crate) const YES: &str = r#"{"respond": {"allowed": true}}"#;

/// A backend, and a caller of it.
pub(crate) struct World {
    pub(crate) backend: Backend,
    pub(crate) caller: HttpCaller,
}

/// One set of credentials for everybody.
pub(crate) struct Same(pub(crate) Credentials);

impl CredentialSource for Same {
    fn credentials(&self, _: &str) -> Result<Credentials, CredentialError> {
        Ok(self.0.clone())
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        Self {
            backend: Backend::start().await.unwrap(),
            caller: HttpCaller::default(),
        }
    }

    pub(crate) fn follow(&self, scripts: &[(&str, &str)]) {
        let script = |(path, text): &(&str, &str)| ((*path).to_owned(), Script::from_json(text).unwrap());
        self.backend.begin(scripts.iter().map(script), true);
    }

    pub(crate) fn to(&self, url: &str) -> Call {
        let endpoint = Endpoint {
            url: self.backend.fill(url),
            server_name: None,
            ca_bundle: Some(self.backend.ca_pem().as_bytes().to_vec()),
        };
        Call {
            webhook: "x.example.com".into(),
            endpoint: Arc::new(endpoint),
            address: None,
            body: Bytes::from_static(REVIEW.as_bytes()),
            timeout: Some(Duration::from_secs(5)),
            // What is sent is the timeout; what ends a call is the deadline, which a busy machine must not reach.
            deadline: Some(Instant::now() + DEADLINE),
            is_shortened: false,
            memory: Arc::default(),
        }
    }

    pub(crate) fn soon(&self, url: &str) -> Call {
        Call {
            deadline: Some(Instant::now() + Duration::from_millis(400)),
            timeout: Some(Duration::from_millis(400)),
            ..self.to(url)
        }
    }

    pub(crate) async fn call(&self, call: Call) -> Result<String, CallError> {
        let answer = self.caller.call(call).await;
        answer.map(|body| String::from_utf8_lossy(&body).into_owned())
    }

    /// The words of a call that fails, without `failed to call webhook: `.
    pub(crate) async fn words(&self, call: Call) -> String {
        let error = self.call(call).await.expect_err("a call that fails");
        let words = self.backend.mask(&error.message);
        words
            .strip_prefix("failed to call webhook: ")
            .unwrap_or(&words)
            .to_owned()
    }
}
