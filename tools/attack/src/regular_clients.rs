//! Clients that must not be affected by an attack: clients with usual requests, and probes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::attacked_server::ServedProgram;
use super::reviews;
use pratique_harness::ToolError;
use pratique_load_test::client::{ClientTrust, LoadClient};
use pratique_load_test::measurements::MeasuredRequests;

/// How many clients send requests, one at a time each, and how long they pause between two.
const CLIENTS: usize = 4;
const PAUSE: Duration = Duration::from_millis(5);
/// How long to wait between two checks of liveness.
const LIVENESS_INTERVAL: Duration = Duration::from_millis(100);
/// How long a probe waits for its answer.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// Running clients with usual requests, until they are stopped.
pub(super) struct RegularClients {
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<MeasuredRequests>>,
    health: JoinHandle<MeasuredRequests>,
    probes: JoinHandle<MeasuredRequests>,
}

/// The measurements of all clients.
pub(super) struct ClientResults {
    /// Reviews; a wrong decision and a lost answer are errors.
    pub(super) reviews: MeasuredRequests,
    /// Requests for `/livez` at the port of reviews, each on a connection of its own.
    pub(super) health: MeasuredRequests,
    /// Requests for `/livez` at the port of probes, likewise.
    pub(super) probes: MeasuredRequests,
}

impl ClientResults {
    /// How many reviews were answered; an error if any was wrong, or the server was not live.
    pub(super) fn answers(&self) -> Result<usize, ToolError> {
        self.reviews.flawless()?;
        self.health.flawless()?;
        Ok(self.reviews.answers())
    }
}

impl RegularClients {
    pub(super) fn start(served: &ServedProgram) -> Result<Self, ToolError> {
        let (address, trust) = (served.address(), served.trust()?);
        let stop = Arc::new(AtomicBool::new(false));
        let clients = (0..CLIENTS)
            .map(|_| {
                let (trust, stop) = (trust.clone(), stop.clone());
                thread::spawn(move || send_reviews(address, &trust, &stop))
            })
            .collect();
        let health = {
            let stop = stop.clone();
            thread::spawn(move || repeat(&stop, || check_livez(address, &trust)))
        };
        let probes = {
            let (address, stop) = (served.health_address(), stop.clone());
            thread::spawn(move || repeat(&stop, || probe_livez(address)))
        };
        Ok(RegularClients {
            stop,
            clients,
            health,
            probes,
        })
    }

    /// Stops the clients, and returns their measurements.
    pub(super) fn stop(self) -> Result<ClientResults, ToolError> {
        self.stop.store(true, Ordering::Relaxed);
        let panicked = |_| "a client panicked".to_owned();
        let all = self.clients.into_iter().map(JoinHandle::join);
        let all = all.collect::<Result<Vec<_>, _>>().map_err(panicked)?;
        let health = self.health.join().map_err(panicked)?;
        let probes = self.probes.join().map_err(panicked)?;
        Ok(ClientResults {
            reviews: MeasuredRequests::merge(all, Duration::ZERO),
            health: MeasuredRequests::merge(vec![health], Duration::ZERO),
            probes: MeasuredRequests::merge(vec![probes], Duration::ZERO),
        })
    }
}

/// Alternates between requests to allow and requests to deny. Reconnects when a connection ends between two requests, as API
/// servers do.
fn send_reviews(address: SocketAddr, trust: &ClientTrust, stop: &AtomicBool) -> MeasuredRequests {
    let requests = [false, true].map(|denied| (reviews::pod(denied).to_string(), !denied));
    let mut measured = MeasuredRequests::default();
    let mut connection = None;
    for (body, allowed) in requests.iter().cycle() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        thread::sleep(PAUSE);
        let start = Instant::now();
        match review_once(&mut connection, address, trust, body) {
            Ok(is_allowed) if is_allowed == *allowed => measured.answered(start.elapsed()),
            Ok(is_allowed) => measured.failed(format!("a wrong decision: allowed is {is_allowed}")),
            Err(error) => measured.failed(error.to_string()),
        }
    }
    measured
}

fn review_once(
    connection: &mut Option<LoadClient>,
    address: SocketAddr,
    trust: &ClientTrust,
    body: &str,
) -> Result<bool, ToolError> {
    let fresh = connection.is_none();
    let mut client = match connection.take() {
        Some(client) => client,
        None => LoadClient::connect(address, trust)?,
    };
    let answer = match client.review(body) {
        Ok(answer) => answer,
        // The server closed the idle connection.
        Err(_) if !fresh => {
            client = LoadClient::connect(address, trust)?;
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
        *connection = Some(client);
    }
    Ok(allowed)
}

/// Checks liveness until stopped.
fn repeat(stop: &AtomicBool, look: impl Fn() -> Result<(), ToolError>) -> MeasuredRequests {
    let mut measured = MeasuredRequests::default();
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(LIVENESS_INTERVAL);
        let start = Instant::now();
        match look() {
            Ok(()) => measured.answered(start.elapsed()),
            Err(error) => measured.failed(format!("/livez: {error}")),
        }
    }
    measured
}

fn check_livez(address: SocketAddr, trust: &ClientTrust) -> Result<(), ToolError> {
    let answer = LoadClient::connect(address, trust)?.get("/livez")?;
    match answer.code {
        200 => Ok(()),
        code => Err(code.to_string().into()),
    }
}

/// Probes by plain HTTP, as a kubelet does.
fn probe_livez(address: SocketAddr) -> Result<(), ToolError> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PROBE_TIMEOUT))?;
    stream.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    if answer.starts_with("HTTP/1.1 200 ") {
        Ok(())
    } else {
        Err(answer.into())
    }
}
