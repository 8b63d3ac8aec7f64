//! Maintenance tasks: `cargo xtask <task>`.
//!
//! This program only has tasks that build quickly: [`mod@tidy`], and [`mod@reference`] and [`mod@release`], which run others. All
//! other tasks are [tools] with separate programs.

mod reference;
mod release;
mod tidy;
mod tools;

use std::ffi::OsString;
use std::fmt::Write as _;
#[cfg(unix)]
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use pratique_harness::workspace;

use tools::{TOOLS, WorkspaceTool};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    let task = arguments.next().unwrap_or_default();
    match task.to_str() {
        // The tool of this name is about our own releases.
        Some("release") if arguments.peek().is_some_and(|first| first == "add") => {
            release::add(&arguments.skip(1).collect::<Vec<_>>())
        }
        Some("tidy") => tidy(arguments.next()),
        Some("reference") => reference::write(arguments.next()),
        Some("help" | "-h" | "--help") => {
            print!("{}", help());
            ExitCode::SUCCESS
        }
        name => match name.and_then(WorkspaceTool::find) {
            Some(tool) => {
                let program = std::env::current_exe().unwrap_or_default();
                replace_by(tool.command(tools::profile(&program), arguments))
            }
            None => {
                if !task.is_empty() {
                    eprintln!("error: there is no task {task:?}\n");
                }
                eprint!("{}", help());
                ExitCode::from(2)
            }
        },
    }
}

fn tidy(argument: Option<OsString>) -> ExitCode {
    let report = match argument {
        None if std::env::var_os("BLESS").is_some() => tidy::write_baseline(&workspace::root()),
        None => tidy::inspect_sources(&workspace::root()),
        Some(argument) => Err(format!("tidy takes no arguments, such as {argument:?}").into()),
    };
    match report {
        Ok(report) => {
            print!("{report}");
            ExitCode::from(u8::from(!report.faults.is_empty()))
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn help() -> String {
    let mut text =
        "Maintenance tasks of the workspace\n\nUsage: cargo xtask <TASK> [ARGUMENTS]…\n\nTasks:\n".to_owned();
    let own = [
        (
            "release add",
            "Add a release of Kubernetes: its tables and what is recorded of it; `cargo xtask release add 1.37.2`",
        ),
        (
            "reference",
            "Write the pages of docs/reference from the code; with `library` those of docs/library, for the site",
        ),
        (
            "tidy",
            "Show how long the source files are, what they lack, and what has become more (BLESS=1 writes the numbers)",
        ),
    ];
    for (task, about) in TOOLS.iter().map(|tool| (tool.task, tool.about)).chain(own) {
        let _ = writeln!(text, "  {task:14}{about}");
    }
    text.push_str("\n`cargo xtask <TASK> --help` shows the arguments of a task.\n");
    text
}

/// Replaces this program by a command, so that signals reach the command and its exit code is this program's.
#[cfg(unix)]
fn replace_by(mut command: Command) -> ExitCode {
    let error = command.exec();
    eprintln!("error: {}: {error}", command.get_program().display());
    ExitCode::from(2)
}

/// Runs a command, and returns its exit code.
#[cfg(not(unix))]
fn replace_by(mut command: Command) -> ExitCode {
    match command.status() {
        Ok(status) => ExitCode::from(
            status
                .code()
                .and_then(|code| u8::try_from(code).ok())
                .unwrap_or(2),
        ),
        Err(error) => {
            eprintln!("error: {}: {error}", command.get_program().display());
            ExitCode::from(2)
        }
    }
}
