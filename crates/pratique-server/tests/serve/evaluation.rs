//! Evaluations that take long, and what does not wait for them.

use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::client::{Client, review};
use super::handler::DEADLINE;
use super::running::Running;

/// A server that lets evaluations have as much time as they ask for.
fn patient() -> Running {
    Running::with(|settings| settings.limits.max_timeout = 10 * DEADLINE)
}

fn ask(server: &Running, path: &'static str, name: &str) -> JoinHandle<u16> {
    let (address, name) = (server.address, name.to_owned());
    thread::spawn(move || Client::to(address).review(path, &name).code)
}

fn wait_until_computing(server: &Running, count: usize) {
    let start = Instant::now();
    while server.handler.computing.load(Ordering::Relaxed) != count {
        assert!(start.elapsed() < DEADLINE, "not {count}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// More evaluations compute than there are threads for anything.
#[test]
fn nothing_waits_for_evaluations() {
    let server = patient();
    let count = 2 * thread::available_parallelism().unwrap().get() + 4;
    let computing: Vec<_> = (0..count)
        .map(|_| ask(&server, "/validate?timeout=600s", "compute"))
        .collect();
    wait_until_computing(&server, count);
    let mut client = Client::to(server.address);
    for _ in 0..20 {
        for path in ["/livez", "/readyz", "/metrics"] {
            assert_eq!(client.get(path).code, 200, "{path}");
        }
        assert_eq!(client.review("/validate", "web").code, 200);
        assert_eq!(client.review("/validate", "slow-1").code, 200);
        assert_eq!(Client::to(server.address).review("/mutate", "web").code, 200);
    }
    assert_eq!(client.review("/validate?timeout=100ms", "compute").code, 504);
    assert!(
        computing.iter().all(|review| !review.is_finished()),
        "they did compute"
    );
    server.end(Duration::ZERO, Duration::ZERO);
}

#[test]
fn nothing_is_computed_after_the_deadline() {
    let server = Running::start();
    assert_eq!(
        ask(&server, "/validate?timeout=100ms", "compute").join().unwrap(),
        504
    );
    wait_until_computing(&server, 0);
}

#[test]
fn nothing_is_computed_for_clients_that_are_gone() {
    let server = patient();
    let mut client = Client::to(server.address);
    let body = review("compute").to_string();
    let head = format!(
        "POST /validate?timeout=600s HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    client.send(format!("{head}{body}").as_bytes()).unwrap();
    wait_until_computing(&server, 1);
    drop(client);
    wait_until_computing(&server, 0);
}
