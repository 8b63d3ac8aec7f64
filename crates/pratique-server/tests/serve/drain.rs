//! The end of a server.

use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::certificates::Authority;
use super::client::Client;
use super::handler::DEADLINE;
use super::running::Running;

/// Longer than a test waits for the end of a server.
const GRACE: Duration = Duration::from_secs(3600);

#[test]
fn requests_that_have_begun_are_answered() {
    let server = Running::with(|settings| settings.limits.max_timeout = GRACE);
    let address = server.address;
    let mut idle = Client::to(address);
    assert_eq!(idle.review("/validate", "web").code, 200);
    let waiting: Vec<_> = (0..8)
        .map(|_| {
            std::thread::spawn(move || Client::to(address).review("/validate?timeout=600s", "hold").code)
        })
        .collect();
    server.handler.wait_until_held(8);
    server.end(Duration::ZERO, GRACE);
    assert!(idle.read().is_none());
    wait_until_closed(address);
    server.handler.release();
    for review in waiting {
        assert_eq!(review.join().unwrap(), 200);
    }
    assert!(server.wait());
}

#[test]
fn clients_are_asked_to_leave_first() {
    let server = Running::start();
    let mut client = Client::to(server.address);
    assert!(!client.review("/validate", "web").has("connection: close"));
    server.end(GRACE, GRACE);
    let start = Instant::now();
    while Client::to(server.address).get("/readyz").code == 200 {
        assert!(start.elapsed() < DEADLINE, "it is ready");
    }
    let answer = client.review("/validate", "web");
    assert_eq!((answer.code, answer.has("connection: close")), (200, true));
    assert_eq!(
        Client::to(server.address).review("/validate", "web").code,
        200,
        "newcomers are still served"
    );
    server.end(Duration::ZERO, GRACE);
    assert!(server.wait());
}

#[test]
fn the_end_comes_after_the_delay() {
    let server = Running::start();
    server.end(Duration::from_millis(300), GRACE);
    assert!(server.wait());
}

#[test]
fn the_end_does_not_wait_forever() {
    let long = Duration::from_secs(300);
    let server = Running::with(|settings| {
        let limits = &mut settings.limits;
        (limits.body_timeout, limits.max_timeout) = (long, long);
    });
    let mut slow = Client::to(server.address);
    slow.send(b"POST /validate?timeout=300s HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n")
        .unwrap();
    assert_eq!(slow.read().unwrap().code, 100, "its body is waited for");
    slow.send(b"{").unwrap();
    server.end(Duration::ZERO, Duration::from_millis(300));
    assert!(!server.wait());
}

#[track_caller]
fn wait_until_closed(address: SocketAddr) {
    let start = Instant::now();
    while TcpStream::connect(address).is_ok() {
        assert!(start.elapsed() < DEADLINE, "it does not end");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The time that a new connection has for its first request.
const FIRST_REQUEST: Duration = Duration::from_secs(5);

/// Begins to end a server while connections are there that have not come to a request, which are answered afterwards.
#[track_caller]
fn newcomer<S: std::io::Read + std::io::Write>(
    start: impl Fn() -> Running,
    connect: impl Fn(TcpStream) -> S,
) {
    loop {
        let server = start();
        let connected = Instant::now();
        let stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        server.end(Duration::ZERO, GRACE);
        wait_until_closed(server.address);
        let mut client = Client::over(connect(stream));
        let answer = client.try_review("/validate", "web");
        if let Some(answer) = answer {
            assert_eq!((answer.code, answer.has("connection: close")), (200, true));
            assert!(server.wait());
            return;
        }
        // Only where the machine had so much else to do.
        assert!(connected.elapsed() >= FIRST_REQUEST, "there was no answer");
    }
}

#[test]
fn new_connections_get_to_ask() {
    newcomer(Running::start, |stream| stream);
}

#[test]
fn handshakes_are_finished() {
    let (directory, authority) = (tempfile::tempdir().unwrap(), Authority::new());
    let start = || {
        Running::with(|settings| {
            settings.certificates = Some(authority.served_from(directory.path()));
        })
    };
    newcomer(start, |stream| authority.over(stream, None));
}

#[test]
fn new_connections_that_say_nothing_do_not_delay_the_end() {
    let server = Running::start();
    let silent = TcpStream::connect(server.address).unwrap();
    server.end(Duration::ZERO, GRACE);
    assert!(server.wait(), "there was no request to answer");
    drop(silent);
}
