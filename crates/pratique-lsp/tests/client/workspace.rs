//! What the folders of the client have: definitions of custom resources, and params.

use serde_json::json;

use crate::labels;
use crate::session::{Client, position};

const DEFINITION: &str = r"apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size:
                type: integer
                description: How large it is.
              parts:
                type: array
                items: {type: object, properties: {name: {type: string}}}
";

const POLICY: &str = r"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: widgets
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules:
    - {apiGroups: [example.com], apiVersions: [v1], resources: [widgets], operations: [CREATE]}
  validations:
  - expression: object.spec.size <= int(params.data.most)
";

const BINDING: &str = r"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: widgets
spec:
  policyName: widgets
  paramRef: {name: limits, namespace: shop, parameterNotFoundAction: Deny}
  validationActions: [Deny]
";

const LIMITS: &str = r"apiVersion: v1
kind: ConfigMap
metadata: {name: limits, namespace: other}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: limits, namespace: shop}
data: {most: '5'}
";

#[test]
fn custom_resources_have_the_fields_of_their_definitions() {
    let files = [
        ("crds/widgets.yaml", DEFINITION),
        ("policies/policy.yaml", POLICY),
    ];
    let mut client = Client::new("custom", &files);
    client.open("policies/policy.yaml", POLICY);
    let at = client.at("policies/policy.yaml", POLICY, "spec.size", 6);
    let hover = client.ask("textDocument/hover", at);
    let text = hover["contents"]["value"].as_str().unwrap();
    for expected in ["size: int", "How large it is.", "example.com/v1, Kind=Widget"] {
        assert!(text.contains(expected), "{text}");
    }
    let text = POLICY.replace(
        "object.spec.size <= int(params.data.most)",
        "object.spec.parts.all(p, p.",
    );
    client.open("policies/policy.yaml", &text);
    let at = client.at("policies/policy.yaml", &text, "(p, p.", 6);
    assert_eq!(labels(&client.ask("textDocument/completion", at))[0], "name");
    // What is typed in the definition counts at once.
    let text = POLICY.replace("object.spec.size <= int(params.data.most)", "object.spec.");
    client.open("policies/policy.yaml", &text);
    client.open("crds/widgets.yaml", DEFINITION);
    client.replace("crds/widgets.yaml", DEFINITION, "size:", "width:");
    let at = client.at("policies/policy.yaml", &text, "object.spec.\n", 12);
    let found = client.ask("textDocument/completion", at);
    assert_eq!(labels(&found)[..2], ["parts", "width"]);
    client.end();
}

#[test]
fn bindings_lead_to_their_params() {
    let files = [
        ("policies/policy.yaml", POLICY),
        ("policies/binding.yaml", BINDING),
        ("params/limits.yaml", LIMITS),
    ];
    let mut client = Client::new("params", &files);
    client.open("policies/binding.yaml", BINDING);
    let at = client.at("policies/binding.yaml", BINDING, "name: limits", 8);
    let found = client.ask("textDocument/definition", at.clone());
    assert_eq!(found["uri"], client.uri("params/limits.yaml").as_str());
    let shop = position(LIMITS, "limits, namespace: shop", 0);
    assert_eq!(found["range"]["start"], shop);
    // What the client has counts.
    client.open("params/limits.yaml", &format!("# limits\n{LIMITS}"));
    let found = client.ask("textDocument/definition", at);
    assert_eq!(
        found["range"]["start"]["line"],
        json!(shop["line"].as_u64().unwrap() + 1)
    );
    client.open("policies/policy.yaml", POLICY);
    let at = client.at("policies/policy.yaml", POLICY, "params.data", 2);
    let found = client.ask("textDocument/definition", at);
    assert_eq!(found["range"]["start"], position(POLICY, "ConfigMap", 0));
    client.end();
}

#[test]
fn functions_are_described() {
    let mut client = Client::new("functions", &[]);
    client.open("policy.yaml", POLICY);
    let at = client.at("policy.yaml", POLICY, "int(params", 1);
    let hover = client.ask("textDocument/hover", at);
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(
        text.contains("int(string): int") && text.contains("seconds of a time"),
        "{text}"
    );
    let at = client.at("policy.yaml", POLICY, "params.data", 2);
    let hover = client.ask("textDocument/hover", at);
    assert!(
        hover["contents"]["value"].as_str().unwrap().contains("paramRef"),
        "{hover}"
    );
    client.end();
}
