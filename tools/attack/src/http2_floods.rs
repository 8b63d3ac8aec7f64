//! Floods of frames of HTTP/2 that ask for nothing, of each kind: usual clients beside them are served as without.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use pratique_harness::{Error, outcome, together};
use pratique_load_test::client::Client;

use super::faults::Fault;
use super::http2::{DATA, END_HEADERS, HEADERS, PREFACE, SETTINGS, WINDOW_UPDATE, frame, headers};
use super::regular_clients::RegularClients;
use super::served::{Options, Served};
use super::{ClientResults, SHARED, SLOWER, Scale};

/// The floods, as a server of their own is attacked by one after the other.
pub(super) const ALL: [Fault; 1] = [("floods of frames of HTTP/2", &[], floods)];

const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;
/// A kind that nothing defines.
const UNKNOWN: u8 = 0x20;

/// How many connections send frames, and how many streams each opens first.
const CONNECTIONS: usize = 32;
const STREAMS: u32 = 200;
/// How many frames are sent at once, and the pause after them.
const FRAMES: u32 = 250;
const PAUSE: Duration = Duration::from_millis(20);
/// The pause before another connection takes the place of one that was closed.
const RECONNECTION: Duration = Duration::from_millis(250);
/// How long sending may be held up.
const PATIENCE: Duration = Duration::from_secs(1);

/// A flood.
struct Flood {
    name: &'static str,
    /// How many streams without bodies are opened first.
    streams: u32,
    /// The frames of a number.
    frames: fn(u32) -> Vec<u8>,
}

/// The whole family.
const FLOODS: [Flood; 15] = [
    Flood {
        name: "streams without bodies",
        streams: STREAMS,
        frames: |_| Vec::new(),
    },
    Flood {
        name: "SETTINGS of the window, with streams",
        streams: STREAMS,
        frames: settings,
    },
    Flood {
        name: "SETTINGS of the window, with few streams",
        streams: 50,
        frames: settings,
    },
    Flood {
        name: "SETTINGS",
        streams: 0,
        frames: |_| frame(SETTINGS, 0, 0, &[]),
    },
    Flood {
        name: "PING",
        streams: 0,
        frames: |number| frame(PING, 0, 0, &u64::from(number).to_be_bytes()),
    },
    Flood {
        name: "WINDOW_UPDATE of the connection, with streams",
        streams: STREAMS,
        frames: |_| frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes()),
    },
    Flood {
        name: "WINDOW_UPDATE of streams",
        streams: STREAMS,
        frames: |number| frame(WINDOW_UPDATE, 0, stream(number % 90), &1_u32.to_be_bytes()),
    },
    Flood {
        name: "PRIORITY",
        streams: 0,
        frames: |number| frame(PRIORITY, 0, stream(number % 1000), &[0, 0, 0, 0, 16]),
    },
    Flood {
        name: "RST_STREAM of new streams",
        streams: 0,
        frames: |number| {
            let reset = frame(RST_STREAM, 0, stream(number), &8_u32.to_be_bytes());
            [open(number), reset].concat()
        },
    },
    Flood {
        name: "HEADERS of streams that are refused",
        streams: STREAMS,
        frames: |number| open(STREAMS + number),
    },
    Flood {
        name: "DATA without bytes",
        streams: 1,
        frames: |_| frame(DATA, 0, 1, &[]),
    },
    Flood {
        name: "DATA of a byte",
        streams: 1,
        frames: |_| frame(DATA, 0, 1, b" "),
    },
    Flood {
        name: "CONTINUATION",
        streams: 0,
        frames: |number| match number {
            0 => frame(HEADERS, 0, 1, &headers("/validate")),
            _ => frame(CONTINUATION, 0, 1, &[]),
        },
    },
    Flood {
        name: "GOAWAY, with streams",
        streams: STREAMS,
        frames: |_| frame(GOAWAY, 0, 0, &[0; 8]),
    },
    Flood {
        name: "frames of an unknown kind",
        streams: 0,
        frames: |_| frame(UNKNOWN, 0, 0, &[]),
    },
];

/// The stream of a number, as clients count.
fn stream(number: u32) -> u32 {
    2 * number + 1
}

/// Opens the stream of a number, whose body is yet to come.
fn open(number: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream(number), &headers("/validate"))
}

/// Settings that change the window of all streams.
fn settings(number: u32) -> Vec<u8> {
    let [_, _, high, low] = (60_000 + number % 2).to_be_bytes();
    frame(SETTINGS, 0, 0, &[0, 4, 0, 0, high, low])
}

fn floods(options: &Options<'_>, scale: Scale) -> Result<String, Error> {
    let mut served = Served::start(options)?;
    let mut lines = Vec::new();
    let mut is_fine = true;
    for flood in &FLOODS {
        // Without and with, one right after the other, so that both are of the same machine.
        let before = measure(&served, || thread::sleep(scale.time))?;
        let mut closed = Ok(0);
        let during = measure(&served, || closed = attack(&served, flood, scale))?;
        let [without, with] = [&before, &during].map(|results| &results.reviews);
        let limit = without.percentile(0.99) * SLOWER + SHARED;
        let p99 = with.percentile(0.99);
        let is_in_time = p99 <= limit || !scale.measures_time;
        is_fine &= is_in_time;
        lines.push(format!(
            "{}{}: p50 {:.1?} and p99 {:.1?} without, {:.1?} and {p99:.1?} with; {} connections were closed or held up",
            if is_in_time { "" } else { "TOO SLOW: " },
            flood.name,
            without.percentile(0.5),
            without.percentile(0.99),
            with.percentile(0.5),
            closed?,
        ));
    }
    lines.push(served.survived()?);
    outcome(is_fine, lines.join("\n"))
}

/// What usual clients see during some work. All their answers must be right.
fn measure(served: &Served, work: impl FnOnce()) -> Result<ClientResults, Error> {
    let clients = RegularClients::start(served)?;
    work();
    let results = clients.stop()?;
    results.answers()?;
    Ok(results)
}

/// Sends frames on all connections; returns how many were closed or held up.
fn attack(served: &Served, flood: &Flood, scale: Scale) -> Result<usize, Error> {
    let (address, trust) = (served.address(), served.trust()?.with_protocol("h2"));
    let end = Instant::now() + scale.time;
    let closed = together(CONNECTIONS.min(scale.clients), || {
        let mut closed: usize = 0;
        while Instant::now() < end {
            // A connection that is refused is as good as one that is closed.
            let sent = Client::connect(address, &trust)
                .map_err(io::Error::other)
                .and_then(|client| send(client, flood, end));
            if sent.is_err() {
                closed += 1;
                thread::sleep(RECONNECTION);
            }
        }
        closed
    })?;
    Ok(closed.into_iter().sum())
}

/// Sends frames until the end, and reads what there is.
fn send(mut client: Client, flood: &Flood, end: Instant) -> io::Result<()> {
    client.give_up_sending_after(PATIENCE)?;
    client.give_up_receiving_after(Duration::from_millis(1))?;
    client.send(&[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat())?;
    client.send(&(0..flood.streams).flat_map(open).collect::<Vec<u8>>())?;
    let mut number = 0;
    let mut buffer = vec![0; 64 << 10];
    while Instant::now() < end {
        let frames: Vec<u8> = (number..number + FRAMES).flat_map(flood.frames).collect();
        number += FRAMES;
        client.send(&frames)?;
        match client.receive(&mut buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Err(error) => return Err(error),
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}
