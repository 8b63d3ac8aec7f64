//! Clients that are slow, send large requests, or disconnect.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::client::{ClientTrust, LoadClient};
use super::load::ServerLoad;
use pratique_harness::ToolError;

/// How many there are.
const CLIENTS: usize = 200;

/// The kind of hostile clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostileKind {
    /// They send their request one byte at a time.
    Slow,
    /// They send much larger requests than allowed.
    Large,
    /// They connect, some begin a handshake, and then they send nothing.
    HalfOpen,
}

impl HostileKind {
    pub(super) const ALL: [HostileKind; 3] = [HostileKind::Slow, HostileKind::Large, HostileKind::HalfOpen];

    pub(super) fn name(self) -> &'static str {
        match self {
            HostileKind::Slow => "200 slow clients, a byte in 100 ms",
            HostileKind::Large => "4 clients that send bodies of 16 MiB",
            HostileKind::HalfOpen => "200 clients that never end their handshake",
        }
    }
}

/// Clients that go on until they are stopped.
pub(super) struct HostileClients {
    stop: Arc<AtomicBool>,
    /// How many attempts there were, and how many of them the server ended.
    attempts: Arc<[AtomicUsize; 2]>,
    threads: Vec<JoinHandle<()>>,
}

/// The server that hostile clients connect to.
#[derive(Clone)]
struct HostileTarget {
    address: SocketAddr,
    trust: ClientTrust,
    stop: Arc<AtomicBool>,
    attempts: Arc<[AtomicUsize; 2]>,
}

impl HostileClients {
    pub(super) fn start(kind: HostileKind, load: &ServerLoad) -> Result<Self, ToolError> {
        let stop = Arc::new(AtomicBool::new(false));
        let attempts = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let target = HostileTarget {
            address: load.address,
            trust: load.trust.clone(),
            stop: stop.clone(),
            attempts: attempts.clone(),
        };
        let start = |work: fn(&HostileTarget)| {
            let target = target.clone();
            thread::Builder::new()
                .stack_size(256 << 10)
                .spawn(move || {
                    while !target.stop.load(Ordering::Relaxed) {
                        work(&target);
                    }
                })
                .map_err(|error| ToolError::from(error.to_string()))
        };
        let (count, work): (usize, fn(&HostileTarget)) = match kind {
            HostileKind::Slow => (CLIENTS, slow),
            HostileKind::Large => (4, large),
            HostileKind::HalfOpen => (CLIENTS, half_open),
        };
        let threads = (0..count).map(|_| start(work)).collect::<Result<_, _>>()?;
        Ok(HostileClients {
            stop,
            attempts,
            threads,
        })
    }

    /// Stops the clients, and returns a summary.
    pub(super) fn stop(self) -> String {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            // One that panicked is over as well.
            let _ = thread.join();
        }
        let [attempts, ended] = &*self.attempts;
        format!(
            "{} attempts, {} ended by the server",
            attempts.load(Ordering::Relaxed),
            ended.load(Ordering::Relaxed)
        )
    }
}

impl HostileTarget {
    fn attempt(&self) {
        self.count(0);
    }

    fn ended(&self) {
        self.count(1);
        thread::sleep(Duration::from_millis(50));
    }

    fn count(&self, which: usize) {
        if let Some(count) = self.attempts.get(which) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }
}

fn slow(target: &HostileTarget) {
    target.attempt();
    let Ok(mut client) = LoadClient::connect(target.address, &target.trust) else {
        return target.ended();
    };
    let head = "POST /validate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n";
    for byte in head.bytes().chain(std::iter::repeat(b' ')) {
        if !target.goes_on() {
            return;
        }
        if client.send(&[byte]).is_err() {
            return target.ended();
        }
        thread::sleep(Duration::from_millis(100));
    }
}

fn large(target: &HostileTarget) {
    target.attempt();
    let Ok(mut client) = LoadClient::connect(target.address, &target.trust) else {
        return target.ended();
    };
    let part = vec![b' '; 1 << 20];
    let head = "POST /validate HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut sent = client.send(head.as_bytes());
    for _ in 0..16 {
        if sent.is_err() || !target.goes_on() {
            break;
        }
        sent = client
            .send(b"100000\r\n")
            .and_then(|()| client.send(&part))
            .and_then(|()| client.send(b"\r\n"));
    }
    let sent = sent.and_then(|()| client.send(b"0\r\n\r\n"));
    // The server announces it, or has closed the connection.
    if sent.is_err() || client.read().is_ok_and(|answer| answer.code == 413) {
        target.ended();
    }
}

fn half_open(target: &HostileTarget) {
    target.attempt();
    let Ok(mut stream) = TcpStream::connect(target.address) else {
        return target.ended();
    };
    // The first bytes of a handshake that is said to go on.
    let sent = stream.write_all(&[22, 3, 1, 2, 0, 1, 0, 1, 252]);
    let waits = stream.set_read_timeout(Some(Duration::from_millis(200)));
    let mut byte = [0];
    while sent.is_ok() && waits.is_ok() && target.goes_on() {
        match stream.read(&mut byte) {
            Ok(0) => return target.ended(),
            Ok(_) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                ) => {}
            Err(_) => return target.ended(),
        }
    }
}
