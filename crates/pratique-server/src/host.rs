//! The allowed hosts of the status page, as a protection against DNS rebinding.
//!
//! The host name of a website may resolve to this machine. Its scripts could then read the status page with the permissions
//! of the browser's user; but the browser sends the name of the website as the host.

use std::net::IpAddr;

use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;

/// The host of a request, without port and brackets, in lower case.
pub(crate) fn requested_host(head: &Parts) -> Option<String> {
    let header = || head.headers.get(HOST)?.to_str().ok()?.parse::<Authority>().ok();
    let authority = head.uri.authority().cloned().or_else(header)?;
    let host = authority.host();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    Some(host.trim_end_matches('.').to_ascii_lowercase())
}

/// Whether the status page may be served for a host: `localhost`, a loopback address, the local address of the connection,
/// and the configured names.
pub(crate) fn is_allowed(host: &str, local: Option<IpAddr>, names: &[String]) -> bool {
    if let Ok(address) = host.parse::<IpAddr>() {
        let address = address.to_canonical();
        return address.is_loopback() || local.is_some_and(|local| local.to_canonical() == address);
    }
    host == "localhost" || names.iter().any(|name| name.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    #[test]
    fn hosts_are_those_of_requests() {
        let check = |uri: &str, header: Option<&str>, expected: Option<&str>| {
            let mut request = Request::get(uri);
            if let Some(header) = header {
                request = request.header(HOST, header);
            }
            let (head, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(requested_host(&head).as_deref(), expected, "{uri} {header:?}");
        };
        check("/", Some("LocalHost:8443"), Some("localhost"));
        check("/", Some("[::1]:8443"), Some("::1"));
        check("/", Some("a.example."), Some("a.example"));
        check("https://127.0.0.1:1/", None, Some("127.0.0.1"));
        check("https://a/", Some("b"), Some("a"));
        check("/", None, None);
        check("/", Some("a b"), None);
    }

    #[test]
    fn other_hosts_are_refused() {
        let names = ["pratique.example".to_owned()];
        let local = Some("10.0.0.7".parse().unwrap());
        for allowed in [
            "localhost",
            "127.0.0.1",
            "::1",
            "::ffff:127.0.0.1",
            "10.0.0.7",
            "pratique.example",
        ] {
            assert!(is_allowed(allowed, local, &names), "{allowed}");
        }
        for other in ["evil.example", "10.0.0.8", "localhost.evil.example", ""] {
            assert!(!is_allowed(other, local, &names), "{other}");
        }
    }
}
