//! A client whose credentials come from a command, and are renewed.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

use http::{Request, Response, StatusCode};
use kube::client::Body;
use kube::{Client, Config};
use tokio::sync::Mutex;
use tower_service::Service;

use super::bounded_client::ClientError;
use super::exec::ExecPlugin;

/// How long credentials of a command are kept although the API server refuses them: the command would print the same
/// again.
const PAUSE: Duration = Duration::from_secs(1);

/// Makes a client of a configuration that names a command. It is to be called within the runtime that the client is to be
/// used in.
pub(super) async fn client(config: Config, plugin: ExecPlugin) -> Result<Client, ClientError> {
    let namespace = config.default_namespace.clone();
    let first = CredentialedClient::new(&plugin, &config).await?;
    let renewed = RenewedToken(Arc::new(RenewedInner {
        plugin,
        config,
        current: Mutex::new(Arc::new(first)),
    }));
    Ok(Client::new(renewed, namespace))
}

#[derive(Clone)]
struct RenewedToken(Arc<RenewedInner>);

struct RenewedInner {
    plugin: ExecPlugin,
    config: Config,
    current: Mutex<Arc<CredentialedClient>>,
}

/// A client with credentials that do not change.
struct CredentialedClient {
    client: Client,
    expires: Option<SystemTime>,
    created: Instant,
}

impl CredentialedClient {
    async fn new(plugin: &ExecPlugin, config: &Config) -> Result<Self, ClientError> {
        let output = plugin.run().await?;
        Ok(CredentialedClient {
            expires: output.expires,
            client: Client::try_from(output.fill(config))?,
            created: Instant::now(),
        })
    }

    fn has_expired(&self) -> bool {
        self.expires.is_some_and(|at| at <= SystemTime::now())
    }
}

impl RenewedToken {
    /// The client in use, with new credentials where they have expired.
    async fn current(&self) -> Result<Arc<CredentialedClient>, ClientError> {
        let mut current = self.0.current.lock().await;
        if current.has_expired() {
            *current = Arc::new(CredentialedClient::new(&self.0.plugin, &self.0.config).await?);
        }
        Ok(current.clone())
    }

    /// Another client in place of one whose credentials the API server refuses; `None` if there is none.
    async fn instead_of(&self, refused: &Arc<CredentialedClient>) -> Option<Arc<CredentialedClient>> {
        let mut current = self.0.current.lock().await;
        if !Arc::ptr_eq(&current, refused) {
            return Some(current.clone());
        }
        if current.created.elapsed() < PAUSE {
            return None;
        }
        match CredentialedClient::new(&self.0.plugin, &self.0.config).await {
            Ok(next) => *current = Arc::new(next),
            Err(error) => {
                tracing::warn!(err = %error, "Refreshing credentials");
                return None;
            }
        }
        Some(current.clone())
    }

    async fn send(self, request: Request<Body>) -> Result<Response<Body>, ClientError> {
        let current = self.current().await?;
        let (head, body) = request.into_parts();
        let again = body
            .try_clone()
            .map(|body| Request::from_parts(head.clone(), body));
        let response = current.client.send(Request::from_parts(head, body)).await?;
        let Some(again) = again.filter(|_| response.status() == StatusCode::UNAUTHORIZED) else {
            return Ok(response);
        };
        match self.instead_of(&current).await {
            Some(next) => Ok(next.client.send(again).await?),
            None => Ok(response),
        }
    }
}

impl Service<Request<Body>> for RenewedToken {
    type Response = Response<Body>;
    type Error = ClientError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ClientError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ClientError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.clone().send(request))
    }
}
