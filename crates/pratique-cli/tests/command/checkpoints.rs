//! Replays and comparisons that are interrupted, and go on from their checkpoints.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::project::POLICY;
use crate::support::{Directory, Run, interrupted, interrupted_and_resumed};

const SAMPLES: &str = "../../docs/samples/replay";
const KEPT: [&str; 4] = ["--checkpoint", "kept.json", "--checkpoint-interval", "0"];

fn sample(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(SAMPLES).join(path);
    path.canonicalize().unwrap().display().to_string()
}

/// The events of the sample, so many times, and a line that is none.
fn events(times: usize) -> String {
    let events = fs::read_to_string(sample("audit.log")).unwrap();
    format!("{}{{\"kind\":\n", events.repeat(times))
}

fn compressed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Logs as they are rotated, the older one compressed.
fn logs() -> Directory {
    let directory = Directory::new();
    directory
        .with("audit-2026-11-01T00-00-00.000.log.gz", compressed(&events(40)))
        .with("audit.log", events(12))
}

/// A run that is killed goes on from its checkpoint: with the same report, unless something else is asked or the files change.
#[track_caller]
fn check(arguments: &[&str], counts: &str) {
    let directory = logs();
    let inputs = ["audit-2026-11-01T00-00-00.000.log.gz", "audit.log"];
    let whole = directory.run(&[arguments, &inputs].concat());
    let kept = [arguments, &KEPT, &inputs].concat();
    let of_part = interrupted_and_resumed(&directory, &whole, &kept, |report| {
        report.to_string().contains(counts)
    });
    let path = directory.path().join("kept.json");

    let refused = |run: Run, why: &str| {
        run.exits(2);
        run.stderr_has(why);
        assert!(path.exists(), "the checkpoint stays: {run}");
    };
    fs::write(&path, &of_part).unwrap();
    refused(
        directory.run(&[&kept, ["--bind"].as_slice()].concat()),
        "kept.json: it is of another ",
    );
    fs::write(directory.path().join("audit.log"), events(13)).unwrap();
    refused(directory.run(&kept), "kept.json: audit.log has changed since");
}

#[test]
fn an_interrupted_replay_goes_on() {
    let policies = sample("policies");
    let replay = ["replay", "--policies", &policies, "-o", "json"];
    check(&replay, "\"same\":");
    // What was replayed before is read again for the objects that it holds.
    check(&[replay.as_slice(), &["--remember", "16"]].concat(), "\"same\":");
}

#[test]
fn an_interrupted_comparison_goes_on() {
    let (old, new) = (sample("policies"), sample("next"));
    let impact = ["impact", "--old", &old, "--new", &new];
    // With the explanations of what was compared before.
    check(&[impact.as_slice(), &["--explain"]].concat(), "\"newlyRefused\":");
    check(
        &[impact.as_slice(), &["-o", "json", "--remember", "16"]].concat(),
        "\"newlyRefused\":",
    );
}

/// Files of a directory are named, if they are not what they were.
#[test]
fn files_that_come_and_go_are_reported() {
    let (old, new) = (sample("policies"), sample("next"));
    let directory = Directory::new().with("logs/a.json", events(40));
    let arguments = ["impact", "--old", &old, "--new", &new, "logs"];
    let arguments = [arguments.as_slice(), &KEPT].concat();
    interrupted(&directory, &arguments, "kept.json", |report| {
        report.to_string().contains("\"newlyRefused\":")
    });
    let directory = directory.with("logs/b.json", events(1));
    let run = directory.run(&arguments);
    assert!(
        run.code == Some(2) && run.stderr.contains("logs/b.json was not there then"),
        "{run}"
    );
    fs::remove_file(directory.path().join("logs/a.json")).unwrap();
    let run = directory.run(&arguments);
    assert!(
        run.code == Some(2) && run.stderr.contains("logs/a.json is not there any more"),
        "{run}"
    );
}

/// A run whose checkpoint says something else refuses to go on from it, and does not leave out or repeat anything.
#[track_caller]
fn check_altered(name: &str, change: impl Fn(&mut serde_json::Value), why: &str) {
    let policies = sample("policies");
    let directory = logs();
    let inputs = ["audit-2026-11-01T00-00-00.000.log.gz", "audit.log"];
    let kept = [&["replay", "--policies", &policies], KEPT.as_slice(), &inputs].concat();
    let of_part = interrupted(&directory, &kept, "kept.json", |report| {
        report.to_string().contains("\"same\":")
    });
    let mut checkpoint: serde_json::Value = serde_json::from_slice(&of_part).unwrap();
    change(&mut checkpoint);
    fs::write(directory.path().join("kept.json"), checkpoint.to_string()).unwrap();
    let run = directory.run(&kept);
    assert!(run.code == Some(2) && run.stderr.contains(why), "{name}: {run}");
    assert!(directory.path().join("kept.json").exists(), "{name}");
}

#[test]
fn checkpoints_name_a_place_of_the_inputs() {
    const PLACE: &str = "kept.json: it goes on at a place that the inputs do not have";
    check_altered(
        "beyond the file",
        |checkpoint| checkpoint["at"] = serde_json::json!({"offset": 1_u64 << 40}),
        "has changed since",
    );
    check_altered(
        "within an event",
        |checkpoint| {
            checkpoint["source"] = 1.into();
            checkpoint["at"] = serde_json::json!({"offset": 1});
        },
        "has changed since",
    );
    check_altered(
        "no such file",
        |checkpoint| checkpoint["source"] = 7.into(),
        PLACE,
    );
    #[cfg(feature = "kube")]
    check_altered(
        "a place of a collection",
        |checkpoint| checkpoint["at"] = serde_json::json!({"list": {}}),
        PLACE,
    );
    check_altered(
        "the beginning, after something was counted",
        |checkpoint| {
            checkpoint["source"] = 0.into();
            checkpoint["at"] = serde_json::json!({"offset": 0});
            checkpoint["done"] = 1.into();
        },
        PLACE,
    );
    check_altered(
        "the beginning, and nothing before it, with counts",
        |checkpoint| {
            checkpoint["source"] = 0.into();
            checkpoint["at"] = serde_json::json!({"offset": 0});
            checkpoint["done"] = 0.into();
        },
        PLACE,
    );
    check_altered(
        "another content of the same size and time",
        |checkpoint| checkpoint["files"][1]["digest"] = "sha256:00".into(),
        "audit.log has changed since",
    );
}

#[test]
fn what_cannot_be_continued_has_no_checkpoint() {
    let policies = sample("policies");
    let directory = Directory::new().with("audit.log", events(1)).with(
        "other.json",
        r#"{"apiVersion":"pratique/v1alpha1","kind":"ScanCheckpoint"}"#,
    );
    let check = |arguments: &[&str], why: &str| {
        let run = directory.run(&[&["replay", "--policies", &policies], arguments].concat());
        assert!(run.code == Some(2) && run.stderr.contains(why), "{why}: {run}");
    };
    check(&["--checkpoint", "x", "-"], "<stdin>: this can be read only once");
    check(
        &["--checkpoint", "x", "-o", "parquet", "audit.log"],
        "cannot be continued",
    );
    check(
        &["--checkpoint", "x", "--results", "r.parquet", "audit.log"],
        "cannot be continued",
    );
    check(
        &["--checkpoint", "other.json", "audit.log"],
        "other.json: it is no checkpoint of a replay: it is a ScanCheckpoint",
    );
}

/// A link in the place of a checkpoint is replaced, and nothing is written to where it leads.
#[cfg(unix)]
#[test]
fn checkpoints_are_not_written_through_links() {
    let directory = logs();
    let path = directory.path().join("kept.json");
    std::os::unix::fs::symlink("outside.json", &path).unwrap();
    let policies = sample("policies");
    let replay = ["replay", "--policies", &policies, "-o", "json"];
    let inputs = ["audit-2026-11-01T00-00-00.000.log.gz", "audit.log"];
    let arguments = [&replay[..], &KEPT, &inputs].concat();
    interrupted(&directory, &arguments, "kept.json", |report| !report.is_null());
    assert!(fs::symlink_metadata(&path).unwrap().is_file());
    assert!(!directory.path().join("outside.json").exists());
}

/// A run that ended before it read an input begins anew.
#[test]
fn checkpoints_at_the_beginning_have_counted_nothing() {
    let policies = sample("policies");
    let directory = logs();
    let replay = ["replay", "--policies", &policies, "-o", "json"];
    let whole = directory.run(&[&replay[..], &["audit.log"]].concat());
    let kept = [&replay[..], &KEPT, &["audit.log"]].concat();
    // The first one is written before the first event is counted.
    interrupted(&directory, &kept, "kept.json", |_| true);
    let run = directory.run(&kept);
    assert_eq!((run.code, run.stdout), (whole.code, whole.stdout));
}

/// What is told at the end is that of the whole run: what exceptions accepted, the workloads whose Pods nobody evaluated, and the kinds
/// that are not known.
#[test]
fn what_is_told_at_the_end_is_of_the_whole_run() {
    const PODS: &str = r#"---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: pods}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations: [{expression: "!has(object.spec.hostNetwork)"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: pods}
spec: {policyName: pods, validationActions: [Deny]}
"#;
    let deployment = |name: &str, replicas: i32| {
        serde_json::json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "shop"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": {
                "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}}},
        })
    };
    let widget = serde_json::json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "shop"},
    });
    let map = |index: i32| {
        serde_json::json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("c-{index}"), "namespace": "shop"},
        })
    };
    let objects: Vec<String> = [deployment("large", 9), widget]
        .into_iter()
        .chain((0..3000).map(map))
        .map(|object| format!("{object}\n"))
        .collect();
    let exceptions = "apiVersion: pratique/v1alpha1\nkind: Exceptions\nexceptions:\n- {policy: few, names: [large], reason: it is \
                      large}\n";
    let directory = Directory::new()
        .with("new/policies.yaml", format!("{POLICY}{PODS}"))
        .with("old/policies.yaml", POLICY.replace("<= 3", "<= 1000"))
        .with("exceptions.yaml", exceptions)
        .with("objects.ndjson", objects.concat());
    for (command, told) in [
        (
            ["scan", "--policies", "new", "objects.ndjson"].as_slice(),
            ["accepted: 1 finding", "not reviewed", "Widget"],
        ),
        (
            &["impact", "--old", "old", "--new", "new", "objects.ndjson"],
            ["accepted: 1 finding", "not reviewed", "Widget"],
        ),
    ] {
        let line = [command, &["--exceptions", "exceptions.yaml", "--expand=off"]].concat();
        let whole = directory.run(&line);
        for told in told {
            whole.stdout_has(told);
        }
        let kept = [line.as_slice(), &KEPT].concat();
        interrupted_and_resumed(&directory, &whole, &kept, |counted| {
            counted["accepted"]["excepted"] == 1
        });
    }
}
