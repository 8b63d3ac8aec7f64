//! The server beside one in Go with the usual library for webhooks, controller-runtime, whose requests the validating plugin of an API
//! server evaluates: the same policies, compiled once, the same certificate and the same request.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::Duration;

use pratique_benches::memory::kib;
use pratique_harness::{
    RunningProcess, SampleSpread, StepTranscript, ToolError, free_port, go, outcome, workspace,
};

use crate::OtherServer;
use crate::client::ClientTrust;
use crate::connections::{ConnectionSet, HttpVersion};
use crate::loaded_server::ServedProgram;
use crate::measurements::MeasuredRequests;

/// How many connections ask.
const COUNTS: [usize; 3] = [1, 64, 1024];

/// What is asked of ours: how many times the requests a second of theirs, and which parts of the 99th percentile and of the memory.
const REQUESTS: f64 = 4.0;
const PERCENTILE: f64 = 0.5;
const MEMORY: f64 = 0.25;

/// What one side did: of each round.
#[derive(Default)]
struct SideRounds {
    rates: Vec<f64>,
    percentiles: Vec<f64>,
    memory: u64,
}

/// Both sides beside each other.
#[derive(Default)]
struct ServerComparison {
    ours: SideRounds,
    theirs: SideRounds,
}

/// The server in Go.
struct GoServer {
    process: RunningProcess,
    address: SocketAddr,
}

/// Measures both, with each number of connections and each version of HTTP; a round gives each its turn.
pub(crate) fn run(
    served: &ServedProgram,
    other: OtherServer,
    request: &str,
    (rounds, turn): (usize, Duration),
    transcript: &mut StepTranscript,
) -> Result<(), ToolError> {
    let theirs = match other {
        OtherServer::Go => Some(GoServer::start(served)?),
        OtherServer::Nobody => None,
    };
    let trust = ClientTrust::from_authority(&served.authority())?;
    for version in HttpVersion::ALL {
        for count in COUNTS {
            let open = |address| ConnectionSet::new(address, &trust, version, count, request);
            let ours = open(served.address())?;
            let others = theirs.as_ref().map(|theirs| open(theirs.address)).transpose()?;
            let mut compared = ServerComparison::default();
            // Caches are warm then.
            for connections in std::iter::once(&ours).chain(&others) {
                connections.open()?;
                connections.run(turn)?.flawless()?;
            }
            for _ in 0..rounds {
                compared.ours.add(&ours.run(turn)?)?;
                if let Some(others) = &others {
                    compared.theirs.add(&others.run(turn)?)?;
                }
            }
            compared.ours.memory = served.memory()?;
            let connections = if count == 1 { "connection" } else { "connections" };
            let name = format!("{version}, {count} {connections}");
            let measured = match &theirs {
                Some(theirs) => {
                    compared.theirs.memory = kib(&theirs.process.id().to_string(), "VmRSS")?;
                    outcome(compared.is_reached(count), compared.to_string())
                }
                None => Ok(compared.ours.to_string()),
            };
            transcript.step(&name, measured);
        }
    }
    Ok(())
}

impl SideRounds {
    fn add(&mut self, measured: &MeasuredRequests) -> Result<(), ToolError> {
        measured.flawless()?;
        self.rates.push(measured.rate());
        self.percentiles.push(measured.percentile(0.99).as_secs_f64());
        Ok(())
    }

    /// Requests a second.
    fn rate(&self) -> f64 {
        median(self.rates.iter().copied())
    }

    /// The 99th percentile in seconds.
    fn percentile(&self) -> f64 {
        median(self.percentiles.iter().copied())
    }
}

impl Display for SideRounds {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let (rate, percentile) = (self.rate(), self.percentile() * 1e3);
        let memory = self.memory;
        write!(
            formatter,
            "{rate:.0} requests a second, p99 {percentile:.2} ms, memory {memory} KiB"
        )
    }
}

impl ServerComparison {
    fn is_reached(&self, count: usize) -> bool {
        let is_small = count < 1024 || self.memory_ratio() <= MEMORY;
        self.rate_ratio() >= REQUESTS && self.percentile_ratio() <= PERCENTILE && is_small
    }

    fn rate_ratio(&self) -> f64 {
        median_ratio(&self.ours.rates, &self.theirs.rates)
    }

    fn percentile_ratio(&self) -> f64 {
        median_ratio(&self.ours.percentiles, &self.theirs.percentiles)
    }

    #[expect(clippy::cast_precision_loss, reason = "kibibytes of a process are few")]
    fn memory_ratio(&self) -> f64 {
        self.ours.memory as f64 / self.theirs.memory.max(1) as f64
    }
}

impl Display for ServerComparison {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{:.0} requests a second beside {:.0}: {:.2}×, {REQUESTS}× is asked",
            self.ours.rate(),
            self.theirs.rate(),
            self.rate_ratio()
        )?;
        writeln!(
            formatter,
            "p99 {:.2} ms beside {:.2} ms: {:.3}×, {PERCENTILE}× is asked",
            self.ours.percentile() * 1e3,
            self.theirs.percentile() * 1e3,
            self.percentile_ratio()
        )?;
        write!(
            formatter,
            "memory {} KiB beside {} KiB: {:.3}×, of 1024 connections {MEMORY}× is asked",
            self.ours.memory,
            self.theirs.memory,
            self.memory_ratio()
        )
    }
}

/// The middle of the ratios of rounds.
fn median_ratio(ours: &[f64], theirs: &[f64]) -> f64 {
    let pairs = ours.iter().zip(theirs);
    median(pairs.map(|(ours, theirs)| ours / theirs))
}

/// The middle of numbers; 0 of none.
fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    SampleSpread::from_numbers(numbers).map_or(0.0, |spread| spread.median)
}

impl GoServer {
    /// Starts it with the policies and the certificate of ours.
    fn start(served: &ServedProgram) -> Result<Self, ToolError> {
        let program = go::build_changed("policy", "./bench", &workspace::target().join("load-test"))?;
        let namespace = served.state().join("namespace.json");
        fs::write(&namespace, r#"{"metadata": {"name": "shop"}}"#).map_err(ToolError::file(&namespace))?;
        let port = free_port()?;
        let mut command = Command::new(program);
        command
            .args(["listen", &port.to_string()])
            .args([served.certificate_directory(), served.manifests()])
            .arg(&namespace);
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut process = RunningProcess::start(command, &served.state().join("theirs.log"))?;
        process.wait_until("listening", |_| Ok(TcpStream::connect(address).is_ok()))?;
        Ok(GoServer { process, address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(rate: f64, percentile: f64, memory: u64) -> ServerComparison {
        let side = |rate, percentile, memory| SideRounds {
            rates: vec![rate; 3],
            percentiles: vec![percentile; 3],
            memory,
        };
        ServerComparison {
            ours: side(rate, percentile, memory),
            theirs: side(100.0, 0.1, 1000),
        }
    }

    #[test]
    fn everything_that_is_asked_is_reached() {
        assert!(comparison(400.0, 0.05, 250).is_reached(1024));
        assert!(!comparison(399.0, 0.05, 250).is_reached(1024));
        assert!(!comparison(400.0, 0.06, 250).is_reached(1024));
        assert!(!comparison(400.0, 0.05, 251).is_reached(1024));
        // Of few connections, the memory is that of the policies.
        assert!(comparison(400.0, 0.05, 900).is_reached(64));
    }

    #[test]
    fn ratios_are_those_of_rounds() {
        assert!((median_ratio(&[1.0, 8.0, 9.0], &[1.0, 2.0, 1.0]) - 4.0).abs() < 1e-9);
        assert!(median([]).abs() < 1e-9);
    }
}
