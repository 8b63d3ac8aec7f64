//! `pratique impact`: which decisions another set of policies changes.

use std::path::Path;

use crate::support::{Directory, Run, git};

const SAMPLES: &str = "../../docs/samples/replay";

fn sample(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(SAMPLES).join(path);
    path.canonicalize().unwrap().display().to_string()
}

fn impact(arguments: &[&str]) -> Run {
    let (old, new) = (sample("policies"), sample("next"));
    Directory::new().run(&[&["impact", "--old", &old, "--new", &new], arguments].concat())
}

fn numbers(run: &Run) -> [u64; 4] {
    let counts = run.json();
    ["same", "newlyRefused", "newlyAllowed", "undecided"].map(|name| counts[name].as_u64().unwrap())
}

#[test]
fn requests_of_a_log_are_compared() {
    let log = sample("audit.log");
    let run = impact(&["-o", "json", &log]);
    assert_eq!((run.code, numbers(&run)), (Some(1), [3, 4, 0, 3]), "{run}");
    let counts = run.json();
    let rows = |of: &str| counts["refused"][of]["rows"].as_array().unwrap().len();
    assert_eq!(
        (rows("policies"), rows("namespaces"), rows("users")),
        (1, 1, 3),
        "{counts}"
    );
    let remembered = impact(&["-o", "json", "--remember", "1", &log]);
    assert_eq!(numbers(&remembered), [4, 5, 0, 1], "{remembered}");
    assert_eq!(impact(&["--max-new-refusals", "4", &log]).code, Some(3));
    assert_eq!(
        impact(&["--max-new-refusals", "4", "--fail-on", "refused", &log]).code,
        Some(0)
    );
    assert_eq!(
        impact(&["--max-new-refusals", "3", "--fail-on", "refused", &log]).code,
        Some(1)
    );
}

/// A line that was cut off, as when a server crashed, is an error of its own, and makes no objects of the others.
#[test]
fn a_damaged_line_of_a_log_is_told() {
    let log = std::fs::read_to_string(sample("audit.log")).unwrap();
    let mut lines: Vec<&str> = log.lines().collect();
    lines[3] = lines[3].get(..150).unwrap();
    let directory = Directory::new().with("audit.log", lines.join("\n"));
    let (old, new) = (sample("policies"), sample("next"));
    let line = ["impact", "--old", &old, "--new", &new, "audit.log", "-o", "json"];
    let run = directory.run(&line);
    run.exits(1).stderr_has("error: audit.log:4:1: not JSON: ");
    assert_eq!(numbers(&run), [3, 4, 0, 2], "{run}");
    let alone = directory.with("audit.log", lines[3]);
    alone
        .run(&line)
        .exits(2)
        .stderr_has("error: audit.log:1:1: not JSON: ");
}

#[test]
fn the_same_policies_change_nothing() {
    let (log, old) = (sample("audit.log"), sample("policies"));
    let run = Directory::new().run(&["impact", "--old", &old, "--new", &old, "-o", "json", &log]);
    assert_eq!((run.code, numbers(&run)), (Some(3), [7, 0, 0, 3]), "{run}");
}

fn pod(name: &str, image: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"shop","ownerReferences":[{{"apiVersion":"apps/v1","kind":"StatefulSet","name":"db","uid":"u","controller":true}}]}},"spec":{{"containers":[{{"name":"c","image":"{image}"}}]}}}}"#
    )
}

#[test]
fn objects_are_created() {
    let pods = [pod("a", "x:1"), pod("b", "x@sha256:1"), pod("c", "x:latest")].join("\n");
    let directory = Directory::new().with("pods.ndjson", pods);
    let (old, new) = (sample("policies"), sample("next"));
    let run = directory.run(&["impact", "--old", &old, "--new", &new, "--explain", "pods.ndjson"]);
    run.exits(1);
    assert!(
        run.stdout
            .starts_with("3 requests: 1 newly refused, 0 newly allowed, 0 undecided, 2 the same\n"),
        "{run}"
    );
    for shown in [
        "shop       StatefulSet/db",
        "pods.ndjson:1:1: CREATE Pod shop/a",
        "images need a digest",
        "c.image.contains('@')",
    ] {
        run.stdout_has(shown);
    }
}

/// What a scan reads is compared too: exports of etcd, snapshots, and namespaces among the objects, by which policies select.
#[test]
fn objects_are_those_of_scans() {
    let policy = |names: &str| {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: team}}\nspec:\n  \
             matchConstraints:\n    namespaceSelector: {{matchLabels: {{tier: gold}}}}\n    resourceRules:\n    - {{apiGroups: [''], \
             apiVersions: [v1], operations: [CREATE], resources: [pods]}}\n  validations:\n  - expression: \
             object.metadata.name in {names}\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: \
             ValidatingAdmissionPolicyBinding\nmetadata: {{name: team}}\nspec: {{policyName: team, validationActions: [Deny]}}\n"
        )
    };
    let namespace =
        r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop","labels":{"tier":"gold"}}}"#;
    let base64 = |text: &str| pratique_json::base64::encode(text.as_bytes());
    let item = |key: &str, value: &str| format!(r#"{{"key":"{}","value":"{}"}}"#, base64(key), base64(value));
    let export = format!(
        "{{\"header\":{{\"cluster_id\":1}},\"kvs\":[{},{},{},{},{}],\"count\":5}}",
        item("/registry/pods/shop/a", &pod("a", "x")),
        item("/registry/pods/shop/b", &pod("b", "x")),
        item("/registry/pods/shop/c", "k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod"),
        item("/registry/namespaces/shop", namespace),
        item("compact_rev_key", "17"),
    );
    let lines = [pod("a", "x"), pod("b", "x"), namespace.to_owned()].join("\n");
    let directory = Directory::new()
        .with("old.yaml", policy("['a', 'b']"))
        .with("new.yaml", policy("['a']"))
        .with("etcd.json", export)
        .with("objects.ndjson", &lines)
        .with(
            "snapshot/objects.json",
            lines.lines().collect::<Vec<_>>().join("\n"),
        );
    let compared = |input: &str| {
        let arguments = [
            "impact", "--old", "old.yaml", "--new", "new.yaml", "-o", "json", input,
        ];
        let run = directory.run(&arguments);
        let counts = run.json();
        (run.code, numbers(&run), counts["errors"].as_u64().unwrap())
    };
    assert_eq!(compared("objects.ndjson"), (Some(1), [2, 1, 0, 0], 0));
    assert_eq!(compared("snapshot"), (Some(1), [2, 1, 0, 0], 0));
    // What etcd has as protobuf is not read, and counted.
    assert_eq!(compared("etcd.json"), (Some(1), [2, 1, 0, 0], 1));
}

#[test]
fn revisions_are_compared() {
    let read = |path: &str| std::fs::read_to_string(sample(path)).unwrap();
    let directory = Directory::new()
        .with("policies/images.yaml", read("policies/images.yaml"))
        .with("pod.json", pod("a", "x:1"));
    let git = |arguments: &[&str]| git(directory.path(), arguments);
    git(&["init", "-q"]);
    git(&["add", "policies"]);
    git(&["commit", "-qm", "one"]);
    std::fs::write(
        directory.path().join("policies/images.yaml"),
        read("next/images.yaml"),
    )
    .unwrap();
    let path = std::env::var("PATH").unwrap();
    let run = |more: &[&str]| {
        let arguments = [
            &[
                "impact",
                "--policies",
                "policies",
                "--old-rev",
                "HEAD",
                "-o",
                "json",
            ],
            more,
            &["pod.json"],
        ]
        .concat();
        directory.run_with(&arguments, "", &[("PATH", &path)])
    };
    assert_eq!(numbers(&run(&[])), [0, 1, 0, 0]);
    git(&["commit", "-qam", "two"]);
    assert_eq!(numbers(&run(&["--new-rev", "HEAD"])), [1, 0, 0, 0]);
    let missing = run(&["--new-rev", "nothing"]);
    assert_eq!(missing.code, Some(2));
    missing.stderr_has("there is no revision nothing");
}

/// Who has policies in a repository can compare them with those of a revision.
#[test]
fn what_may_stand_for_old_policies_is_told() {
    let run = Directory::new().run(&["impact", "--policies", "policies", "a.yaml"]);
    run.exits(2)
        .stderr_has("--old <PATH>")
        .stderr_has("`--old-rev REVISION` takes the policies of now from git");
}

#[test]
fn changes_are_a_page() {
    let pods = [pod("a", "x:1"), pod("b", "x@sha256:1")].join("\n");
    let directory = Directory::new().with("pods.ndjson", pods);
    let (old, new) = (sample("policies"), sample("next"));
    let run = directory.run(&[
        "impact",
        "--old",
        &old,
        "--new",
        &new,
        "--report",
        "page.html",
        "pods.ndjson",
    ]);
    run.exits(1);
    let page = std::fs::read_to_string(directory.path().join("page.html")).unwrap();
    for shown in [
        "Of 2 requests, 1 is newly refused.",
        "Newly refused: By policy",
        "images need a digest",
        "pods.ndjson",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
}

/// The user who creates objects is the one that is named.
#[test]
fn objects_are_created_by_a_user() {
    let policy = |expression: &str| {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: user}}\nspec:\n  \
             matchConstraints:\n    resourceRules:\n    - {{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: \
             [pods]}}\n  validations:\n  - expression: \"{expression}\"\n"
        )
    };
    let user = "request.userInfo.username == 'ann' && request.userInfo.uid == '7' && 'dev' in request.userInfo.groups && \
                request.userInfo.extra.team == ['web']";
    let directory = Directory::new()
        .with("old.yaml", policy("true"))
        .with("new.yaml", policy(user))
        .with("pods.ndjson", pod("a", "x"));
    let compared = |more: &[&str]| {
        let arguments = [
            "impact", "--old", "old.yaml", "--new", "new.yaml", "--bind", "-o", "json",
        ];
        directory.run(&[arguments.as_slice(), more, &["pods.ndjson"]].concat())
    };
    let named = [
        "--as",
        "ann",
        "--as-uid",
        "7",
        "--as-group",
        "dev",
        "--as-user-extra",
        "Team=web",
    ];
    for without in ["--as", "--as-uid", "--as-group", "--as-user-extra"] {
        let others: Vec<&str> = named
            .chunks(2)
            .filter(|flag| flag[0] != without)
            .flatten()
            .copied()
            .collect();
        assert_eq!(numbers(&compared(&others)), [0, 1, 0, 0], "{without}");
    }
    assert_eq!(numbers(&compared(&named)), [1, 0, 0, 0]);
}

/// Objects of the cluster that name no namespace are where those of the inputs are.
#[test]
fn given_objects_are_in_the_namespace_that_is_named() {
    let policy = |expression: &str| {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: names}}\nspec:\n  \
             paramKind: {{apiVersion: v1, kind: ConfigMap}}\n  matchConstraints:\n    resourceRules:\n    - {{apiGroups: [''], \
             apiVersions: [v1], operations: [CREATE], resources: [pods]}}\n  validations:\n  - expression: \"{expression}\"\n---\n\
             apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {{name: \
             names}}\nspec: {{policyName: names, validationActions: [Deny], paramRef: {{name: names, parameterNotFoundAction: \
             Allow}}}}\n"
        )
    };
    let directory = Directory::new()
        .with("old.yaml", policy("true"))
        .with("new.yaml", policy("object.metadata.name in params.data"))
        .with(
            "names.yaml",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: names}, data: {b: ''}}",
        )
        .with(
            "pods.ndjson",
            pod("a", "x").replace("\"namespace\":\"shop\",", ""),
        );
    let compared = |namespace: &str| {
        let arguments = [
            "impact",
            "--old",
            "old.yaml",
            "--new",
            "new.yaml",
            "--objects",
            "names.yaml",
            "--objects-complete",
            "-o",
            "json",
        ];
        numbers(&directory.run(&[arguments.as_slice(), &["-n", namespace, "pods.ndjson"]].concat()))
    };
    assert_eq!(compared("default"), [0, 1, 0, 0]);
    assert_eq!(compared("shop"), [0, 1, 0, 0]);
}

/// What is not known of several kinds is told once, in each command that reads many objects.
#[test]
fn unknown_kinds_are_told_together() {
    let object = |kind: &str| {
        format!(
            r#"{{"apiVersion":"example.com/v1","kind":"{kind}","metadata":{{"name":"a","namespace":"shop"}}}}"#
        )
    };
    let objects = ["Widget", "Gadget", "Widget"].map(object).join("\n");
    let directory = Directory::new().with("objects.ndjson", objects);
    let (old, new) = (sample("policies"), sample("next"));
    let unknown = "not known: 2 kinds (Gadget of example.com/v1, Widget of example.com/v1); no decision depends on their resources";
    let undefined = "objects of 2 kinds were neither defaulted nor validated, as their CustomResourceDefinitions are not known: give \
                     them with --objects: example.com/v1 Gadget, example.com/v1 Widget";
    // A scan counts them, and says where the first is.
    let unknown_to_scan = format!("objects.ndjson:1:1: {unknown}");
    let undefined_to_scan = "objects.ndjson:2:1: 3 objects of 2 kinds were neither defaulted nor validated, as their \
                             CustomResourceDefinitions are not known: give them with --objects: example.com/v1 Gadget (1), \
                             example.com/v1 Widget (2)";
    for line in [
        ["impact", "--old", &old, "--new", &new].as_slice(),
        &["scan", "--policies", &new],
        &["upgrade", "--policies", &new, "--from", "1.36", "--to", "1.37"],
    ] {
        let run = directory.run(&[line, &["objects.ndjson"]].concat());
        let told = match line {
            ["scan", ..] => [unknown_to_scan.as_str(), undefined_to_scan],
            _ => [unknown, undefined],
        };
        for told in told {
            assert_eq!(run.stdout.matches(told).count(), 1, "{told}: {run}");
        }
        assert!(!run.stderr.contains("Gadget"), "{run}");
        let warnings = run
            .stdout
            .lines()
            .filter(|line| line.starts_with("warning: ") && line.contains("Gadget"));
        assert_eq!(warnings.count(), 2, "{run}");
    }
    // What has no place for it in a scan leaves it to standard error, and only that.
    for (format, is_beside) in [
        ("json", false),
        ("ndjson", false),
        ("sarif", false),
        ("github", false),
        ("policyreport", true),
        ("openreports", true),
    ] {
        let run = directory.run(&["scan", "--policies", &new, "-o", format, "objects.ndjson"]);
        let has = |output: &str| {
            [
                "neither defaulted nor validated",
                "Widget of example.com/v1); no decision",
            ]
            .map(|told| output.contains(told))
        };
        assert_eq!(has(&run.stderr), [is_beside; 2], "{format}: {run}");
        assert_eq!(has(&run.stdout), [!is_beside; 2], "{format}: {run}");
    }
    let junit = directory.run(&["scan", "--policies", &new, "-o", "junit", "objects.ndjson"]);
    assert_eq!(
        junit.stdout.matches("name=\"no-definition ").count(),
        1,
        "{junit}"
    );
    junit.stdout_has("3 objects of 2 kinds were neither defaulted nor validated");
}

/// Kinds that are not known, and objects that were not completed, are reported.
#[test]
fn unknown_kinds_are_reported() {
    let widget = |name: &str| {
        format!(
            r#"{{"apiVersion":"example.com/v1","kind":"Widget","metadata":{{"name":"{name}","namespace":"shop"}}}}"#
        )
    };
    let directory = Directory::new()
        .with("widgets.ndjson", [widget("a"), widget("b")].join("\n"))
        .with("pods.ndjson", pod("a", "x@sha256:1"));
    let (old, new) = (sample("policies"), sample("next"));
    let compared = |input: &str, format: &str| {
        directory.run(&["impact", "--old", &old, "--new", &new, "-o", format, input])
    };
    let run = compared("widgets.ndjson", "json");
    assert_eq!((run.code, numbers(&run)), (Some(0), [2, 0, 0, 0]), "{run}");
    let counts = run.json();
    let notes = [
        "not known: kind Widget of example.com/v1; no decision depends on its resource",
        "objects of kind example.com/v1 Widget were neither defaulted nor validated, as their CustomResourceDefinition is not known: give \
         it with --objects",
    ];
    let notices = counts["notices"].as_array().unwrap().iter();
    let mut told: Vec<&str> = notices.filter_map(|notice| notice["message"].as_str()).collect();
    told.sort_unstable();
    assert_eq!(told, notes, "{run}");
    assert_eq!(run.stderr, "");
    let human = compared("widgets.ndjson", "human");
    notes
        .iter()
        .for_each(|note| assert!(human.stdout.contains(&format!("warning: {note}\n")), "{human}"));
    let known = compared("pods.ndjson", "json");
    assert!(
        !known.stdout.contains("notices") && known.stderr.is_empty(),
        "{known}"
    );
}
