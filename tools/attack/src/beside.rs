//! Clients that must not notice the attack: those with usual requests, and probes.

use std::net::SocketAddr;
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

/// Usual clients, until they are stopped.
pub(super) struct Beside {
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<Measured>>,
    health: JoinHandle<Measured>,
}

/// What they saw.
pub(super) struct Seen {
    /// Reviews. A wrong decision or an answer that was lost is an error in it.
    pub(super) reviews: Measured,
    /// Looks at `/livez`, each on a connection of its own.
    pub(super) health: Measured,
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
            thread::spawn(move || look(address, &trust, &stop))
        };
        Ok(Beside {
            stop,
            clients,
            health,
        })
    }

    /// Ends them, and tells what they saw.
    pub(super) fn stop(self) -> Result<Seen, Error> {
        self.stop.store(true, Ordering::Relaxed);
        let panicked = |_| "a client panicked".to_owned();
        let all = self.clients.into_iter().map(JoinHandle::join);
        let all = all.collect::<Result<Vec<_>, _>>().map_err(panicked)?;
        let health = self.health.join().map_err(panicked)?;
        Ok(Seen {
            reviews: Measured::of(all, Duration::ZERO),
            health: Measured::of(vec![health], Duration::ZERO),
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

fn look(address: SocketAddr, trust: &Trust, stop: &AtomicBool) -> Measured {
    let mut measured = Measured::default();
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(LOOK);
        let start = Instant::now();
        let seen = Client::connect(address, trust).and_then(|mut client| client.get("/livez"));
        match seen {
            Ok(answer) if answer.code == 200 => measured.answered(start.elapsed()),
            Ok(answer) => measured.failed(format!("/livez: {}", answer.code)),
            Err(error) => measured.failed(format!("/livez: {error}")),
        }
    }
    measured
}
