//! `cargo xtask attack`: a `pratique serve` with 1 GiB of memory and 1,024 files, and the commands likewise, under each
//! attack that is known to have stopped them once. Beside each attack on the server, usual clients get the right answers
//! in time, and `/livez` answers.
//!
//! It runs on Linux, with the rights of any user; as root, a control group enforces the limit of memory.

mod beside;
mod clock;
mod cluster;
mod commands;
mod confined;
mod disk;
mod evaluation;
mod faults;
mod files;
mod fuse;
mod http2;
mod interrupted;
mod memory;
mod namespace;
mod needs;
mod network;
mod patches;
mod reviews;
mod served;
mod sockets;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use beside::{Beside, Seen};
use pratique_harness::{Error, Transcript, cargo};
use pratique_load_test::measured::Measured;
use served::{Options, Served};

/// Attacks a server and the commands with little memory and few files, and sees whether others notice.
#[derive(clap::Parser, Debug)]
#[command(bin_name = "cargo xtask attack")]
pub struct Arguments {
    /// The `pratique` to attack, instead of one that is built.
    #[arg(long, value_name = "FILE")]
    pratique: Option<PathBuf>,
    /// The profile to build it with.
    #[arg(long, value_name = "NAME", default_value = "release")]
    profile: String,
    /// Attack less and for a shorter time, seconds for each, and evaluate no times: those of a machine that does other things
    /// besides mean little.
    #[arg(long)]
    short: bool,
    /// Only attacks whose name has this in it.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Attack in this directory what is alone in the network that there is: this program starts itself so.
    #[arg(long, value_name = "DIR", hide = true)]
    isolated: Option<PathBuf>,
}

impl Arguments {
    fn scale(&self) -> Scale {
        if self.short { SHORT } else { LONG }
    }
}

/// How much of each attack there is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// How many hostile clients.
    clients: usize,
    /// How long they go on.
    time: Duration,
    /// How often something is repeated.
    rounds: usize,
    /// How many of whatever makes an input large.
    size: usize,
    /// Whether it is a fault that others are served more slowly.
    measures_time: bool,
}

/// The whole attack, and a short one.
const LONG: Scale = Scale {
    clients: 100,
    time: Duration::from_secs(20),
    rounds: 30,
    size: 100_000,
    measures_time: true,
};
const SHORT: Scale = Scale {
    clients: 16,
    time: Duration::from_secs(3),
    rounds: 3,
    size: 5_000,
    measures_time: false,
};

/// An attack on a server beside which others are served: what was seen, or what was wrong.
type Attack = fn(&Served, Scale) -> Result<String, Error>;

/// In this order: what one leaves behind, the next ones meet.
const ATTACKS: [(&str, Attack); 16] = [
    ("comparisons without end", evaluation::comparisons),
    ("patterns that come from objects", evaluation::patterns),
    ("what plugins compare", evaluation::plugins),
    ("empty containers", memory::containers),
    ("reviews of the largest objects", memory::large_reviews),
    ("bodies that do not end", memory::unfinished),
    ("answers that are not taken, HTTP/2", memory::unread_second),
    ("answers that are not taken, HTTP/1.1", memory::unread_first),
    ("idle connections", sockets::idle),
    ("reviews that no API server sends", evaluation::odd),
    ("copies in a policy's JSON Patch", patches::by_policy),
    ("manifests with many aliases", files::aliases),
    ("manifests rewritten in place", files::rewritten),
    ("manifests of the future", files::future),
    ("certificates that are no files", files::certificates),
    ("metrics and configuration, again and again", sockets::looks),
];

/// What others may notice in the slowest hundredth: twice what there was without, and what the attackers' own work takes on
/// this machine.
const SLOWER: u32 = 2;
const SHARED: Duration = Duration::from_millis(50);
/// How long `/livez` may take at the listener for probes, and at the one for reviews: with a TLS handshake among those of
/// a hundred clients, and within what the probes of `deploy/` wait for.
const ALIVE: Duration = Duration::from_millis(100);
const ALIVE_BESIDE_REVIEWS: Duration = Duration::from_secs(1);

/// Runs it and prints what was seen.
pub fn run(arguments: &Arguments) -> ExitCode {
    if let (Some(state), Some(program)) = (&arguments.isolated, &arguments.pratique) {
        let seen = network::isolated(program, state, arguments.scale());
        match &seen {
            Ok(seen) => println!("{seen}"),
            Err(wrong) => println!("{wrong}"),
        }
        return ExitCode::from(u8::from(seen.is_err()));
    }
    let mut transcript = Transcript::default();
    Transcript::end(all(arguments, &mut transcript).map(|()| transcript))
}

fn all(arguments: &Arguments, transcript: &mut Transcript) -> Result<(), Error> {
    let program = match &arguments.pratique {
        Some(path) => fs::canonicalize(path).map_err(Error::file(&path))?,
        None => cargo::pratique(&arguments.profile)?,
    };
    let state = std::env::temp_dir().join(format!("pratique-attack-{}", std::process::id()));
    let folder = |name: &str| -> Result<PathBuf, Error> {
        let path = state.join(name);
        fs::create_dir_all(&path).map_err(Error::file(&path))?;
        Ok(path)
    };
    let scale = arguments.scale();
    let wanted = |name: &str| arguments.only.as_ref().is_none_or(|only| name.contains(only));

    if ATTACKS.iter().any(|(name, _)| wanted(name)) {
        transcript.part("A server, with usual clients beside each attack");
        let place = folder("server")?;
        let mut served = Served::start(&Options::new(&program, &place))?;
        let quiet = quiet(&served, scale)?;
        transcript.step("nothing", quiet.fine(None));
        for (name, attack) in ATTACKS.into_iter().filter(|(name, _)| wanted(name)) {
            let outcome = beside(&mut served, attack, scale, &quiet.reviews);
            // Whatever an attack left behind is not counted against the next one when it has been told of already.
            if outcome.is_err() {
                served = Served::start(&Options::new(&program, &place))?;
            }
            transcript.step(name, outcome);
        }
        transcript.step(
            "the server ends when asked",
            served.stop().map(|()| String::new()),
        );
    }
    transcript.part("Servers of their own");
    let faults = [
        &faults::ALL[..],
        &disk::ALL,
        &clock::ALL,
        &network::ALL,
        &interrupted::ALL,
    ];
    for (name, needs, fault) in faults.concat().into_iter().filter(|(name, ..)| wanted(name)) {
        if let Some(missing) = needs.iter().find_map(|need| need.missing(scale)) {
            transcript.skip(name, &missing);
            continue;
        }
        let place = folder(&name.replace([' ', ','], "-"))?;
        transcript.step(name, fault(&Options::new(&program, &place), scale));
    }
    transcript.part("Commands");
    for (name, command) in commands::ALL.into_iter().filter(|(name, _)| wanted(name)) {
        let place = folder(&name.replace(' ', "-"))?;
        transcript.step(name, command(&program, &place, scale));
    }
    fs::remove_dir_all(&state).map_err(Error::file(&state))
}

/// What usual clients see without an attack.
fn quiet(served: &Served, scale: Scale) -> Result<Seen, Error> {
    let beside = Beside::start(served)?;
    thread::sleep(scale.time);
    beside.stop()
}

fn beside(served: &mut Served, attack: Attack, scale: Scale, quiet: &Measured) -> Result<String, Error> {
    let beside = Beside::start(served)?;
    let attacked = attack(served, scale);
    let seen = beside.stop()?;
    let survived = served.survived()?;
    let quiet = scale.measures_time.then_some(quiet);
    let seen = seen.fine(quiet);
    let is_fine = attacked.is_ok() && seen.is_ok();
    let [attacked, seen] = [attacked, seen].map(|told| told.unwrap_or_else(|error| error.to_string()));
    let text = format!("{attacked}\n{seen}\n{survived}");
    match is_fine {
        true => Ok(text),
        false => Err(Error::Unexpected(text)),
    }
}

impl Seen {
    /// That all answers came and were right; and that they came in time, compared with what there was without an attack.
    fn fine(&self, quiet: Option<&Measured>) -> Result<String, Error> {
        self.reviews.flawless()?;
        self.health.flawless()?;
        self.probes.flawless()?;
        let seen = [&self.reviews, &self.health, &self.probes];
        let [p99, alive, probed] = seen.map(|seen| seen.percentile(0.99));
        let text = format!(
            "beside it {} right answers, p99 {p99:.1?}; /livez {} times, p99 {alive:.1?} beside reviews, {probed:.1?} of its own",
            self.reviews.answers(),
            self.health.answers() + self.probes.answers()
        );
        let Some(quiet) = quiet else {
            return Ok(text);
        };
        let limit = quiet.percentile(0.99) * SLOWER + SHARED;
        match p99 <= limit && alive <= ALIVE_BESIDE_REVIEWS && probed <= ALIVE {
            true => Ok(text),
            false => Err(format!(
                "{text}; at most {limit:.1?}, {ALIVE_BESIDE_REVIEWS:?} and {ALIVE:?} are allowed"
            )
            .into()),
        }
    }
}

/// How often there was which answer.
fn counted(codes: &[u16]) -> String {
    let mut counts = BTreeMap::new();
    for code in codes {
        *counts.entry(code).or_insert(0) += 1;
    }
    let counts = counts.iter().map(|(code, count)| format!("{count} times {code}"));
    counts.collect::<Vec<_>>().join(", ")
}
