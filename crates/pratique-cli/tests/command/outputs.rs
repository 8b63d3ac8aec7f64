//! `pratique check`: output formats, and flags for warnings.

use serde_json::Value;

use crate::mistakes::{MISTAKEN, mistakes};
use crate::story::{BINDING, CONFIGURATION, POLICY, files};
use crate::support::Directory;

#[test]
fn for_people() {
    mistakes().run(&["check", "mistaken"]).is("warnings.txt");
    mistakes()
        .run(&["check", "--origin", "static", "faulty"])
        .is("faults.txt");
}

#[test]
fn for_programs() {
    mistakes()
        .run(&["check", "--output", "json", "mistaken"])
        .is("warnings-json.txt");
}

#[test]
fn for_test_reports() {
    let denying = [
        "check",
        "--origin",
        "static",
        "--output",
        "junit",
        "--deny",
        "null-object",
        "mistaken",
        "faulty",
    ];
    mistakes().run(&denying).is("junit.txt");
}

#[test]
fn for_workflows() {
    let denying = [
        "check",
        "--origin",
        "static",
        "--output",
        "github",
        "--deny",
        "null-object",
        "mistaken",
        "faulty",
    ];
    mistakes().run(&denying).is("github.txt");
}

#[test]
fn bundles_of_webhooks_are_looked_into() {
    const FAKE: &str = "ZmFrZQ==";
    const KEY: &str = "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCkFBQUEKLS0tLS1FTkQgUFJJVkFURSBLRVktLS0tLQo=";
    /// Valid in 2001.
    const OLD: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJTekNCOGFBREFnRUNBZ0VDTUFvR0NDcUdTTTQ5QkFNQ01CVXhFekFSQmdOVkJBTU1Da1Y0WVcxd2JHVWcKUTBFd0hoY05NREV3TVRBeE1EQXdNREF3V2hjTk1ESXdNVEF4TURBd01EQXdXakFWTVJNd0VRWURWUVFEREFwRgplR0Z0Y0d4bElFTkJNRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVtNVY0cUZGK09OQW9xUy9aClUvUDJPSGpaL01rcW1ZK0UxZG82eWRnSFJ1djIzWVI0QWFiWGRxZGVDdTNDRitSNGYwWGRnZEJSNDhUR3N3RngKN1VzcUY2TXlNREF3RHdZRFZSMFRBUUgvQkFVd0F3RUIvekFkQmdOVkhRNEVGZ1FVMzJwOUVmUmpGWDArMkYwNQpuWEVSN3JEdFVMd3dDZ1lJS29aSXpqMEVBd0lEU1FBd1JnSWhBTmJSWTdOZGlNVjZETkk3QzV0U2FXalF0RHB0Ck1rZDRYOW0vMFJRbGQzNEtBaUVBandtL01pTk1BQUR2ZTRDcU05UEU0UjBPRktXcXN2Zkw0RTJneEs1WlJGST0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=";
    for (bundle, lint) in [
        (FAKE, "malformed-ca-bundle"),
        (KEY, "empty-ca-bundle"),
        (OLD, "expired-ca-bundle"),
    ] {
        let webhook = format!(
            "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: w.static.k8s.io}}
webhooks:
- name: a.example.com
  clientConfig: {{url: 'https://example.com', caBundle: {bundle}}}
  admissionReviewVersions: [v1]
  sideEffects: None
  rules: [{{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}}]
"
        );
        let files = Directory::new().with("webhooks/w.yaml", webhook);
        let run = files.run(&["check", "webhooks"]);
        run.exits(0).stdout_has(&format!("[{lint}]"));
        assert_eq!(
            files.run(&["check", "--deny", "warnings", "webhooks"]).code,
            Some(1)
        );
    }
}

#[test]
fn warnings_are_allowed_and_denied_by_name() {
    let files = mistakes();
    for (flags, code, warnings) in [
        (&[] as &[&str], 0, 6),
        (&["--deny", "warnings"], 1, 6),
        (&["--deny", "cost-limit"], 0, 6),
        (&["--deny", "null-object,type-check"], 1, 6),
        (&["--allow", "warnings"], 0, 0),
        (&["--allow", "null-object", "--allow", "type-check"], 0, 4),
        (&["--deny", "warnings", "--allow", "null-object"], 1, 5),
        (&["--allow", "warnings", "--deny", "null-object"], 1, 1),
    ] {
        let run = files.run(&[&["check", "--output", "json"], flags, &["mistaken"]].concat());
        let report = run.json();
        let found = report["results"][0]["warnings"].as_array().map_or(0, Vec::len);
        assert_eq!((run.code, found), (Some(code), warnings), "{flags:?}\n{run}");
    }
    let run = files.run_with(&["check", "mistaken"], "", &[("PRATIQUE_DENY", "warnings")]);
    run.exits(1);
    files
        .run(&["check", "--allow", "null-objects", "mistaken"])
        .is("unknown-warning.txt");
}

/// A nested loop over the containers, in a policy with this failure policy.
fn costly(failure_policy: &str) -> Directory {
    let policy = format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: names.static.k8s.io}}
spec:
  failurePolicy: {failure_policy}
  matchConstraints:
    resourceRules: [{{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}}]
  validations:
  - expression: object.spec.containers.all(c, object.spec.containers.exists_one(d, c.name == d.name))
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: names.static.k8s.io}}
spec: {{policyName: names.static.k8s.io, validationActions: [Audit]}}
"
    );
    Directory::new().with("costly/policy.yaml", policy)
}

/// Failures that admit objects are always reported, those that deny them on request; JSON has the object.
#[test]
fn costs_are_reported_with_an_object() {
    for (failure_policy, flags, code, warnings) in [
        ("Ignore", &[] as &[&str], 0, 1),
        ("Ignore", &["--allow", "cost-limit"], 0, 0),
        ("Ignore", &["--deny", "warnings"], 1, 1),
        ("Fail", &[], 0, 0),
        ("Fail", &["--deny", "warnings"], 0, 0),
        ("Fail", &["--warn", "cost-limit"], 0, 1),
        ("Fail", &["--deny", "cost-limit"], 1, 1),
        ("Fail", &["--deny", "warnings", "--warn", "cost-limit"], 0, 1),
    ] {
        let files = costly(failure_policy);
        let run = files.run(&[&["check", "--output", "json"], flags, &["costly"]].concat());
        let report = run.json();
        let found = report["results"][0]["warnings"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        assert_eq!(
            (run.code, found.len()),
            (Some(code), warnings),
            "{failure_policy} {flags:?}\n{run}"
        );
        for warning in found {
            let example = &warning["example"];
            assert_eq!(example["operation"], "CREATE", "{warning}");
            assert_eq!(example["object"]["kind"], "Pod", "{warning}");
            let containers = example["object"]["spec"]["containers"].as_array().unwrap().len();
            let message = warning["message"].as_str().unwrap();
            assert!(
                message.contains(&format!("{containers} items in spec.containers")),
                "{message}"
            );
            assert!(example["cost"].as_u64().unwrap() > 1_000_000, "{warning}");
        }
    }
    let run = costly("Fail").run_with(&["check", "costly"], "", &[("PRATIQUE_WARN", "cost-limit")]);
    run.stdout_has("which denies the request");
}

#[test]
fn hashes_alone() {
    let story = files(POLICY, BINDING).with("faulty/a.yaml", "kind: X\n");
    let whole = story.run(&["check", "policies"]).stdout;
    let alone = story.run(&["check", "--hash-only", "policies"]);
    alone.exits(0);
    assert!(
        alone.stdout.starts_with("sha256:") && whole.contains(alone.stdout.trim()),
        "{alone}"
    );
    let both = story
        .run(&["check", "--hash-only", "policies", "admission.yaml"])
        .stdout;
    let hash = alone.stdout.trim();
    let lines = format!(
        "{hash}  ValidatingAdmissionPolicy  policies\n{hash}  ValidatingAdmissionPolicy  $DIR/policies\n"
    );
    assert_eq!(both, lines);
    let faulty = [
        "check",
        "--hash-only",
        "--plugin",
        "ValidatingAdmissionPolicy",
        "faulty",
    ];
    let faulty = story.run(&faulty);
    assert_eq!((faulty.code, faulty.stdout.as_str()), (Some(1), ""), "{faulty}");
    faulty.stderr_has("Object 'apiVersion' is missing");
}

#[test]
fn costs_are_explained() {
    files(POLICY, BINDING)
        .run(&["check", "--explain-cost", "policies"])
        .is("costs.txt");
}

#[test]
fn ignored_plugins() {
    let configuration = CONFIGURATION.replace(
        "- name: ValidatingAdmissionPolicy",
        "- name: ValidatingAdmissionPolicys",
    );
    let directory = Directory::new().with("admission.yaml", configuration);
    directory
        .run(&["check", "admission.yaml"])
        .is("ignored-plugin.txt");
}

#[test]
fn configurations_of_plugins() {
    let configuration = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n\
        - name: PodSecurity\n  configuration:\n    apiVersion: pod-security.admission.config.k8s.io/v1\n    \
        kind: PodSecurityConfiguration\n    defaults: {enforce: LEVEL}\n    exemptions:\n      usernames: [ann, NAME]\n\
        - {name: EventRateLimit, path: events.yaml}\n- {name: PodSecurityPolicy}\n";
    let events = "apiVersion: eventratelimit.admission.k8s.io/v1alpha1\nkind: Configuration\nlimits:\n\
        - {type: Server, qps: 10, burst: BURST}\n";
    let sound = configuration.replace("LEVEL", "baseline").replace("NAME", "bob");
    let directory = Directory::new()
        .with("sound.yaml", sound)
        .with(
            "faulty.yaml",
            configuration.replace("LEVEL", "baseline").replace("NAME", "ann"),
        )
        .with("events.yaml", events.replace("BURST", "0"));
    directory
        .run(&["check", "faulty.yaml"])
        .is("plugin-configuration-faults.txt");
    directory
        .run(&[
            "check",
            "--enable-admission-plugins",
            "AlwaysPullImages",
            "sound.yaml",
        ])
        .is("plugin-configuration.txt");
    directory
        .run(&[
            "check",
            "--enable-admission-plugins",
            "PodSecurityPolicy",
            "sound.yaml",
        ])
        .is("plugin-gone.txt");
}

/// The published schema is not available in a build: its requirements are checked by hand.
#[test]
fn for_code_scanning() {
    let run = mistakes().run(&[
        "check", "--origin", "static", "--output", "sarif", "mistaken", "faulty",
    ]);
    assert_eq!(run.code, Some(1));
    let log = run.json();
    assert_eq!(log["version"], "2.1.0");
    assert!(
        log["$schema"]
            .as_str()
            .unwrap()
            .ends_with("sarif-schema-2.1.0.json")
    );
    let run = &log["runs"][0];
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    assert_eq!(run["invocations"][0]["exitCode"], 1);
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "pratique");
    let rules = driver["rules"].as_array().unwrap();
    for rule in rules {
        let id = rule["id"].as_str().unwrap();
        assert!(
            rule["helpUri"].as_str().unwrap().ends_with(&format!("#{id}")),
            "{rule}"
        );
        assert!(
            rule["shortDescription"]["text"].as_str().unwrap().ends_with('.'),
            "{rule}"
        );
        assert!(["error", "warning"].contains(&rule["defaultConfiguration"]["level"].as_str().unwrap()));
        let ids = rules.iter().filter(|other| other["id"] == id);
        assert_eq!(ids.count(), 1, "{id}");
    }
    let results = run["results"].as_array().unwrap();
    assert_eq!(
        results
            .iter()
            .filter(|result| result["level"] == "warning")
            .count(),
        6
    );
    assert_eq!(
        results
            .iter()
            .filter(|result| result["properties"]["stopsServer"] == true)
            .count(),
        1
    );
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        assert!(
            uri == "mistaken/policy.yaml" || uri == "faulty/policy.yaml",
            "{uri}"
        );
        check_region(&place["region"]);
    }
    let first = &results[0];
    let region = &first["locations"][0]["physicalLocation"]["region"];
    assert_eq!(
        (&first["ruleId"], &region["startLine"]),
        (&"ignored-denial".into(), &6.into()),
        "{first}"
    );
    let offset = usize::try_from(region["byteOffset"].as_u64().unwrap()).unwrap();
    let length = usize::try_from(region["byteLength"].as_u64().unwrap()).unwrap();
    assert_eq!(&MISTAKEN.as_bytes()[offset..offset + length], b"Ignore");
}

/// A text with the changes of a log made, from the last to the first. Columns count characters.
fn mended(text: &str, log: &Value) -> String {
    let mut lines: Vec<Vec<char>> = text.lines().map(|line| line.chars().collect()).collect();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let mut changes: Vec<(usize, usize, usize, &str)> = Vec::new();
    for fix in results
        .iter()
        .flat_map(|result| result["fixes"].as_array().into_iter().flatten())
    {
        let change = &fix["artifactChanges"][0];
        assert_eq!(change["artifactLocation"]["uri"], "mended/policy.yaml");
        let (region, text) = (
            &change["replacements"][0]["deletedRegion"],
            &change["replacements"][0]["insertedContent"]["text"],
        );
        check_region(region);
        let number = |name: &str| usize::try_from(region[name].as_u64().unwrap()).unwrap() - 1;
        assert_eq!(number("startLine"), number("endLine"), "{region}");
        let text = text.as_str().unwrap();
        let described = fix["description"]["text"].as_str().unwrap();
        assert_eq!(described, format!("Replace it with `{text}`"));
        changes.push((
            number("startLine"),
            number("startColumn"),
            number("endColumn"),
            text,
        ));
    }
    changes.sort_unstable();
    for (line, start, end, text) in changes.into_iter().rev() {
        lines[line].splice(start..end, text.chars());
    }
    lines
        .into_iter()
        .map(|line| String::from_iter(line) + "\n")
        .collect()
}

#[test]
fn fixes_for_code_scanning_do_what_help_says() {
    let faulty = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: names.static.k8s.io}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations:
  - {\"mesage\": 'é – no', expression: \"'é–' == '' || request.operaton == 'CREATE' || request.nam == ''\"}
";
    let sarif = |text: &str| {
        let files = Directory::new().with("mended/policy.yaml", text);
        let run = files.run(&[
            "check",
            "--allow",
            "unbound-policy",
            "--output",
            "sarif",
            "mended",
        ]);
        (run.code, run.json())
    };
    let mut text = faulty.to_owned();
    // The checker of CEL tells of one name at a time.
    for _ in 0..3 {
        text = mended(&text, &sarif(&text).1);
    }
    let (code, log) = sarif(&text);
    assert_eq!(code, Some(0), "{text}\n{log:#}");
    assert_eq!(
        text,
        faulty
            .replace("mesage", "message")
            .replace("operaton", "operation")
            .replace("nam ==", "name ==")
    );
}

/// Lines and columns count from 1, and the end is not before the start.
fn check_region(region: &Value) {
    let number = |name: &str| region[name].as_u64().unwrap();
    let start = (number("startLine"), number("startColumn"));
    let end = (number("endLine"), number("endColumn"));
    assert!(start.0 >= 1 && start.1 >= 1 && end >= start, "{region}");
}
