//! `pratique replay`: audit logs, and what policies decide on their requests now.

use std::fs;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::support::{Directory, Run};

const POLICIES: &str = "../../docs/samples/replay/policies";
const LOG: &str = "../../docs/samples/replay/audit.log";

fn replay(arguments: &[&str]) -> Run {
    Directory::new().run(&[&["replay", "--policies", &sample(POLICIES)], arguments].concat())
}

/// The absolute path of a file of the repository.
fn sample(path: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    path.canonicalize().unwrap().display().to_string()
}

fn number(counts: &Value, name: &str) -> u64 {
    counts[name].as_u64().unwrap()
}

#[test]
fn findings_are_printed_and_the_rest_is_counted() {
    let log = fs::read_to_string(sample(LOG)).unwrap();
    let many = log.repeat(100);
    let directory = Directory::new().with("audit.log", many);
    let line = ["replay", "--policies", &sample(POLICIES), "audit.log"];
    let run = directory.run(&line);
    run.exits(1)
        .shows(&[" requests are not listed (150 more decided otherwise than then, "]);
    assert!(run.stdout.lines().count() < 300, "{run}");
    let all = directory.run(&[&line[..], &["--all"]].concat());
    assert!(!all.stdout.contains("not listed"), "{all}");
    assert_eq!(all.stdout.matches(": undecided\n").count(), 300, "{all}");
}

#[test]
fn decisions_of_now_stand_beside_those_of_then() {
    let log = sample(LOG);
    let run = replay(&["-o", "json", &log]);
    run.exits(1);
    let found = run.json();
    let expected = [
        ("requests", 10),
        ("same", 4),
        ("refusedNow", 1),
        ("allowedNow", 1),
        ("notCompared", 1),
        ("undecided", 3),
    ];
    for (name, count) in expected {
        assert_eq!(number(&found, name), count, "{name}: {found}");
    }
    assert_eq!(
        found["unknown"],
        serde_json::json!({"level": 1, "patchedObject": 1})
    );
    assert_eq!(
        found["notSubject"],
        serde_json::json!({"readOnly": 1, "stage": 1, "unauthorized": 1})
    );
    assert_eq!(
        found["now"]["total"],
        serde_json::json!({"allowed": 6, "denied": 1, "undecided": 3})
    );

    let run = replay(&["-o", "ndjson", "--summary", &log]);
    let lines: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 11);
    assert_eq!(lines[10]["summary"]["refusedNow"], 1);
    assert_eq!(lines[2]["comparison"], "refusedNow");
    assert_eq!(
        (&lines[7]["then"]["by"], &lines[7]["comparison"]),
        (&"validating policy no-bare-pods".into(), &"allowedNow".into())
    );
}

#[test]
fn what_earlier_events_hold_is_remembered() {
    let run = replay(&["-o", "json", "--remember", "1", &sample(LOG)]);
    let found = run.json();
    assert_eq!(
        (number(&found, "refusedNow"), number(&found, "undecided")),
        (2, 1),
        "{found}"
    );
    assert_eq!(
        found["approximations"],
        serde_json::json!({"lastSeen": 1, "plugins": 3})
    );
}

#[test]
fn exit_codes_follow_what_fails() {
    let log = sample(LOG);
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let code = |fail_on: &str, lines: &[&str]| {
        let directory = Directory::new().with("audit.log", lines.join("\n"));
        let policies = sample(POLICIES);
        directory
            .run(&[
                "replay",
                "--policies",
                &policies,
                "--fail-on",
                fail_on,
                "audit.log",
            ])
            .code
            .unwrap()
    };
    assert_eq!(code("refused,error,undecided", &lines[..1]), 0);
    assert_eq!(code("refused,error,undecided", &lines), 1);
    assert_eq!(code("refused,error,undecided", &lines[3..5]), 3);
    assert_eq!(code("refused,error", &lines[3..5]), 0);
    assert_eq!(code("refused", &lines[8..9]), 0);
    assert_eq!(code("allowed", &lines[8..9]), 1);
    assert_eq!(code("error", &[lines[0], "{\"kind\":", lines[2]]), 2);
    assert_eq!(
        code("refused,error", &[lines[0], "{\"kind\":", lines[2]]),
        1,
        "what follows a bad line is read"
    );
    let empty = Directory::new().with("audit.log", "");
    let run = empty.run(&["replay", "--policies", &sample(POLICIES), "audit.log"]);
    assert_eq!(run.code, Some(2));
    run.stderr_has("audit.log: there is no audit event in it");
}

#[test]
fn recorded_reviews_are_replayed() {
    let review = |image: &str, allowed: bool| {
        format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","kind":{{"group":"","version":"v1","kind":"Pod"}},"resource":{{"group":"","version":"v1","resource":"pods"}},"name":"a","namespace":"shop","operation":"CREATE","userInfo":{{"username":"ann"}},"object":{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"a","namespace":"shop"}},"spec":{{"containers":[{{"name":"c","image":"{image}"}}]}}}}}},"response":{{"uid":"u","allowed":{allowed}}}}}"#
        )
    };
    let log = [
        review("a:1", true),
        review("a:latest", true),
        review("a:1", false),
        review("a:latest", false),
    ];
    let directory = Directory::new().with("record.ndjson", log.join("\n"));
    let policies = sample(POLICIES);
    let run = directory.run(&["replay", "--policies", &policies, "-o", "json", "record.ndjson"]);
    let found = run.json();
    let compared = ["same", "refusedNow", "allowedNow"].map(|name| number(&found, name));
    assert_eq!(compared, [2, 1, 1], "{found}");
}

/// A log of kube-apiserver 1.36: creations, updates, patches of all types, server-side apply, deletions, connections and dry runs by
/// kubectl, with policies that allowed and denied them.
#[test]
fn the_policies_of_a_server_decide_again_what_they_decided() {
    let (policies, log) = (
        sample("../../testdata/replay/policies.yaml"),
        sample("../../testdata/replay/audit.log.gz"),
    );
    let run = |arguments: &[&str]| {
        let all = [
            &[
                "replay",
                "--policies",
                &policies,
                "-o",
                "ndjson",
                "--summary",
                &log,
            ],
            arguments,
        ]
        .concat();
        let run = Directory::new().run(&all);
        let lines = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
        let mut lines: Vec<Value> = lines.collect();
        let counts = lines.pop().unwrap()["summary"].clone();
        (run.code, lines, counts)
    };
    let compared = |counts: &Value| {
        ["same", "refusedNow", "allowedNow", "notCompared", "undecided"].map(|name| number(counts, name))
    };
    let (code, rows, counts) = run(&["--remember", "16"]);
    assert_eq!((code, compared(&counts)), (Some(0), [37, 0, 0, 2, 0]), "{counts}");
    let denied: Vec<&Value> = rows
        .iter()
        .filter(|row| row["then"]["decision"] == "denied")
        .collect();
    assert_eq!(denied.len(), 13);
    for row in denied {
        assert_eq!(row["then"]["message"], row["now"]["message"], "{row}");
    }
    let (code, _, counts) = run(&[]);
    let [same, refused, allowed, _, undecided] = compared(&counts);
    assert_eq!(
        (code, refused, allowed, same + undecided),
        (Some(3), 0, 0, 37),
        "{counts}"
    );
}

/// A log as kube-apiserver rotates it, and as its webhook backend sends it, is the same log.
#[test]
fn a_log_may_come_in_parts() {
    let text = fs::read_to_string(sample(LOG)).unwrap();
    let events: Vec<&str> = text.lines().collect();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(events[..5].join("\n").as_bytes()).unwrap();
    let batch = |events: &[&str]| {
        let events: Vec<Value> = events
            .iter()
            .map(|event| serde_json::from_str(event).unwrap())
            .collect();
        let items = events.into_iter().map(|mut event| {
            // Items have no kind of their own.
            event.as_object_mut().unwrap().remove("kind");
            event.as_object_mut().unwrap().remove("apiVersion");
            event
        });
        let items: Vec<Value> = items.collect();
        serde_json::json!({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}, "items": items})
            .to_string()
    };
    let directory = Directory::new()
        .with(".gitignore", "*.log\n")
        .with(
            "logs/audit-2026-11-01T00-00-00.000.log.gz",
            encoder.finish().unwrap(),
        )
        .with("logs/audit-2026-11-02T00-00-00.000.log", events[5..9].join("\n"))
        .with("logs/audit.log", events[9..].join("\n"))
        .with("logs/README.txt", "not a log")
        .with("batches/1.json", batch(&events[..6]))
        .with(
            "batches/2.json",
            format!("{}\n{}", batch(&events[6..7]), batch(&events[7..])),
        );
    let policies = sample(POLICIES);
    // What is remembered of a part counts for those that follow.
    let counts = |inputs: &[&str], stdin: &str| {
        let arguments = ["replay", "--policies", &policies, "--remember", "1", "-o", "json"];
        let run = directory.run_with(&[&arguments, inputs].concat(), stdin, &[]);
        run.exits(1);
        let mut found = run.json();
        found.as_object_mut().unwrap().remove("now");
        // Beside the logs are files of other kinds.
        found.as_object_mut().unwrap().remove("passedOver");
        found
    };
    let whole = counts(&[&sample(LOG)], "");
    let rotated = [
        "logs/audit-2026-11-01T00-00-00.000.log.gz",
        "logs/audit-2026-11-02T00-00-00.000.log",
        "logs/audit.log",
    ];
    assert_eq!(counts(&rotated, ""), whole);
    assert_eq!(counts(&["logs"], ""), whole);
    assert_eq!(counts(&["batches/1.json", "batches/2.json"], ""), whole);
    assert_eq!(counts(&["-"], &text), whole);
    let (old, new) = (policies.clone(), sample("../../docs/samples/replay/next"));
    let impact = |input: &str| {
        let run = directory.run(&["impact", "--old", &old, "--new", &new, input]);
        run.stdout.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(impact("logs"), impact(&sample(LOG)));
}

#[test]
fn webhooks_are_not_called() {
    let webhook = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: w}\nwebhooks:\n\
        - name: a.example.com\n  admissionReviewVersions: [v1]\n  sideEffects: None\n  clientConfig: {url: 'https://127.0.0.1:1/'}\n";
    let directory = Directory::new().with("webhook.yaml", webhook);
    let log = sample(LOG);
    for arguments in [
        ["replay", "--policies", "webhook.yaml", "-o", "json", &log].as_slice(),
        &["impact", "--old", "webhook.yaml", "--new", "webhook.yaml", &log],
    ] {
        let run = directory.run(arguments);
        run.exits(2).stderr_has("this command calls none");
    }
}

#[test]
fn a_log_is_a_page() {
    let directory = Directory::new();
    let (policies, log) = (sample(POLICIES), sample(LOG));
    let run = directory.run(&["replay", "--policies", &policies, "--report", "page.html", &log]);
    run.exits(1);
    let page = fs::read_to_string(directory.path().join("page.html")).unwrap();
    for shown in [
        "Of 10 requests, 1 that was allowed is refused now.",
        "Decisions now: By policy",
        "images need a tag other than latest, or a digest",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
}
