//! Checks of the status page in a browser.

use pratique_harness::browser::{BrowserSession, at, equal};
use pratique_harness::{StepTranscript, ToolError, eventually, outcome};
use serde_json::{Value, json};

use super::page_server::{ServedProgram, USER};

/// The texts of a table below a heading, row by row, as they are shown.
const TABLE: &str = "
    const heading = [...document.querySelectorAll('h2')].find(element => element.textContent === HEADING);
    if (!heading) return null;
    let table = heading.nextElementSibling;
    while (!table.querySelector('tr')) table = table.nextElementSibling;
    const rows = table.querySelectorAll('tr');
    return [...rows].map(row => [...row.children].map(cell => cell.innerText));
";

/// Elements that could load or run content; links within the page only select its content.
const LIVELY: &str = "
    const all = document.querySelectorAll('script, img, iframe, object, embed, link, form, input, svg, b, [onclick], [onerror], [src], [href]');
    return [...all].filter(element => !(element.tagName === 'A' && element.getAttribute('href').startsWith('?'))).map(element => element.outerHTML);
";

/// Runs all checks.
pub(super) fn check_all(served: &ServedProgram, browser: &BrowserSession, transcript: &mut StepTranscript) {
    let mut step = |name: &str, outcome: Result<String, ToolError>| transcript.step(name, outcome);
    step("the browser tells what is wrong with a page", complains(browser));
    step("opens, and nothing is wrong with it", opens(served, browser));
    step("shows what is loaded, as /configz tells", loaded(served, browser));
    step("shows names when asked", names(browser));
    step(
        "shows when the certificate expires",
        certificates(served, browser),
    );
    step("has decisions come by themselves", decisions(served, browser));
    step(
        "shows the decisions that are asked for",
        filtered(served, browser),
    );
    step("shows how long they took", latencies(browser));
    step("shows why a reload failed", failed(served, browser));
    step("takes no text for markup", harmless(browser));
    step("is styled, in light and dark", styled(browser));
    step("fits a narrow window", narrow(browser));
    step("still nothing is wrong with it", browser.quiet());
}

/// Verifies that the checks below can fail.
fn complains(browser: &BrowserSession) -> Result<String, ToolError> {
    browser.open("data:text/html,<script>missing()</script><img src='http://127.0.0.1:1/x.png'>")?;
    let complaints = browser.complaints()?;
    if complaints
        .iter()
        .any(|text| text.contains("missing is not defined"))
    {
        Ok(format!("{} complaints of a page with faults", complaints.len()))
    } else {
        Err(format!("of a page with faults: {complaints:?}").into())
    }
}

fn opens(served: &ServedProgram, browser: &BrowserSession) -> Result<String, ToolError> {
    browser.open(&format!("{}/", served.url))?;
    let observed = browser.ask(
        "return [document.title, document.querySelector('h1').innerText, document.documentElement.lang, \
         performance.getEntriesByType('resource').length]",
    )?;
    let version = served.configuration()?;
    let heading = format!(
        "Pratique {}: ready",
        at(&version, "/version").as_str().unwrap_or_default()
    );
    equal(&observed, &json!(["Pratique", heading, "en", 0]))?;
    browser.quiet()
}

fn loaded(served: &ServedProgram, browser: &BrowserSession) -> Result<String, ToolError> {
    let reported = served.configuration()?;
    let rows = rows(browser, "Configuration")?;
    let hashes =
        browser.ask("return [...document.querySelectorAll('code[title]')].map(code => code.title)")?;
    let sources = at(&reported, "/sources").as_array().cloned().unwrap_or_default();
    let expected: Vec<Value> = sources.iter().map(|source| at(source, "/hash").clone()).collect();
    equal(&hashes, &Value::from(expected))?;
    for (row, source) in rows.iter().skip(1).zip(&sources) {
        let [plugin, location, hash, count, since, last] = row.as_slice() else {
            return Err(format!("{row:?}").into());
        };
        let wanted = [
            (plugin, at(source, "/plugin").as_str()),
            (location, at(source, "/location").as_str()),
            (since, at(source, "/loaded").as_str()),
            (last, at(source, "/lastReload/at").as_str()),
        ];
        if let Some((cell, reported)) = wanted
            .iter()
            .find(|(cell, reported)| reported != &Some(cell.as_str()))
        {
            return Err(format!("{cell:?} is shown, {reported:?} told").into());
        }
        let names = at(source, "/names").as_array().map_or(0, Vec::len).to_string();
        if *count != names || !at(source, "/hash").to_string().contains(hash.as_str()) {
            return Err(format!("{row:?} is shown of {source}").into());
        }
    }
    if rows.len() == 3 && sources.len() == 2 {
        Ok(table_text(&rows))
    } else {
        Err(format!("{rows:?}").into())
    }
}

fn names(browser: &BrowserSession) -> Result<String, ToolError> {
    let is_visible = browser.ask("return document.body.innerText.includes('stamp.static.k8s.io')")?;
    equal(&is_visible, &json!(false))?;
    browser.ask("document.querySelectorAll('summary').forEach(element => element.click())")?;
    let details =
        browser.ask("return [...document.querySelectorAll('details')].map(element => element.innerText)")?;
    let details_text = details.to_string();
    for name in ["stamp.static.k8s.io", "owners.static.k8s.io", "old.static.k8s.io"] {
        details_text
            .contains(name)
            .then_some(())
            .ok_or_else(|| details_text.clone())?;
    }
    Ok(details_text)
}

/// The page is not opened again meanwhile: it reloads itself.
fn decisions(served: &ServedProgram, browser: &BrowserSession) -> Result<String, ToolError> {
    let owned = json!({"owner": "a"});
    served.evaluate("/validate", "good", &owned)?;
    served.evaluate("/validate", "old", &owned)?;
    served.evaluate("/mutate", "new", &owned)?;
    served.evaluate("/validate", "<i>web</i>", &json!({}))?;
    let mut observed = Vec::new();
    eventually("shown by themselves", || {
        observed = rows(browser, "Decisions")?;
        Ok(observed.len() == 5)
    })?;
    let denied = "ValidatingAdmissionPolicy 'owners.static.k8s.io' with binding 'owners.static.k8s.io' denied request: \
        <img src=x onerror=\"document.title = 1\"> & \"<i>web</i>\" have no owner";
    let expected = [
        ["denied /validate", "<i>web</i>", denied],
        ["changed /mutate", "new", "add /metadata/labels/stamped"],
        ["allowed /validate", "old", "there is a newer way"],
        ["allowed /validate", "good", ""],
    ];
    for (row, [answer, name, why]) in observed.iter().skip(1).zip(expected) {
        let [
            _,
            decision,
            operation,
            resource,
            namespace,
            shown_name,
            user,
            shown_why,
            took,
        ] = row.as_slice()
        else {
            return Err(format!("{row:?}").into());
        };
        let right = decision == answer
            && shown_name == name
            && shown_why.contains(why)
            && [operation, resource, namespace, user] == ["CREATE", "configmaps", "shop", USER]
            && (took.ends_with("s"));
        right.then_some(()).ok_or_else(|| format!("{row:?}"))?;
    }
    Ok(table_text(&observed))
}

fn certificates(served: &ServedProgram, browser: &BrowserSession) -> Result<String, ToolError> {
    let reported = served.configuration()?;
    let expires = at(&reported, "/certificates/0/expires")
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let rows = rows(browser, "Certificates")?;
    let expiry_cell = rows
        .get(1)
        .and_then(|row| row.get(2))
        .cloned()
        .unwrap_or_default();
    if !expires.is_empty() && expiry_cell == expires {
        Ok(table_text(&rows))
    } else {
        Err(format!("{rows:?}").into())
    }
}

/// By links, which the page keeps when it comes again by itself.
fn filtered(served: &ServedProgram, browser: &BrowserSession) -> Result<String, ToolError> {
    let mut observed = Vec::new();
    for (choice, expected) in [
        ("denied", &["<i>web</i>"][..]),
        ("warned", &["old"]),
        ("owners.static.k8s.io", &["<i>web</i>"]),
        ("stamp.static.k8s.io", &["new"]),
        ("shop", &["<i>web</i>", "new", "old", "good"]),
    ] {
        browser.open(&format!("{}/", served.url))?;
        let click =
            "const link = [...document.querySelectorAll('.filter a')].find(element => element.innerText === CHOICE);
            if (link) link.click(); return !!link";
        let clicked = browser.ask(&click.replace("CHOICE", &json!(choice).to_string()))?;
        equal(&clicked, &json!(true)).map_err(|fault| format!("{choice}: {fault}"))?;
        let mut names = Vec::new();
        eventually("shown", || {
            let all = rows(browser, "Decisions")?;
            names = all.iter().skip(1).filter_map(|row| row.get(5).cloned()).collect();
            let current = browser.ask(
                "return [...document.querySelectorAll('.filter [aria-current]')].map(choice => choice.innerText)",
            )?;
            Ok(names == expected && current.to_string().contains(choice))
        })
        .map_err(|fault| format!("{choice}: {fault}: {names:?}"))?;
        observed.push(format!("{choice}: {}", names.join(", ")));
    }
    let warning = browser.ask(
        "return [...document.querySelectorAll('td .warning')].map(warning => [warning.innerText, warning.parentElement.innerText])",
    )?;
    equal(
        &warning,
        &json!([[
            "warning",
            "warning Validation failed for ValidatingAdmissionPolicy 'old.static.k8s.io' \
        with binding 'old.static.k8s.io': there is a newer way"
        ]]),
    )?;
    browser.open(&format!("{}/", served.url))?;
    Ok(observed.join("\n"))
}

fn latencies(browser: &BrowserSession) -> Result<String, ToolError> {
    let rows = rows(browser, "Latencies of the last hours")?;
    let counted: Vec<_> = rows
        .iter()
        .skip(1)
        .filter_map(|row| Some((row.first()?.as_str(), row.get(2)?.as_str(), row.get(3)?.as_str())))
        .collect();
    let expected = [
        ("admit", "false", "1"),
        ("validate", "false", "2"),
        ("validate", "true", "1"),
    ];
    if expected.iter().all(|row| counted.contains(row)) && counted.len() == expected.len() {
        Ok(table_text(&rows))
    } else {
        Err(format!("{rows:?}").into())
    }
}

fn failed(served: &ServedProgram, browser: &BrowserSession) -> Result<String, ToolError> {
    served.breaks()?;
    let mut observed = String::new();
    eventually("shown", || {
        let rows = rows(browser, "Configuration")?;
        let last = |row: &Vec<String>| row.last().filter(|text| text.starts_with("failed ")).cloned();
        observed = rows.iter().find_map(last).unwrap_or_default();
        Ok(!observed.is_empty())
    })?;
    outcome(observed.contains("<img src=x onerror="), observed)
}

fn harmless(browser: &BrowserSession) -> Result<String, ToolError> {
    equal(&browser.ask(LIVELY)?, &json!([]))?;
    let title = browser.ask("return document.title")?;
    equal(&title, &json!("Pratique"))?;
    Ok("nothing but text, tables and their own style".to_owned())
}

fn styled(browser: &BrowserSession) -> Result<String, ToolError> {
    let mut observed = Vec::new();
    for dark in [false, true] {
        browser.dark(dark)?;
        let colors = browser.ask(
            "const color = selector => getComputedStyle(document.querySelector(selector)).color; \
             return [color('body'), color('.bad'), color('.good'), getComputedStyle(document.querySelector('table')).borderCollapse]",
        )?;
        equal(at(&colors, "/3"), &json!("collapse"))?;
        observed.push(colors);
    }
    browser.dark(false)?;
    let [light, dark] = observed.as_slice() else {
        return Err("not looked at twice".into());
    };
    let differ =
        (0..3).all(|index| light[index] != dark[index]) && light[0] != light[1] && light[1] != light[2];
    outcome(differ, format!("{light}\n{dark}"))
}

fn narrow(browser: &BrowserSession) -> Result<String, ToolError> {
    browser.screen(Some(400))?;
    let widths = browser.ask(
        "const wide = [...document.querySelectorAll('.wide')].map(element => element.scrollWidth - element.clientWidth);
         return [document.documentElement.scrollWidth, window.innerWidth, Math.max(...wide)]",
    )?;
    browser.screen(None)?;
    let [needed, there] = ["/0", "/1"].map(|pointer| at(&widths, pointer).as_u64().unwrap_or_default());
    let text = format!("{needed} of {there} pixels, and nothing is cut off");
    if there == 400 && (1..=there).contains(&needed) && at(&widths, "/2") == &json!(0) {
        Ok(text)
    } else {
        Err(widths.to_string().into())
    }
}

/// The texts of a table, with its head.
fn rows(browser: &BrowserSession, heading: &str) -> Result<Vec<Vec<String>>, ToolError> {
    let table = browser.ask(&TABLE.replace("HEADING", &json!(heading).to_string()))?;
    serde_json::from_value(table).map_err(|_| ToolError::from(format!("no table {heading:?}")))
}

fn table_text(rows: &[Vec<String>]) -> String {
    let lines = rows.iter().map(|row| row.join(" | ").replace('\n', " "));
    lines.collect::<Vec<_>>().join("\n")
}
