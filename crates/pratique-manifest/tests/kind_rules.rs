//! Policies, bindings and webhook configurations in `testdata/validation/policies.jsonl`, decoded, defaulted and prepared, with
//! what kube-apiserver says of them.

#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

use std::path::Path;
use std::sync::Arc;

use pratique_json::Value;
use pratique_manifest::{
    ExpressionCache, Expressions, KIND_RULES, LoadOptions, Loader, ManifestFile, ManifestPlugin,
};
use pratique_schema::{FeatureGates, Release};
use pratique_types::GroupVersionKind;
use pratique_validation::{Candidate, Rejection, Validator};

/// The errors in the server's order, each with its field.
fn errors(result: Result<(), Rejection>) -> Vec<String> {
    match result {
        Ok(()) => Vec::new(),
        Err(Rejection::Invalid(status)) => {
            let causes = status.details.unwrap_or_default().causes.into_iter();
            causes
                .map(|cause| format!("{}: {}", cause.field, cause.message))
                .collect()
        }
        Err(rejection) => vec![rejection.to_string()],
    }
}

fn validate(case: &Value<'_>) -> Vec<String> {
    let validator = Validator::new().with_kinds(KIND_RULES);
    let text = |name: &str| case.get(name).and_then(Value::as_str).unwrap_or_default();
    let kind = GroupVersionKind::new(text("group"), text("version"), text("kind"));
    let candidate = Candidate::new(&kind, case.get("object").unwrap()).of_subresource(text("subresource"));
    errors(match case.get("old") {
        Some(old) => validator.update(&candidate, old),
        None => validator.create(&candidate),
    })
}

#[test]
fn answers_are_those_of_a_server() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/validation/policies.jsonl");
    let file = std::fs::read_to_string(path).unwrap();
    let mut differences = Vec::new();
    for line in file.lines() {
        let case = pratique_json::parse(line.as_bytes()).unwrap();
        let expected = case.get("errors").and_then(Value::as_array).unwrap().iter();
        let expected: Vec<&str> = expected.filter_map(Value::as_str).collect();
        let actual = validate(&case);
        if actual != expected {
            let name = case.get("name").unwrap();
            differences.push(format!("{name}\n  expected {expected:#?}\n  actual {actual:#?}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

const BINDING: &str = r#"{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "b.static.k8s.io"}, "spec": {"validationActions": ACTIONS}}"#;

/// What a load says is wrong with a binding.
fn load(options: &LoadOptions<'_>, plugin: Option<ManifestPlugin>, text: &str) -> String {
    let loader = match plugin {
        Some(plugin) => Loader::for_plugin(plugin, options),
        None => Loader::for_api(options),
    };
    let file = ManifestFile {
        path: "b.json".to_owned(),
        content: text.as_bytes().to_vec(),
    };
    let failure = loader.load_files(&[file]).unwrap_err().into_failures().remove(0);
    let (_, rest) = failure.text.split_once("spec.").unwrap();
    format!("spec.{}", rest.trim_end_matches(']'))
}

// Upstream: api/admissionregistration/v1/zz_generated.validations.go
#[test]
fn what_a_binding_lacks_is_found_by_the_rules_of_the_release() {
    let kind = GroupVersionKind::new(
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingAdmissionPolicyBinding",
    );
    let by_hand = [
        "spec.policyName: Required value, spec.validationActions: Required value: at least one validation action is required",
        "spec.policyName: Required value, spec.validationActions[1]: Duplicate value: \"Deny\"",
    ];
    let declarative = [
        "spec.policyName: Required value, spec.validationActions: Required value",
        "spec.validationActions[1]: Duplicate value: \"Deny\", spec.policyName: Required value",
    ];
    for release in Release::list().iter().copied() {
        let cache = Arc::new(ExpressionCache::new().of_release(release));
        let expressions = Expressions::new(cache);
        for (index, actions) in ["[]", "[\"Deny\", \"Deny\"]"].into_iter().enumerate() {
            let text = BINDING.replace("ACTIONS", actions);
            // Those of the API are beta since 1.37, and apply to manifests since 1.38.
            let [of_api, of_manifests] = [37, 38].map(|since| {
                let texts = if release.at_least(1, since) {
                    declarative
                } else {
                    by_hand
                };
                *texts.get(index).unwrap()
            });
            let options = expressions.options();
            assert_eq!(load(&options, None, &text), of_api, "{release}");
            let plugin = Some(ManifestPlugin::ValidatingAdmissionPolicy);
            assert_eq!(load(&options, plugin, &text), of_manifests, "{release}");
            // The object of a request has the same causes, each once.
            let gates = FeatureGates::new(release);
            let validator = Validator::new().with_kinds(KIND_RULES).with_gates(gates);
            let object = pratique_json::parse(text.as_bytes()).unwrap();
            let causes = errors(validator.create(&Candidate::new(&kind, &object)));
            let of_spec = causes.iter().filter(|cause| cause.starts_with("spec.")).cloned();
            assert_eq!(of_spec.collect::<Vec<_>>().join(", "), of_api, "{release}");
            // What did not change is not refused again by declarative rules.
            let unchanged = errors(validator.update(&Candidate::new(&kind, &object), &object));
            let is_refused = unchanged.iter().any(|cause| cause.contains("policyName"));
            assert_eq!(is_refused, !release.at_least(1, 38), "{release}: {unchanged:?}");
        }
    }
}
