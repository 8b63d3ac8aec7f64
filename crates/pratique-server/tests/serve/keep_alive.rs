//! Connections of HTTP/1 over TLS, which keep little between requests.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use pratique_server::Settings;
use rustls::{ClientConnection, StreamOwned};
use tempfile::TempDir;

use super::certificates::Authority;
use super::client::{Client, review};
use super::running::Running;

type TlsClient = Client<StreamOwned<ClientConnection, TcpStream>>;

/// Long enough for a connection to rest.
const PAUSE: Duration = Duration::from_millis(20);

struct TlsServer {
    running: Running,
    authority: Authority,
    _directory: TempDir,
}

impl TlsServer {
    fn start(change: impl FnOnce(&mut Settings)) -> Self {
        let (running, authority, _, directory) = Running::over_http2(change);
        TlsServer {
            running,
            authority,
            _directory: directory,
        }
    }

    /// A client that had an answer.
    fn client(&self) -> TlsClient {
        let mut client = self.authority.client(self.running.address, None);
        assert_eq!(client.review("/validate", "web").code, 200);
        client
    }
}

/// A whole request.
fn request(name: &str) -> Vec<u8> {
    let body = review(name).to_string();
    let length = body.len();
    let head = "POST /validate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    format!("{head}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}

#[track_caller]
fn check_answer(client: &mut TlsClient, is_allowed: bool) {
    let answer = client.read().expect("no answer");
    assert_eq!(answer.json()["response"]["allowed"], is_allowed);
}

#[test]
fn requests_are_read_however_they_arrive() {
    let server = TlsServer::start(|_| {});
    let mut client = server.client();
    let (first, second) = (request("web"), request("deny"));
    let head = first.windows(4).position(|part| part == b"\r\n\r\n").unwrap();
    for more in [0, 1, 10, head, second.len() - 1, second.len()] {
        // Of the second one, a part comes with the first one.
        client.send(&[&first[..], &second[..more]].concat()).unwrap();
        check_answer(&mut client, true);
        std::thread::sleep(PAUSE);
        client.send(&second[more..]).unwrap();
        check_answer(&mut client, false);
        // A part comes while it rests.
        std::thread::sleep(PAUSE);
        client.send(&first[..more.min(first.len())]).unwrap();
        std::thread::sleep(PAUSE);
        client.send(&first[more.min(first.len())..]).unwrap();
        check_answer(&mut client, true);
    }
    assert_eq!(client.get("/livez").code, 200);
    assert_eq!(
        client
            .ask("POST", "/validate", "Content-Type: text/yaml\r\n", b"a: b")
            .code,
        415
    );
    assert_eq!(client.review("/validate", "web").code, 200);
}

/// The time for a head begins with the end of the last answer, whether a part of it has arrived or not.
#[test]
fn heads_have_their_time() {
    let time = Duration::from_millis(600);
    let server = TlsServer::start(|settings| settings.limits.head_timeout = time);
    for part in [0, 10] {
        let mut client = server.client();
        let answered = Instant::now();
        std::thread::sleep(time * 2 / 3);
        client.send(&request("web")[..part]).unwrap();
        assert!(client.read().is_none());
        let waited = answered.elapsed();
        assert!(
            time - PAUSE <= waited && waited < time * 3 / 2,
            "{part}: {waited:?}"
        );
    }
    // Each answer begins it anew.
    let mut client = server.client();
    for _ in 0..3 {
        std::thread::sleep(time * 2 / 3);
        assert_eq!(client.review("/validate", "web").code, 200);
    }
}

#[test]
fn resting_connections_end_with_the_server() {
    let server = TlsServer::start(|_| {});
    let mut client = server.client();
    std::thread::sleep(PAUSE);
    server.running.end(Duration::ZERO, Duration::from_secs(30));
    assert!(client.read().is_none());
    assert!(server.running.wait());
}

/// Requests are read a few at a time, but none waits for clients that are slow.
#[test]
fn slow_bodies_are_in_nobodys_way() {
    let server = TlsServer::start(|settings| settings.limits.queue_timeout = Duration::from_secs(30));
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let request = request("web");
    let slow: Vec<TlsClient> = (0..40 * processors.min(10))
        .map(|_| {
            let mut client = server.client();
            client.send(&request[..request.len() - 1]).unwrap();
            client
        })
        .collect();
    let start = Instant::now();
    assert_eq!(server.client().review("/validate", "web").code, 200);
    assert!(start.elapsed() < Duration::from_secs(10));
    for mut client in slow {
        client.send(&request[request.len() - 1..]).unwrap();
        check_answer(&mut client, true);
    }
}
