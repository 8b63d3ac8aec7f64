//! The backend of ImagePolicyWebhook over HTTPS.

use std::sync::Arc;
use std::time::Duration;

use pratique_plugin::Rejection;
use pratique_types::{FileError, KubeCluster, KubeConfig, Reason, Status};
use pratique_webhook::{Call, CallError, CallErrorKind, CallMemory, Caller as _, Endpoint, HttpCaller};

use crate::image_reviews::{ImageBackend, ImageReviewing};

/// Calls the backend of ImagePolicyWebhook in a kubeconfig, with retries after transient errors.
pub struct HttpImageBackend {
    caller: HttpCaller,
    endpoint: Arc<Endpoint>,
    retry_backoff: Duration,
}

/// Why a backend cannot be called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageBackendError {
    /// The kubeconfig has no server.
    #[error("the kubeconfig has no current context with the cluster of a server")]
    NoServer,
    /// It is not reached over HTTPS.
    #[error("{0:?} is no https URL")]
    NotHttps(String),
    /// The kubeconfig has a setting that is not supported.
    #[error("{0} is not supported for the backend of ImagePolicyWebhook")]
    Unsupported(&'static str),
    /// The authorities cannot be read.
    #[error(transparent)]
    Authority(#[from] FileError),
}

/// How often a call is made.
// Upstream: apiserver/pkg/util/webhook/webhook.go, DefaultRetryBackoffWithInitialDelay
const ATTEMPTS: u32 = 5;

/// The most that is read of an answer.
const LARGEST_ANSWER: usize = 4 << 20;

impl HttpImageBackend {
    /// The backend of the current context of a kubeconfig. A call that fails and may succeed later is retried after
    /// `retry_backoff`, and then after 1.5 times the previous delay.
    ///
    /// # Errors
    /// The kubeconfig has no server, or a setting that is not supported.
    pub fn new(config: &KubeConfig, retry_backoff: Duration) -> Result<Self, ImageBackendError> {
        let (cluster, user) = config.current().ok_or(ImageBackendError::NoServer)?;
        let endpoint = endpoint(cluster)?;
        let credentials = KubeConfig {
            users: user
                .map(|user| ("*".to_owned(), user.clone()))
                .into_iter()
                .collect(),
            ..KubeConfig::default()
        };
        if user.is_some_and(|user| user.has_exec) {
            return Err(ImageBackendError::Unsupported("exec"));
        }
        let builder = HttpCaller::builder().largest_answer(LARGEST_ANSWER);
        Ok(HttpImageBackend {
            caller: builder.credentials(Arc::new(credentials)).build(),
            endpoint: Arc::new(endpoint),
            retry_backoff,
        })
    }

    // Upstream: apiserver/pkg/util/webhook/webhook.go, WithExponentialBackoff
    async fn ask(&self, review: String) -> Result<String, Rejection> {
        let call = Call {
            webhook: "ImagePolicyWebhook".into(),
            endpoint: self.endpoint.clone(),
            address: None,
            body: review.into(),
            timeout: None,
            deadline: None,
            is_shortened: false,
            memory: Arc::new(CallMemory::default()),
        };
        let mut wait = self.retry_backoff;
        let mut attempts = 1;
        loop {
            let answer = self.caller.call(call.clone()).await;
            let error = match answer {
                Ok(body) => return Ok(String::from_utf8_lossy(&body).into_owned()),
                Err(error) => error,
            };
            if attempts == ATTEMPTS || !is_passing(&error) {
                return Err(rejection(&error));
            }
            attempts += 1;
            tokio::time::sleep(wait).await;
            wait += wait / 2;
        }
    }
}

impl ImageBackend for HttpImageBackend {
    fn review(&self, review: String) -> ImageReviewing<'_> {
        Box::pin(self.ask(review))
    }
}

fn endpoint(cluster: &KubeCluster) -> Result<Endpoint, ImageBackendError> {
    if cluster.server.is_empty() {
        return Err(ImageBackendError::NoServer);
    }
    if !cluster.server.starts_with("https://") {
        return Err(ImageBackendError::NotHttps(cluster.server.clone()));
    }
    if cluster.insecure_skip_tls_verify {
        return Err(ImageBackendError::Unsupported("insecure-skip-tls-verify"));
    }
    if !cluster.proxy_url.is_empty() {
        return Err(ImageBackendError::Unsupported("proxy-url"));
    }
    let of_file = match &cluster.certificate_authority {
        Some(file) => Some(file.content.clone()?),
        None => None,
    };
    let ca_bundle = match cluster.certificate_authority_data.as_slice() {
        [] => of_file,
        data => Some(data.to_vec()),
    };
    Ok(Endpoint {
        url: cluster.server.clone(),
        server_name: Some(cluster.tls_server_name.clone()).filter(|name| !name.is_empty()),
        ca_bundle,
    })
}

/// Whether the same call may succeed a little later.
// Upstream: apiserver/pkg/util/webhook/webhook.go, DefaultShouldRetry
fn is_passing(error: &CallError) -> bool {
    match error.kind {
        CallErrorKind::Status(code) => matches!(code, 429 | 500 | 504),
        CallErrorKind::Transport => error.message.contains("connection reset by peer"),
        CallErrorKind::Client
        | CallErrorKind::Timeout
        | CallErrorKind::Unknown
        | CallErrorKind::OutOfMemory(_) => false,
    }
}

/// The error as a plugin sees it: an answer that forbids the image is a status.
fn rejection(error: &CallError) -> Rejection {
    let prefix = "failed to call webhook: ";
    let message = error.message.strip_prefix(prefix).unwrap_or(&error.message);
    match error.kind {
        CallErrorKind::Status(403) => Status::failure(Reason::Forbidden, message).into(),
        _ => Rejection::error(message),
    }
}

#[cfg(test)]
mod tests {
    use pratique_types::{KubeContext, KubeUser};

    use super::*;

    fn config(cluster: KubeCluster, user: KubeUser) -> KubeConfig {
        let context = KubeContext {
            cluster: "images".to_owned(),
            user: "me".to_owned(),
        };
        KubeConfig {
            users: vec![("me".to_owned(), user)],
            clusters: vec![("images".to_owned(), cluster)],
            contexts: vec![("here".to_owned(), context)],
            current_context: "here".to_owned(),
        }
    }

    #[test]
    fn what_cannot_be_called_is_refused() {
        let check = |cluster: KubeCluster, user: KubeUser, expected: &str| {
            let backend = HttpImageBackend::new(&config(cluster, user), Duration::ZERO);
            let error = backend.err().map(|error| error.to_string());
            assert_eq!(error.unwrap_or_default(), expected);
        };
        let at = |server: &str| KubeCluster {
            server: server.to_owned(),
            ..KubeCluster::default()
        };
        check(at("https://images/review"), KubeUser::default(), "");
        let nowhere = "the kubeconfig has no current context with the cluster of a server";
        check(at(""), KubeUser::default(), nowhere);
        check(
            at("http://images"),
            KubeUser::default(),
            "\"http://images\" is no https URL",
        );
        let insecure = KubeCluster {
            insecure_skip_tls_verify: true,
            ..at("https://images")
        };
        let unsupported = "insecure-skip-tls-verify is not supported for the backend of ImagePolicyWebhook";
        check(insecure, KubeUser::default(), unsupported);
        let exec = KubeUser {
            has_exec: true,
            ..KubeUser::default()
        };
        let unsupported = "exec is not supported for the backend of ImagePolicyWebhook";
        check(at("https://images"), exec, unsupported);
        let none = HttpImageBackend::new(&KubeConfig::default(), Duration::ZERO);
        assert_eq!(none.err(), Some(ImageBackendError::NoServer));
    }
}
