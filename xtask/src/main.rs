//! Maintenance tasks: `cargo xtask <task>`.

mod codegen;

use std::ffi::OsString;
#[cfg(unix)]
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};

use clap::{Parser, Subcommand};
use pratique_harness::workspace;
use xtask::tools::{self, Tool};
use xtask::{bench, field, fuzz, tidy};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Maintenance tasks of the workspace")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Measure ours, and beside it the reference.
    Bench(bench::Arguments),
    /// Look at the policies of public repositories: whether what is warned of is so.
    Field(field::Arguments),
    /// Give the fuzz targets inputs that nobody has thought of.
    Fuzz(fuzz::Arguments),
    /// Write the tables of Kubernetes' built-in types.
    Codegen(Sources),
    /// Show how long the source files are, and what they lack.
    Tidy,
}

/// Where the built-in types are described.
#[derive(clap::Args)]
struct Sources {
    /// A directory of OpenAPI documents, as an API server serves them or as they lie in k8s.io/kubernetes. Of several, later
    /// ones add what is not in the ones before.
    #[arg(long, required = true)]
    openapi: Vec<PathBuf>,
    /// The Go module k8s.io/api, once for each release; likewise.
    #[arg(long, required = true)]
    api: Vec<PathBuf>,
    /// The Go module k8s.io/apimachinery.
    #[arg(long)]
    apimachinery: PathBuf,
    /// The Go module k8s.io/apiextensions-apiserver.
    #[arg(long)]
    apiextensions: PathBuf,
    /// The Go module k8s.io/kube-aggregator.
    #[arg(long)]
    aggregator: PathBuf,
    /// A directory with `calls.json` and `functions.json`, which say what defaulting sets; without it, that table stays
    /// as it is.
    #[arg(long)]
    defaulting: Option<PathBuf>,
    /// The directory to write the tables into.
    #[arg(long)]
    data: PathBuf,
    /// A directory of discovery documents, as they lie in k8s.io/kubernetes; of several, later ones add what is not in the ones
    /// before.
    #[arg(long, required = true)]
    discovery: Vec<PathBuf>,
    /// The table of the resources that every server serves; that of others is written beside it.
    #[arg(long)]
    resources: PathBuf,
}

impl Sources {
    fn write(&self) -> Result<(), String> {
        let optional = self.resources.with_file_name("optional.txt");
        codegen::run_discovery(&self.discovery, &self.resources, &optional)?;
        let modules = codegen::Modules {
            api: &self.api,
            apimachinery: &self.apimachinery,
            apiextensions: &self.apiextensions,
            aggregator: &self.aggregator,
        };
        codegen::run(&self.openapi, &modules, self.defaulting.as_deref(), &self.data)
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let task = arguments.next();
    if let Some(tool) = task.as_ref().and_then(|task| Tool::find(task.to_str()?)) {
        return delegate(tool, arguments);
    }
    match Arguments::parse().task {
        Task::Bench(arguments) => bench::run(&arguments),
        Task::Codegen(of) => ended(of.write()),
        Task::Field(arguments) => field::run(&arguments),
        Task::Fuzz(arguments) => fuzz::run(&arguments),
        Task::Tidy => match tidy::check(&workspace::root()) {
            Err(error) => ended(Err(error)),
            Ok(report) => {
                print!("{report}");
                ExitCode::from(u8::from(!report.faults.is_empty()))
            }
        },
    }
}

/// Has a tool take this program's place.
fn delegate(tool: &Tool, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let program = std::env::current_exe().unwrap_or_default();
    let mut command = tool.command(tools::profile(&program), arguments);
    // Signals then reach it as they would have reached this program.
    #[cfg(unix)]
    let outcome: std::io::Result<ExitStatus> = Err(command.exec());
    #[cfg(not(unix))]
    let outcome = command.status();
    match outcome {
        Ok(status) => ExitCode::from(
            status
                .code()
                .and_then(|code| u8::try_from(code).ok())
                .unwrap_or(2),
        ),
        Err(error) => ended(Err(format!("cargo: {error}"))),
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
