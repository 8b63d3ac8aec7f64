//! What docs/run-in-the-api-server.md says of mutations that 1.37 evaluates otherwise than 1.36.

use crate::support::{Directory, Run};

const POD: &str = "apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, labels: {team: ours}}
spec:
  containers: [{name: web, image: 'web:1'}]
  volumes: [{name: data, emptyDir: {}}]
";

/// Reviews a Pod with a mutation that adds a volume, behind a match condition or none.
fn mutated(kind: &str, expression: &str, has_condition: bool) -> Run {
    let conditions = if has_condition {
        "  matchConditions: [{name: ours, expression: \"object.metadata.labels.team == 'ours'\"}]\n"
    } else {
        ""
    };
    let (field, patch) = match kind {
        "JSONPatch" => ("jsonPatch", kind),
        _ => ("applyConfiguration", kind),
    };
    let policy = format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicy\nmetadata: {{name: scratch}}\nspec:\n\
         \u{20} reinvocationPolicy: Never\n\
         \u{20} matchConstraints: {{resourceRules: [{{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}}]}}\n\
         {conditions}\
         \u{20} mutations:\n  - patchType: {patch}\n    {field}:\n      expression: >-\n        {expression}\n\
         ---\napiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicyBinding\nmetadata: {{name: scratch}}\n\
         spec: {{policyName: scratch}}\n"
    );
    Directory::new()
        .with("policy.yaml", policy)
        .with("pod.yaml", POD)
        .run(&["review", "--policies", "policy.yaml", "-o", "diff", "pod.yaml"])
}

#[test]
fn lists_of_the_object_are_no_lists_to_add_to() {
    let scratch = "Object.spec.volumes{name: \"scratch\"}";
    let apply = |volumes: &str| format!("Object{{spec: Object.spec{{volumes: {volumes}}}}}");
    let patch =
        |path: &str, value: &str| format!("[JSONPatch{{op: \"add\", path: \"{path}\", value: {value}}}]");
    let added = apply(&format!("object.spec.volumes + [{scratch}]"));
    // Refused behind a match condition, and only there.
    let refused = mutated("ApplyConfiguration", &added, true);
    refused.exits(1);
    let said = format!("{}{}", refused.stdout, refused.stderr);
    for expected in [
        "error applying patch",
        ".spec.volumes: element 0: associative list with keys may not have non-map elements",
    ] {
        assert!(said.contains(expected), "{expected}\n{refused}");
    }
    let filtered = patch("/spec/volumes", "object.spec.volumes.filter(v, true)");
    let refused = mutated("JSONPatch", &filtered, true);
    refused.exits(1);
    let works = [
        ("ApplyConfiguration", added, false),
        ("JSONPatch", filtered, false),
        ("ApplyConfiguration", apply(&format!("[{scratch}]")), true),
        (
            "ApplyConfiguration",
            apply(&format!(
                "object.spec.volumes.map(v, Object.spec.volumes{{name: v.name}}) + [{scratch}]"
            )),
            true,
        ),
        ("JSONPatch", patch("/spec/volumes/-", scratch), true),
        (
            "ApplyConfiguration",
            apply(&format!("[{scratch}] + object.spec.volumes")),
            true,
        ),
    ];
    for (kind, expression, has_condition) in works {
        let run = mutated(kind, &expression, has_condition);
        assert_eq!(run.code, Some(0), "{expression}\n{run}");
        let adds = expression.contains("scratch");
        assert_eq!(
            run.stdout.contains("+    name: scratch"),
            adds,
            "{expression}\n{run}"
        );
    }
}
