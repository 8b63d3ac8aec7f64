//! The `pratique` command: checks admission manifests, evaluates objects and serves reviews.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod arguments;
mod baseline;
mod check;
mod exit;
mod explanation;
mod input;
mod memory;
mod output;
mod policies;
mod review;
mod serve;
mod snapshot;
mod style;
mod test;
mod unbound;

use std::io::ErrorKind;
use std::process::ExitCode;
use std::thread;

use arguments::{Arguments, Command};
use exit::{CliError, ExitStatus};
use output::text::{Lines, text};
use pratique_types::is_nonprinting;

/// musl's allocator has a global lock, with which a request takes half as long again; compared to other allocators,
/// mutations are a quarter faster.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The depth of recursion is bounded, but the main thread's stack may be smaller than that needs.
pub(crate) const STACK: usize = 64 << 20;

fn main() -> ExitCode {
    let arguments = match arguments::parse() {
        Ok(arguments) => arguments,
        Err(error) => return explain(&error),
    };
    let worker = thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || run(&arguments));
    let ended = worker.map(thread::JoinHandle::join);
    match ended {
        Ok(Ok(Ok(status))) => status.code(),
        Ok(Ok(Err(error))) => error.report(),
        // The panic has printed its message already.
        Ok(Err(_)) => ExitCode::from(exit::ERROR),
        Err(error) => CliError::Thread(error).report(),
    }
}

/// Prints help, the version, or errors in the arguments.
fn explain(error: &clap::Error) -> ExitCode {
    let plain = error.render().to_string();
    // Arguments may be untrusted file names.
    let is_hostile = plain.lines().any(|line| {
        line.contains(is_nonprinting) || line.contains("##") || line.trim_start().starts_with("::")
    });
    if is_hostile {
        let lines = Lines {
            text: plain.trim_end(),
            indent: "",
        };
        output::note(&text!("{}\n", lines));
        return ExitCode::from(exit::ERROR);
    }
    match error.print() {
        Err(unwritten) if unwritten.kind() == ErrorKind::BrokenPipe => ExitCode::from(exit::BROKEN_PIPE),
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(exit::ERROR)),
    }
}

fn run(arguments: &Arguments) -> Result<ExitStatus, CliError> {
    match &arguments.command {
        Command::Check(arguments) => check::run(arguments),
        Command::Review(arguments) => review::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
        #[cfg(feature = "kube")]
        Command::Snapshot(arguments) => snapshot::run(arguments),
        Command::Test(arguments) => test::run(arguments),
    }
}
