//! The end of a server.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::certificates::Authority;
use super::client::Client;
use super::running::Running;

const GRACE: Duration = Duration::from_secs(10);

#[test]
fn requests_that_have_begun_are_answered() {
    let server = Running::start();
    let address = server.address;
    let mut idle = Client::to(address);
    assert_eq!(idle.review("/validate", "web").code, 200);
    let waiting: Vec<_> = (0..8)
        .map(|_| std::thread::spawn(move || Client::to(address).review("/validate", "slow-700").code))
        .collect();
    std::thread::sleep(Duration::from_millis(300));
    server.end(Duration::ZERO, GRACE);
    let start = Instant::now();
    for review in waiting {
        assert_eq!(review.join().unwrap(), 200);
    }
    assert!(server.wait());
    assert!(start.elapsed() < GRACE);
    assert!(idle.read().is_none());
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn clients_are_asked_to_leave_first() {
    let server = Running::start();
    let mut client = Client::to(server.address);
    assert!(!client.review("/validate", "web").has("connection: close"));
    server.end(Duration::from_secs(1), GRACE);
    let start = Instant::now();
    while Client::to(server.address).get("/readyz").code == 200 {
        assert!(start.elapsed() < Duration::from_millis(900));
    }
    let answer = client.review("/validate", "web");
    assert_eq!((answer.code, answer.has("connection: close")), (200, true));
    assert_eq!(
        Client::to(server.address).review("/validate", "web").code,
        200,
        "newcomers are still served"
    );
    assert!(server.wait());
}

#[test]
fn the_end_does_not_wait_forever() {
    let server = Running::start();
    let mut slow = Client::to(server.address);
    slow.send(b"POST /validate HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\n{")
        .unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    server.end(Duration::ZERO, Duration::from_millis(300));
    assert!(!server.wait());
    assert!(start.elapsed() < Duration::from_secs(5));
}

/// Begins to end a server while connections are there that have not come to a request: gives what they are answered
/// afterwards.
fn newcomer<S: std::io::Read + std::io::Write>(server: Running, connect: impl FnOnce(TcpStream) -> S) {
    let address = server.address;
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    server.end(Duration::ZERO, Duration::from_secs(30));
    let start = Instant::now();
    while TcpStream::connect(address).is_ok() {
        assert!(start.elapsed() < GRACE, "it does not end");
    }
    std::thread::sleep(Duration::from_millis(200));
    let answer = Client::over(connect(stream)).review("/validate", "web");
    assert_eq!((answer.code, answer.has("connection: close")), (200, true));
    assert!(server.wait());
}

#[test]
fn new_connections_get_to_ask() {
    newcomer(Running::start(), |stream| stream);
}

#[test]
fn handshakes_are_finished() {
    let (directory, authority) = (tempfile::tempdir().unwrap(), Authority::new());
    let server = Running::with(|settings| {
        settings.certificates = Some(authority.served_from(directory.path()));
    });
    newcomer(server, |stream| authority.over(stream, None));
}

#[test]
fn new_connections_that_say_nothing_do_not_delay_the_end() {
    let server = Running::start();
    let silent = TcpStream::connect(server.address).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let start = Instant::now();
    server.end(Duration::ZERO, Duration::from_secs(3));
    assert!(server.wait(), "there was no request to answer");
    assert!(start.elapsed() < Duration::from_secs(3));
    drop(silent);
}
