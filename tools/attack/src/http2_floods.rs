//! Floods of frames of HTTP/2 that ask for nothing, of each kind: usual clients beside them are served as without.
//!
//! Each flood is measured in several windows, and a window without it precedes each, so that both are of the same machine. What
//! counts is the median of the windows' 99th percentiles. How far apart the windows without a flood are is the noise of the
//! measurement: the goal may be missed by no more than that, and noise excuses no more than a part of what is measured.

use std::fmt;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use pratique_harness::{ToolError, outcome, together};
use pratique_load_test::client::LoadClient;

use super::attacked_server::{ServeOptions, ServedProgram};
use super::faults::FaultCase;
use super::http2::{DATA, END_HEADERS, HEADERS, PREFACE, SETTINGS, WINDOW_UPDATE, frame, headers};
use super::regular_clients::RegularClients;
use super::{AttackScale, ClientResults, SLOWER};

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
/// How many times frames are sent that are made beforehand: what attackers do on this machine takes from the others.
const PREPARED: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);
/// The pause before another connection takes the place of one that was closed.
const RECONNECTION: Duration = Duration::from_millis(250);
/// How long sending may be held up.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many windows are measured without and with each flood, in the time of the scale.
const WINDOWS: u32 = 5;
/// The time before a window with a flood, in which all its connections are made at once, on this machine.
const BEGINNING: Duration = Duration::from_secs(1);
/// The time between two windows, in which the server is done with the connections of the last one.
const REST: Duration = Duration::from_millis(500);
/// Noise of more than this part of the time without a flood does not count.
const MAX_NOISE: f64 = 0.5;

/// Gives the frame, or frames, of a number.
type FrameMaker = fn(u32) -> Vec<u8>;

/// The whole family, each against a server of its own.
pub(super) const ALL: [FaultCase; 15] = [
    ("flood of streams without bodies", &[], |options, scale| {
        flood(options, scale, STREAMS, |_| Vec::new())
    }),
    (
        "flood of SETTINGS of the window, with streams",
        &[],
        |options, scale| flood(options, scale, STREAMS, settings),
    ),
    (
        "flood of SETTINGS of the window, with few streams",
        &[],
        |options, scale| flood(options, scale, 50, settings),
    ),
    ("flood of SETTINGS", &[], |options, scale| {
        flood(options, scale, 0, |_| frame(SETTINGS, 0, 0, &[]))
    }),
    ("flood of PING", &[], |options, scale| {
        flood(options, scale, 0, |number| {
            frame(PING, 0, 0, &u64::from(number).to_be_bytes())
        })
    }),
    (
        "flood of WINDOW_UPDATE of the connection, with streams",
        &[],
        |options, scale| {
            flood(options, scale, STREAMS, |_| {
                frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes())
            })
        },
    ),
    ("flood of WINDOW_UPDATE of streams", &[], |options, scale| {
        flood(options, scale, STREAMS, |number| {
            frame(WINDOW_UPDATE, 0, stream(number % 90), &1_u32.to_be_bytes())
        })
    }),
    ("flood of PRIORITY", &[], |options, scale| {
        flood(options, scale, 0, |number| {
            frame(PRIORITY, 0, stream(number % 1000), &[0, 0, 0, 0, 16])
        })
    }),
    ("flood of RST_STREAM of new streams", &[], |options, scale| {
        flood(options, scale, 0, |number| {
            let reset = frame(RST_STREAM, 0, stream(number), &8_u32.to_be_bytes());
            [open(number), reset].concat()
        })
    }),
    (
        "flood of HEADERS of streams that are refused",
        &[],
        |options, scale| flood(options, scale, STREAMS, |number| open(STREAMS + number)),
    ),
    ("flood of DATA without bytes", &[], |options, scale| {
        flood(options, scale, 1, |_| frame(DATA, 0, 1, &[]))
    }),
    ("flood of DATA of a byte", &[], |options, scale| {
        flood(options, scale, 1, |_| frame(DATA, 0, 1, b" "))
    }),
    ("flood of CONTINUATION", &[], |options, scale| {
        flood(options, scale, 0, |number| match number {
            0 => frame(HEADERS, 0, 1, &headers("/validate")),
            _ => frame(CONTINUATION, 0, 1, &[]),
        })
    }),
    ("flood of GOAWAY, with streams", &[], |options, scale| {
        flood(options, scale, STREAMS, |_| frame(GOAWAY, 0, 0, &[0; 8]))
    }),
    ("flood of frames of an unknown kind", &[], |options, scale| {
        flood(options, scale, 0, |_| frame(UNKNOWN, 0, 0, &[]))
    }),
];

/// A flood.
struct FrameFlood {
    /// How many streams without bodies are opened first.
    streams: u32,
    frames: FrameMaker,
}

impl FrameFlood {
    /// What is sent before the frames.
    fn opening(&self) -> Vec<u8> {
        (0..self.streams).flat_map(open).collect()
    }

    /// The frames that are sent at once after so many such.
    fn frames_after(&self, sent: u32) -> Vec<u8> {
        let numbers = sent * FRAMES..(sent + 1) * FRAMES;
        numbers.flat_map(self.frames).collect()
    }
}

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

/// Measures usual clients beside a flood on connections that open so many streams without bodies first.
fn flood(
    options: &ServeOptions<'_>,
    scale: AttackScale,
    streams: u32,
    frames: FrameMaker,
) -> Result<String, ToolError> {
    let flood = &FrameFlood { streams, frames };
    let mut served = ServedProgram::start(options)?;
    let measured = FloodWindows::measure(&served, flood, scale)?;
    let text = format!("{measured}\n{}", served.survived()?);
    outcome(measured.is_in_time() || !scale.measures_time, text)
}

/// The 99th percentiles of usual clients in windows without and with a flood.
#[derive(Debug, Default)]
struct FloodWindows {
    without: Vec<Duration>,
    with: Vec<Duration>,
    /// How many answers there were, without and with the flood.
    answers: [usize; 2],
    /// How many connections of the flood were closed or held up.
    closed: usize,
}

impl FloodWindows {
    fn measure(served: &ServedProgram, flood: &FrameFlood, scale: AttackScale) -> Result<Self, ToolError> {
        let time = scale.time / WINDOWS;
        let mut windows = FloodWindows::default();
        for _ in 0..WINDOWS {
            let calm = measure(served, || thread::sleep(time))?;
            let (flooded, closed) = measure_during(served, flood, scale, time)?;
            windows.closed += closed;
            windows.without.push(calm.reviews.percentile(0.99));
            windows.with.push(flooded.reviews.percentile(0.99));
            let [without, with] = &mut windows.answers;
            *without += calm.reviews.answers();
            *with += flooded.reviews.answers();
            thread::sleep(REST);
        }
        windows.without.sort_unstable();
        windows.with.sort_unstable();
        Ok(windows)
    }

    /// How far the middle half of the windows without a flood is apart.
    fn noise(&self) -> Duration {
        let [low, high] = [1, 3].map(|quarter| quartile(&self.without, quarter));
        let most = quartile(&self.without, 2).mul_f64(MAX_NOISE);
        high.saturating_sub(low).min(most)
    }

    fn is_in_time(&self) -> bool {
        quartile(&self.with, 2) <= quartile(&self.without, 2) * SLOWER + self.noise()
    }
}

/// The value that so many quarters of sorted ones do not exceed.
fn quartile(sorted: &[Duration], quarter: usize) -> Duration {
    let index = sorted.len().saturating_sub(1) * quarter / 4;
    sorted.get(index).copied().unwrap_or_default()
}

impl fmt::Display for FloodWindows {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [without, with] = [&self.without, &self.with].map(|windows| quartile(windows, 2));
        let ratio = with.as_secs_f64() / without.as_secs_f64();
        let [calm, flooded] = self.answers;
        write!(
            formatter,
            "p99 {without:.1?} without ({:.1?}) and {with:.1?} with ({:.1?}), {ratio:.2} times, noise {:.1?}; \
             {calm} and {flooded} answers; {} connections were closed or held up",
            self.without,
            self.with,
            self.noise(),
            self.closed,
        )
    }
}

/// What usual clients see during some work. All their answers must be right.
fn measure(served: &ServedProgram, work: impl FnOnce()) -> Result<ClientResults, ToolError> {
    let clients = RegularClients::start(served)?;
    work();
    let results = clients.stop()?;
    results.answers()?;
    Ok(results)
}

/// What usual clients see during a flood that has begun, and how many of its connections were closed or held up.
fn measure_during(
    served: &ServedProgram,
    flood: &FrameFlood,
    scale: AttackScale,
    time: Duration,
) -> Result<(ClientResults, usize), ToolError> {
    thread::scope(|scope| {
        let attacking = scope.spawn(|| attack(served, flood, scale, BEGINNING + time));
        thread::sleep(BEGINNING);
        let results = measure(served, || thread::sleep(time));
        let closed = attacking
            .join()
            .map_err(|_| "an attacker panicked".to_owned())??;
        Ok((results?, closed))
    })
}

/// Sends frames on all connections for some time; returns how many were closed or held up.
fn attack(
    served: &ServedProgram,
    flood: &FrameFlood,
    scale: AttackScale,
    time: Duration,
) -> Result<usize, ToolError> {
    let (address, trust) = (served.address(), served.trust()?.with_protocol("h2"));
    let opening = flood.opening();
    let prepared: Vec<Vec<u8>> = (0..PREPARED).map(|sent| flood.frames_after(sent)).collect();
    let end = Instant::now() + time;
    let closed = together(CONNECTIONS.min(scale.clients), || {
        let mut closed: usize = 0;
        while Instant::now() < end {
            // A connection that is refused is as good as one that is closed.
            let sent = LoadClient::connect(address, &trust)
                .map_err(io::Error::other)
                .and_then(|client| send(client, (flood, &opening, &prepared), end));
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
fn send(
    mut client: LoadClient,
    (flood, opening, prepared): (&FrameFlood, &[u8], &[Vec<u8>]),
    end: Instant,
) -> io::Result<()> {
    client.give_up_sending_after(PATIENCE)?;
    // With it comes the handshake, which has the time that it needs.
    client.send(&[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat())?;
    client.give_up_receiving_after(Duration::from_millis(1))?;
    client.send(opening)?;
    let mut prepared = prepared.iter();
    let mut sent = 0;
    let mut buffer = vec![0; 64 << 10];
    while Instant::now() < end {
        match prepared.next() {
            Some(frames) => client.send(frames)?,
            None => client.send(&flood.frames_after(sent))?,
        }
        sent += 1;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floods_that_slow_others_down_are_told() {
        let check = |without: [u64; 5], with: [u64; 5], noise: u64, expected: bool| {
            let windows = FloodWindows {
                without: without.map(Duration::from_micros).to_vec(),
                with: with.map(Duration::from_micros).to_vec(),
                ..FloodWindows::default()
            };
            assert_eq!(windows.noise(), Duration::from_micros(noise));
            assert_eq!(windows.is_in_time(), expected, "{windows}");
        };
        check([2000; 5], [4000; 5], 0, true);
        check([2000; 5], [4001; 5], 0, false);
        // One window of five is an outlier.
        check(
            [1900, 2000, 2000, 2000, 9000],
            [3000, 3000, 4000, 9000, 9000],
            0,
            true,
        );
        check([1800, 1900, 2000, 2300, 2400], [4400; 5], 400, true);
        check([1800, 1900, 2000, 2300, 2400], [4401; 5], 400, false);
        // However noisy: no more than two and a half times.
        check([500, 1000, 2000, 6000, 8000], [5000; 5], 1000, true);
        check([500, 1000, 2000, 6000, 8000], [5001; 5], 1000, false);
    }
}
