//! Checks of the playground in a browser.

use pratique_harness::browser::{BrowserSession, at, equal};
use pratique_harness::{StepTranscript, ToolError, eventually};
use serde_json::{Value, json};

use crate::inputs;
use crate::walk::walk;

/// Runs all checks.
pub(crate) fn check_all(url: &str, browser: &BrowserSession, bless: bool, transcript: &mut StepTranscript) {
    let mut step = |name: &str, outcome: Result<String, ToolError>| transcript.step(name, outcome);
    step("opens, and decides", opens(url, browser));
    step(
        "fetches nothing from elsewhere, and nothing is wrong with it",
        quiet(browser),
    );
    step("decides again as one types", types(browser));
    step("shows the values of subexpressions", values(browser));
    step("marks problems, and leads to them", problems(browser));
    step("evaluates every example", examples(browser));
    step("decides by each input", inputs::each(browser));
    step("shows what a mutation changes", inputs::mutation(browser));
    step("lints and estimates costs as one types", inputs::lints(browser));
    step("gives a link that has all inputs", shares(url, browser));
    step("ends an evaluation that takes too long", ends(url, browser));
    step("takes no text for markup", harmless(url, browser));
    step("can be used with a keyboard", keyboard(url, browser));
    step("is dark where dark is wanted", dark(browser));
    step("fits 400 pixels", narrow(url, browser));
    step("leads from nothing to a decision", walk(url, browser, bless));
    step("still nothing is wrong with it", quiet(browser));
}

/// The shown decision, once all evaluations have ended.
pub(crate) fn decision(browser: &BrowserSession) -> Result<String, ToolError> {
    let mut decision_text = String::new();
    eventually("decided", || {
        let observed = browser.ask(
            "const banner = document.querySelector('[data-decision]');
            return document.body.dataset.evaluated && !document.body.dataset.pending && !document.body.dataset.running
                && banner ? banner.dataset.decision : null",
        )?;
        decision_text = observed.as_str().unwrap_or_default().to_owned();
        Ok(!decision_text.is_empty())
    })?;
    Ok(decision_text)
}

/// Chooses an example, and waits for its decision.
pub(crate) fn choose(browser: &BrowserSession, title: &str) -> Result<String, ToolError> {
    decision(browser)?;
    let script = "const choice = document.getElementById('example');
        choice.value = TITLE;
        choice.dispatchEvent(new Event('change'));
        return choice.value";
    let chosen = browser.ask(&script.replace("TITLE", &json!(title).to_string()))?;
    equal(&chosen, &json!(title))?;
    decision(browser)
}

fn opens(url: &str, browser: &BrowserSession) -> Result<String, ToolError> {
    browser.open(url)?;
    same("denied", &decision(browser)?)?;
    let measured = browser.ask(
        "const loaded = performance.getEntriesByType('navigation')[0].loadEventEnd;
        const [first] = performance.getEntriesByName('first decision');
        return [Math.round(first.startTime - loaded), Math.round(first.startTime)]",
    )?;
    Ok(format!(
        "the first decision came {} ms after the page was loaded, {} ms after it was asked for",
        at(&measured, "/0"),
        at(&measured, "/1")
    ))
}

fn quiet(browser: &BrowserSession) -> Result<String, ToolError> {
    let reported = browser.quiet()?;
    let elsewhere = browser.ask(
        "return performance.getEntriesByType('resource').map(entry => entry.name)
            .filter(name => !name.startsWith(location.origin + '/') && !name.startsWith('data:'))",
    )?;
    equal(&elsewhere, &json!([]))?;
    Ok(reported)
}

/// Replaces the text of an editor as a keyboard does.
pub(crate) fn write(browser: &BrowserSession, editor: &str, text: &str) -> Result<(), ToolError> {
    fill(browser, &format!("tab-{editor}"), &format!("edit-{editor}"), text)
}

/// Replaces the text of a field on a tab as a keyboard does.
pub(crate) fn fill(browser: &BrowserSession, tab: &str, field: &str, text: &str) -> Result<(), ToolError> {
    let script = "const tab = document.getElementById('TAB');
        if (tab) tab.click();
        const field = document.getElementById('FIELD');
        field.focus();
        field.select();
        return document.activeElement === field";
    let script = script.replace("TAB", tab).replace("FIELD", field);
    equal(&browser.ask(&script)?, &json!(true))?;
    browser.insert(text)
}

fn types(browser: &BrowserSession) -> Result<String, ToolError> {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: monitoring}\nspec: {containers: [{name: a, image: b}]}";
    write(browser, "object", pod)?;
    same("allowed", &decision(browser)?)?;
    write(
        browser,
        "object",
        &pod.replace("image: b", "image: b, securityContext: {privileged: true}"),
    )?;
    same("denied", &decision(browser)?)?;
    read_text(browser, "#decision")
}

fn values(browser: &BrowserSession) -> Result<String, ToolError> {
    let observed = browser.ask(
        "return [document.body.innerText.includes('[object'), document.querySelectorAll('.diagram .values').length > 3,
            [...document.querySelectorAll('.expression.wrong .result')].map(result => result.textContent)]",
    )?;
    equal(&observed, &json!([false, true, ["false"]]))?;
    read_text(browser, ".expression.wrong .diagram")
}

fn problems(browser: &BrowserSession) -> Result<String, ToolError> {
    let policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a}\n\
        spec:\n  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}\n\
        \x20 validations: [{expression: \"objekt == 1\"}]";
    write(browser, "policies", policy)?;
    same("error", &decision(browser)?)?;
    let marked = browser.ask("return document.querySelector('.marks .error').textContent")?;
    equal(&marked, &json!("objekt"))?;
    let told = browser.ask("return document.querySelector('#upper .told').textContent")?;
    if !told
        .as_str()
        .is_some_and(|told| told.starts_with("Line 6: ") && told.contains("objekt"))
    {
        return Err(format!("what is wrong is not told beside the text: {told}").into());
    }
    let links = browser
        .ask("return [...document.querySelectorAll('#upper .told a, .findings a')].map(link => link.href)")?;
    let documentation = "https://github.com/pratique/pratique/blob/main/docs/problems.md#invalid-expression";
    equal(&links, &json!([documentation, documentation]))?;
    browser.ask("document.querySelector('.findings .jump').click()")?;
    let selected = browser.ask(
        "const area = document.activeElement;
        return [area.id, area.value.slice(area.selectionStart, area.selectionEnd), area.getAttribute('aria-invalid')]",
    )?;
    equal(&selected, &json!(["edit-policies", "objekt", "true"]))?;
    read_text(browser, ".findings")
}

fn examples(browser: &BrowserSession) -> Result<String, ToolError> {
    let listed = browser
        .ask("return [...document.querySelectorAll('#example option')].map(option => option.value).filter(Boolean)")?;
    let mut observed = Vec::new();
    for title in listed.as_array().into_iter().flatten().filter_map(Value::as_str) {
        let decided = choose(browser, title)?;
        let decision_text = read_text(browser, "#decision")?;
        if decision_text.contains("warning") {
            return Err(format!("{title}: what is shown as an example is warned of: {decision_text}").into());
        }
        match decided.as_str() {
            "allowed" | "denied" | "value" => observed.push(format!("{title}: {decided}")),
            _ => return Err(format!("{title}: {decided}: {decision_text}").into()),
        }
    }
    match observed.len() {
        0..5 => Err(format!("{observed:?}").into()),
        _ => Ok(observed.join("\n")),
    }
}

/// All inputs of a request; which of its parts is shown does not matter.
const TEXTS: &str = "const texts = {};
    for (const tab of [...document.querySelectorAll('#parts [role=tab]')]) {
        tab.click();
        for (const field of document.querySelectorAll('main textarea, main input, main select')) texts[field.id] = field.value;
    }
    return texts";

fn shares(url: &str, browser: &BrowserSession) -> Result<String, ToolError> {
    choose(browser, "Who may change a label")?;
    write(
        browser,
        "oldObject",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: ü, namespace: shop, labels: {owner: zoë}}}",
    )?;
    let first_decision = decision(browser)?;
    let message = read_text(browser, "#decision .message")?;
    browser.ask("document.getElementById('share').click()")?;
    let mut link = String::new();
    eventually("shared", || {
        link = browser
            .ask("return location.href")?
            .as_str()
            .unwrap_or_default()
            .to_owned();
        Ok(link.contains("#v1="))
    })?;
    let input_texts = browser.ask(TEXTS)?;
    browser.open("about:blank")?;
    browser.open(&link)?;
    same(&first_decision, &decision(browser)?)?;
    same(&message, &read_text(browser, "#decision .message")?)?;
    equal(&browser.ask(TEXTS)?, &input_texts)?;
    // An invalid link is reported, and has no other effect.
    browser.open("about:blank")?;
    browser.open(&format!("{url}#v1=AAAA"))?;
    same("denied", &decision(browser)?)?;
    Ok(format!("{} characters", link.len()))
}

/// A request that never reaches the worker simulates an evaluation that takes too long: the engine itself is bounded.
fn ends(url: &str, browser: &BrowserSession) -> Result<String, ToolError> {
    browser.open(url)?;
    decision(browser)?;
    browser.ask(
        "const post = Worker.prototype.postMessage;
        Worker.prototype.postMessage = function (message) {
            if (message.request) Worker.prototype.postMessage = post;
            else post.call(this, message);
        }",
    )?;
    write(
        browser,
        "object",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: b, namespace: monitoring}\nspec: {containers: [{name: a, image: b}]}",
    )?;
    same("fault", &decision(browser)?)?;
    let reported = read_text(browser, "#decision")?;
    write(
        browser,
        "object",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: c, namespace: monitoring}\nspec: {containers: [{name: a, image: b}]}",
    )?;
    same("allowed", &decision(browser)?)?;
    Ok(reported)
}

fn harmless(url: &str, browser: &BrowserSession) -> Result<String, ToolError> {
    browser.open(url)?;
    decision(browser)?;
    let markup = "<img src=x onerror=\"document.title = 1\"><b onclick=x>";
    let object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": markup, "namespace": "monitoring"},
        "spec": {"containers": [{"name": markup, "image": "a", "securityContext": {"privileged": true}}]}});
    write(browser, "object", &object.to_string())?;
    same("denied", &decision(browser)?)?;
    let observed = browser.ask(
        "return [document.title, document.querySelectorAll('main img, main b').length,
        document.getElementById('decision').innerText.includes('<img src=x')]",
    )?;
    equal(&observed, &json!(["Pratique playground", 0, true]))?;
    Ok("nothing but text".to_owned())
}

fn keyboard(url: &str, browser: &BrowserSession) -> Result<String, ToolError> {
    browser.open(url)?;
    decision(browser)?;
    browser.ask("document.activeElement.blur()")?;
    let mut passed = Vec::new();
    for _ in 0..12 {
        browser.press("Tab")?;
        let focused = browser.ask(
            "const element = document.activeElement;
            const box = element.closest('.text') ?? element;
            const style = getComputedStyle(box);
            const visible = style.outlineStyle !== 'none' || style.boxShadow !== 'none';
            const named = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent;
            return [element.id || element.className || element.tagName, visible, named.trim().slice(0, 30)]",
        )?;
        if focused.get(1) != Some(&json!(true)) || focused.get(2) == Some(&json!("")) {
            return Err(format!(
                "the focus is not seen, or what has it has no name: {focused}, after {passed:?}"
            )
            .into());
        }
        passed.push(at(&focused, "/0").as_str().unwrap_or_default().to_owned());
    }
    for wanted in [
        "skip",
        "example",
        "share",
        "tab-policies",
        "edit-policies",
        "tab-object",
        "edit-object",
    ] {
        if !passed.iter().any(|observed| observed == wanted) {
            return Err(format!("{wanted} is not reached: {passed:?}").into());
        }
    }
    browser.ask("document.getElementById('tab-object').focus()")?;
    browser.press("ArrowRight")?;
    browser.press("End")?;
    let chosen = browser
        .ask("return [document.activeElement.id, document.activeElement.getAttribute('aria-selected')]")?;
    equal(&chosen, &json!(["tab-request", "true"]))?;
    Ok(passed.join(", "))
}

fn dark(browser: &BrowserSession) -> Result<String, ToolError> {
    let ground = || browser.ask("return getComputedStyle(document.body).backgroundColor");
    browser.dark(false)?;
    let light = ground()?;
    browser.dark(true)?;
    let dark = ground()?;
    browser.dark(false)?;
    if light == dark {
        Err(format!("{light} in both").into())
    } else {
        Ok(format!("{light} and {dark}"))
    }
}

fn narrow(url: &str, browser: &BrowserSession) -> Result<String, ToolError> {
    browser.screen(Some(400))?;
    browser.open(url)?;
    let listed = browser
        .ask("return [...document.querySelectorAll('#example option')].map(option => option.value).filter(Boolean)")?;
    let titles = listed.as_array().cloned().unwrap_or_default();
    if titles.len() < 5 {
        return Err(format!("{titles:?}").into());
    }
    for title in titles.iter().filter_map(Value::as_str) {
        choose(browser, title)?;
        let wide = browser.ask(
            "document.querySelectorAll('details').forEach(details => { details.open = true });
            return [document.documentElement.scrollWidth,
                [...document.querySelectorAll('main *')].filter(element => element.getBoundingClientRect().right > 401
                    && !element.closest('pre, .scroll, .layers')).map(element => element.className).slice(0, 5)]",
        )?;
        if at(&wide, "/0").as_u64().is_none_or(|width| width > 400) || at(&wide, "/1") != &json!([]) {
            return Err(format!("{title}: {wide}").into());
        }
    }
    // The decision is above what is typed, and stays there.
    let places = browser.ask(
        "window.scrollTo(0, document.body.scrollHeight);
        const box = document.getElementById('decision').getBoundingClientRect();
        return [box.top, box.height > 20 && box.height < innerHeight / 2]",
    )?;
    browser.ask("window.scrollTo(0, 0)")?;
    equal(&places, &json!([0, true]))?;
    browser.screen(Some(1280))?;
    Ok("no example is wider, and the decision is in sight".to_owned())
}

/// The text of an element, as it is shown.
pub(crate) fn read_text(browser: &BrowserSession, selector: &str) -> Result<String, ToolError> {
    let script = format!(
        "return document.querySelector({})?.innerText ?? ''",
        json!(selector)
    );
    Ok(browser.ask(&script)?.as_str().unwrap_or_default().to_owned())
}

fn same(expected: &str, observed: &str) -> Result<(), ToolError> {
    equal(&json!(observed), &json!(expected))
}
