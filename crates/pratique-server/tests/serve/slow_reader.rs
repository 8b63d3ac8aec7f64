//! Clients that ask and do not take what is answered.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::client::{Builder, ResponseFuture, SendRequest};
use http::Request;
use pratique_server::Settings;
use rustls::pki_types::ServerName;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

use super::certificates::Authority;
use super::client::{Client, review};
use super::handler::DEADLINE;
use super::running::Running;

/// A server, and a client of HTTP/2 that lets no byte of an answer come.
struct SlowReader {
    server: Running,
    authority: Authority,
    requests: SendRequest<Bytes>,
    connection: JoinHandle<()>,
    _directory: TempDir,
}

impl SlowReader {
    async fn start(change: impl FnOnce(&mut Settings)) -> Self {
        let change = |settings: &mut Settings| {
            settings.limits.max_timeout = 10 * DEADLINE;
            change(settings);
        };
        let (server, authority, config, directory) = Running::over_http2(change);
        let stream = TcpStream::connect(server.address).await.unwrap();
        let connector = TlsConnector::from(Arc::new(config));
        let stream = connector.connect(ServerName::try_from("localhost").unwrap(), stream);
        let mut builder = Builder::new();
        builder.initial_window_size(0);
        let (requests, connection) = builder.handshake(stream.await.unwrap()).await.unwrap();
        SlowReader {
            server,
            authority,
            requests,
            connection: tokio::spawn(async move { drop(connection.await) }),
            _directory: directory,
        }
    }

    /// Asks, as long as the connection is there.
    async fn ask(&mut self, name: &str) -> Result<ResponseFuture, h2::Error> {
        let uri = "https://localhost/validate?timeout=600s";
        let request = Request::post(uri).body(()).unwrap();
        let mut requests = self.requests.clone().ready().await?;
        let (answer, mut body) = requests.send_request(request, false)?;
        body.send_data(review(name).to_string().into(), true)?;
        Ok(answer)
    }

    /// Waits until the server has closed the connection.
    async fn closed(&mut self) {
        let closed = tokio::time::timeout(DEADLINE, &mut self.connection).await;
        closed.expect("still open").unwrap();
    }
}

#[test]
fn http2_clients_have_their_time() {
    Runtime::new().unwrap().block_on(async {
        let short = Duration::from_millis(500);
        let mut reader = SlowReader::start(|settings| settings.limits.response_timeout = short).await;
        let start = Instant::now();
        let answer = reader.ask("answer-100000").await.unwrap().await.unwrap();
        assert_eq!(answer.status(), 200);
        reader.closed().await;
        assert!(start.elapsed() > short / 2);
    });
}

#[test]
fn http1_clients_have_their_time() {
    let ask = |time, after: &dyn Fn(&mut Client<std::net::TcpStream>)| {
        let server = Running::with(|settings| settings.limits.response_timeout = time);
        let mut client = Client::to(server.address);
        let body = review("answer-12000000").to_string();
        let head = format!(
            "POST /validate HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        client.send(format!("{head}{body}").as_bytes()).unwrap();
        after(&mut client);
        client.read()
    };
    assert!(ask(DEADLINE, &|_| {}).is_some());
    let wait_until_closed = |client: &mut Client<std::net::TcpStream>| {
        let start = Instant::now();
        // What is sent to a connection that is closed fails, from the second time on.
        while client.send(b" ").is_ok() {
            assert!(start.elapsed() < DEADLINE, "still open");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    assert!(ask(Duration::from_millis(500), &wait_until_closed).is_none());
}

/// What is not read is memory that others need: health checks go on, and so do others soon.
#[test]
fn unread_answers_make_room() {
    Runtime::new().unwrap().block_on(async {
        let mut reader = SlowReader::start(|settings| {
            settings.limits.memory = 8 << 20;
            settings.limits.response_timeout = 100 * DEADLINE;
        })
        .await;
        // Eight times as much as there is room for.
        let mut unread = Vec::new();
        for _ in 0..640 {
            let Ok(answer) = reader.ask("answer-100000").await else {
                break;
            };
            match answer.await {
                Ok(answer) if answer.status() == 200 => unread.push(answer),
                _ => break,
            }
        }
        assert!((20..100).contains(&unread.len()), "{}", unread.len());
        let (address, authority) = (reader.server.address, &reader.authority);
        let start = Instant::now();
        // A request of the same size has no room, until what is not read has waited long enough.
        loop {
            let (health, review) = tokio::task::block_in_place(|| {
                let health = authority.client(address, None).get("/livez").code;
                (
                    health,
                    authority
                        .client(address, None)
                        .review("/validate", "answer-100000")
                        .code,
                )
            });
            assert_eq!(health, 200);
            if review == 200 {
                break;
            }
            assert_eq!(review, 429);
            assert!(start.elapsed() < DEADLINE);
        }
        reader.closed().await;
        drop(unread);
    });
}

#[test]
fn nothing_is_computed_for_streams_that_are_reset() {
    Runtime::new().unwrap().block_on(async {
        let mut reader = SlowReader::start(|_| {}).await;
        let answer = reader.ask("compute").await.unwrap();
        let computes = async |reader: &SlowReader, count: usize| {
            let start = Instant::now();
            while reader.server.handler.computing.load(Ordering::Relaxed) != count {
                assert!(start.elapsed() < DEADLINE, "not {count}");
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        computes(&reader, 1).await;
        // Without its two halves a stream is reset.
        drop(answer);
        computes(&reader, 0).await;
        assert!(!reader.connection.is_finished());
    });
}
