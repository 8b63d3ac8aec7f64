//! `cargo xtask e2e`: a real kube-apiserver with a real etcd, whose answers are compared with those of Pratique.
//!
//! Everything runs on loopback addresses, with its state in one folder below the target directory. The server, its
//! controllers, etcd, kubectl, Kustomize, Helm and an S3-compatible store are built from their published Go modules, so Go has to
//! be installed; the first build takes minutes.

mod answers;
mod apiserver;
mod bulk;
mod case_files;
mod chain;
mod controllers;
mod deployment;
mod etcd;
mod exclusions;
mod fleet;
mod follows;
mod http;
mod jobs;
mod kubectl;
mod kubelet;
mod life;
mod programs;
mod replays;
mod requests;
mod review_command;
mod roles;
mod served_webhook;
mod starts;
mod store;
mod twins;
mod upgrade;
mod validation;
mod versitygw;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use pratique_harness::{StepTranscript, ToolError};
use pratique_schema::Release;

use programs::ProgramPaths;
use upgrade::UpgradeArguments;
use validation::ValidationArguments;

/// Runs a real API server, and compares what it says with what Pratique says.
#[derive(clap::Parser, Debug)]
#[command(bin_name = "cargo xtask e2e")]
pub struct E2eArguments {
    /// Only these parts.
    #[arg(long, value_enum)]
    only: Vec<SuitePart>,
    /// The release of Kubernetes whose server runs, in its patch version that is known.
    #[arg(
        long,
        value_name = "VERSION",
        value_parser = Release::by_version,
        default_value_t = Release::latest()
    )]
    kubernetes_version: &'static Release,
    /// The `pratique` to try, instead of one that is built.
    #[arg(long, value_name = "FILE")]
    pratique: Option<PathBuf>,
    /// The profile to build it with.
    #[arg(long, value_name = "NAME", default_value = "dev")]
    profile: String,
    /// Write the answers of the part `chain` into `testdata/e2e/chain`; of a release that is not the latest those that differ.
    #[arg(long)]
    bless: bool,
    #[command(flatten)]
    validation: ValidationArguments,
    #[command(flatten)]
    upgrade: UpgradeArguments,
    /// Keep the state of the last part, logs included, and say where it is.
    #[arg(long)]
    keep: bool,
}

/// A part of the suite.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum SuitePart {
    /// Does `pratique check` agree with the server's start?
    Starts,
    /// Do the server's own manifests and `pratique serve` say the same?
    Twins,
    /// Does `pratique serve` outlive what happens to it?
    Life,
    /// Does `pratique serve` evaluate by what a cluster has?
    Follows,
    /// Does the server take what is in `deploy/`?
    Deployed,
    /// Do a server's plugins and ours answer the same, and store the same objects?
    Chain,
    /// Does `pratique scan` see each object of a cluster once, while objects change and after it was killed? Does `pratique
    /// impact` compare all of them?
    Fleet,
    /// Do shards of `pratique scan` write to an S3-compatible store, and are their reports merged from it?
    Store,
    /// Do scans run as Jobs and CronJobs, as they are deployed?
    Jobs,
    /// Does `pratique replay` decide as the server did?
    Replays,
    /// Does a server call webhooks for the same reviews of users and permissions as `pratique review`?
    Exclusions,
    /// Does a server refuse the same objects as `pratique review`, and does it make the same of the others?
    Validation,
    /// Does `pratique upgrade` find what differs between the servers of two releases?
    Upgrade,
}

/// All parts, in the order in which they run.
const PARTS: [SuitePart; 13] = [
    SuitePart::Starts,
    SuitePart::Twins,
    SuitePart::Life,
    SuitePart::Follows,
    SuitePart::Deployed,
    SuitePart::Chain,
    SuitePart::Fleet,
    SuitePart::Store,
    SuitePart::Jobs,
    SuitePart::Replays,
    SuitePart::Exclusions,
    SuitePart::Validation,
    SuitePart::Upgrade,
];

impl SuitePart {
    /// Whether it gives the server static manifests.
    fn needs_manifests(self) -> bool {
        matches!(
            self,
            SuitePart::Starts | SuitePart::Twins | SuitePart::Life | SuitePart::Follows | SuitePart::Replays
        )
    }
}

/// The programs and the directory of a part.
struct PartEnvironment {
    programs: ProgramPaths,
    /// A new folder for state.
    state: PathBuf,
}

/// Runs the suite and prints its transcript.
pub fn run(arguments: &E2eArguments) -> ExitCode {
    StepTranscript::end(run_all(arguments))
}

fn run_all(arguments: &E2eArguments) -> Result<StepTranscript, ToolError> {
    let release = arguments.kubernetes_version;
    let programs = ProgramPaths::build(arguments.pratique.as_deref(), &arguments.profile, release)?;
    println!("Kubernetes {}", release.patch_version());
    let mut transcript = StepTranscript::default();
    let chosen = PARTS
        .into_iter()
        .filter(|part| arguments.only.is_empty() || arguments.only.contains(part));
    for part in chosen {
        if part.needs_manifests() && !programs.reads_manifests() {
            let why = format!("Kubernetes {release} reads no static manifests");
            transcript.skip(&format!("{part:?}"), &why);
            continue;
        }
        let environment = PartEnvironment {
            programs: programs.clone(),
            state: fresh_state(&programs)?,
        };
        let ended = match part {
            SuitePart::Starts => starts::run(&environment, &mut transcript),
            SuitePart::Twins => twins::run(&environment, &mut transcript),
            SuitePart::Life => life::run(&environment, &mut transcript),
            SuitePart::Follows => follows::run(&environment, &mut transcript),
            SuitePart::Deployed => deployment::run(&environment, &mut transcript),
            SuitePart::Chain => chain::run(&environment, &mut transcript, arguments.bless),
            SuitePart::Fleet => fleet::run(&environment, &mut transcript),
            SuitePart::Store => store::run(&environment, &mut transcript),
            SuitePart::Jobs => jobs::run(&environment, &mut transcript),
            SuitePart::Replays => replays::run(&environment, &mut transcript),
            SuitePart::Exclusions => exclusions::run(&environment, &mut transcript),
            SuitePart::Validation => validation::run(&environment, &mut transcript, &arguments.validation),
            SuitePart::Upgrade => upgrade::run(&environment, &mut transcript, &arguments.upgrade),
        };
        if arguments.keep {
            eprintln!("state: {}", environment.state.display());
        } else {
            fs::remove_dir_all(&environment.state).map_err(ToolError::file(&environment.state))?;
        }
        ended?;
    }
    Ok(transcript)
}

/// An empty folder next to the programs. The kept state of an earlier run is removed.
fn fresh_state(programs: &ProgramPaths) -> Result<PathBuf, ToolError> {
    let state = programs.folder().join("state");
    let failed = |error: std::io::Error| format!("{}: {error}", state.display());
    if state.exists() {
        fs::remove_dir_all(&state).map_err(failed)?;
    }
    fs::create_dir_all(&state).map_err(failed)?;
    Ok(state)
}
