//! `cargo xtask load-test`: a `pratique serve` over TLS under load, and what it makes of clients that are slow, large or
//! gone. Everything runs on this machine, the load's own work as well: figures are better where that is built for release,
//! as by `cargo run --release --package pratique-load-test`.
//!
//! `oha`, which crates.io has, is not used: it counts status codes, where each answer here has to allow its request, and a load has to go
//! on until a server that ends refuses connections. The client would stay, as hostile clients and `attack` speak through it.

pub mod client;
mod connections;
mod contest;
mod hostile;
pub mod load;
mod loaded_server;
pub mod measurements;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use pratique_dist::DistPrograms;
use pratique_harness::{StepTranscript, ToolError, outcome};

use client::ClientTrust;
use load::{LoadAction, ServerLoad};
use loaded_server::ServedProgram;
use measurements::MeasuredRequests;

/// Puts a server under load, and beside clients that are slow, large or gone.
#[derive(clap::Parser, Debug)]
#[command(bin_name = "cargo xtask load-test")]
pub struct LoadArguments {
    /// The `pratique` to try, instead of one that is built for release.
    #[arg(long, value_name = "FILE")]
    pratique: Option<PathBuf>,
    /// How long, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    time: u64,
    /// Over how many connections, each with one request at a time.
    #[arg(long, value_name = "COUNT", default_value_t = 16)]
    connections: usize,
    /// How many policies evaluate each request.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    policies: usize,
    /// Measure a server beside, instead of what hostile clients do: with 1, 64 and 1,024 connections over HTTP/1.1 and HTTP/2.
    #[arg(long, value_enum)]
    against: Option<OtherServer>,
    /// How often each server has its turn, `--time` seconds for all of a number of connections.
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    rounds: u32,
}

/// A server to measure beside.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum OtherServer {
    /// One in Go, with controller-runtime and the policy plugin of an API server. It needs Go.
    Go,
    /// None: ours is measured in the same way, alone.
    Nobody,
}

/// The allowed growth of the 99th percentile by hostile clients.
const SLOWER: f64 = 1.5;
/// The allowed growth of memory after some use.
const GROWTH: f64 = 1.1;

/// Runs the load and prints the measurements.
pub fn run(arguments: &LoadArguments) -> ExitCode {
    let mut transcript = StepTranscript::default();
    StepTranscript::end(run_all(arguments, &mut transcript).map(|()| transcript))
}

fn run_all(arguments: &LoadArguments, transcript: &mut StepTranscript) -> Result<(), ToolError> {
    let program = match &arguments.pratique {
        Some(given) => given.canonicalize().map_err(ToolError::file(given))?,
        None => DistPrograms::build(None)?.program("pratique"),
    };
    let mut served = ServedProgram::start(&program, arguments.policies)?;
    let load = ServerLoad {
        address: served.address(),
        trust: ClientTrust::from_authority(&served.authority())?,
        connections: arguments.connections,
        request: load::review(),
    };
    let bytes = load.request.len();
    transcript.part(&format!(
        "{} policies, requests of {bytes} bytes",
        arguments.policies
    ));
    if let Some(other) = arguments.against {
        let rounds = arguments.rounds.max(1);
        // Each of both has a turn in each round, and one before.
        let turn = Duration::from_secs(arguments.time) / (2 * rounds + 2);
        contest::run(&served, other, &load.request, (rounds as usize, turn), transcript)?;
        return served.stop();
    }
    transcript.part(&format!("{} connections", arguments.connections));
    // Caches are warm then, and buffers as large as they get.
    load.run(Duration::from_secs(5.min(arguments.time)), &LoadAction::nothing())?;
    let quiet = alone(&load, &served, Duration::from_secs(arguments.time), transcript)?;
    for kind in hostile::HostileKind::ALL {
        let name = format!("beside {}", kind.name());
        transcript.step(&name, beside(&load, kind, &quiet));
    }
    transcript.step("SIGTERM drops no request", end(&load, &mut served));
    Ok(())
}

/// Measures the load without hostile clients.
fn alone(
    load: &ServerLoad,
    served: &ServedProgram,
    time: Duration,
    transcript: &mut StepTranscript,
) -> Result<MeasuredRequests, ToolError> {
    let (initial_memory, work) = (served.memory()?, served.processor_time()?);
    let mut memory = Vec::new();
    let measured = load.run(time, &LoadAction::each_second(|| memory.push(served.memory())))?;
    let work = served.processor_time()?.saturating_sub(work);
    let text = format!("{measured}\nprocessors worked {work:.1?} for the server");
    transcript.step("load", measured.flawless().map(|()| text));
    let memory: Vec<u64> = memory.into_iter().collect::<Result<_, _>>()?;
    let most = memory.iter().copied().max().unwrap_or(initial_memory);
    #[expect(clippy::cast_precision_loss, reason = "kibibytes of a process are few")]
    let growth = most as f64 / initial_memory as f64;
    let last = memory.last().copied().unwrap_or(initial_memory);
    let text =
        format!("{initial_memory} KiB before, at most {most} KiB while under load, {last} KiB in the end");
    transcript.step("memory stays", outcome(growth <= GROWTH, text));
    Ok(measured)
}

/// Measures the load with hostile clients.
fn beside(
    load: &ServerLoad,
    kind: hostile::HostileKind,
    quiet: &MeasuredRequests,
) -> Result<String, ToolError> {
    let hostile = hostile::HostileClients::start(kind, load)?;
    let measured = load.run(Duration::from_secs(10), &LoadAction::nothing())?;
    let seen = hostile.stop();
    measured.flawless()?;
    let slower = measured.percentile(0.99).as_secs_f64() / quiet.percentile(0.99).as_secs_f64();
    let text = format!("{measured}\n{seen}; p99 is {slower:.2} times that without");
    outcome(slower <= SLOWER, text)
}

/// The end of the server, which others see as the end of connections between requests.
fn end(load: &ServerLoad, served: &mut ServedProgram) -> Result<String, ToolError> {
    let measured = std::thread::scope(|scope| {
        let loaded = scope.spawn(|| load.run_until_refused());
        std::thread::sleep(Duration::from_secs(2));
        served.stop()?;
        loaded.join().map_err(|_| "the load panicked".to_owned())?
    })?;
    measured.flawless()?;
    Ok(format!(
        "{measured}\nthe last was answered, and no more are taken"
    ))
}
