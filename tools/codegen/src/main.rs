//! `cargo xtask codegen`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use pratique_codegen::ReleaseSources;

/// Writes the tables of Kubernetes.
#[derive(Parser)]
#[command(bin_name = "cargo xtask codegen")]
struct CodegenArguments {
    #[command(subcommand)]
    tables: TablesCommand,
}

#[derive(Subcommand)]
enum TablesCommand {
    /// Writes the tables of a release: whole, or as changes of those of its neighbour, and lists it.
    Release {
        /// Its version, such as 1.37.2.
        version: String,
        /// A directory with what the programs of `tools/go/objects` wrote: `objects.json`, `gates.json`, `patch_strategies.txt`,
        /// `deprecations.txt`, and OpenAPI documents in `openapi`.
        reflected: PathBuf,
        /// A directory of discovery documents, as they lie in k8s.io/kubernetes.
        #[arg(long)]
        discovery: PathBuf,
        /// A directory with `calls.json` and `functions.json`, which say what defaulting sets; without it, that is taken from the
        /// neighbour's table.
        #[arg(long)]
        defaulting: Option<PathBuf>,
    },
    /// Shows what is new and gone in a release.
    Compare {
        /// The older release, such as 1.37.
        older: String,
        /// The newer one.
        newer: String,
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
    /// Writes the table of what fields are for.
    Descriptions {
        /// A directory of OpenAPI documents, such as `api/openapi-spec/v3` in k8s.io/kubernetes.
        openapi: PathBuf,
        /// The table.
        #[arg(long, default_value = "crates/pratique-lsp/data/descriptions.txt")]
        table: PathBuf,
    },
    /// Writes the tables of validation of a release that is listed.
    Validation {
        /// Its version, such as 1.37.2.
        version: String,
        /// The file that `tools/go/declarative` wrote.
        #[arg(long)]
        rules: PathBuf,
        /// The file that `tools/go/internaltypes` wrote.
        #[arg(long)]
        internal: PathBuf,
    },
}

fn main() -> ExitCode {
    let written = match CodegenArguments::parse().tables {
        TablesCommand::Lifecycle { modules, table } => pratique_codegen::run_lifecycle(&modules, &table),
        TablesCommand::Descriptions { openapi, table } => {
            pratique_codegen::run_descriptions(&openapi, &table)
        }
        TablesCommand::Validation {
            version,
            rules,
            internal,
        } => pratique_codegen::run_validation(&version, &rules, &internal),
        TablesCommand::Compare { older, newer } => {
            pratique_codegen::describe_changes(&older, &newer).map(|text| print!("{text}"))
        }
        TablesCommand::Release {
            version,
            reflected,
            discovery,
            defaulting,
        } => pratique_codegen::run_release(
            &version,
            &ReleaseSources {
                reflected,
                discovery,
                defaulting,
            },
        ),
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
