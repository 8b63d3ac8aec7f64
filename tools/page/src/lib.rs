//! `cargo xtask page`: the page of a `pratique serve`, and the reports of scans, replays and comparisons, in a real browser
//! without a window. It needs Chromium and its `chromedriver`; where these are not installed, it says so and that is all.

mod checks;
mod log;
mod page_server;
mod reports;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pratique_harness::browser::{self, BrowserSession};
use pratique_harness::{StepTranscript, ToolError, cargo};

use page_server::ServedProgram;

/// Looks at the page of a server, and at reports, in a real browser.
#[derive(clap::Parser, Debug)]
#[command(bin_name = "cargo xtask page")]
pub struct PageArguments {
    /// The `pratique` to try, instead of one that is built.
    #[arg(long, value_name = "FILE")]
    pratique: Option<PathBuf>,
    /// The driver of Chromium, instead of the `chromedriver` on the path.
    #[arg(long, value_name = "FILE")]
    driver: Option<PathBuf>,
    /// Where to put pictures of the page.
    #[arg(long, value_name = "DIR")]
    pictures: Option<PathBuf>,
    /// Take the picture of the report of a comparison instead, which the documentation has.
    #[arg(long, value_name = "FILE")]
    impact: Option<PathBuf>,
}

/// Runs all checks and prints the transcript.
pub fn run(arguments: &PageArguments) -> ExitCode {
    let Some(driver) = arguments.driver.clone().or_else(browser::driver) else {
        println!("skipped: there is no chromedriver (on Debian: apt-get install chromium chromium-driver)");
        return ExitCode::SUCCESS;
    };
    StepTranscript::end(run_all(arguments, &driver))
}

fn run_all(arguments: &PageArguments, driver: &Path) -> Result<StepTranscript, ToolError> {
    let program = cargo::pratique(arguments.pratique.as_deref(), "dev")?;
    let state = std::env::temp_dir().join(format!("pratique-page-{}", std::process::id()));
    fs::create_dir_all(&state).map_err(ToolError::file(&state))?;
    let mut transcript = StepTranscript::default();
    let looked = match &arguments.impact {
        Some(to) => BrowserSession::start(driver, &state)
            .and_then(|browser| reports::picture(&program, &browser, &state, to)),
        None => look(
            &program,
            driver,
            &state,
            &mut transcript,
            arguments.pictures.as_deref(),
        ),
    };
    // A folder of temporary files may stay.
    let _ = fs::remove_dir_all(&state);
    looked.map(|()| transcript)
}

fn look(
    program: &Path,
    driver: &Path,
    state: &Path,
    transcript: &mut StepTranscript,
    pictures: Option<&Path>,
) -> Result<(), ToolError> {
    let served = ServedProgram::start(program, state)?;
    let browser = BrowserSession::start(driver, state)?;
    transcript.part("the page of pratique serve");
    checks::check_all(&served, &browser, transcript);
    reports::check_all(program, &browser, state, transcript)?;
    let Some(folder) = pictures else {
        return Ok(());
    };
    fs::create_dir_all(folder).map_err(ToolError::file(&folder))?;
    browser.open(&format!("{}/", served.url))?;
    for (name, width, dark) in [
        ("page", 1280, false),
        ("dark", 1280, true),
        ("narrow", 400, false),
    ] {
        browser.screen(Some(width))?;
        browser.dark(dark)?;
        let picture =
            pratique_json::base64::decode(&browser.picture()?).map_err(|at| format!("no base64 at {at}"))?;
        let path = folder.join(format!("{name}.png"));
        fs::write(&path, picture).map_err(ToolError::file(&path))?;
    }
    Ok(())
}
