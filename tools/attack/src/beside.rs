//! Clients that must not notice the attack: those with usual requests, and probes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::reviews;
use super::served::Served;
use pratique_harness::Error;
use pratique_load_test::client::{Client, Trust};
use pratique_load_test::measured::Measured;

/// How many clients ask, with one request at a time each, and how long they wait between two.
const CLIENTS: usize = 4;
const PAUSE: Duration = Duration::from_millis(5);
/// How often is looked whether the server lives.
const LOOK: Duration = Duration::from_millis(100);
/// How long a probe waits for its answer.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// Usual clients, until they are stopped.
pub(super) struct Beside {
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<Measured>>,
    health: JoinHandle<Measured>,
    probes: JoinHandle<Measured>,
}

/// What they saw.
pub(super) struct Seen {
    /// Reviews. A wrong decision or an answer that was lost is an error in it.
    pub(super) reviews: Measured,
    /// Looks at `/livez` beside reviews, each on a connection of its own.
    pub(super) health: Measured,
    /// Looks at `/livez` of the listener for probes, likewise.
    pub(super) probes: Measured,
}

impl Seen {
    /// How many reviews were answered, all of them right, while the server lived.
    pub(super) fn answers(&self) -> Result<usize, Error> {
        self.reviews.flawless()?;
        self.health.flawless()?;
        Ok(self.reviews.answers())
    }
}

impl Beside {
    pub(super) fn start(served: &Served) -> Result<Self, Error> {
        let (address, trust) = (served.address(), served.trust()?);
        let stop = Arc::new(AtomicBool::new(false));
        let clients = (0..CLIENTS)
            .map(|_| {
                let (trust, stop) = (trust.clone(), stop.clone());
                thread::spawn(move || ask(address, &trust, &stop))
            })
            .collect();
        let health = {
            let stop = stop.clone();
            thread::spawn(move || repeat(&stop, || looked(address, &trust)))
        };
        let probes = {
            let (address, stop) = (served.health_address(), stop.clone());
            thread::spawn(move || repeat(&stop, || probed(address)))
        };
        Ok(Beside {
            stop,
            clients,
            health,
            probes,
        })
    }

    /// Ends them, and tells what they saw.
    pub(super) fn stop(self) -> Result<Seen, Error> {
        self.stop.store(true, Ordering::Relaxed);
        let panicked = |_| "a client panicked".to_owned();
        let all = self.clients.into_iter().map(JoinHandle::join);
        let all = all.collect::<Result<Vec<_>, _>>().map_err(panicked)?;
        let health = self.health.join().map_err(panicked)?;
        let probes = self.probes.join().map_err(panicked)?;
        Ok(Seen {
            reviews: Measured::of(all, Duration::ZERO),
            health: Measured::of(vec![health], Duration::ZERO),
            probes: Measured::of(vec![probes], Duration::ZERO),
        })
    }
}

/// Asks in turn what is to be allowed and what is to be denied. A connection that ends between two requests is made again,
/// as API servers do.
fn ask(address: SocketAddr, trust: &Trust, stop: &AtomicBool) -> Measured {
    let requests = [false, true].map(|denied| (reviews::pod(denied).to_string(), !denied));
    let mut measured = Measured::default();
    let mut kept = None;
    for (body, allowed) in requests.iter().cycle() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        thread::sleep(PAUSE);
        let start = Instant::now();
        match evaluated(&mut kept, address, trust, body) {
            Ok(found) if found == *allowed => measured.answered(start.elapsed()),
            Ok(found) => measured.failed(format!("a wrong decision: allowed is {found}")),
            Err(error) => measured.failed(error.to_string()),
        }
    }
    measured
}

fn evaluated(
    kept: &mut Option<Client>,
    address: SocketAddr,
    trust: &Trust,
    body: &str,
) -> Result<bool, Error> {
    let fresh = kept.is_none();
    let mut client = match kept.take() {
        Some(client) => client,
        None => Client::connect(address, trust)?,
    };
    let answer = match client.review(body) {
        Ok(answer) => answer,
        // It was ended while idle.
        Err(_) if !fresh => {
            client = Client::connect(address, trust)?;
            client.review(body)?
        }
        Err(error) => return Err(error),
    };
    let text = String::from_utf8_lossy(&answer.body);
    let allowed = match answer.code {
        200 if text.contains("\"allowed\":true") => true,
        200 if text.contains("\"allowed\":false") => false,
        code => return Err(format!("{code}: {text}").into()),
    };
    if !answer.last {
        *kept = Some(client);
    }
    Ok(allowed)
}

/// Looks again and again whether the server lives.
fn repeat(stop: &AtomicBool, look: impl Fn() -> Result<(), Error>) -> Measured {
    let mut measured = Measured::default();
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(LOOK);
        let start = Instant::now();
        match look() {
            Ok(()) => measured.answered(start.elapsed()),
            Err(error) => measured.failed(format!("/livez: {error}")),
        }
    }
    measured
}

fn looked(address: SocketAddr, trust: &Trust) -> Result<(), Error> {
    let answer = Client::connect(address, trust)?.get("/livez")?;
    match answer.code {
        200 => Ok(()),
        code => Err(code.to_string().into()),
    }
}

/// As a kubelet probes by plain HTTP.
fn probed(address: SocketAddr) -> Result<(), Error> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PROBE_TIMEOUT))?;
    stream.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    match answer.starts_with("HTTP/1.1 200 ") {
        true => Ok(()),
        false => Err(answer.into()),
    }
}
