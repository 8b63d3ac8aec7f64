//! Calls over HTTPS: reviews are posted, and answers read, with the reference's messages for failures.
//!
//! [`HttpCaller`] keeps one client, with its connections, for each endpoint. A call follows redirects (`redirect`), is
//! repeated where the webhook requests that (`exchange`) and ends at its deadline in any state.

mod alert;
mod certificate;
mod client;
mod client_error;
mod clients;
mod credentials;
mod exchange;
mod failure;
mod guard;
mod identity;
mod kubeconfig;
mod media_type;
mod redirect;
mod refusal;
mod refused_requests;
mod resolve;
mod status;
mod target;
mod trust;
mod verify;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use crate::caller::{Answer, Call, Caller, Endpoint};
use clients::EndpointClients;

pub use certificate::Certificate;
pub use credentials::{CredentialError, CredentialSource, Credentials, Impersonation, NoCredentials};
pub use guard::{Breaker, Budget, LimitedCaller};

/// The most that is read of an answer, unless set otherwise: the reference has no bound.
pub const LARGEST_ANSWER: usize = 64 << 20;

/// Endpoints whose clients are kept, unless set otherwise.
pub const MOST_CLIENTS: usize = 1000;

/// Calls webhooks over HTTPS.
///
/// One client serves all calls to an endpoint, and keeps its connections: HTTP/2 where the webhook offers it on this
/// very host, HTTP/1.1 elsewhere, so that a balancer before several instances sees several connections.
pub struct HttpCaller {
    clients: EndpointClients,
    rules: TransportRules,
}

/// The limits of calls, and what is allowed in them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransportRules {
    /// The most bytes of an answer's body.
    pub(crate) largest: usize,
    /// Whether redirections from https to http are followed.
    pub(crate) plain_http_redirects: bool,
}

/// How an [`HttpCaller`] goes about it.
#[derive(Clone)]
pub struct HttpCallerBuilder {
    credentials: Arc<dyn CredentialSource>,
    rules: TransportRules,
    most_clients: usize,
}

impl Default for HttpCaller {
    fn default() -> Self {
        Self::builder().build()
    }
}

impl HttpCaller {
    /// A caller without credentials, and with the usual limits, unless said otherwise.
    pub fn builder() -> HttpCallerBuilder {
        HttpCallerBuilder {
            credentials: Arc::new(NoCredentials),
            rules: TransportRules {
                largest: LARGEST_ANSWER,
                plain_http_redirects: false,
            },
            most_clients: MOST_CLIENTS,
        }
    }

    /// How many clients are kept.
    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    /// The certificate that an endpoint showed last, whether it was trusted or not.
    pub fn certificate(&self, endpoint: &Endpoint) -> Option<Certificate> {
        self.clients.certificate(endpoint)
    }
}

impl HttpCallerBuilder {
    /// Sets the source of webhook client credentials.
    #[must_use]
    pub fn credentials(mut self, credentials: Arc<dyn CredentialSource>) -> Self {
        self.credentials = credentials;
        self
    }

    /// The most bytes of an answer's body. A larger one is a failed call.
    #[must_use]
    pub fn largest_answer(mut self, bytes: usize) -> Self {
        self.rules.largest = bytes;
        self
    }

    /// Whether redirections from https to http are followed, as the reference does: a party on the way then reads the
    /// review and the credentials, and may answer instead of the webhook. Without, they are failed calls.
    #[must_use]
    pub fn plain_http_redirects(mut self, followed: bool) -> Self {
        self.rules.plain_http_redirects = followed;
        self
    }

    /// The most endpoints whose clients are kept; those not used for longest go first.
    #[must_use]
    pub fn most_clients(mut self, clients: usize) -> Self {
        self.most_clients = clients.max(1);
        self
    }

    /// The caller.
    pub fn build(self) -> HttpCaller {
        HttpCaller {
            clients: EndpointClients::new(self.credentials, self.most_clients),
            rules: self.rules,
        }
    }
}

impl Caller for HttpCaller {
    fn call<'a>(&'a self, call: Call) -> Answer<'a> {
        Box::pin(async move {
            let client = self.clients.client(&call)?;
            exchange::exchange(&client, &call, self.rules).await
        })
    }

    /// Drops the clients, and idle connections, of all other endpoints.
    fn retain(&self, endpoints: &HashSet<&Endpoint>) {
        self.clients.retain(endpoints);
    }
}

/// How long a call may take that has no deadline.
const LONGEST_CALL: Duration = Duration::from_secs(30);
