//! `cargo xtask codegen`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use pratique_harness::Error;
/// Writes the tables of a release of Kubernetes.
#[derive(Parser)]
#[command(bin_name = "cargo xtask codegen", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    tables: Option<Tables>,
    #[command(flatten)]
    sources: Option<Sources>,
}

/// Tables that have sources of their own.
#[derive(Subcommand)]
enum Tables {
    /// Replaces the tables of an older release by their changes from those of the next one.
    Changes {
        /// The directory of the next release.
        newer: PathBuf,
        /// The directory of the older release.
        data: PathBuf,
    },
    /// Writes the table of versions of kinds that releases stopped to serve.
    Lifecycle {
        /// Directories of Go modules, such as k8s.io/api: the newest first, then those of releases that had more versions.
        #[arg(required = true)]
        modules: Vec<PathBuf>,
        /// The table.
        #[arg(long)]
        table: PathBuf,
    },
    /// Writes the table of declarative rules.
    Declarative {
        /// The file that `tools/go/declarative` wrote.
        rules: PathBuf,
        /// The table `types.txt` of the release, whose kinds are kept.
        #[arg(long)]
        kinds: PathBuf,
        /// The table.
        #[arg(long)]
        table: PathBuf,
    },
}

/// Where the tables of a release come from.
#[derive(Args)]
struct Sources {
    /// The file that `tools/go/objects` wrote.
    objects: PathBuf,
    /// The file that `tools/go/objects/featuregates` wrote.
    #[arg(long)]
    gates: PathBuf,
    /// A directory of OpenAPI documents, as an API server serves them or as they lie in k8s.io/kubernetes. Of several, later
    /// ones add what is not in the ones before.
    #[arg(long, required = true)]
    openapi: Vec<PathBuf>,
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
    fn write(&self) -> Result<(), Error> {
        let optional = self.resources.with_file_name("optional.txt");
        pratique_codegen::run_gates(&self.gates, &self.data)?;
        pratique_codegen::run_discovery(&self.discovery, &self.resources, &optional)?;
        pratique_codegen::run(
            &self.objects,
            &self.openapi,
            self.defaulting.as_deref(),
            &self.data,
        )
    }
}

fn main() -> ExitCode {
    let written = match Arguments::parse() {
        Arguments {
            tables: Some(Tables::Lifecycle { modules, table }),
            ..
        } => pratique_codegen::run_lifecycle(&modules, &table),
        Arguments {
            tables: Some(Tables::Declarative { rules, kinds, table }),
            ..
        } => pratique_codegen::run_declarative(&rules, &kinds, &table),
        Arguments {
            tables: Some(Tables::Changes { newer, data }),
            ..
        } => pratique_codegen::run_changes(&newer, &data),
        Arguments {
            sources: Some(sources),
            ..
        } => sources.write(),
        Arguments { .. } => Arguments::command()
            .error(ErrorKind::MissingRequiredArgument, "there are no sources")
            .exit(),
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
