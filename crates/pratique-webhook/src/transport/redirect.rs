//! One attempt: a request, and those that it is redirected to.

use http::header::{CONTENT_TYPE, HOST, LOCATION, REFERER};
use http::{HeaderValue, Method, StatusCode};
use pratique_gotext::strconv::quote;
use reqwest::{Request, Response, Url};
use tokio::time::{Instant, timeout_at};

use super::client::EndpointClient;
use super::exchange::{DEADLINE, discard};
use super::refused_requests::{SendError, execute};
use super::{TransportRules, failure, target};
use crate::caller::{Call, CallError, CallErrorKind};

/// The most requests of one attempt.
const MOST_REQUESTS: usize = 10;

/// The message where the reference would send the review, and credentials, unencrypted.
const DOWNGRADED: &str =
    "redirected from https to http, which is not followed unless plain HTTP redirects are allowed";

/// Why a Location header leads nowhere.
#[derive(Debug, thiserror::Error)]
enum LocationError {
    /// It is no URL to Go.
    #[error(transparent)]
    Invalid(#[from] pratique_gotext::url::ParseError),
    /// The HTTP library refuses it as a URL, or as one relative to the current URL.
    #[error("{0}")]
    Library(String),
}

/// A request of an attempt.
struct RedirectHop {
    /// As messages show it.
    shown: String,
    url: Url,
    host: Option<HeaderValue>,
    referer: Option<HeaderValue>,
    /// Whether it posts; else it gets.
    posts: bool,
    /// Whether it has the review; once dropped, it stays dropped.
    has_body: bool,
}

/// Sends a review and follows redirections, up to the first other answer.
pub(super) async fn send(
    client: &EndpointClient,
    call: &Call,
    rules: TransportRules,
    deadline: Instant,
) -> Result<Response, CallError> {
    let (display_url, url) = client.target.with_timeout(call.timeout);
    let mut hop = RedirectHop {
        shown: display_url,
        url,
        host: client.target.host.clone(),
        referer: None,
        posts: true,
        has_body: true,
    };
    for requests in 1.. {
        let request = hop.request(client, call)?;
        let sent = execute(client, request, deadline).await;
        let response = sent.map_err(|unanswered| match unanswered {
            SendError::DeadlinePassed => hop.failed(DEADLINE, CallErrorKind::Timeout),
            SendError::Refused(error) => hop.failed(&failure::tls_message(&error), CallErrorKind::Transport),
            SendError::Failed(error) => hop.failed(
                &failure::message(&error, client, &hop.url),
                CallErrorKind::Transport,
            ),
        })?;
        let Some((location, next)) = hop.follow(&response)? else {
            return Ok(response);
        };
        if !rules.plain_http_redirects && hop.url.scheme() == "https" && next.url.scheme() == "http" {
            return Err(next.failed(DOWNGRADED, CallErrorKind::Transport));
        }
        if requests >= MOST_REQUESTS {
            hop.shown = location;
            return Err(hop.failed("stopped after 10 redirects", CallErrorKind::Transport));
        }
        let discarded = timeout_at(deadline, discard(response)).await;
        discarded.map_err(|_| next.failed(DEADLINE, CallErrorKind::Timeout))?;
        hop = next;
    }
    Err(hop.failed(DEADLINE, CallErrorKind::Timeout))
}

/// `Post "URL": words`.
pub(super) fn posting(url: &str, message: &str, kind: CallErrorKind) -> CallError {
    CallError {
        message: format!("failed to call webhook: Post {}: {message}", quote(url)),
        kind,
    }
}

impl RedirectHop {
    fn failed(&self, message: &str, kind: CallErrorKind) -> CallError {
        posting(&self.shown, message, kind)
    }

    fn request(&self, client: &EndpointClient, call: &Call) -> Result<Request, CallError> {
        if !matches!(self.url.scheme(), "https" | "http") {
            let message = format!("unsupported protocol scheme {}", quote(self.url.scheme()));
            return Err(self.failed(&message, CallErrorKind::Transport));
        }
        if let Some(name) = &client.headers.invalid {
            let message = format!("net/http: invalid header field value for {}", quote(name));
            return Err(self.failed(&message, CallErrorKind::Transport));
        }
        let method = if self.posts { Method::POST } else { Method::GET };
        let mut request = Request::new(method, self.url.clone());
        let mut headers = client.headers.all.clone();
        for (name, value) in [(HOST, &self.host), (REFERER, &self.referer)] {
            if let Some(value) = value {
                headers.insert(name, value.clone());
            }
        }
        if self.has_body {
            *request.body_mut() = Some(call.body.clone().into());
        } else {
            headers.remove(CONTENT_TYPE);
        }
        *request.headers_mut() = headers;
        Ok(request)
    }

    /// The next request, and the location as it was given.
    fn follow(&self, response: &Response) -> Result<Option<(String, Self)>, CallError> {
        let keeps = match response.status() {
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER => false,
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
            _ => return Ok(None),
        };
        let location = response.headers().get(LOCATION).map(HeaderValue::as_bytes);
        let location = String::from_utf8_lossy(location.unwrap_or_default()).into_owned();
        if location.is_empty() {
            return Ok(None);
        }
        let mut next = self.resolve(&location).map_err(|reason| {
            let message = format!("failed to parse Location header {}: {reason}", quote(&location));
            self.failed(&message, CallErrorKind::Transport)
        })?;
        next.posts = keeps && self.posts;
        next.has_body = keeps && self.has_body;
        Ok(Some((location, next)))
    }

    /// The authority stays as it was shown and dialled, if it stays the same.
    fn resolve(&self, location: &str) -> Result<Self, LocationError> {
        pratique_gotext::url::Url::parse(location)?;
        let library = |error: <Url as std::str::FromStr>::Err| LocationError::Library(error.to_string());
        let base = Url::parse(&self.shown).map_err(library)?;
        let mut url = base.join(location).map_err(library)?;
        let mut display_url = url.to_string();
        let mut host = None;
        if same_authority(&base, &url) {
            let authority = authority(&self.shown);
            display_url = display_url.replacen(&target::wire_authority(&url), authority, 1);
            host.clone_from(&self.host);
            // Fails for URLs without host, which neither is.
            let _ = url.set_host(self.url.host_str());
            let _ = url.set_port(self.url.port());
        }
        let downgraded = base.scheme() == "https" && url.scheme() == "http";
        let referer = HeaderValue::try_from(self.shown.as_str()).ok();
        Ok(Self {
            shown: display_url,
            url,
            host,
            referer: referer.filter(|_| !downgraded),
            posts: self.posts,
            has_body: self.has_body,
        })
    }
}

fn same_authority(one: &Url, other: &Url) -> bool {
    one.scheme() == other.scheme()
        && one.host_str() == other.host_str()
        && one.port_or_known_default() == other.port_or_known_default()
}

fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?']).next().unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(shown: &str, dialled: &str, location: &str, expected: Result<(&str, &str), &str>) {
        let hop = RedirectHop {
            shown: shown.to_owned(),
            url: Url::parse(dialled).unwrap(),
            host: None,
            referer: None,
            posts: true,
            has_body: true,
        };
        let found = hop.resolve(location);
        let found = found.map_err(|error| error.to_string());
        let found = found
            .as_ref()
            .map(|next| (next.shown.as_str(), next.url.as_str()));
        assert_eq!(found.map_err(String::as_str), expected);
    }

    #[test]
    fn locations() {
        let (shown, dialled) = (
            "https://hook.ns.svc:443/x?timeout=5s",
            "https://hook.ns.svc/x?timeout=5s",
        );
        check(
            shown,
            dialled,
            "/y?z=1",
            Ok(("https://hook.ns.svc:443/y?z=1", "https://hook.ns.svc/y?z=1")),
        );
        check(
            shown,
            dialled,
            "http://other/y",
            Ok(("http://other/y", "http://other/y")),
        );
        let (shown, dialled) = ("https://hook.ns.svc:8443/x", "https://hook.ns.svc/x");
        check(
            shown,
            dialled,
            "https://hook.ns.svc:8443/y",
            Ok(("https://hook.ns.svc:8443/y", "https://hook.ns.svc/y")),
        );
        check(
            shown,
            dialled,
            "https://[::1/x",
            Err("parse \"https://[::1/x\": missing ']' in host"),
        );
    }
}
