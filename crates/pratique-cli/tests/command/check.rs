//! `pratique check`: inputs and exit codes.

use crate::story::{BINDING, CONFIGURATION, POLICY, files};
use crate::support::Directory;

#[test]
fn the_gate_may_be_off() {
    let files = files(POLICY, BINDING);
    let off = "ManifestBasedAdmissionControlConfig=false";
    files
        .run(&["check", "--feature-gates", off, "admission.yaml"])
        .is("gate-off.txt");
    let run = files.run_with(
        &["check", "admission.yaml"],
        "",
        &[("PRATIQUE_FEATURE_GATES", off)],
    );
    run.exits(1);
}

#[test]
fn several_paths_are_all_checked() {
    let files = files(POLICY, BINDING).with("other/a.yaml", "kind: ValidatingAdmissionPolicy\n");
    files
        .run(&["check", "other", "policies", "policies/policy.yaml"])
        .is("several-paths.txt");
}

#[test]
fn a_plugin_that_is_not_known() {
    let webhooks = "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\n";
    let directory = Directory::new()
        .with("empty/readme.txt", "no manifest")
        .with("mixed/a.yaml", POLICY)
        .with("mixed/b.yaml", webhooks);
    directory.run(&["check", "empty"]).is("no-plugin.txt");
    directory.run(&["check", "mixed"]).is("several-plugins.txt");
    directory
        .run(&["check", "--plugin", "ValidatingAdmissionPolicy", "empty"])
        .is("empty-directory.txt");
    directory
        .run(&["check", "--plugin", "ValidatingAdmissionPolicy", "mixed"])
        .is("foreign-kind.txt");
}

#[test]
fn text_that_no_server_reads() {
    let other = POLICY.replace("deny-privileged", "another");
    let rest = format!("{BINDING}...\n{other}");
    let files = files(POLICY, &rest);
    let configuration = std::fs::read_to_string(files.path().join("admission.yaml")).unwrap();
    std::fs::write(
        files.path().join("admission.yaml"),
        format!("{configuration}---\nplugins: []\n"),
    )
    .unwrap();
    let run = files.run(&["check", "--deny", "unread-text", "admission.yaml"]);
    run.exits(1);
    for place in ["admission.yaml:10:1: ", "binding.yaml:9:1: "] {
        run.stdout_has(place);
    }
    assert_eq!(run.stdout.matches("[unread-text]").count(), 2, "{run}");
}

#[test]
fn wrong_usage() {
    let directory = Directory::new();
    directory.run(&["check", "nowhere"]).is("nowhere.txt");
    directory
        .run(&["check", "--plugin", "PodSecurity", "."])
        .is("unknown-plugin.txt");
    directory
        .run(&["check", "--feature-gates", "Everything=true", "."])
        .is("unknown-gate.txt");
    for arguments in [&["check"] as &[&str], &["review"], &["inspect"]] {
        assert_eq!(directory.run(arguments).code, Some(2), "{arguments:?}");
    }
}

#[test]
fn a_configuration_may_name_what_is_not_there() {
    let directory = Directory::new().with(
        "admission.yaml",
        CONFIGURATION.replace("$DIR", "/pratique-nowhere"),
    );
    directory
        .run(&["check", "admission.yaml"])
        .is("missing-directory.txt");
}

#[test]
fn colours_only_on_terminals() {
    let run = files("nonsense", BINDING).run_with(&["check", "policies"], "", &[("TERM", "xterm-256color")]);
    assert!(!run.to_string().contains('\u{1b}'), "{run}");
}

/// A definition of a custom resource whose rule fails for some of its objects.
const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
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
            required: [size]
            properties: {size: {type: integer}, most: {type: integer}}
            x-kubernetes-validations:
            - rule: self.size <= self.most
";

#[test]
fn rules_of_definitions_are_linted() {
    let directory = Directory::new()
        .with("policies/policy.yaml", POLICY.replace(".static.k8s.io", ""))
        .with("policies/binding.yaml", BINDING.replace(".static.k8s.io", ""))
        .with("policies/widgets.yaml", DEFINITION);
    let run = directory.run(&["check", "policies"]);
    run.exits(0);
    run.stdout_has("widgets.yaml:21:21");
    run.stdout_has("the rule fails for an object without spec.most with \"no such key: most\"");
    assert!(!run.to_string().contains("skipped 1 object"), "{run}");
    let run = directory.run(&["check", "--deny", "unguarded-field", "policies/widgets.yaml"]);
    run.exits(1);
    run.stdout_has("[unguarded-field]");
}

/// Definitions that are items of a list, which may leave out their kind.
#[test]
fn definitions_of_lists_are_linted() {
    let item = |definition: &str| definition.trim_end().replace('\n', "\n  ");
    let list = format!("apiVersion: v1\nkind: List\nitems:\n- {}\n", item(DEFINITION));
    let typeless = DEFINITION.split_once("metadata").unwrap().1;
    let typed = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinitionList\nitems:\n- metadata{}\n",
        item(typeless)
    );
    for (content, place) in [(list, "crds.yaml:24:23"), (typed, "crds.yaml:22:23")] {
        let directory = Directory::new()
            .with("crds.yaml", &content)
            .with("policy.yaml", WIDGET_MUTATION);
        let run = directory.run(&["check", "crds.yaml"]);
        run.exits(0);
        run.stdout_has(place);
        run.stdout_has("the rule fails for an object without spec.most with \"no such key: most\"");
        let run = directory.run(&["check", "crds.yaml", "policy.yaml"]);
        run.exits(0);
        run.stdout_has("example.com/v1, Kind=Widget: the mutation fails for every object");
        assert!(!run.to_string().contains("skipped"), "{run}");
    }
}

const WIDGET_MUTATION: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: most}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: [example.com], apiVersions: [v1], resources: [widgets], operations: [CREATE]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: \"Object{spec: Object.spec{most: 'three'}}\"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: most}
spec: {policyName: most}
";

#[test]
fn mutations_are_tried_over_custom_resources() {
    let directory = Directory::new()
        .with("policy.yaml", WIDGET_MUTATION)
        .with("widgets.yaml", DEFINITION);
    let run = directory.run(&["check", "policy.yaml", "widgets.yaml"]);
    run.exits(0);
    run.stdout_has("example.com/v1, Kind=Widget: the mutation fails for every object");
    run.stdout_has("expected numeric (int or float)");
    let run = directory.run(&["check", "policy.yaml"]);
    assert!(!run.to_string().contains("failing-mutation"), "{run}");
}
