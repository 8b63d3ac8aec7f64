//! Writes the pages of `docs/reference`, by running the tests that compare them with the code, and those of `docs/library`, which
//! are made with the site.

use std::ffi::OsString;
use std::process::ExitCode;

use pratique_harness::{ToolError, cargo, workspace};

/// The tests that write pages: packages, and filters for their tests.
const WRITERS: [[&str; 4]; 2] = [
    ["pratique-cli", "--bin", "pratique", "reference::"],
    ["pratique-lint", "--test", "warnings_page", "page_is_current"],
];

/// The test that writes the library's pages.
const LIBRARY_WRITER: [&str; 4] = ["xtask", "--test", "packages", "library::"];

/// Writes the pages that are compared with the code, or the library's.
pub(crate) fn write(argument: Option<OsString>) -> ExitCode {
    let written = match argument {
        None => WRITERS.iter().try_for_each(run),
        Some(argument) if argument == "library" => run(&LIBRARY_WRITER),
        Some(argument) => {
            Err(format!("reference takes no argument but library, and none such as {argument:?}").into())
        }
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run([package, rest @ ..]: &[&str; 4]) -> Result<(), ToolError> {
    let status = cargo::command()
        .args(["test", "--quiet", "--package", package])
        .args(rest)
        .env("BLESS", "1")
        .current_dir(workspace::root())
        .status()
        .map_err(ToolError::program("cargo"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("the pages that {package} has were not written").into())
    }
}
