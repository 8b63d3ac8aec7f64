//! A server of the playground's files: GET and HEAD, nothing else.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    HeaderName, HeaderValue, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::Semaphore;

use super::files::SiteFiles;

/// What the page may do: run its own scripts and the module, and fetch its own files. It is in the page as well.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; \
    style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Headers of every response.
const HEADERS: [(HeaderName, &str); 5] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    // A page of today with the engine of yesterday would be of no use.
    (CACHE_CONTROL, "no-cache"),
    (VARY, "accept-encoding"),
];

/// How many connections are served at once; others wait.
const CONNECTIONS: usize = 64;
/// How long a client may take to send the head of a request.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves files on a listener until accepting connections fails.
pub(super) async fn serve(listener: TcpListener, files: SiteFiles) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let files = Arc::new(files);
    let permits = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let permit = permits.clone().acquire_owned().await.map_err(io::Error::other)?;
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            // Such as that of a client that went, or of too many open files.
            Err(_) => {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let files = files.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let response = respond(request.method(), request.uri().path(), request.headers(), &files);
                async move { Ok::<_, Infallible>(response) }
            });
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
            // A client that goes away is no error of the server.
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
            drop(permit);
        });
    }
}

/// The response to a request. hyper leaves out the body of that to a HEAD.
fn respond(method: &Method, path: &str, headers: &HeaderMap, files: &SiteFiles) -> Response<Full<Bytes>> {
    let file = match method {
        &Method::GET | &Method::HEAD => files.find(path, takes_gzip(headers)),
        _ => {
            let mut refused = answer(StatusCode::METHOD_NOT_ALLOWED, Bytes::new());
            refused
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return refused;
        }
    };
    let Some(file) = file else {
        return answer(StatusCode::NOT_FOUND, Bytes::from_static(b"not found\n"));
    };
    let mut response = answer(StatusCode::OK, file.content);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(file.media_type));
    if file.is_compressed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

fn answer(status: StatusCode, content: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(content));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    response
}

/// Whether a client says that it takes contents compressed with gzip.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let listed = headers.get_all(ACCEPT_ENCODING).iter();
    let mut listed = listed
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    listed.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim().eq_ignore_ascii_case("gzip")
            && !matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> SiteFiles {
        let mut files = SiteFiles::default();
        files.add("index.html", b"page".to_vec());
        files
    }

    #[test]
    fn responses_have_a_policy() {
        let none = HeaderMap::new();
        for (method, path, status) in [
            (Method::GET, "/", 200),
            (Method::HEAD, "/index.html", 200),
            (Method::GET, "/other", 404),
            (Method::POST, "/", 405),
        ] {
            let response = respond(&method, path, &none, &files());
            assert_eq!(response.status(), status, "{method} {path}");
            assert_eq!(response.headers()[CONTENT_SECURITY_POLICY], POLICY);
            assert_eq!(response.headers()[X_CONTENT_TYPE_OPTIONS], "nosniff");
        }
    }

    #[test]
    fn clients_say_whether_they_take_gzip() {
        for (given, expected) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("gzip;q=0, br", false),
            ("br", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_str(given).unwrap());
            assert_eq!(takes_gzip(&headers), expected, "{given}");
        }
    }
}
