//! Explanations of the decisions of whole policies.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

use std::sync::Arc;

use pratique::manifest::{LoadOptions, Loader, ManifestFile};
use pratique::{Admission, EvalContext, Objects};
use pratique_explain::{Explanation, ExplanationRecorder, Line, MatchOutcome};
use pratique_testkit::NoOpinion;
use pratique_types::AdmissionRequest;

/// A validating policy and its binding.
fn policy(spec: &str) -> String {
    format!(
        r#"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: p}}
spec:
  matchConstraints:
    resourceRules: [{{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}}]
{spec}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: b}}
spec: {{policyName: p, validationActions: [Deny]}}
"#
    )
}

fn request(operation: &str) -> String {
    format!(
        r#"{{"kind":{{"version":"v1","kind":"ConfigMap"}},"resource":{{"version":"v1","resource":"configmaps"}},
        "name":"c","operation":"{operation}","userInfo":{{"username":"ann"}},
        "object":{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"c"}},"data":{{"a":"1","b":"two"}}}}}}"#
    )
}

fn explained(manifests: &str, operation: &str) -> Explanation {
    let file = ManifestFile {
        path: "p.yaml".to_owned(),
        content: manifests.as_bytes().to_vec(),
    };
    let builder = Admission::builder();
    let options = LoadOptions::new(builder.expressions());
    let set = Loader::for_api(&options).load_files(&[file]).unwrap();
    let admission = builder.configurations(set.into()).build().unwrap();
    let text = request(operation);
    let request: AdmissionRequest<'_> = serde_json::from_str(&text).unwrap();
    let cluster = Objects::new();
    let recorder = ExplanationRecorder::new();
    let context = EvalContext::new(&cluster, Arc::new(NoOpinion)).with_trace(&recorder);
    admission.admit_policies(&request, context, &mut ()).unwrap();
    recorder.explanation()
}

/// The expressions of the only policy, binding and round: `place = value (cost) because`.
#[track_caller]
fn check(spec: &str, expected: &[&str]) {
    let explanation = explained(&policy(spec), "CREATE");
    let round = &explanation.policies[0].bindings[0].rounds[0];
    let reported: Vec<String> = round
        .expressions
        .iter()
        .map(|expression| {
            let value = expression
                .value
                .as_deref()
                .or(expression.error.as_deref())
                .unwrap_or_default();
            let because = expression.because.as_ref().map(|text| format!(" because {text}"));
            format!(
                "{} = {value} ({}){}",
                expression.place.field(),
                expression.cost,
                because.unwrap_or_default()
            )
        })
        .collect();
    assert_eq!(reported, expected);
}

#[test]
fn variables_come_before_their_readers_and_once() {
    check(
        r#"  variables:
  - {name: unused, expression: "1"}
  - {name: keys, expression: "object.data.map(k, k)"}
  - {name: count, expression: "size(variables.keys)"}
  validations:
  - expression: variables.count == 2
  - expression: "'a' in variables.keys""#,
        &[
            "variables.keys = [\"a\", \"b\"] (29)",
            "variables.count = 2 (3)",
            "validations[0] = true (3)",
            "validations[1] = true (4)",
        ],
    );
}

#[test]
fn the_cause_of_a_decision_is_found() {
    check(
        r#"  validations:
  - expression: "object.data.a == '1' && (object.data.b == '2' || false)"
  - expression: "!(object.data.a == '1')"
  - expression: "has(object.data.a) ? object.data.b == '2' : true"
  - expression: "object.data.c == '1' || object.data.a == '2'""#,
        &[
            "validations[0] = false (8) because object.data.b == \"2\" || false",
            "validations[1] = false (5) because object.data.a == \"1\"",
            "validations[2] = false (6) because object.data.b == \"2\"",
            "validations[3] = no such key: c (8) because object.data.c",
        ],
    );
}

#[test]
fn false_conditions_are_reported() {
    check(
        r#"  matchConditions: [{name: c, expression: "object.data.a == '2'"}]
  validations: [{expression: "true"}]"#,
        &["matchConditions[0] = false (4)"],
    );
}

#[test]
fn budgets_end() {
    // Each of these stays below the limit of an expression, but all of them exceed that of match conditions.
    let numbers: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
    let list = format!("[{}]", numbers.join(","));
    let condition =
        |name| format!("  - {{name: {name}, expression: '{list}.all(x, {list}.all(y, y < 1000 + x))'}}\n");
    let conditions = ["a", "b", "c", "d"].map(condition).concat();
    let spec = format!("  matchConditions:\n{conditions}  validations: [{{expression: 'true'}}]");
    let explanation = explained(&policy(&spec), "CREATE");
    let round = &explanation.policies[0].bindings[0].rounds[0];
    assert!(round.exhausted);
    assert_eq!(round.expressions.len(), 3);
}

#[test]
fn values_stand_under_the_source() {
    let spec = r#"  validations: [{expression: "object.data.all(k, object.data[k] == '1')"}]"#;
    let explanation = explained(&policy(spec), "CREATE");
    let diagram = explanation.policies[0].bindings[0].rounds[0].expressions[0].diagram();
    let lines: Vec<String> = diagram
        .into_iter()
        .map(|line| match line {
            Line::Source(line) | Line::Values(line) => line,
        })
        .collect();
    assert_eq!(
        lines,
        [
            "object.data.all(k, object.data[k] == '1')",
            "       |    |                 ||  |",
            "       |    |                 ||  false (last of 2)",
            "       |    |                 |\"b\" (last of 2)",
            "       |    false             \"two\" (last of 2)",
            "       {\"a\": \"1\", \"b\": \"two\"}",
        ]
    );
}

#[test]
fn policies_that_do_not_match_say_why() {
    let explanation = explained(&policy("  validations: [{expression: \"true\"}]"), "DELETE");
    let why = "no resource rule fits: [0].operations".to_owned();
    assert_eq!(explanation.policies[0].match_outcome, MatchOutcome::No(why));
    assert!(explanation.policies[0].bindings.is_empty());
}

#[test]
fn errors_have_help() {
    let spec = r#"  validations: [{expression: "object.data.c == '1'"}]"#;
    let explanation = explained(&policy(spec), "CREATE");
    let expression = &explanation.policies[0].bindings[0].rounds[0].expressions[0];
    assert_eq!(expression.error.as_deref(), Some("no such key: c"));
    assert!(expression.help.unwrap().starts_with("not every object has it"));
}
