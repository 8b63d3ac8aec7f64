//! The permissions of a client.

use std::net::IpAddr;

/// The permissions of a client, by its certificate and address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClientPermissions {
    /// Whether it may send reviews.
    pub(crate) may_review: bool,
    /// Whether it may view the status page, which shows the requests of others.
    pub(crate) may_view_status: bool,
    /// The local address of its connection.
    pub(crate) local: Option<IpAddr>,
}

impl ClientPermissions {
    /// The permissions of a connection. `authenticated` is whether the client showed a certificate, if clients are asked
    /// for one; `is_local` is whether it is on this machine.
    pub(crate) fn new(authenticated: Option<bool>, is_local: bool, local: Option<IpAddr>) -> Self {
        ClientPermissions {
            may_review: authenticated.unwrap_or(true),
            may_view_status: authenticated.unwrap_or(is_local),
            local,
        }
    }

    /// The client of an embedded service or of the health listener, where the caller decides about permissions.
    pub(crate) fn trusted() -> Self {
        ClientPermissions::new(Some(true), false, None)
    }
}

/// Whether an address is a loopback address: that of a browser beside the server, or of a forwarded port.
pub(crate) fn is_local(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remote_clients_do_not_view_the_status() {
        let check = |authenticated, address: &str, may_review, may_view_status| {
            let address: IpAddr = address.parse().unwrap_or_else(|_| panic!("{address}"));
            let client = ClientPermissions::new(authenticated, is_local(address), None);
            assert_eq!(
                (client.may_review, client.may_view_status),
                (may_review, may_view_status),
                "{authenticated:?} {address}"
            );
        };
        for local in ["127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1"] {
            check(None, local, true, true);
            check(Some(false), local, false, false);
            check(Some(true), local, true, true);
        }
        for remote in ["10.0.0.1", "fe80::1", "::ffff:10.0.0.1"] {
            check(None, remote, true, false);
            check(Some(false), remote, false, false);
            check(Some(true), remote, true, true);
        }
    }
}
