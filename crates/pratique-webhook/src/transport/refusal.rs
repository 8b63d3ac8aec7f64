//! Why the certificate of a server is refused.

use std::net::IpAddr;

/// Why the certificate of a server is refused. The messages are Go's.
// Upstream: Go's crypto/x509/verify.go, CertificateInvalidError, HostnameError, UnknownAuthorityError
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CertificateRefusal {
    /// It cannot be decoded.
    #[error("x509: malformed certificate")]
    Malformed,
    /// It is not valid at this time: `current time … is before …`; empty where the library does not say more.
    #[error("x509: certificate has expired or is not yet valid: {0}")]
    Validity(String),
    /// No known authority signed it; with Go's hint at why, if there is one.
    #[error("x509: certificate signed by unknown authority{0}")]
    UnknownAuthority(String),
    /// It is not for servers.
    #[error("x509: certificate specifies an incompatible key usage")]
    Usage,
    /// It has a critical extension that is not supported.
    #[error("x509: unhandled critical extension")]
    CriticalExtension,
    /// It names the host only in its common name.
    #[error("x509: certificate relies on legacy Common Name field, use SANs instead")]
    LegacyName,
    /// It has no names.
    #[error("x509: certificate is not valid for any names, but wanted to match {0}")]
    NoNames(String),
    /// It has no addresses.
    #[error("x509: cannot validate certificate for {0} because it doesn't contain any IP SANs")]
    NoAddresses(IpAddr),
    /// It has other names or addresses, which are listed.
    #[error("x509: certificate is valid for {valid}, not {wanted}")]
    Other {
        /// The names or addresses.
        valid: String,
        /// The wanted one.
        wanted: String,
    },
    /// It has many other names or addresses: `100 names`.
    #[error("x509: certificate is valid for {valid}, but none matched {wanted}")]
    ManyOthers {
        /// How many.
        valid: String,
        /// The wanted one.
        wanted: String,
    },
    /// A reason of the TLS library.
    #[error("{0}")]
    Library(String),
}
