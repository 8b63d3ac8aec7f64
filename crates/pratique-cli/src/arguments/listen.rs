//! Listen addresses: `ADDRESS:PORT`, `NAME:PORT`, or `:PORT` for all interfaces.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::str::FromStr;

/// An address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListenAddress {
    /// An address or a name; empty for all interfaces.
    host: String,
    port: u16,
}

impl ListenAddress {
    /// Resolves to the addresses, of a name all of them.
    pub(crate) fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        if self.host.is_empty() {
            return Ok(vec![(Ipv6Addr::UNSPECIFIED, self.port).into()]);
        }
        if let Ok(address) = self.host.parse::<IpAddr>() {
            return Ok(vec![(address, self.port).into()]);
        }
        let mut addresses = Vec::new();
        for address in (self.host.as_str(), self.port).to_socket_addrs()? {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        if addresses.is_empty() {
            Err(io::Error::other("the name has no address"))
        } else {
            Ok(addresses)
        }
    }

    /// The host name, if the host is not an IP address.
    pub(crate) fn name(&self) -> Option<&str> {
        let is_name = !self.host.is_empty() && self.host.parse::<IpAddr>().is_err();
        is_name.then_some(&*self.host)
    }
}

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "expected ADDRESS:PORT, such as 127.0.0.1:8443, [::1]:8443, localhost:8443 or :8443".to_owned()
        };
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse().map_err(|_| format!("{port:?} is not a port"))?;
        let bracketed = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let host = match bracketed {
            Some(inner) if inner.parse::<Ipv6Addr>().is_ok() => inner,
            Some(inner) => return Err(format!("{inner:?} is not an IPv6 address")),
            None if host.contains([':', '[', ']', '/', ' ']) => return Err(wrong()),
            None => host,
        };
        Ok(ListenAddress {
            host: host.to_owned(),
            port,
        })
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(formatter, "[{}]:{}", self.host, self.port)
        } else {
            write!(formatter, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let check = |text: &str, expected: &str| {
            let listen: ListenAddress = text.parse().unwrap();
            assert_eq!(listen.to_string(), text);
            let found: Vec<String> = listen
                .addresses()
                .unwrap()
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(found, [expected], "{text}");
            assert_eq!(listen.name(), None);
        };
        check(":8443", "[::]:8443");
        check("127.0.0.1:8443", "127.0.0.1:8443");
        check("0.0.0.0:0", "0.0.0.0:0");
        check("[::1]:8443", "[::1]:8443");
    }

    #[test]
    fn names_are_resolved() {
        let listen: ListenAddress = "localhost:8443".parse().unwrap();
        assert_eq!(listen.name(), Some("localhost"));
        let found = listen.addresses().unwrap();
        assert!(
            !found.is_empty()
                && found
                    .iter()
                    .all(|address| address.ip().is_loopback() && address.port() == 8443)
        );
        assert!(
            "nowhere.invalid:1"
                .parse::<ListenAddress>()
                .unwrap()
                .addresses()
                .is_err()
        );
    }

    #[test]
    fn others_are_refused() {
        for wrong in [
            "",
            "8443",
            "localhost",
            "localhost:",
            "a:b",
            "::1:8443",
            "[a]:1",
            "[::1]",
            "a:70000",
            "http://a:1",
        ] {
            assert!(wrong.parse::<ListenAddress>().is_err(), "{wrong}");
        }
    }
}
