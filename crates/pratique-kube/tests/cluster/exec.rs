//! Credentials that a command gives: a script as exec plugin, and a server over HTTP that wants a token.
#![cfg(unix)]

use std::convert::Infallible;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kube::client::Body;
use pratique::authorization::CheckDecider;
use pratique_kube::ApiServer;
use tokio::net::TcpListener;
use tower_service::Service;

use crate::review::question;
use crate::server::FakeServer;

const SCRIPT: &str = "#!/bin/sh
cd \"$DIRECTORY\" || exit 9
echo run >> runs
printf '%s' \"$KUBERNETES_EXEC_INFO $1\" > info
cat credential
";

/// An API server that takes one token.
#[derive(Clone)]
struct Guarded {
    token: Arc<Mutex<String>>,
    refused: Arc<AtomicUsize>,
    server: FakeServer,
    port: u16,
}

impl Guarded {
    async fn start(token: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let guarded = Guarded {
            token: Arc::new(Mutex::new(token.to_owned())),
            refused: Arc::default(),
            server: FakeServer::default(),
            port: listener.local_addr().unwrap().port(),
        };
        let served = guarded.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let served = served.clone();
                let service = service_fn(move |request| served.clone().answer(request));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        guarded
    }

    async fn answer(mut self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
        let expected = format!("Bearer {}", self.token.lock().unwrap());
        if request
            .headers()
            .get(AUTHORIZATION)
            .is_none_or(|value| *value != *expected)
        {
            self.refused.fetch_add(1, Ordering::SeqCst);
            let mut answer = Response::new(Full::default());
            *answer.status_mut() = StatusCode::UNAUTHORIZED;
            return Ok(answer);
        }
        let (head, body) = request.into_parts();
        let body = Body::from(body.collect().await.unwrap().to_bytes().to_vec());
        let (head, body) = self
            .server
            .call(Request::from_parts(head, body))
            .await?
            .into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Ok(Response::from_parts(head, Full::new(body)))
    }
}

fn write(directory: &Path, version: &str, port: u16) {
    let script = directory.join("plugin");
    fs::write(&script, SCRIPT).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!(
        "apiVersion: v1
kind: Config
current-context: here
contexts: [{{name: here, context: {{cluster: here, user: me}}}}]
clusters: [{{name: here, cluster: {{server: 'http://127.0.0.1:{port}'}}}}]
users:
- name: me
  user:
    exec:
      apiVersion: client.authentication.k8s.io/{version}
      command: ./plugin
      args: [argument]
      env: [{{name: DIRECTORY, value: '{}'}}]
      interactiveMode: IfAvailable
      provideClusterInfo: true
",
        directory.display()
    );
    fs::write(directory.join("kubeconfig"), config).unwrap();
}

fn gives(directory: &Path, version: &str, status: &str) {
    let credential = format!(
        "{{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/{version}\", \"status\": {status}}}"
    );
    fs::write(directory.join("next"), credential).unwrap();
    fs::rename(directory.join("next"), directory.join("credential")).unwrap();
}

fn runs(directory: &Path) -> usize {
    fs::read_to_string(directory.join("runs"))
        .unwrap()
        .lines()
        .count()
}

/// A moment from now on, as the protocol writes it.
fn after(wait: Duration) -> String {
    let then = k8s_openapi::jiff::Timestamp::try_from(SystemTime::now() + wait).unwrap();
    then.to_string()
}

async fn connect(directory: &Path) -> Result<ApiServer, String> {
    let path = directory.join("kubeconfig");
    let connecting = tokio::task::spawn_blocking(move || ApiServer::kubeconfig(path, None));
    connecting.await.unwrap().map_err(|error| error.to_string())
}

async fn is_answered(server: &ApiServer) -> bool {
    let reviewer = server.reviewer().remember(Duration::ZERO, Duration::ZERO);
    let answers = reviewer.decide(vec![question("may")]).await;
    answers[0].allowed
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_refused_is_asked_for_again() {
    for version in ["v1", "v1beta1"] {
        let directory = tempfile::tempdir().unwrap();
        let api = Guarded::start("first").await;
        write(directory.path(), version, api.port);
        gives(directory.path(), version, "{\"token\": \"first\"}");
        let server = connect(directory.path()).await.unwrap();
        assert!(is_answered(&server).await && is_answered(&server).await);
        assert_eq!(runs(directory.path()), 1);
        let info = fs::read_to_string(directory.path().join("info")).unwrap();
        assert!(
            info.ends_with(" argument") && info.contains("\"interactive\":false"),
            "{info}"
        );
        assert!(info.contains(&format!("127.0.0.1:{}", api.port)), "{info}");

        *api.token.lock().unwrap() = "second".to_owned();
        gives(directory.path(), version, "{\"token\": \"second\"}");
        // What was given just now is not asked for again.
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        assert!(is_answered(&server).await, "the same request is tried again");
        assert_eq!(runs(directory.path()), 2);
        assert_eq!(api.refused.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_expires_is_replaced() {
    let start = std::time::Instant::now();
    while !is_replaced_in_time().await {
        assert!(start.elapsed() < Duration::from_secs(60), "no machine is so slow");
    }
}

/// Shows how a token is replaced after it expired; `false` if it expired before it was used.
async fn is_replaced_in_time() -> bool {
    let directory = tempfile::tempdir().unwrap();
    let api = Guarded::start("first").await;
    write(directory.path(), "v1", api.port);
    let start = std::time::Instant::now();
    let expiry = after(Duration::from_millis(1_500));
    let status = format!("{{\"token\": \"first\", \"expirationTimestamp\": \"{expiry}\"}}");
    gives(directory.path(), "v1", &status);
    let server = connect(directory.path()).await.unwrap();
    gives(directory.path(), "v1", "{\"token\": \"second\"}");
    let is_answered_first = is_answered(&server).await;
    if start.elapsed() > Duration::from_millis(1_400) {
        return false;
    }
    assert!(is_answered_first);
    tokio::time::sleep(Duration::from_millis(1_600)).await;
    *api.token.lock().unwrap() = "second".to_owned();
    assert!(is_answered(&server).await);
    assert_eq!(runs(directory.path()), 2);
    assert_eq!(
        api.refused.load(Ordering::SeqCst),
        0,
        "the old one is not shown any more"
    );
    true
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_fails_refuses_the_start() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "v1", 1);
    let check = async |expected: &str| {
        let error = connect(directory.path()).await.unwrap_err();
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("secret"), "{error}");
    };
    check("cat: credential: No such file or directory").await;
    gives(directory.path(), "v1", "{}");
    check("it returned neither a token nor a certificate and its key").await;
    gives(directory.path(), "v1beta1", "{\"token\": \"secret\"}");
    check("it is configured to use client.authentication.k8s.io/v1").await;
    fs::write(directory.path().join("credential"), "token: secret").unwrap();
    check("its output is no ExecCredential").await;
    fs::remove_file(directory.path().join("plugin")).unwrap();
    check("cannot be run: No such file or directory").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_fails_later_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let api = Guarded::start("first").await;
    write(directory.path(), "v1", api.port);
    let expiry = after(Duration::from_millis(300));
    let status = format!("{{\"token\": \"first\", \"expirationTimestamp\": \"{expiry}\"}}");
    gives(directory.path(), "v1", &status);
    let server = connect(directory.path()).await.unwrap();
    fs::remove_file(directory.path().join("credential")).unwrap();
    tokio::time::sleep(Duration::from_millis(400)).await;
    let cluster = server.cluster();
    let start = std::time::Instant::now();
    while !cluster
        .problems()
        .iter()
        .any(|problem| problem.contains("exec plugin"))
    {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{:?}",
            cluster.problems()
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
