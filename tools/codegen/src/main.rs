//! `cargo xtask codegen`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use pratique_codegen::CodegenError;

/// Writes the tables of Kubernetes' built-in types.
#[derive(Parser)]
#[command(bin_name = "cargo xtask codegen")]
struct Sources {
    /// A directory of OpenAPI documents, as an API server serves them or as they lie in k8s.io/kubernetes. Of several, later
    /// ones add what is not in the ones before.
    #[arg(long, required = true)]
    openapi: Vec<PathBuf>,
    /// A file that `tools/go/types` wrote, once for each release; likewise.
    #[arg(long, required = true)]
    types: Vec<PathBuf>,
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
    fn write(&self) -> Result<(), CodegenError> {
        let optional = self.resources.with_file_name("optional.txt");
        pratique_codegen::run_discovery(&self.discovery, &self.resources, &optional)?;
        pratique_codegen::run(&self.openapi, &self.types, self.defaulting.as_deref(), &self.data)
    }
}

fn main() -> ExitCode {
    match Sources::parse().write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
