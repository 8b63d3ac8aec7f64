//! The target of requests: the URL as messages show it, and as it is dialled.

use std::net::IpAddr;
use std::time::Duration;

use http::HeaderValue;
use pratique_gotext::time as gotext;
use pratique_gotext::url::Url;

use super::client_error::ClientError;
use crate::caller::Endpoint;
use crate::endpoint::clean;

/// An endpoint's URL, taken apart.
#[derive(Clone, Debug)]
pub(super) struct EndpointTarget {
    /// Scheme, host and clean path, as messages show them.
    pub(super) shown: String,
    /// The same, or another authority where a service was found elsewhere.
    pub(super) wire: reqwest::Url,
    /// The `Host` header, where it is not `wire`'s.
    pub(super) host: Option<HeaderValue>,
    /// The address of the host of `wire`, if the caller resolved it.
    pub(super) pinned: Option<HostPin>,
    /// Host and port, as credentials are kept for.
    pub(super) authority: String,
    /// Whether the webhook runs on this very host.
    pub(super) is_local: bool,
}

/// A host name, and `host:port` where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostPin {
    pub(super) name: String,
    pub(super) address: String,
}

impl EndpointTarget {
    pub(super) fn new(endpoint: &Endpoint, address: Option<&str>) -> Result<Self, ClientError> {
        let url = Url::parse(&endpoint.url).map_err(|fault| ClientError::Url(fault.to_string()))?;
        let (scheme, authority, hostname) = (url.scheme(), url.host(), url.hostname());
        if scheme.is_empty() || authority.is_empty() {
            return Err(ClientError::Host(format!("{scheme}://{authority}")));
        }
        let path = escape(&clean(&url.path()));
        let display_url = format!("{scheme}://{authority}{path}");
        let is_name = bare(&hostname).parse::<IpAddr>().is_err();
        let pinned = address.filter(|_| is_name).map(|address| HostPin {
            name: hostname.clone(),
            address: address.to_owned(),
        });
        let dialled = match address {
            None => display_url.clone(),
            Some(_) if is_name => format!("{scheme}://{hostname}{path}"),
            Some(address) => format!("{scheme}://{address}{path}"),
        };
        let wire = reqwest::Url::parse(&dialled).map_err(ClientError::library)?;
        let host = HeaderValue::try_from(authority.as_str()).ok();
        Ok(Self {
            host: host.filter(|_| wire_authority(&wire) != authority),
            wire,
            shown: display_url,
            pinned,
            authority: with_port(&authority, &url.port()),
            is_local: is_local(&hostname),
        })
    }

    /// The URLs of one request, shown and dialled.
    pub(super) fn with_timeout(&self, timeout: Option<Duration>) -> (String, reqwest::Url) {
        let mut wire = self.wire.clone();
        let Some(timeout) = timeout else {
            return (self.shown.clone(), wire);
        };
        let query = format!("timeout={}", seconds(timeout));
        wire.set_query(Some(&query));
        (format!("{}?{query}", self.shown), wire)
    }
}

/// Host and port as the URL library writes them, which drops a default port.
pub(super) fn wire_authority(url: &reqwest::Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Whole seconds, rounded up, as Go writes durations.
fn seconds(timeout: Duration) -> String {
    let whole = timeout
        .as_secs()
        .saturating_add(u64::from(timeout.subsec_nanos() > 0));
    let nanos = i64::try_from(whole)
        .ok()
        .and_then(|whole| whole.checked_mul(1_000_000_000));
    gotext::Duration::from_nanos(nanos.unwrap_or(i64::MAX)).in_messages()
}

fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

/// The authority with the default port where it has none, as credentials are looked up.
fn with_port(authority: &str, port: &str) -> String {
    if port.is_empty() {
        let host = bare(authority);
        return if host.contains(':') {
            format!("[{host}]:443")
        } else {
            format!("{host}:443")
        };
    }
    authority.to_owned()
}

fn is_local(host: &str) -> bool {
    let address = bare(host).parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Percent-encodes a path as Go does.
fn escape(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str, address: Option<&str>) -> Result<EndpointTarget, ClientError> {
        let endpoint = Endpoint {
            url: url.to_owned(),
            server_name: None,
            ca_bundle: None,
        };
        EndpointTarget::new(&endpoint, address)
    }

    #[test]
    fn urls_are_cleaned() {
        let check = |url: &str, expected: &str| {
            let (shown, wire) = target(url, None)
                .unwrap()
                .with_timeout(Some(Duration::from_millis(4100)));
            assert_eq!(shown, expected);
            assert_eq!(wire.query(), Some("timeout=5s"));
        };
        check("https://h", "https://h/?timeout=5s");
        check("https://h/", "https://h/?timeout=5s");
        check("https://h:443/x/", "https://h:443/x?timeout=5s");
        check("https://h//a/../x?q=1#f", "https://h/x?timeout=5s");
        check("https://u:p@H/x%2Fy", "https://H/x/y?timeout=5s");
        check("https://h/a b'\u{e9}", "https://h/a%20b%27%C3%A9?timeout=5s");
        check("https://h/x%20[1]", "https://h/x%20%5B1%5D?timeout=5s");
    }

    #[test]
    fn bad_urls() {
        let check =
            |url: &str, expected: &str| assert_eq!(target(url, None).unwrap_err().to_string(), expected);
        check("127.0.0.1/x", "host must be a URL or a host:port pair: \"://\"");
        check(
            "https:///x",
            "host must be a URL or a host:port pair: \"https://\"",
        );
        check(
            "https://a b/x",
            "Unparsable URL: parse \"https://a b/x\": invalid character \" \" in host name",
        );
    }

    #[test]
    fn services_are_dialled_where_they_are() {
        let found = target("https://hook.webhooks.svc:443/x", Some("10.0.0.1:8443")).unwrap();
        assert_eq!(found.wire.as_str(), "https://hook.webhooks.svc/x");
        assert_eq!(found.host.unwrap(), "hook.webhooks.svc:443");
        assert_eq!(found.pinned.unwrap().address, "10.0.0.1:8443");
        assert_eq!(found.authority, "hook.webhooks.svc:443");
        assert!(!found.is_local);
    }

    #[test]
    fn authorities_and_places() {
        let check = |url: &str, authority: &str, local: bool| {
            let target = target(url, None).unwrap();
            assert_eq!((target.authority.as_str(), target.is_local), (authority, local));
        };
        check("https://127.0.0.1/x", "127.0.0.1:443", true);
        check("https://[::1]:9443/x", "[::1]:9443", true);
        check("https://LOCALHOST:1", "LOCALHOST:1", true);
        check("https://hook.example.com", "hook.example.com:443", false);
    }

    #[test]
    fn durations_round_up() {
        let check =
            |millis: u64, expected: &str| assert_eq!(seconds(Duration::from_millis(millis)), expected);
        check(1, "1s");
        check(30_000, "30s");
        check(60_000, "1m0s");
        check(3_601_000, "1h0m1s");
    }
}
