//! Files of other encodings than UTF-8, as shells of Windows write them, and keys that a mapping has twice: both as clients of an
//! API server read them.

use crate::support::Directory;

const TWO: &str = "apiVersion: v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: first\r\n  namespace: shop\r\n---\r\napiVersion: \
                   v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: zweite\r\n  namespace: shop\r\n";

const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata:\n  name: p\n  labels: \
    LABELS\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], \
    resources: [configmaps]}\n  validations:\n  - {expression: \"object.metadata.name != 'first'\", message: not the first}\n---\n\
    apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: p}\nspec: {policyName: \
    p, validationActions: [Deny]}\n";

fn policy() -> String {
    POLICY.replace("LABELS", "{a: b}")
}

/// A text in an encoding, with its byte order mark.
fn encoded(text: &str, encoding: &str) -> Vec<u8> {
    let text = format!("\u{feff}{text}");
    let units = text.encode_utf16();
    let characters = text.chars().map(u32::from);
    match encoding {
        "utf-16le" => units.flat_map(u16::to_le_bytes).collect(),
        "utf-16be" => units.flat_map(u16::to_be_bytes).collect(),
        "utf-32le" => characters.flat_map(u32::to_le_bytes).collect(),
        "utf-32be" => characters.flat_map(u32::to_be_bytes).collect(),
        _ => text.into_bytes(),
    }
}

#[test]
fn files_with_a_byte_order_mark_are_read_whole() {
    for encoding in ["utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"] {
        let lines = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"first\"}}\n\
                     {\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"second\"}}\n";
        let suite = "apiVersion: pratique/v1alpha1\nkind: Suite\nmetadata: {name: s}\npolicies: [p.yaml]\ntests:\n- name: t\n  \
                     object: {apiVersion: v1, kind: ConfigMap, metadata: {name: first, namespace: a}}\n  expect: {verdict: \
                     denied}\n";
        let directory = Directory::new()
            .with("policies/p.yaml", encoded(&policy(), encoding))
            .with("p.yaml", encoded(&policy(), encoding))
            .with("in/two.yaml", encoded(TWO, encoding))
            .with("in/lines.ndjson", encoded(lines, encoding))
            .with("suite.yaml", encoded(suite, encoding));
        for policies in ["policies", "p.yaml"] {
            let run = directory.run(&["review", "--policies", policies, "in"]);
            run.exits(1)
                .shows(&["2 allowed, 2 denied", "in/two.yaml:7:1", "in/lines.ndjson:2:1"]);
            directory.run(&["check", policies]).exits(0);
        }
        for shard in ["0/2", "1/2"] {
            let run = directory.run(&[
                "scan",
                "--policies",
                "p.yaml",
                "--shard",
                shard,
                "-o",
                "json",
                "in/lines.ndjson",
            ]);
            assert_eq!(run.json()["errors"].as_u64().unwrap_or_default(), 0, "{run}");
        }
        directory.run(&["test", "suite.yaml"]).exits(0);
        let stdin = directory.run_with(
            &["review", "--policies", "p.yaml", "in/two.yaml", "in/two.yaml"],
            "",
            &[],
        );
        stdin.exits(1).shows(&["2 allowed, 2 denied"]);
    }
}

#[test]
fn without_a_mark_other_encodings_are_errors() {
    for encoding in ["utf-16le", "utf-16be", "utf-32le", "utf-32be"] {
        let text = encoded(TWO, encoding);
        let mark = if encoding.starts_with("utf-16") { 2 } else { 4 };
        let directory = Directory::new()
            .with("a.yaml", &text[mark..])
            .with("p.yaml", policy());
        let run = directory.run(&["review", "--policies", "p.yaml", "a.yaml"]);
        run.exits(2).shows(&["0 allowed, 0 denied"]);
    }
}

const MERGED: &str = "# A comment.\n---\n# Another.\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: second\n  labels: &l {app: a, \
                      owner: b}\n  annotations:\n    <<: *l\n    app: c\n";

#[test]
fn what_overrides_a_merge_key_is_sent_once() {
    let directory = Directory::new()
        .with("p.yaml", policy())
        .with("merged.yaml", MERGED)
        .with("suite.yaml", "apiVersion: pratique/v1alpha1\nkind: Suite\nmetadata: {name: s}\npolicies: [p.yaml]\ntests:\n- &t\n  \
               name: t\n  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: first, namespace: a}}\n  expect: {verdict: \
               denied}\n- <<: *t\n  name: u\n")
        .with("merged-policy.yaml", POLICY.replace("LABELS", "{<<: {a: b, c: d}, a: e}"));
    for arguments in [
        &["review", "--policies", "p.yaml"][..],
        &["review", "--field-validation", "Strict", "--policies", "p.yaml"],
        &["scan", "--field-validation", "Strict", "--policies", "p.yaml"],
        &["impact", "--old", "p.yaml", "--new", "p.yaml"],
        &["review", "--policies", "merged-policy.yaml"],
    ] {
        let run = directory.run(&[arguments, &["merged.yaml"]].concat());
        run.exits(0);
        assert!(!run.to_string().contains("already set"), "{run}");
    }
    directory.run(&["check", "merged-policy.yaml"]).exits(0);
    directory
        .run(&["test", "suite.yaml"])
        .exits(0)
        .stdout_has("2 passed");
}

#[test]
fn keys_that_are_written_twice_are_told_and_not_refused() {
    let twice = MERGED.replace("    app: c\n", "    app: c\n    app: d\n");
    let directory = Directory::new()
        .with("p.yaml", policy())
        .with("twice.yaml", twice)
        .with(
            "twice.json",
            "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\",\n\"metadata\": {\"name\": \"a\",\n  \"name\": \"b\"}}",
        );
    let review = "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest:\n  uid: a\n  kind: {group: '', version: v1, kind: \
                  ConfigMap}\n  resource: {group: '', version: v1, resource: configmaps}\n  name: second\n  namespace: shop\n  \
                  operation: CREATE\n  operation: CREATE\n  userInfo: {username: ann}\n  object: {apiVersion: v1, kind: \
                  ConfigMap, metadata: {name: second}}\n";
    let directory = directory.with("review.yaml", format!("# A comment.\n---\n{review}"));
    let run = directory.run(&["review", "--policies", "p.yaml", "review.yaml"]);
    run.exits(0)
        .stderr_has("review.yaml:12:3: key \"operation\" already set in map");
    for strictness in ["Strict", "Warn", "Ignore"] {
        let run = directory.run(&[
            "review",
            "--field-validation",
            strictness,
            "--policies",
            "p.yaml",
            "twice.yaml",
        ]);
        run.exits(0).stderr_has(
            "twice.yaml:12:5: key \"app\" already set in map: the last value counts, and clients send no other",
        );
        let json = [
            "review",
            "--field-validation",
            strictness,
            "--policies",
            "p.yaml",
            "twice.json",
        ];
        directory.run(&json).exits(0).stderr_has(
            "twice.json:3:3: key \"name\" already set in map: the last value counts, and clients send no other",
        );
    }
}
