//! Why the client for an endpoint cannot be made.

use pratique_gotext::strconv::quote;

use super::credentials::CredentialError;
use super::identity::IdentityError;
use super::trust::TrustError;

/// Why the client for an endpoint cannot be made. The messages are Go's, without `could not get REST client: `.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ClientError {
    /// The URL cannot be parsed.
    #[error("Unparsable URL: {0}")]
    Url(String),
    /// The URL has no scheme, or no host.
    #[error("host must be a URL or a host:port pair: {}", quote(.0))]
    Host(String),
    /// There are no usable credentials.
    #[error(transparent)]
    Credentials(#[from] CredentialError),
    /// There are no usable authorities.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The client certificate or its key is not usable.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The HTTP or TLS library refuses its configuration.
    #[error("{0}")]
    Library(String),
}

impl ClientError {
    /// An error of the HTTP or TLS library.
    pub(super) fn library(error: impl ToString) -> Self {
        ClientError::Library(error.to_string())
    }
}
