//! The health listener.

use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::client::{Client, review};
use super::handler::DEADLINE;
use super::running::Running;

fn with_health() -> Running {
    Running::with(|settings| settings.health = vec!["127.0.0.1:0".parse().unwrap()])
}

#[test]
fn it_tells_what_the_server_tells() {
    let server = with_health();
    let address = server.health.unwrap();
    let get = |path: &str| Client::to(address).get(path);
    assert_eq!(get("/livez").body, "ok\n");
    assert_eq!(get("/healthz").code, 200);
    assert_eq!(get("/readyz").code, 200);
    assert!(get("/metrics").body.contains("pratique_reviews_refused_total"));
    for path in ["/", "/configz", "/validate", "/other"] {
        assert_eq!(get(path).code, 404, "{path}");
    }
    assert_eq!(Client::to(address).ask("POST", "/readyz", "", b"").code, 405);
    assert_eq!(Client::to(address).review("/validate", "web").code, 404);
    server.handler.loading.store(true, Ordering::Relaxed);
    assert_eq!(get("/readyz").code, 503);
    assert_eq!(Client::to(address).ask("HEAD", "/readyz", "", b"").code, 503);
    server.handler.dead.store(true, Ordering::Relaxed);
    assert_eq!(get("/livez").code, 500);
}

/// Neither connections nor requests at the other address are left, and all of its connections are taken by clients that say
/// nothing.
#[test]
fn nobody_is_in_its_way() {
    let server = Running::with(|settings| {
        settings.health = vec!["127.0.0.1:0".parse().unwrap()];
        settings.limits.connections = 4;
        settings.limits.requests = 4;
        settings.limits.max_timeout = 10 * DEADLINE;
    });
    let body = review("compute").to_string();
    let request = format!(
        "POST /validate?timeout=600s HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let computing: Vec<_> = (0..4)
        .map(|_| {
            let mut client = Client::to(server.address);
            client.send(request.as_bytes()).unwrap();
            client
        })
        .collect();
    let start = std::time::Instant::now();
    while server.handler.computing.load(Ordering::Relaxed) < 4 {
        assert!(start.elapsed() < DEADLINE);
        std::thread::sleep(Duration::from_millis(1));
    }
    let address = server.health.unwrap();
    let silent: Vec<_> = (0..200).map(|_| TcpStream::connect(address).unwrap()).collect();
    for path in ["/livez", "/readyz", "/metrics"] {
        assert_eq!(Client::to(address).get(path).code, 200, "{path}");
    }
    drop((silent, computing));
}

#[test]
fn it_goes_on_until_the_server_ends() {
    let server = with_health();
    let address = server.health.unwrap();
    server.end(10 * DEADLINE, Duration::ZERO);
    let start = std::time::Instant::now();
    while Client::to(address).get("/readyz").body != "shutting down\n" {
        assert!(start.elapsed() < DEADLINE, "it is ready");
    }
    assert_eq!(Client::to(address).get("/livez").code, 200);
    server.end(Duration::ZERO, DEADLINE);
    assert!(server.wait());
    // Its thread ends by itself.
    let start = std::time::Instant::now();
    while TcpStream::connect(address).is_ok() {
        assert!(start.elapsed() < DEADLINE);
    }
}
