//! `cargo xtask attack`: a `pratique serve` with 1 GiB of memory and 1,024 files, and the commands with the same limits,
//! under each attack that once stopped them. During each attack on the server, usual clients must get the right answers in
//! time, and `/livez` must answer.
//!
//! It runs on Linux, with the rights of any user; as root, a control group enforces the limit of memory.

mod attacked_server;
mod clock;
mod cluster;
mod commands;
mod confined_program;
mod disk;
mod evaluation;
mod faults;
mod files;
mod fuse;
mod http2;
mod http2_floods;
mod interruption;
mod memory;
mod namespace;
mod needs;
mod network;
mod patches;
mod policy_files;
mod regular_clients;
mod reviews;
mod sockets;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use attacked_server::{ServeOptions, ServedProgram};
use pratique_harness::{StepTranscript, ToolError, cargo};
use pratique_load_test::measurements::MeasuredRequests;
use regular_clients::{ClientResults, RegularClients};

/// Attacks a server and the commands with little memory and few files, and sees whether others notice.
#[derive(clap::Parser, Debug)]
#[command(bin_name = "cargo xtask attack")]
pub struct AttackArguments {
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

impl AttackArguments {
    fn scale(&self) -> AttackScale {
        if self.short { SHORT } else { LONG }
    }
}

/// The size of attacks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttackScale {
    /// How many hostile clients.
    clients: usize,
    /// How long they go on.
    time: Duration,
    /// How often something is repeated.
    rounds: usize,
    /// How many elements a large input has.
    size: usize,
    /// Whether it is an error if other clients are served more slowly.
    measures_time: bool,
}

/// The whole attack, and a short one.
const LONG: AttackScale = AttackScale {
    clients: 100,
    time: Duration::from_secs(20),
    rounds: 30,
    size: 100_000,
    measures_time: true,
};
const SHORT: AttackScale = AttackScale {
    clients: 16,
    time: Duration::from_secs(3),
    rounds: 3,
    size: 5_000,
    measures_time: false,
};

/// An attack on a server that also serves other clients; returns a summary, or what went wrong.
type ServerAttack = fn(&ServedProgram, AttackScale) -> Result<String, ToolError>;

/// All attacks in their order: an attack starts with the state that the earlier ones left behind.
const ATTACKS: [(&str, ServerAttack); 16] = [
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

/// The allowed 99th percentile for other clients: twice that without an attack, plus the time that the attackers' own work
/// takes on this machine.
const SLOWER: u32 = 2;
const SHARED: Duration = Duration::from_millis(50);
/// How long `/livez` may take at the listener for probes, and at the one for reviews: with a TLS handshake among those of
/// a hundred clients, and within what the probes of `deploy/` wait for.
const ALIVE: Duration = Duration::from_millis(100);
const ALIVE_BESIDE_REVIEWS: Duration = Duration::from_secs(1);

/// Runs all attacks and prints the transcript.
pub fn run(arguments: &AttackArguments) -> ExitCode {
    if let (Some(state), Some(program)) = (&arguments.isolated, &arguments.pratique) {
        let results = network::isolated(program, state, arguments.scale());
        match &results {
            Ok(results) => println!("{results}"),
            Err(wrong) => println!("{wrong}"),
        }
        return ExitCode::from(u8::from(results.is_err()));
    }
    let mut transcript = StepTranscript::default();
    StepTranscript::end(run_all(arguments, &mut transcript).map(|()| transcript))
}

fn run_all(arguments: &AttackArguments, transcript: &mut StepTranscript) -> Result<(), ToolError> {
    let program = cargo::pratique(arguments.pratique.as_deref(), &arguments.profile)?;
    let state = std::env::temp_dir().join(format!("pratique-attack-{}", std::process::id()));
    let folder = |name: &str| -> Result<PathBuf, ToolError> {
        let path = state.join(name);
        fs::create_dir_all(&path).map_err(ToolError::file(&path))?;
        Ok(path)
    };
    let scale = arguments.scale();
    let wanted = |name: &str| arguments.only.as_ref().is_none_or(|only| name.contains(only));

    if ATTACKS.iter().any(|(name, _)| wanted(name)) {
        transcript.part("A server, with usual clients beside each attack");
        let place = folder("server")?;
        let mut served = ServedProgram::start(&ServeOptions::new(&program, &place))?;
        let baseline = baseline(&served, scale)?;
        transcript.step("nothing", baseline.check_answers(None));
        for (name, attack) in ATTACKS.into_iter().filter(|(name, _)| wanted(name)) {
            let outcome = run_attack(&mut served, attack, scale, &baseline.reviews);
            // State that a failed attack left behind must not fail the next one, too.
            if outcome.is_err() {
                served = ServedProgram::start(&ServeOptions::new(&program, &place))?;
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
        &interruption::ALL,
        &http2_floods::ALL,
        &policy_files::ALL,
    ];
    for (name, needs, fault) in faults.concat().into_iter().filter(|(name, ..)| wanted(name)) {
        if let Some(missing) = needs.iter().find_map(|need| need.missing(scale)) {
            transcript.skip(name, &missing);
            continue;
        }
        let place = folder(&name.replace([' ', ','], "-"))?;
        transcript.step(name, fault(&ServeOptions::new(&program, &place), scale));
    }
    transcript.part("Commands");
    for (name, command) in commands::ALL.into_iter().filter(|(name, _)| wanted(name)) {
        let place = folder(&name.replace(' ', "-"))?;
        transcript.step(name, command(&program, &place, scale));
    }
    fs::remove_dir_all(&state).map_err(ToolError::file(&state))
}

/// The measurements of usual clients without an attack.
fn baseline(served: &ServedProgram, scale: AttackScale) -> Result<ClientResults, ToolError> {
    let clients = RegularClients::start(served)?;
    thread::sleep(scale.time);
    clients.stop()
}

fn run_attack(
    served: &mut ServedProgram,
    attack: ServerAttack,
    scale: AttackScale,
    baseline: &MeasuredRequests,
) -> Result<String, ToolError> {
    let clients = RegularClients::start(served)?;
    let attacked = attack(served, scale);
    let results = clients.stop()?;
    let survived = served.survived()?;
    let baseline = scale.measures_time.then_some(baseline);
    let results = results.check_answers(baseline);
    let is_fine = attacked.is_ok() && results.is_ok();
    let [attacked, results] =
        [attacked, results].map(|summary| summary.unwrap_or_else(|error| error.to_string()));
    let text = format!("{attacked}\n{results}\n{survived}");
    if is_fine {
        Ok(text)
    } else {
        Err(ToolError::Unexpected(text))
    }
}

impl ClientResults {
    /// Checks that all answers came and were right, and in time compared with the baseline.
    fn check_answers(&self, baseline: Option<&MeasuredRequests>) -> Result<String, ToolError> {
        self.reviews.flawless()?;
        self.health.flawless()?;
        self.probes.flawless()?;
        let results = [&self.reviews, &self.health, &self.probes];
        let [p99, alive, probed] = results.map(|results| results.percentile(0.99));
        let text = format!(
            "beside it {} right answers, p99 {p99:.1?}; /livez {} times, p99 {alive:.1?} beside reviews, {probed:.1?} of its own",
            self.reviews.answers(),
            self.health.answers() + self.probes.answers()
        );
        let Some(baseline) = baseline else {
            return Ok(text);
        };
        let limit = baseline.percentile(0.99) * SLOWER + SHARED;
        if p99 <= limit && alive <= ALIVE_BESIDE_REVIEWS && probed <= ALIVE {
            Ok(text)
        } else {
            Err(
                format!("{text}; at most {limit:.1?}, {ALIVE_BESIDE_REVIEWS:?} and {ALIVE:?} are allowed")
                    .into(),
            )
        }
    }
}

/// Counts answers by their code.
fn count_codes(codes: &[u16]) -> String {
    let mut counts = BTreeMap::new();
    for code in codes {
        *counts.entry(code).or_insert(0) += 1;
    }
    let counts = counts.iter().map(|(code, count)| format!("{count} times {code}"));
    counts.collect::<Vec<_>>().join(", ")
}
