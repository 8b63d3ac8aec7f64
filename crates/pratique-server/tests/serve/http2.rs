//! HTTP/2, in which many requests share a connection.

use std::time::{Duration, Instant};

use pratique_server::Settings;
use reqwest::{Client, Method, Response, Version};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::client::review;
use super::handler::DEADLINE;
use super::running::Running;

/// A server, and a client that speaks nothing else.
struct Http2Client {
    server: Running,
    client: Client,
    runtime: Runtime,
    _directory: TempDir,
}

impl Http2Client {
    fn start(change: impl FnOnce(&mut Settings)) -> Self {
        let (server, _, config, directory) = Running::over_http2(change);
        let client = Client::builder()
            .tls_backend_preconfigured(config)
            .resolve("localhost", server.address)
            .build()
            .unwrap();
        Http2Client {
            server,
            client,
            runtime: Runtime::new().unwrap(),
            _directory: directory,
        }
    }

    async fn ask(&self, method: Method, path: &str, kind: &str, body: Vec<u8>) -> Response {
        let url = format!("https://localhost:{}{path}", self.server.address.port());
        let request = self.client.request(method, url).header("content-type", kind);
        let answer = request.body(body).send().await.unwrap();
        assert_eq!(answer.version(), Version::HTTP_2);
        answer
    }

    async fn review(&self, name: &str) -> u16 {
        let body = review(name).to_string().into_bytes();
        let answer = self.ask(Method::POST, "/validate", "application/json", body);
        answer.await.status().as_u16()
    }
}

#[test]
fn requests_share_a_connection() {
    let client = Http2Client::start(|_| {});
    client.runtime.block_on(async {
        let (slow, quick, panicking) = tokio::join!(
            client.review("slow-200"),
            client.review("web"),
            client.review("panic")
        );
        assert_eq!((slow, quick, panicking), (200, 200, 500));
    });
}

#[test]
fn what_is_refused_unread_gets_an_answer() {
    let client = Http2Client::start(|settings| settings.limits.body = 1 << 20);
    client.runtime.block_on(async {
        let check = async |path: &str, kind: &str, bytes: usize, code: u16| {
            for _ in 0..20 {
                let answer = client.ask(Method::POST, path, kind, vec![b' '; bytes]).await;
                assert_eq!(answer.status().as_u16(), code, "{path}");
                assert!(answer.text().await.unwrap().contains("Failure"), "{path}");
            }
        };
        check("/validate?timeout=-1s", "application/json", 9_000, 400).await;
        check("/validate", "text/yaml", 900_000, 415).await;
        check("/other", "application/json", 900_000, 404).await;
        check("/livez", "application/json", 900_000, 405).await;
        check("/validate", "application/json", 2_000_000, 413).await;
    });
}

#[test]
fn head_has_no_body() {
    let client = Http2Client::start(|_| {});
    client.runtime.block_on(async {
        for (path, code) in [
            ("/readyz", 200),
            ("/configz", 200),
            ("/", 200),
            ("/other", 404),
            ("/validate", 405),
        ] {
            let answer = client.ask(Method::HEAD, path, "", Vec::new()).await;
            assert_eq!(answer.status().as_u16(), code, "{path}");
            let length = &answer.headers()["content-length"];
            assert!(length.to_str().unwrap().parse::<usize>().unwrap() > 0, "{path}");
            assert_eq!(answer.bytes().await.unwrap().len(), 0, "{path}");
        }
    });
}

#[test]
fn what_has_begun_is_answered_in_the_end() {
    let client = Http2Client::start(|settings| settings.limits.default_timeout = 10 * DEADLINE);
    client.runtime.block_on(async {
        assert_eq!(client.review("web").await, 200);
        let (code, ()) = tokio::join!(client.review("hold"), async {
            tokio::task::block_in_place(|| client.server.handler.wait_until_held(1));
            client.server.end(Duration::ZERO, 2 * DEADLINE);
            let start = Instant::now();
            while tokio::net::TcpStream::connect(client.server.address)
                .await
                .is_ok()
            {
                assert!(start.elapsed() < DEADLINE, "it does not end");
            }
            client.server.handler.release();
        });
        assert_eq!(code, 200);
    });
    assert!(client.server.wait());
}
