//! Maintenance tasks: `cargo xtask <task>`.

mod codegen;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::{bench, conformance, deploy, differential, e2e, load_test, page, tidy};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Maintenance tasks of the workspace")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run a directory of conformance cases and compare verdicts and texts.
    Conformance(Conformance),
    /// Look for differences from the reference with random cases, and make each small.
    Differential(differential::Arguments),
    /// Measure ours, and beside it the reference.
    Bench(bench::Arguments),
    /// Run a real API server, and compare what it says with what Pratique says.
    E2e(e2e::Arguments),
    /// Put a server under load, and beside clients that are slow, large or gone.
    LoadTest(load_test::Arguments),
    /// Look at the page of a server in a real browser.
    Page(page::Arguments),
    /// Render what is deployed with Kustomize and Helm, and look whether it holds together.
    Deploy(deploy::Arguments),
    /// Write the tables of Kubernetes' built-in types.
    Codegen(Sources),
    /// Show how long the source files are, and what they lack.
    Tidy,
}

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct Conformance {
    #[command(subcommand)]
    other: Option<Cases>,
    #[command(flatten)]
    recorded: Option<conformance::Arguments>,
}

/// Cases that others have written.
#[derive(Subcommand)]
enum Cases {
    /// Run the cases of the CEL specification that need no protocol buffers.
    Spec(conformance::spec::Arguments),
}

/// Where the built-in types are described.
#[derive(clap::Args)]
struct Sources {
    /// A directory of OpenAPI documents, as an API server serves them.
    #[arg(long)]
    openapi: PathBuf,
    /// The Go module k8s.io/api.
    #[arg(long)]
    api: PathBuf,
    /// The Go module k8s.io/apimachinery.
    #[arg(long)]
    apimachinery: PathBuf,
    /// The directory to write the tables into.
    #[arg(long)]
    data: PathBuf,
}

fn main() -> ExitCode {
    match Arguments::parse().task {
        Task::Conformance(Conformance {
            other: Some(Cases::Spec(arguments)),
            ..
        }) => conformance::spec::run(&arguments),
        Task::Conformance(Conformance { recorded, .. }) => conformance::run(&recorded.unwrap_or_default()),
        Task::Bench(arguments) => bench::run(&arguments),
        Task::Codegen(of) => ended(codegen::run(&of.openapi, &of.api, &of.apimachinery, &of.data)),
        Task::Deploy(arguments) => deploy::run(&arguments),
        Task::Differential(arguments) => differential::run(&arguments),
        Task::E2e(arguments) => e2e::run(&arguments),
        Task::LoadTest(arguments) => load_test::run(&arguments),
        Task::Page(arguments) => page::run(&arguments),
        Task::Tidy => match tidy::check(&tidy::workspace()) {
            Err(error) => ended(Err(error)),
            Ok(report) => {
                print!("{report}");
                ExitCode::from(u8::from(!report.faults.is_empty()))
            }
        },
    }
}

fn ended(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
