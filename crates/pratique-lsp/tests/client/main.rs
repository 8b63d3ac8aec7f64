//! A client of the protocol, over the connection that editors have.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may stop where it fails"
)]

mod objects;
mod order;
mod session;
mod suites;
mod workspace;

use serde_json::{Value, json};

use session::{Client, edited, position};

const POLICY: &str = include_str!("../../../../testdata/editors/policy.yaml");

const BINDING: &str = include_str!("../../../../testdata/editors/binding.yaml");

fn labels(completions: &Value) -> Vec<&str> {
    completions
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["label"].as_str().unwrap())
        .collect()
}

#[test]
fn problems_are_published_while_one_types() {
    let mut client = Client::new("problems", &[("binding.yaml", BINDING)]);
    client.open("policy.yaml", POLICY);
    client.replace(
        "policy.yaml",
        POLICY,
        "object.spec.replicas",
        "object.spec.replicas.x +",
    );
    let broken = POLICY.replacen("object.spec.replicas", "object.spec.replicas.x +", 1);
    let found = client.diagnostics("policy.yaml");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "invalid-expression");
    assert!(found[0].1.contains("Syntax error"), "{found:?}");
    client.replace(
        "policy.yaml",
        &broken,
        "object.spec.replicas.x +",
        "object.spec.replicaz",
    );
    let found = client.diagnostics("policy.yaml");
    assert_eq!(found[0].0, "type-check", "{found:?}");
    assert_eq!(found[0].2, position(POLICY, ".replicas <=", 0), "{found:?}");
    let mistaken = POLICY.replacen("object.spec.replicas", "object.spec.replicaz", 1);
    client.replace("policy.yaml", &mistaken, "replicaz", "replicas");
    assert_eq!(client.diagnostics("policy.yaml"), []);
    client.end();
}

#[test]
fn a_binding_elsewhere_counts() {
    let client = Client::new("binding", &[("policy.yaml", POLICY)]);
    client.open("policy.yaml", POLICY);
    let found = client.diagnostics("policy.yaml");
    assert_eq!(found[0].0, "unbound-policy");
    client.open("binding.yaml", BINDING);
    assert_eq!(client.diagnostics("policy.yaml"), []);
    client.end();
}

#[test]
fn what_does_not_load_hides_nothing_of_others() {
    let broken = BINDING.replace("validationActions: [Deny]", "validationActions: [Refuse]");
    let client = Client::new("others", &[("binding.yaml", &broken)]);
    client.open("policy.yaml", POLICY);
    assert!(client.diagnostics("binding.yaml")[0].1.contains("Refuse"));
    assert_eq!(client.diagnostics("policy.yaml")[0].0, "unbound-policy");
    client.end();
}

#[test]
fn hovers_tell_types_signatures_and_costs() {
    let mut client = Client::new("hover", &[]);
    client.open("policy.yaml", POLICY);
    let mut hover = |needle, offset| {
        let at = client.at("policy.yaml", POLICY, needle, offset);
        let answer = client.ask("textDocument/hover", at);
        answer["contents"]["value"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let text = hover("replicas <=", 3);
    assert!(
        text.contains("replicas: int") && text.contains("apps/v1"),
        "{text}"
    );
    assert!(text.contains("costs at most"), "{text}");
    assert!(hover("variables.most", 12).contains("most: int"));
    assert!(hover("startsWith", 2).contains("string.startsWith(string): bool"));
    assert!(hover("c.image", 0).contains("c: core/v1.Container"));
    assert_eq!(hover("kind: Validating", 2), "");
    client.end();
}

#[test]
fn hovers_describe_fields_also_where_types_are_wrong() {
    let mut client = Client::new("descriptions", &[]);
    let wrong = POLICY.replacen("replicas <= variables.most", "replicas <= 'a'", 1);
    for text in [POLICY, &wrong] {
        client.open("policy.yaml", text);
        let at = client.at("policy.yaml", text, "replicas <=", 3);
        let answer = client.ask("textDocument/hover", at);
        let told = answer["contents"]["value"].as_str().unwrap_or_default();
        for expected in ["replicas: int", "Number of desired pods.", "apps/v1"] {
            assert!(told.contains(expected), "{text}: {answer}");
        }
    }
    client.end();
}

#[test]
fn completion_knows_fields_variables_and_functions() {
    let mut client = Client::new("completion", &[]);
    // Incomplete as it is while one types.
    let text = POLICY.replace("c.image.startsWith('registry/'))", "c.im");
    client.open("policy.yaml", &text);
    let at = client.at("policy.yaml", &text, "c.im", 4);
    assert_eq!(
        labels(&client.ask("textDocument/completion", at)),
        ["image", "imagePullPolicy"]
    );
    let text = POLICY.replace("replicas <= variables.most", "replicas <= variables.");
    client.open("policy.yaml", &text);
    let at = client.at("policy.yaml", &text, "variables.\n", 10);
    assert!(labels(&client.ask("textDocument/completion", at)).contains(&"most"));
    let text = POLICY.replace("c.image.startsWith('registry/'))", "c.image.st");
    client.open("policy.yaml", &text);
    let at = client.at("policy.yaml", &text, "image.st", 8);
    assert_eq!(labels(&client.ask("textDocument/completion", at)), ["startsWith"]);
    let text = POLICY.replace("object.spec.replicas <= variables.most", "obj");
    client.open("policy.yaml", &text);
    let at = client.at("policy.yaml", &text, "obj\n", 3);
    assert_eq!(labels(&client.ask("textDocument/completion", at)), ["object"]);
    client.end();
}

#[test]
fn definitions_references_and_names() {
    let mut client = Client::new("definition", &[("binding.yaml", BINDING)]);
    client.open("policy.yaml", POLICY);
    client.open("binding.yaml", BINDING);
    let at = client.at("binding.yaml", BINDING, "policyName: replicas", 14);
    let policy = client.ask("textDocument/definition", at);
    assert_eq!(policy["uri"], client.uri("policy.yaml").as_str());
    assert_eq!(policy["range"]["start"], position(POLICY, "name: replicas", 6));
    let at = client.at("policy.yaml", POLICY, "variables.most", 11);
    let variable = client.ask("textDocument/definition", at.clone());
    assert_eq!(variable["range"]["start"], position(POLICY, "name: most", 6));
    let mut renaming = at;
    renaming["newName"] = json!("limit");
    let edits = client.ask("textDocument/rename", renaming.clone());
    let edits = edits["changes"][client.uri("policy.yaml")].as_array().unwrap();
    let starts: Vec<_> = edits.iter().map(|edit| edit["range"]["start"].clone()).collect();
    let expected = [
        position(POLICY, "name: most", 6),
        position(POLICY, "variables.most", 10),
    ];
    assert_eq!(starts, expected);
    renaming["newName"] = json!("no name");
    assert!(
        client
            .answer("textDocument/rename", renaming)
            .unwrap_err()
            .contains("no name")
    );
    let mut at = client.at("policy.yaml", POLICY, "name: replicas", 8);
    at["context"] = json!({"includeDeclaration": false});
    let bindings = client.ask("textDocument/references", at);
    assert_eq!(bindings[0]["uri"], client.uri("binding.yaml").as_str());
    client.end();
}

#[test]
fn outlines_and_tokens() {
    let mut client = Client::new("outline", &[]);
    client.open("policy.yaml", POLICY);
    let of = json!({"textDocument": {"uri": client.uri("policy.yaml")}});
    let outline = client.ask("textDocument/documentSymbol", of.clone());
    assert_eq!(outline[0]["name"], "replicas");
    let children = outline[0]["children"].as_array().unwrap();
    let names: Vec<_> = children
        .iter()
        .map(|child| child["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "variables.most",
            "spec.validations[0].expression",
            "spec.validations[1].expression"
        ]
    );
    let tokens = client.ask("textDocument/semanticTokens/full", of.clone());
    let data = tokens["data"].as_array().unwrap();
    // `object` of the first validation is the first name.
    let line = position(POLICY, "object.spec.replicas", 0);
    assert_eq!(
        [&data[0], &data[1], &data[2]],
        [&line["line"], &line["character"], &json!(6)]
    );
    // While types are wrong, names keep their colours.
    client.replace(
        "policy.yaml",
        POLICY,
        "object.spec.replicas <=",
        "object.spec.replicaz <=",
    );
    let mistaken = client.ask("textDocument/semanticTokens/full", of);
    assert_eq!(mistaken["data"], tokens["data"]);
    client.end();
}

#[test]
fn fixes_are_offered_where_a_word_has_to_be_another() {
    let mut client = Client::new("fixes", &[("binding.yaml", BINDING)]);
    let uri = client.uri("policy.yaml");
    for (from, to, code) in [
        ("object.spec.replicas", "object.spec.replicaz", "type-check"),
        (
            "object.spec.replicas",
            "objct.spec.replicas",
            "invalid-expression",
        ),
        ("c.image.startsWith", "c.image.startWith", "invalid-expression"),
        ("variables.most", "variables.moost", "invalid-expression"),
        ("  variables:", "  variabels:", "unknown-field"),
        ("operations: [CREATE", "operations: ['CREAT'", "invalid-field"),
        (
            "resources: [deployments]",
            "resources: [\"deployment\"]",
            "unknown-resource",
        ),
    ] {
        let wrong = POLICY.replacen(from, to, 1);
        client.open("policy.yaml", &wrong);
        let everywhere = json!({"start": {"line": 0, "character": 0}, "end": {"line": 100, "character": 0}});
        let params =
            json!({"textDocument": {"uri": uri}, "range": everywhere, "context": {"diagnostics": []}});
        let actions = client.ask("textDocument/codeAction", params.clone());
        let of_code = |action: &&Value| action["diagnostics"][0]["code"] == code;
        let action = actions.as_array().unwrap().iter().find(of_code);
        let action = action.unwrap_or_else(|| panic!("{code}: {to}: {actions}"));
        assert_eq!(action["kind"], "quickfix");
        let fixed = edited(&wrong, &action["edit"]["changes"][&uri]);
        let quotes = |text: &str| text.replace(['"', '\''], "");
        assert_eq!(quotes(&fixed), quotes(POLICY), "{to}");
        // What is elsewhere in the file, and what is of another kind, is not offered.
        let mut elsewhere = params.clone();
        elsewhere["range"] =
            json!({"start": {"line": 90, "character": 0}, "end": {"line": 90, "character": 0}});
        assert_eq!(client.ask("textDocument/codeAction", elsewhere), json!([]));
        let mut refactor = params;
        refactor["context"]["only"] = json!(["refactor"]);
        assert_eq!(client.ask("textDocument/codeAction", refactor), Value::Null);
    }
    client.end();
}

#[test]
fn a_binding_is_offered_for_a_policy_without_one() {
    let mut client = Client::new("unbound", &[]);
    client.open("policy.yaml", POLICY);
    let uri = client.uri("policy.yaml");
    let all = json!({"start": {"line": 0, "character": 0}, "end": {"line": 100, "character": 0}});
    let params = json!({"textDocument": {"uri": uri}, "range": all, "context": {"diagnostics": []}});
    let actions = client.ask("textDocument/codeAction", params.clone());
    let action = &actions[0];
    assert_eq!(
        action["title"], "Add a ValidatingAdmissionPolicyBinding",
        "{actions}"
    );
    assert_eq!(action["diagnostics"][0]["code"], "unbound-policy");
    let fixed = edited(POLICY, &action["edit"]["changes"][&uri]);
    assert!(fixed.starts_with(POLICY.trim_end()), "{fixed}");
    client.open("policy.yaml", &fixed);
    let found = client.diagnostics("policy.yaml");
    assert!(
        found.iter().all(|finding| finding.0 != "unbound-policy"),
        "{found:?}"
    );
    assert_eq!(client.ask("textDocument/codeAction", params), json!([]));
    client.end();
}

#[test]
fn no_fix_is_offered_where_more_than_a_word_changes() {
    let mut client = Client::new("no-fixes", &[("binding.yaml", BINDING)]);
    let escaped = POLICY.replacen(
        "- expression: object.spec.replicas <= variables.most",
        "- expression: \"object.spec.\\x72eplicaz <= variables.most\"",
        1,
    );
    let unbound = POLICY.replacen("name: replicas", "name: others", 1);
    let with_params = unbound.replacen(
        "spec:\n",
        "spec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n",
        1,
    );
    assert_ne!(with_params, unbound);
    for text in [escaped, with_params] {
        client.open("policy.yaml", &text);
        let all = json!({"start": {"line": 0, "character": 0}, "end": {"line": 100, "character": 0}});
        let params = json!({
            "textDocument": {"uri": client.uri("policy.yaml")},
            "range": all,
            "context": {"diagnostics": []},
        });
        assert_eq!(client.ask("textDocument/codeAction", params), json!([]), "{text}");
    }
    client.end();
}

#[test]
fn what_is_not_supported_is_refused() {
    let mut client = Client::new("refused", &[]);
    assert_eq!(
        client.answer("textDocument/formatting", json!({})).unwrap_err(),
        "not supported"
    );
    assert!(
        client
            .answer("textDocument/hover", json!({"position": 1}))
            .is_err()
    );
    client.end();
}

#[test]
fn documents_that_are_no_manifests_have_no_diagnostics() {
    let mut client = Client::new("values", &[("values.yaml", "replicas: 3\n")]);
    client.open("values.yaml", "replicas: [3\n");
    client.open("policy.yaml", POLICY);
    assert_eq!(client.diagnostics("policy.yaml")[0].0, "unbound-policy");
    let at = client.at("values.yaml", "replicas: [3\n", "3", 0);
    assert_eq!(client.ask("textDocument/hover", at), Value::Null);
    client.end();
}

/// Policies with their bindings, of at least so many lines.
fn long_file(lines: usize) -> String {
    let mut text = String::new();
    for number in 0.. {
        let named = |text: &str| text.replace("name: replicas", &format!("name: replicas-{number}"));
        text += &named(POLICY);
        text += "---\n";
        text += &named(BINDING)
            .replace("-everywhere", "")
            .replace("policyName: replicas", &format!("policyName: replicas-{number}"));
        text += "---\n";
        if text.lines().count() >= lines {
            break;
        }
    }
    text
}

/// Prints how long it takes from a keystroke in a file of 1,000 lines to its diagnostics:
/// `cargo test --release -p pratique-lsp --test client -- --ignored --nocapture keystroke`.
#[test]
#[ignore = "it measures, and tells nothing else"]
fn a_keystroke_in_a_long_file() {
    let mut client = Client::new("keystroke", &[]);
    let text = long_file(1_000);
    client.open("policy.yaml", &text);
    let (right, wrong) = ("object.spec.replicas <=", "object.spec.replicaz <=");
    let broken = text.replacen(right, "object.spec. <=", 1);
    let mistaken = text.replacen(right, wrong, 1);
    // A file that warns, one that does not load, and one that warns again.
    let steps = [
        (&text, right, wrong, "type-check"),
        (&mistaken, wrong, "object.spec. <=", "invalid-expression"),
        (&broken, "object.spec. <=", wrong, "type-check"),
    ];
    let mut times: Vec<Vec<u128>> = vec![Vec::new(); steps.len()];
    for _ in 0..10 {
        for ((before, from, to, code), times) in steps.iter().zip(&mut times) {
            let start = std::time::Instant::now();
            client.replace("policy.yaml", before, from, to);
            let found = client.diagnostics("policy.yaml");
            times.push(start.elapsed().as_micros());
            assert!(found.iter().any(|found| found.0 == *code), "{found:?}");
        }
        client.replace("policy.yaml", &mistaken, wrong, right);
        assert_eq!(client.diagnostics("policy.yaml"), []);
    }
    for ((_, _, _, code), times) in steps.iter().zip(&mut times) {
        times.sort_unstable();
        println!(
            "{} lines, {code}: median {} µs",
            text.lines().count(),
            times[times.len() / 2]
        );
    }
    client.end();
}
