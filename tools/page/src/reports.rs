//! The reports of scans, replays and comparisons, which are pages in one file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pratique_harness::browser::{BrowserSession, at};
use pratique_harness::{StepTranscript, ToolError, outcome, workspace};
use serde_json::json;

use super::log;

/// Whatever could come from elsewhere or do something.
const LIVELY: &str = "
    const all = document.querySelectorAll('script, img, iframe, object, embed, link, form, input, svg, b[onclick], [onerror], [src], [href]');
    return [...all].map(element => element.outerHTML);
";

/// A report, and what it says first.
struct ReportPage {
    name: &'static str,
    path: PathBuf,
    lead: &'static str,
}

/// Makes the reports, and looks at each.
pub(super) fn check_all(
    program: &Path,
    browser: &BrowserSession,
    state: &Path,
    transcript: &mut StepTranscript,
) -> Result<(), ToolError> {
    for page in made(program, state)? {
        transcript.part(&format!("the report of {}", page.name));
        let mut step = |name: &str, outcome: Result<String, ToolError>| transcript.step(name, outcome);
        step("opens, and fetches nothing", opens(browser, &page));
        step("says first what counts", says(browser, &page));
        step("has nothing that runs or loads", harmless(browser));
        step("opens its examples without a script", unfolds(browser));
        step("is readable in light and dark", styled(browser));
        step("fits 400 pixels", narrow(browser));
        step("still nothing is wrong with it", browser.quiet());
    }
    Ok(())
}

/// Takes the picture of a comparison: wide, and in light colors.
pub(super) fn picture(
    program: &Path,
    browser: &BrowserSession,
    state: &Path,
    to: &Path,
) -> Result<(), ToolError> {
    let path = impact(program, state)?;
    browser.screen(Some(860))?;
    browser.dark(false)?;
    browser.open(&format!("file://{}", path.display()))?;
    // The time of the run is another one each time, and long examples are for readers of the page itself.
    browser.ask(
        "document.querySelectorAll('dl, section:nth-of-type(n+5)').forEach(element => element.remove()); return 0",
    )?;
    let picture =
        pratique_json::base64::decode(&browser.picture()?).map_err(|at| format!("no base64 at {at}"))?;
    fs::write(to, picture).map_err(ToolError::file(&to))
}

fn made(program: &Path, state: &Path) -> Result<Vec<ReportPage>, ToolError> {
    let root = workspace::root();
    let samples = |name: &str| root.join("docs/samples").join(name).display().to_string();
    let policies = samples("replay/policies");
    let page = |name: &str| state.join(format!("{name}.html"));
    let of = |name: &'static str, lead: &'static str| ReportPage {
        name,
        path: page(name),
        lead,
    };
    let report = |name: &str| format!("--report={}", page(name).display());
    run(
        program,
        state,
        &[
            "scan",
            "--policies",
            &policies,
            &report("scan"),
            &samples("scan/objects.ndjson"),
        ],
    )?;
    run(
        program,
        state,
        &[
            "replay",
            "--summary",
            "--policies",
            &policies,
            &report("replay"),
            &samples("replay/audit.log"),
        ],
    )?;
    impact(program, state)?;
    Ok(vec![
        of(
            "scan",
            "3 of 6 objects (50.0%) would be refused, by 1 of 2 policies.",
        ),
        of("replay", "Of 10 requests, 1 that was allowed is refused now."),
        of("impact", "newly refused"),
    ])
}

/// Compares two revisions of `examples/pod-security`: the first enforces the baseline, the second the restricted standard.
fn impact(program: &Path, state: &Path) -> Result<PathBuf, ToolError> {
    let repository = state.join("revisions");
    let _ = fs::remove_dir_all(&repository);
    let policies = repository.join("policies");
    fs::create_dir_all(&policies).map_err(ToolError::file(&policies))?;
    let git = |arguments: &[&str]| {
        let identity = [
            "-c",
            "user.name=examples",
            "-c",
            "user.email=examples@example.com",
        ];
        let output = Command::new("git")
            .current_dir(&repository)
            .args(identity)
            .args(arguments)
            .output()
            .map_err(ToolError::program("git"))?;
        if output.status.success() {
            Ok(())
        } else {
            Err(ToolError::from(format!(
                "git {arguments:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            )))
        }
    };
    git(&["init", "--quiet", "--initial-branch=main"])?;
    for standard in ["baseline", "restricted"] {
        let from = workspace::root().join("examples/pod-security").join(standard);
        for entry in fs::read_dir(&from).map_err(ToolError::file(&from))? {
            let file = entry.map_err(ToolError::file(&from))?;
            // Both standards have files of the same name.
            let to = policies.join(format!("{standard}-{}", file.file_name().to_string_lossy()));
            fs::copy(file.path(), &to).map_err(ToolError::file(&to))?;
        }
        git(&["add", "."])?;
        git(&["commit", "--quiet", "--message", standard])?;
    }
    let log = state.join("audit.log");
    fs::write(&log, log::log_text()).map_err(ToolError::file(&log))?;
    let page = state.join("impact.html");
    let report = format!("--report={}", page.display());
    run(
        program,
        &repository,
        &[
            "impact",
            "--policies",
            "policies",
            "--old-rev",
            "main~1",
            "--new-rev",
            "main",
            "--bind",
            "--explain",
            &report,
            &log.display().to_string(),
        ],
    )?;
    Ok(page)
}

/// Runs the command, which finds something.
fn run(program: &Path, directory: &Path, arguments: &[&str]) -> Result<(), ToolError> {
    let output = Command::new(program)
        .current_dir(directory)
        .args(arguments)
        .output()
        .map_err(ToolError::program("pratique"))?;
    match output.status.code() {
        Some(1) => Ok(()),
        _ => Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

fn opens(browser: &BrowserSession, page: &ReportPage) -> Result<String, ToolError> {
    browser.screen(Some(1280))?;
    browser.open(&format!("file://{}", page.path.display()))?;
    let observed = browser.ask(
        "return [document.documentElement.lang, performance.getEntriesByType('resource').length, \
         document.title === document.querySelector('h1').innerText]",
    )?;
    if observed == json!(["en", 0, true]) {
        browser.quiet()
    } else {
        Err(observed.to_string().into())
    }
}

fn says(browser: &BrowserSession, page: &ReportPage) -> Result<String, ToolError> {
    let lead = browser.ask("return document.querySelector('.lead').innerText")?;
    let numbers =
        browser.ask("return [...document.querySelectorAll('.tiles li')].map(tile => tile.innerText)")?;
    let lead = lead.as_str().unwrap_or_default();
    outcome(
        lead.contains(page.lead) && numbers.as_array().is_some_and(|tiles| tiles.len() >= 4),
        format!("{lead}\n{numbers}"),
    )
}

fn harmless(browser: &BrowserSession) -> Result<String, ToolError> {
    let lively_elements = browser.ask(LIVELY)?;
    if lively_elements == json!([]) {
        Ok("nothing but text, tables and their own style".to_owned())
    } else {
        Err(lively_elements.to_string().into())
    }
}

fn unfolds(browser: &BrowserSession) -> Result<String, ToolError> {
    let observed = browser.ask(
        "const all = [...document.querySelectorAll('details')];
         all.forEach(element => { if (!element.open) element.querySelector('summary').click() });
         return [all.length, all.every(element => element.open && element.innerText.length > 20)]",
    )?;
    match (at(&observed, "/0").as_u64(), at(&observed, "/1").as_bool()) {
        (Some(1..), Some(true)) => Ok(format!("{observed}")),
        _ => Err(observed.to_string().into()),
    }
}

/// Text stands out from what is behind it by the ratio that WCAG asks for, 4.5.
fn styled(browser: &BrowserSession) -> Result<String, ToolError> {
    const CONTRAST: &str = "
        const light = text => {
            const [r, g, b] = text.match(/[0-9.]+/g).slice(0, 3).map(part => part / 255)
                .map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const behind = light(getComputedStyle(document.body).backgroundColor);
        const ratio = element => {
            const [less, more] = [light(getComputedStyle(element).color), behind].sort((a, b) => a - b);
            return (more + 0.05) / (less + 0.05);
        };
        const all = [...document.querySelectorAll('h1, h2, p, td, th, li, summary, dt, dd')];
        return [behind, Math.min(...all.map(ratio))];
    ";
    let mut observed = Vec::new();
    for dark in [false, true] {
        browser.dark(dark)?;
        observed.push(browser.ask(CONTRAST)?);
    }
    browser.dark(false)?;
    let number = |of: usize, place: &str| {
        observed
            .get(of)
            .and_then(|observed| at(observed, place).as_f64())
            .unwrap_or(0.0)
    };
    let is_right = number(0, "/0") > 0.8 && number(1, "/0") < 0.1 && (0..2).all(|of| number(of, "/1") >= 4.5);
    outcome(is_right, format!("{observed:?}"))
}

fn narrow(browser: &BrowserSession) -> Result<String, ToolError> {
    browser.screen(Some(400))?;
    let widths = browser.ask("return [document.documentElement.scrollWidth, window.innerWidth]")?;
    browser.screen(Some(1280))?;
    let [needed, there] = ["/0", "/1"].map(|pointer| at(&widths, pointer).as_u64().unwrap_or_default());
    if there == 400 && (1..=there).contains(&needed) {
        Ok(format!("{needed} of {there} pixels"))
    } else {
        Err(widths.to_string().into())
    }
}
