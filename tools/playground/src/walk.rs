//! From nothing to a decision in the browser: what is seen on the way is `docs/walks/browser.md`, with a picture.

use std::fmt::Write as _;
use std::fs;

use pratique_harness::browser::{BrowserSession, at, equal};
use pratique_harness::{ToolError, eventually};
use serde_json::json;

use crate::checks::{choose, decision, read_text, write};
use crate::source;

const PAGE: &str = "docs/walks/browser.md";
const PICTURE: &str = "docs/walks/browser.webp";
/// The most bytes that the picture may have.
const LARGEST: usize = 150 << 10;

const EXAMPLE: &str = "A limit from params";
const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: registry.example.com/shop/web:2.1}]}
";

/// Walks, and compares what is seen with what is recorded; `bless` records it.
pub(crate) fn walk(url: &str, browser: &BrowserSession, bless: bool) -> Result<String, ToolError> {
    let mut page = String::from(
        "# From nothing to a decision in the browser\n\n`cargo xtask playground --look` walks this way in a browser without a \
         window, and with `--bless` writes this page.\n",
    );
    browser.screen(Some(1280))?;
    browser.open(url)?;
    let first = decision(browser)?;
    step(
        &mut page,
        "`pratique playground` serves the page",
        &read_shown(browser)?,
    );
    equal(&json!(first), &json!("denied"))?;

    choose(browser, EXAMPLE)?;
    step(
        &mut page,
        &format!("The example “{EXAMPLE}” is chosen"),
        &read_shown(browser)?,
    );
    let values = read_text(browser, ".expression.wrong .diagram")?;
    step(&mut page, "The values of its subexpressions", &values);
    let picture = browser.view()?;

    write(browser, "object", DEPLOYMENT)?;
    equal(&json!(decision(browser)?), &json!("allowed"))?;
    step(
        &mut page,
        "An object with two replicas is pasted",
        &read_shown(browser)?,
    );

    browser.ask("document.getElementById('share').click()")?;
    let mut link = String::new();
    eventually("shared", || {
        let href = browser.ask("return location.href")?;
        href.as_str().unwrap_or_default().clone_into(&mut link);
        Ok(link.contains("#v1="))
    })?;
    browser.open("about:blank")?;
    browser.open(&link)?;
    equal(&json!(decision(browser)?), &json!("allowed"))?;
    step(&mut page, "The link is opened elsewhere", &read_shown(browser)?);
    page += "\n![The page with the example](browser.webp)\n";
    recorded(&page, &picture, bless)
}

fn recorded(page: &str, picture: &str, bless: bool) -> Result<String, ToolError> {
    let (path, pictured) = (source(PAGE), source(PICTURE));
    let picture = pratique_json::base64::decode(picture).map_err(|at| format!("no base64 at {at}"))?;
    if picture.len() > LARGEST {
        return Err(format!("the picture has {} bytes, more than {LARGEST}", picture.len()).into());
    }
    if bless {
        fs::write(&path, page).map_err(ToolError::file(&path))?;
        fs::write(&pictured, &picture).map_err(ToolError::file(&pictured))?;
        return Ok(format!(
            "{PAGE} is written, and a picture of {} bytes",
            picture.len()
        ));
    }
    let recorded_page = fs::read_to_string(&path).map_err(ToolError::file(&path))?;
    // Fonts differ from machine to machine: the picture is only looked at by readers.
    fs::metadata(&pictured).map_err(ToolError::file(&pictured))?;
    if recorded_page == page {
        Ok(format!("as {PAGE} has it"))
    } else {
        Err(format!("{PAGE} has\n{recorded_page}\nand seen is\n{page}").into())
    }
}

fn step(page: &mut String, title: &str, observed: &str) {
    // Writing to a text cannot fail.
    let _ = write!(page, "\n## {title}\n\n```text\n{}\n```\n", observed.trim_end());
}

/// The decision as it is shown, without how long it took.
fn read_shown(browser: &BrowserSession) -> Result<String, ToolError> {
    let observed = browser.ask(
        "const banner = document.querySelector('#decision .banner');
        const facts = banner.querySelector('.facts').innerText.split(' · ').filter(fact => !/ m?s$/.test(fact));
        return [banner.querySelector('.verdict').innerText, facts.join(' · '), banner.querySelector('.message')?.innerText ?? '']",
    )?;
    let line = |place: &str| at(&observed, place).as_str().unwrap_or_default().to_owned();
    let lines = [line("/0"), line("/1"), line("/2")];
    let lines: Vec<&str> = lines
        .iter()
        .map(String::as_str)
        .filter(|line| !line.is_empty())
        .collect();
    Ok(lines.join("\n"))
}
