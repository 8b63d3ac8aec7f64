//! The page in a real browser, served by `pratique playground`.

use std::fs;
use std::path::Path;
use std::process::Command;

use pratique_harness::browser::{BrowserSession, curl, driver};
use pratique_harness::{RunningProcess, StepTranscript, ToolError, free_port};

use crate::{PlaygroundArguments, checks, program};

/// Serves the page, and looks at it.
pub(crate) fn look_at_page(
    arguments: &PlaygroundArguments,
    site: &Path,
    transcript: &mut StepTranscript,
) -> Result<(), ToolError> {
    transcript.part("the page in a browser");
    let Some(driver) = driver() else {
        let why = "there is no chromedriver (on Debian: apt-get install chromium chromium-driver)";
        transcript.skip("looks at the page", why);
        return Ok(());
    };
    let program = program(arguments)?;
    let state = std::env::temp_dir().join(format!("pratique-playground-{}", std::process::id()));
    fs::create_dir_all(&state).map_err(ToolError::file(&state))?;
    let looked = look(&program, &driver, &state, site, arguments, transcript);
    // A folder of temporary files may stay.
    let _ = fs::remove_dir_all(&state);
    looked
}

fn look(
    program: &Path,
    driver: &Path,
    state: &Path,
    site: &Path,
    arguments: &PlaygroundArguments,
    transcript: &mut StepTranscript,
) -> Result<(), ToolError> {
    let port = free_port()?;
    let mut command = Command::new(program);
    command
        .args(["playground", "--listen", &format!("127.0.0.1:{port}"), "--dir"])
        .arg(site);
    let mut served = RunningProcess::start(command, &state.join("served.log"))?;
    let url = format!("http://127.0.0.1:{port}/");
    served.wait_until("served", |_| Ok(curl(&url, None).is_ok()))?;
    let browser = BrowserSession::start(driver, state)?;
    browser.screen(Some(1280))?;
    checks::check_all(&url, &browser, arguments.bless, transcript);
    match &arguments.pictures {
        Some(folder) => take(&url, &browser, folder),
        None => Ok(()),
    }
}

/// Pictures of the page: wide, dark and narrow, and of a mutation and an expression.
fn take(url: &str, browser: &BrowserSession, folder: &Path) -> Result<(), ToolError> {
    fs::create_dir_all(folder).map_err(ToolError::file(&folder))?;
    for (name, width, dark, example) in [
        ("page", 1280, false, "No privileged containers"),
        ("dark", 1280, true, "A limit from params"),
        ("narrow", 400, false, "No privileged containers"),
        ("narrow-dark", 400, true, "Who may change a label"),
        ("mutation", 1280, false, "A sidecar, by a mutation"),
        ("expression", 1280, false, "An expression by itself"),
    ] {
        browser.screen(Some(width))?;
        browser.dark(dark)?;
        browser.open(url)?;
        checks::choose(browser, example)?;
        let picture =
            pratique_json::base64::decode(&browser.picture()?).map_err(|at| format!("no base64 at {at}"))?;
        let path = folder.join(format!("{name}.png"));
        fs::write(&path, picture).map_err(ToolError::file(&path))?;
    }
    browser.dark(false)?;
    browser.screen(Some(1280))
}
