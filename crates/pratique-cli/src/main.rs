//! The `pratique` command: checks admission manifests, evaluates objects and serves reviews.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod acceptance;
mod arguments;
mod baseline;
mod check;
mod claimed_outputs;
mod completions;
mod destination;
mod evaluation;
mod exit;
mod explanation;
mod impact;
mod input;
mod kubectl;
mod lsp;
mod man;
mod memory;
mod output;
mod output_target;
mod playground;
mod plugins;
mod policies;
mod project;
#[cfg(test)]
#[cfg(feature = "kube")]
mod reference;
mod replay;
mod review;
mod scan;
mod serve;
mod snapshot;
mod stream;
mod style;
mod test;
mod time;
mod unbound;
mod upgrade;

use std::io::ErrorKind;
use std::process::ExitCode;
use std::thread;

use arguments::{ParseError, ProgramArguments, ProgramCommand};
use exit::{CliError, ExitStatus};
use output::failure_annotations;
use output::text::{IndentedLines, text};
use pratique_types::is_nonprinting;

/// musl's allocator has a global lock, with which a request takes half as long again; compared to other allocators,
/// mutations are a quarter faster.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The depth of recursion is bounded, but the main thread's stack may be smaller than that needs.
pub(crate) const STACK: usize = 64 << 20;

fn main() -> ExitCode {
    if let Some(words) = kubectl::words_to_complete() {
        return match kubectl::run(arguments::command(), words) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => error.report(),
        };
    }
    let runs = match arguments::parse() {
        Ok(runs) => runs,
        Err(ParseError::Line(error)) => return explain(&error),
        Err(ParseError::Project(error)) => return error.report(),
        Err(ParseError::Nothing(why)) => {
            output::eprint(&why);
            return ExitStatus::Undecided.code();
        }
    };
    let worker = thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || run_all(&runs));
    let ended = worker.map(thread::JoinHandle::join);
    match ended {
        Ok(Ok(code)) => code,
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
        let lines = IndentedLines {
            text: plain.trim_end(),
            indent: "",
        };
        output::eprint(&text!("{}\n", lines));
        return ExitCode::from(exit::ERROR);
    }
    match error.print() {
        Err(unwritten) if unwritten.kind() == ErrorKind::BrokenPipe => ExitCode::from(exit::BROKEN_PIPE),
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(exit::ERROR)),
    }
}

/// Runs commands one after the other; the exit code is that of the one that matters most.
fn run_all(runs: &[ProgramArguments]) -> ExitCode {
    let mut worst = None;
    for arguments in runs {
        match run(arguments) {
            Ok(status) => worst = Some(status.worse(worst)),
            // Nothing else can be printed.
            Err(error @ CliError::BrokenPipe) => return error.report(),
            Err(error) => {
                failure_annotations::annotate(&error);
                let code = error.report();
                if runs.len() == 1 {
                    return code;
                }
                worst = Some(ExitStatus::Unread.worse(worst));
            }
        }
    }
    worst.unwrap_or(ExitStatus::Success).code()
}

fn run(arguments: &ProgramArguments) -> Result<ExitStatus, CliError> {
    claimed_outputs::release_all();
    failure_annotations::set_printed(arguments.command.prints_annotations());
    match &arguments.command {
        ProgramCommand::Check(arguments) => check::run(arguments),
        ProgramCommand::Review(arguments) => review::run(arguments),
        ProgramCommand::Replay(arguments) => replay::run(arguments),
        ProgramCommand::Impact(arguments) => impact::run(arguments),
        ProgramCommand::Upgrade(arguments) => upgrade::run(arguments),
        ProgramCommand::Scan(arguments) => scan::run(arguments),
        ProgramCommand::Report(arguments) => scan::report(arguments),
        ProgramCommand::Serve(arguments) => {
            arguments.gates.tell();
            serve::run(arguments)
        }
        #[cfg(feature = "kube")]
        ProgramCommand::Snapshot(arguments) => {
            arguments.gates.tell();
            snapshot::run(arguments)
        }
        ProgramCommand::Test(arguments) => test::run(arguments),
        ProgramCommand::Init(arguments) => project::init::run(arguments),
        ProgramCommand::Lsp(arguments) => {
            arguments.gates.tell();
            lsp::run(arguments)
        }
        ProgramCommand::Playground(arguments) => playground::run(arguments),
        ProgramCommand::Completions(arguments) => completions::run(arguments),
        ProgramCommand::Man(arguments) => man::run(arguments),
    }
}
