//! `cargo xtask playground`: the engine as WebAssembly with the page around it, and the package for JavaScript. It can compare
//! the module with the engine over recorded cases, and look at the page in a real browser.

mod agree;
mod checks;
mod inputs;
mod look;
mod module;
mod package;
mod site;
mod walk;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pratique_harness::{StepTranscript, ToolError, cargo, workspace};

/// Builds the playground: static files for any server.
#[derive(clap::Parser, Debug)]
#[command(bin_name = "cargo xtask playground")]
pub struct PlaygroundArguments {
    /// Where to put it: by default `target/playground`.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The profile that the module is built with; `dev` is quicker to build, large and slow.
    #[arg(long, value_name = "PROFILE", default_value = "wasm")]
    profile: String,
    /// Compare the module with the engine and the command over the cases of expressions, manifests and policies in these
    /// directories, each a suite (`cel`, `load`, `policy`) or of several. Needs Node.js.
    #[arg(long, value_name = "DIR", num_args = 1..)]
    agree: Vec<PathBuf>,
    /// Put the package for JavaScript here, and run its tests. Needs Node.js, and npm to fetch TypeScript.
    #[arg(long, value_name = "DIR")]
    package: Option<PathBuf>,
    /// Look at the page in a browser without a window. Needs Chromium and its chromedriver.
    #[arg(long)]
    look: bool,
    /// The `pratique` that serves the page and that the module is compared with, instead of one that is built.
    #[arg(long, value_name = "FILE")]
    pratique: Option<PathBuf>,
    /// The module, instead of one that is built.
    #[arg(long, value_name = "FILE", conflicts_with = "profile")]
    module: Option<PathBuf>,
    /// Where to put pictures of the page.
    #[arg(long, value_name = "DIR", requires = "look")]
    pictures: Option<PathBuf>,
    /// Write what is seen on the walk of `docs/walks/browser.md`, instead of comparing it.
    #[arg(long, requires = "look")]
    bless: bool,
}

/// Builds, and prints what came of it.
pub fn run(arguments: &PlaygroundArguments) -> ExitCode {
    StepTranscript::end(run_all(arguments))
}

fn run_all(arguments: &PlaygroundArguments) -> Result<StepTranscript, ToolError> {
    let mut transcript = StepTranscript::default();
    transcript.part("the playground");
    let module = match &arguments.module {
        Some(path) => path.clone(),
        None => module::build(&arguments.profile)?,
    };
    // Only what is built to be small has to be.
    let bounded = arguments.profile == module::SMALL;
    transcript.step("is small", module::size(&module, bounded));
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| workspace::target().join("playground"));
    transcript.step("is a directory of static files", site::write(&module, &out));
    if !arguments.agree.is_empty() {
        transcript.part("the module beside the engine and the command");
        agree::compare_all(&module, &program(arguments)?, &arguments.agree, &mut transcript)?;
    }
    if let Some(directory) = &arguments.package {
        transcript.part("the package for JavaScript");
        transcript.step("passes its tests", package::write(&module, directory));
    }
    if arguments.look {
        look::look_at_page(arguments, &out, &mut transcript)?;
    }
    Ok(transcript)
}

/// The command: the one that is given, or one that is built.
fn program(arguments: &PlaygroundArguments) -> Result<PathBuf, ToolError> {
    cargo::pratique(arguments.pratique.as_deref(), "dev")
}

/// A path below the workspace.
fn source(path: &str) -> PathBuf {
    workspace::root().join(Path::new(path))
}
