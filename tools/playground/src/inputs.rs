//! The effect of each input on the decision, and other output of the page.

use std::fs;

use pratique_harness::ToolError;
use pratique_harness::browser::{BrowserSession, equal};
use serde_json::json;

use crate::checks::{choose, decision, fill, read_text, write};
use crate::source;

const LIMIT: &str = "A limit from params";
const OWNER: &str = "Who may change a label";
const SIDECAR: &str = "A sidecar, by a mutation";

/// An example that is denied, an input of it, and a text with which it is allowed.
struct ExampleChange {
    example: &'static str,
    tab: &'static str,
    field: &'static str,
    text: String,
}

/// Each input by itself decides.
pub(crate) fn each(browser: &BrowserSession) -> Result<String, ToolError> {
    let mut reported = Vec::new();
    for change in changes()? {
        let named = format!("{}: {}", change.example, change.field);
        let first_decision = choose(browser, change.example)?;
        fill(
            browser,
            &format!("tab-{}", change.tab),
            change.field,
            &change.text,
        )?;
        let after = decision(browser)?;
        if [first_decision.as_str(), after.as_str()] != ["denied", "allowed"] {
            return Err(format!("{named}: {first_decision}, then {after}").into());
        }
        reported.push(named);
    }
    Ok(reported.join("\n"))
}

fn changes() -> Result<Vec<ExampleChange>, ToolError> {
    let example = |name: &str| {
        let path = source("playground/examples").join(name);
        fs::read_to_string(&path).map_err(ToolError::file(&path))
    };
    let editor = |example, tab, field, text| ExampleChange {
        example,
        tab,
        field,
        text,
    };
    Ok(vec![
        editor(
            LIMIT,
            "policies",
            "edit-policies",
            example("limit.yaml")?.replace("<= variables.limit", ">= variables.limit"),
        ),
        editor(
            LIMIT,
            "object",
            "edit-object",
            example("deployment.yaml")?.replace("replicas: 7", "replicas: 5"),
        ),
        editor(
            LIMIT,
            "params",
            "edit-params",
            example("limits.yaml")?.replace("\"5\"", "\"7\""),
        ),
        editor(
            LIMIT,
            "namespace",
            "edit-namespace",
            "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}".to_owned(),
        ),
        editor(OWNER, "oldObject", "edit-oldObject", example("owned.yaml")?),
        editor(
            OWNER,
            "authorizer",
            "edit-authorizer",
            "authorizer: [{users: [bob], verbs: [reassign]}]".to_owned(),
        ),
        editor(OWNER, "request", "user", "ann".to_owned()),
    ])
}

/// A mutation has its changes, line by line, and as a patch.
pub(crate) fn mutation(browser: &BrowserSession) -> Result<String, ToolError> {
    choose(browser, SIDECAR)?;
    let observed = browser.ask(
        "const lines = [...document.querySelectorAll('.diff .added')].map(line => line.textContent.trimEnd());
        return [lines.length > 2 && lines.every(line => line.startsWith('+')), document.querySelectorAll('.tag.changed').length,
            document.getElementById('details').innerText.includes('JSON Patch')]",
    )?;
    equal(&observed, &json!([true, 1, true]))?;
    read_text(browser, ".diff")
}

/// Lints and worst-case costs follow what is typed.
pub(crate) fn lints(browser: &BrowserSession) -> Result<String, ToolError> {
    let policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a}\n\
        spec:\n  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}\n\
        \x20 validations: [{expression: \"object.metadata.name != 'b'\"}]\n";
    let binding = "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: a}\n\
        spec: {policyName: a, validationActions: [Deny]}\n";
    let observed = || {
        browser.ask(
            "const lints = [...document.querySelectorAll('.findings .warning')].map(finding => finding.innerText);
            return [lints.filter(lint => lint.includes('unbound-policy')).length, document.querySelectorAll('main meter').length,
                document.querySelectorAll('.marks .warning').length > 0]",
        )
    };
    write(browser, "policies", policy)?;
    decision(browser)?;
    equal(&observed()?, &json!([1, 1, true]))?;
    let reported = read_text(browser, ".findings")?;
    write(browser, "policies", &format!("{policy}{binding}"))?;
    decision(browser)?;
    equal(&observed()?, &json!([0, 1, false]))?;
    Ok(reported)
}
