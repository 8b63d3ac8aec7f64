//! Clients that want the server's memory.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use super::attacked_server::ServedProgram;
use super::http2::UnreadConnection;
use super::reviews;
use super::{AttackScale, count_codes};
use pratique_harness::{ToolError, outcome, together};
use pratique_load_test::client::{LoadClient, head};

/// As many empty containers as fit into 2.9 MB.
const CONTAINERS: usize = 966_000;
/// The declared length of an unfinished body, and the length that is sent.
const ANNOUNCED: usize = 3 << 20;
const SENT: usize = 2_200_000;
/// The largest object that an API server takes from a client, in bytes, a little less than which others are.
const LARGEST: usize = 3 << 20;
/// How many streams an HTTP/2 client has, and the size of the data to be echoed in each.
const STREAMS: usize = 250;
const ECHOED: usize = 200_000;
/// How often an HTTP/1.1 client asks without reading, in each round.
const PIPELINED: usize = 700;

/// Objects that take far more memory than they have bytes.
pub(super) fn containers(served: &ServedProgram, scale: AttackScale) -> Result<String, ToolError> {
    let body = reviews::empty_containers(CONTAINERS);
    let end = Instant::now() + scale.time;
    let codes = together(scale.clients, || {
        // The clients are on the server's machine, where their own work is not to be what slows it down: it is this
        // thread that yields, and one that may not goes on as it is.
        let _ = rustix::process::nice(19);
        let mut codes = Vec::new();
        while Instant::now() < end {
            let answer = served
                .connect()
                .and_then(|mut client| client.post("/admit", &body));
            // A client whose body made room for others is still sending when its connection is closed, and may not come to
            // read the answer: 0.
            codes.push(answer.map_or(0, |answer| answer.code));
        }
        codes
    })?;
    check_codes(
        &codes.concat(),
        "reviews of 966,000 empty containers",
        &[0, 200, 400, 408, 413, 429, 504],
    )
}

/// An update whose two objects are both as large as may be is denied, not refused unread: with a failurePolicy of
/// Ignore it would be allowed.
pub(super) fn large_reviews(served: &ServedProgram, scale: AttackScale) -> Result<String, ToolError> {
    let body = reviews::large(LARGEST - 10_000).to_string();
    for _ in 0..scale.rounds {
        let answer = served.post("/validate", &body)?;
        let text = String::from_utf8_lossy(&answer.body);
        if answer.code != 200 || !text.contains("\"allowed\":false") {
            return Err(format!("a review of {} bytes: {}: {text}", body.len(), answer.code).into());
        }
    }
    let refused = || served.metric("pratique_reviews_refused_total", "code=\"413\"");
    let previous_count = refused()?;
    let too_large = " ".repeat(64 << 20);
    let answer = served.post("/validate", &too_large)?;
    match (answer.code, refused()? - previous_count) {
        (413, 1.0) => Ok(format!(
            "{} reviews of {} bytes were denied, one of {} bytes refused and counted",
            scale.rounds,
            body.len(),
            too_large.len(),
        )),
        (code, count) => Err(format!(
            "a review of {} bytes: {code}, counted {count} times",
            too_large.len()
        )
        .into()),
    }
}

/// Bodies that are announced, sent in part and never ended.
pub(super) fn unfinished(served: &ServedProgram, scale: AttackScale) -> Result<String, ToolError> {
    let opening = head("/validate", ANNOUNCED);
    let part = vec![b' '; SENT];
    let end = Instant::now() + scale.time;
    let mut attempts = 0;
    let mut clients: Vec<LoadClient> = Vec::new();
    while Instant::now() < end {
        clients.truncate(64);
        if clients.len() == 64 {
            // The server ended those that have waited longest, if any.
            clients.remove(0);
        }
        let mut client = served.connect()?;
        attempts += 1;
        if client
            .send(opening.as_bytes())
            .and_then(|()| client.send(&part))
            .is_ok()
        {
            clients.push(client);
        }
    }
    Ok(format!(
        "{attempts} bodies of {ANNOUNCED} bytes, of which {SENT} came"
    ))
}

/// HTTP/2 clients that ask much, want what they sent echoed, and leave no room for answers.
pub(super) fn unread_second(served: &ServedProgram, scale: AttackScale) -> Result<String, ToolError> {
    let mut review = reviews::pod(false);
    if let Some(uid) = review.pointer_mut("/request/uid") {
        *uid = "u".repeat(ECHOED).into();
    }
    let body = review.to_string();
    let (address, trust) = (served.address(), served.trust()?);
    let clients = scale.clients.min(20);
    let ended = together(clients, || {
        let Ok(mut client) = UnreadConnection::connect(address, &trust) else {
            return true;
        };
        let sent = (0..STREAMS).try_for_each(|_| client.post("/validate", body.as_bytes()));
        if scale.measures_time {
            sent.and_then(|()| client.wait_for_end()).is_ok()
        } else {
            thread::sleep(scale.time);
            false
        }
    })?;
    let ended = ended.into_iter().filter(|ended| *ended).count();
    Ok(format!(
        "{clients} clients with {STREAMS} streams; the server ended {ended} of them"
    ))
}

/// HTTP/1.1 clients that ask again and again and read nothing.
pub(super) fn unread_first(served: &ServedProgram, scale: AttackScale) -> Result<String, ToolError> {
    let body = reviews::pod(true).to_string();
    let request = [head("/validate", body.len()).as_bytes(), body.as_bytes()].concat();
    let (address, trust) = (served.address(), served.trust()?);
    let clients = scale.clients.min(20);
    let sent = together(clients, || -> io::Result<()> {
        let mut client = LoadClient::connect(address, &trust).map_err(io::Error::other)?;
        client.give_up_sending_after(Duration::from_secs(2))?;
        (0..PIPELINED * scale.rounds).try_for_each(|_| client.send(&request))
    })?;
    let blocked = sent.into_iter().filter(Result::is_err).count();
    Ok(format!(
        "{blocked} of {clients} clients that read nothing were no longer read from"
    ))
}

/// Tells how often there was which answer, all of which have to be among those.
fn check_codes(codes: &[u16], what: &str, allowed: &[u16]) -> Result<String, ToolError> {
    let text = format!("{what} were answered {}", count_codes(codes));
    outcome(codes.iter().all(|code| allowed.contains(code)), text)
}
