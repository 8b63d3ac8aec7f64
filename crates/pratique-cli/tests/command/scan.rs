//! `pratique scan`: every object that there is, counted and reported, and `pratique report merge`.

use std::fs;

use serde_json::Value;

use crate::support::{Directory, Run, interrupted_and_resumed};

/// Policies: Pods need a team to be created or updated, names do not change, and only creations need an owner.
pub(crate) const POLICIES: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: team}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pods]}
  validations:
  - expression: \"'team' in object.metadata.?labels.orValue({})\"
    message: a Pod needs a team
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: team}
spec: {policyName: team, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: same}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [UPDATE], resources: [pods]}
  validations:
  - expression: object.spec == oldObject.spec
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: same}
spec: {policyName: same, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: owned}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations:
  - expression: has(object.metadata.ownerReferences)
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: owned}
spec: {policyName: owned, validationActions: [Warn]}
";

#[test]
fn what_no_policy_matches_is_skipped() {
    let conditional = POLICIES.replacen(
        "  validations:",
        "  matchConditions: [{name: shop, expression: request.namespace == 'shop'}]\n  validations:",
        1,
    );
    let (team, _) = conditional.split_once("---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: same}").unwrap();
    let objects = [
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}".to_owned(),
        pod("shop", "b", true),
        pod("shop", "c", false),
        pod("infra", "d", false),
    ];
    let directory = Directory::new()
        .with("policies.yaml", team)
        .with("objects.yaml", objects.join("\n---\n"));
    let run = directory.run(&[
        "scan",
        "--policies",
        "policies.yaml",
        "-o",
        "policyreport",
        "objects.yaml",
    ]);
    let report = run.json();
    let summary = |namespace: &str| {
        let items = report["items"].as_array().unwrap();
        let item = items
            .iter()
            .find(|item| item["metadata"]["namespace"] == namespace)
            .unwrap();
        ["pass", "fail", "skip"].map(|name| item["summary"][name].as_u64().unwrap())
    };
    assert_eq!(
        (summary("shop"), summary("infra")),
        ([1, 1, 1], [0, 0, 1]),
        "{run}"
    );
}

fn pod(namespace: &str, name: &str, has_team: bool) -> String {
    let labels = if has_team { r#","labels":{"team":"a"}"# } else { "" };
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"{namespace}"{labels}}},"spec":{{"containers":[{{"name":"c","image":"i"}}]}}}}"#
    )
}

/// Pods in three namespaces, every third of which has no team.
fn pods(from: usize, to: usize) -> String {
    let pods = (from..to).map(|number| {
        let namespace = ["shop", "infra", "web"][number % 3];
        pod(namespace, &format!("p{number:04}"), !number.is_multiple_of(5)) + "\n"
    });
    pods.collect()
}

fn files() -> Directory {
    Directory::new().with("policies.yaml", POLICIES)
}

fn scan(directory: &Directory, more: &[&str]) -> Run {
    directory.run(&[&["scan", "--policies", "policies.yaml"], more].concat())
}

/// The numbers of objects: allowed, denied, undecided, not evaluated.
pub(crate) fn total(report: &Value) -> [u64; 4] {
    let total = &report["tally"]["total"];
    ["allowed", "denied", "undecided", "failed"].map(|name| total[name].as_u64().unwrap_or_default())
}

#[test]
fn every_object_is_counted() {
    let directory = files().with("pods.ndjson", pods(0, 20));
    let run = scan(&directory, &["pods.ndjson"]);
    run.exits(1);
    for shown in [
        "POLICY  BINDING  DENIED  WARNED",
        "owned   owned         0      20",
        "team    team          4       0",
        "Pod infra/p0010 (pods.ndjson:11:1): a Pod needs a team",
        "20 objects: 16 allowed, 4 denied, 20 warnings",
        "note: policies that match no CREATE are not evaluated: same; with --as-update, those of updates are",
        "note: webhooks and built-in plugins are not run",
    ] {
        run.stdout_has(shown);
    }
    let report = scan(&directory, &["-o", "json", "pods.ndjson"]).json();
    assert_eq!(total(&report), [16, 4, 0, 0]);
    let update = scan(&directory, &["-o", "json", "--as-update", "pods.ndjson"]);
    let update = update.json();
    assert_eq!(
        (total(&update), &update["run"]["operation"]),
        ([16, 4, 0, 0], &"UPDATE".into())
    );
    assert!(
        update["notes"]
            .to_string()
            .contains("match no UPDATE are not evaluated: owned"),
        "{update}"
    );
    let warned = |fail_on: &str| scan(&directory, &["--fail-on", fail_on, "pods.ndjson"]).code;
    assert_eq!((warned("error"), warned("warn")), (Some(0), Some(1)));
}

#[test]
fn findings_are_lines() {
    let directory = files().with("pods.ndjson", pods(0, 6));
    let run = scan(&directory, &["-o", "ndjson", "--as-update", "pods.ndjson"]);
    let lines: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3, "{run}");
    assert_eq!(
        (&lines[0]["name"], &lines[0]["line"]),
        (&"p0000".into(), &1.into()),
        "{run}"
    );
    assert_eq!(
        (&lines[1]["name"], &lines[1]["line"]),
        (&"p0005".into(), &6.into()),
        "{run}"
    );
    assert_eq!(total(&lines[2]["summary"]), [4, 2, 0, 0], "{run}");
    let sarif = scan(&directory, &["-o", "sarif", "--as-update", "pods.ndjson"]).json();
    assert_eq!(
        sarif["runs"][0]["results"].as_array().unwrap().len(),
        2,
        "{sarif}"
    );
    let junit = scan(&directory, &["-o", "junit", "--as-update", "pods.ndjson"]);
    junit.stdout_has("<testsuites name=\"pratique scan\" tests=\"2\" failures=\"2\"");
}

#[test]
fn unevaluated_objects_are_reported() {
    let review = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{}}"#;
    let mixed = format!("{}\n{{\"a\":1}}\n{review}\n{{\"b\":\n", pod("shop", "a", true));
    let directory = files().with("mixed.ndjson", mixed).with("broken.yaml", "a: [\n");
    let run = scan(&directory, &["-o", "json", "mixed.ndjson", "broken.yaml"]);
    run.exits(2);
    let report = run.json();
    let [allowed, denied, undecided, failed] = total(&report);
    assert_eq!((allowed, denied, undecided), (1, 0, 0), "{run}");
    assert!(failed >= 4, "{run}");
    assert_eq!(
        report["problems"].as_array().unwrap().len() as u64,
        failed,
        "{run}"
    );
    for message in [
        "mixed.ndjson:2:1",
        "it is a request, and not an object",
        "broken.yaml",
    ] {
        assert!(
            run.stderr.contains(message) && report["problems"].to_string().contains(message),
            "{message}: {run}"
        );
    }
    // A namespace that is not given is not known, so that what depends on it is undecided.
    let unknown = POLICIES.replace(
        "'team' in object.metadata.?labels.orValue({})",
        "'team' in namespaceObject.metadata.labels",
    );
    let directory = Directory::new()
        .with("policies.yaml", unknown)
        .with("pods.ndjson", pods(0, 2));
    let run = scan(&directory, &["-o", "json", "pods.ndjson"]);
    assert_eq!((run.code, total(&run.json())), (Some(3), [0, 0, 2, 0]), "{run}");
}

#[test]
fn without_anything_to_evaluate_nothing_passes() {
    let directory = files()
        .with("empty.yaml", "# nothing\n")
        .with("pods.ndjson", pods(1, 2))
        .with("unbound.yaml", POLICIES.split("---\n").next().unwrap());
    let run = scan(&directory, &["empty.yaml"]);
    run.exits(2).stderr_has("empty.yaml: there is no object to scan");
    let run = scan(&directory, &[]);
    assert!(
        run.code == Some(2) && run.stderr.contains("there is nothing to scan"),
        "{run}"
    );
    let run = directory.run(&["scan", "--policies", "unbound.yaml", "pods.ndjson"]);
    run.exits(3)
        .stdout_has("note: 1 policy not evaluated: no binding");
}

#[test]
fn namespaces_among_the_inputs_count() {
    let policies = POLICIES.replace(
        "'team' in object.metadata.?labels.orValue({})",
        "'team' in namespaceObject.metadata.labels",
    );
    let namespace =
        r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop","labels":{"team":"a"}}}"#;
    let content = format!("{}\n{namespace}\n", pod("shop", "a", false));
    let directory = Directory::new()
        .with("policies.yaml", policies)
        .with("all.ndjson", &content);
    let run = scan(&directory, &["-o", "json", "all.ndjson"]);
    assert_eq!((run.code, total(&run.json())), (Some(0), [2, 0, 0, 0]), "{run}");
    // In a pipe, a namespace counts for what follows it.
    let piped = format!("{namespace}\n{}\n", pod("shop", "a", false));
    let arguments = ["scan", "--policies", "policies.yaml", "-o", "json", "-"];
    let run = directory.run_with(&arguments, &piped, &[]);
    assert_eq!((run.code, total(&run.json())), (Some(0), [2, 0, 0, 0]), "{run}");
}

#[test]
fn exports_of_etcd_are_read() {
    let base64 = |text: &str| pratique_json::base64::encode(text.as_bytes());
    let item = |key: &str, value: &str| format!(r#"{{"key":"{}","value":"{}"}}"#, base64(key), base64(value));
    let export = format!(
        "{{\"header\":{{\"cluster_id\":1}},\"kvs\":[{},{},{}],\"count\":3}}",
        item("/registry/pods/shop/a", &pod("shop", "a", false)),
        item("/registry/pods/shop/b", "k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod"),
        item("compact_rev_key", "17"),
    );
    let directory = files().with("etcd.json", export);
    let run = scan(&directory, &["-o", "json", "etcd.json"]);
    assert_eq!(total(&run.json()), [0, 1, 0, 1], "{run}");
    run.stderr_has("stored as protobuf (Pod of v1)");
}

/// A directory with inputs of several forms.
fn inputs() -> Directory {
    let documents = (0..7).map(|number| pod("shop", &format!("d{number}"), number != 3) + "\n---\n");
    files()
        .with("all/pods.ndjson", pods(0, 50))
        .with("all/documents.yaml", documents.collect::<String>())
        .with("all/broken.ndjson", "{\"a\":1}\n[\n")
}

#[test]
fn shards_merge_to_the_whole() {
    let directory = inputs();
    let whole = scan(&directory, &["-o", "json", "all"]);
    whole.exits(1);
    for of in [2, 3, 7] {
        let mut names = Vec::new();
        let mut found = 0;
        for index in 0..of {
            let (shard, name) = (format!("{index}/{of}"), format!("{index}-of-{of}.json"));
            let run = scan(
                &directory,
                &["--shard", &shard, "--report", &name, "-o", "json", "all"],
            );
            found += total(&run.json()).iter().sum::<u64>();
            names.push(name);
        }
        assert_eq!(
            found,
            total(&whole.json()).iter().sum::<u64>(),
            "each object is in one of {of} shards"
        );
        names.reverse();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let merged = directory.run(&[&["report", "merge", "-o", "json"], names.as_slice()].concat());
        assert_eq!(
            (merged.code, &merged.stdout),
            (Some(1), &whole.stdout),
            "{merged}"
        );
        let part = directory.run(&["report", "merge", "--fail-on", "undecided", names[0]]);
        assert_eq!(
            part.code,
            Some(3),
            "a report that lacks shards is undecided: {part}"
        );
        part.stdout_has("this is a part of the report: ");
        let twice = directory.run(&["report", "merge", names[0], names[0]]);
        assert!(
            twice.code == Some(2) && twice.stderr.contains("is in more than one of the reports"),
            "{twice}"
        );
    }
}

/// A shard compares its objects with themselves, and the merged report those of all shards.
#[test]
fn what_several_shards_have_is_told() {
    let lines = format!("{}{}", pods(0, 200), pods(7, 8));
    let documents: String = [7, 8, 7]
        .map(|index| format!("---\n{}", pods(index, index + 1)))
        .concat();
    let directory = files().with("all.ndjson", &lines).with("all.yaml", documents);
    for of in [2, 3] {
        let names: Vec<String> = (0..of)
            .map(|index| {
                let (shard, name) = (format!("{index}/{of}"), format!("{index}-of-{of}.json"));
                let run = scan(
                    &directory,
                    &["--shard", &shard, "--report", &name, "all.ndjson", "all.yaml"],
                );
                run.stdout_has("those that several shards have are told once all are merged");
                name
            })
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let merged = directory.run(&[&["report", "merge"], names.as_slice()].concat());
        // What is in two shards is told with the places in the order of their texts.
        let across = "all.ndjson:8:1: Pod infra/p0007 is in another shard of the inputs as well, at all.ndjson:201:1: ";
        merged.stdout_has(across);
        let places = [
            "all.yaml:1:1",
            "all.yaml:2:1",
            "all.yaml:4:1",
            "all.yaml: 2 objects",
        ];
        let told = merged.stdout.lines().filter(|line| line.starts_with("warning: "));
        let told = told.filter(|line| places.iter().any(|place| line.contains(place)));
        assert!(told.count() >= 2, "{merged}");
        assert!(!merged.stdout.contains("several shards have"), "{merged}");
        let kept = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
        assert!(kept(names[0]).contains("\"objects\":{\"named\":{"));
        let json = directory.run(&[&["report", "merge", "-o", "json"], names.as_slice()].concat());
        assert_eq!(json.json()["objects"], Value::Null, "{json}");
    }
}

#[test]
fn files_that_begin_like_an_export_of_etcd_are_read_to_their_end() {
    let pod = pods(0, 1);
    let export = "{\"header\":{\"cluster_id\":1,\"revision\":2},\"kvs\":[],\"count\":0}\n";
    let of_pod = pod.trim().trim_start_matches('{');
    let directory = files()
        .with("after.json", format!("{export}{pod}"))
        .with(
            "within.json",
            format!("{{\"header\":{{\"cluster_id\":1}},{of_pod}\n"),
        )
        .with("cut.json", "{\"header\":{\"cluster_id\":1},\"kvs\":[");
    let after = scan(&directory, &["-o", "json", "after.json"]);
    assert_eq!(total(&after.json()).iter().sum::<u64>(), 1, "{after}");
    for (name, why) in [
        ("within.json", "has the field"),
        ("cut.json", "the export of etcd is incomplete"),
    ] {
        let run = scan(&directory, &[name]);
        assert!(run.code != Some(0), "{run}");
        run.shows(&[name, why]);
    }
}

#[test]
fn halves_merge_to_the_whole() {
    let directory = files()
        .with("a.ndjson", pods(0, 30))
        .with("b.ndjson", pods(30, 50));
    let whole = scan(&directory, &["-o", "json", "a.ndjson", "b.ndjson"]);
    for half in ["a", "b"] {
        let run = scan(
            &directory,
            &["--report", &format!("{half}.json"), &format!("{half}.ndjson")],
        );
        run.exits(1);
    }
    let merged = directory.run(&[
        "report", "merge", "b.json", "a.json", "-o", "json", "--report", "all.html",
    ]);
    assert_eq!(
        (merged.code, &merged.stdout),
        (Some(1), &whole.stdout),
        "{merged}"
    );
    let page = fs::read_to_string(directory.path().join("all.html")).unwrap();
    assert!(page.contains("<strong>10</strong> of 50 objects"), "{page}");
    let twice = directory.run(&["report", "merge", "a.json", "a.json"]);
    twice.stderr_has("a.json: a.ndjson is an input of more than one of the reports");
    // However its path is written.
    let dotted = scan(&directory, &["--report", "d.json", "./a.ndjson"]);
    dotted.exits(1);
    let twice = directory.run(&["report", "merge", "a.json", "d.json"]);
    twice
        .exits(2)
        .stderr_has("./a.ndjson is an input of more than one of the reports");
    let absolute = directory.path().join("a.ndjson");
    for input in [absolute.to_str().unwrap(), directory.path().to_str().unwrap()] {
        scan(&directory, &["--report", "e.json", input]).exits(1);
        for order in [["a.json", "e.json"], ["e.json", "a.json"]] {
            directory
                .run(&["report", "merge", order[0], order[1]])
                .exits(2)
                .stderr_has("is an input of more than one of the reports");
        }
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a.ndjson", directory.path().join("linked.ndjson")).unwrap();
        scan(&directory, &["--report", "l.json", "linked.ndjson"]).exits(1);
        directory
            .run(&["report", "merge", "a.json", "l.json"])
            .exits(2)
            .stderr_has("linked.ndjson is an input of more than one of the reports");
        let repeated = scan(
            &directory,
            &["-o", "json", "linked.ndjson", "a.ndjson", "b.ndjson"],
        );
        assert_eq!(total(&repeated.json()), total(&whole.json()));
    }
    let repeated = scan(&directory, &["-o", "json", "./a.ndjson", "a.ndjson", "b.ndjson"]);
    repeated
        .stderr_has("a.ndjson: 1 file of it was read before, by another path or a link, and counted once");
    assert_eq!(total(&repeated.json()), total(&whole.json()));
    let other = scan(&directory, &["--as-update", "--report", "c.json", "b.ndjson"]);
    other.exits(1);
    let other = directory.run(&["report", "merge", "a.json", "c.json"]);
    other.stderr_has("the reports are of different runs");
    let none = directory.run(&["report", "merge", "a.json", "a.ndjson"]);
    assert!(
        none.code == Some(2) && none.stderr.contains("a.ndjson: it is not a report"),
        "{none}"
    );
}

#[test]
fn a_pipe_has_no_shards() {
    let arguments = ["scan", "--policies", "policies.yaml", "--shard", "0/2", "-"];
    let run = files().run_with(&arguments, &pods(0, 2), &[]);
    run.exits(2).stderr_has("this can be read only once");
}

#[test]
fn dashboards_read_reports() {
    let namespace = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}"#;
    let directory = files().with("all.ndjson", format!("{}{namespace}\n", pods(0, 20)));
    for (format, version, kind, of_cluster) in [
        (
            "policyreport",
            "wgpolicyk8s.io/v1alpha2",
            "PolicyReport",
            "ClusterPolicyReport",
        ),
        (
            "openreports",
            "openreports.io/v1alpha1",
            "Report",
            "ClusterReport",
        ),
    ] {
        let run = scan(&directory, &["-o", format, "--as-update", "all.ndjson"]);
        run.exits(1);
        let list = run.json();
        let items = list["items"].as_array().unwrap();
        let kinds: Vec<&str> = items.iter().map(|item| item["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, [of_cluster, kind, kind, kind]);
        assert!(items.iter().all(|item| item["apiVersion"] == version), "{run}");
        let summary = |name: &str| {
            items
                .iter()
                .map(|item| item["summary"][name].as_u64().unwrap())
                .sum::<u64>()
        };
        // No policy matches the namespace.
        let summaries = [summary("pass"), summary("fail"), summary("skip")];
        assert_eq!(summaries, [16, 4, 1], "{run}");
        let result = &items[1]["results"][0];
        assert_eq!(items[1]["metadata"]["namespace"], "infra");
        assert_eq!(
            (&result["policy"], &result["result"]),
            (&"team".into(), &"fail".into()),
            "{run}"
        );
        assert_eq!(
            (&result["resources"][0]["name"], &result["message"]),
            (&"p0010".into(), &"a Pod needs a team".into())
        );
    }
}

#[test]
fn a_page_is_one_file() {
    let directory = files().with("pods.ndjson", pods(0, 20));
    let run = scan(&directory, &["--report", "page.html,report.json", "pods.ndjson"]);
    run.exits(1);
    let page = fs::read_to_string(directory.path().join("page.html")).unwrap();
    for shown in [
        "<!doctype html>",
        "<strong>4</strong> of 20 objects (20.0%) would be refused, by 1 of 3 policies.",
        "webhooks and built-in plugins are not run",
        "a Pod needs a team",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    for loading in ["<script", "<link", "src=", "href=", "url(", "http:", "https:"] {
        assert!(!page.contains(loading), "{loading}");
    }
    let report: Value =
        serde_json::from_str(&fs::read_to_string(directory.path().join("report.json")).unwrap()).unwrap();
    assert_eq!(total(&report), [16, 4, 0, 0]);
    let run = scan(&directory, &["--report", "nowhere/page.html", "pods.ndjson"]);
    run.exits(2);
}

/// A checkpoint of a run that is killed, and the run that goes on from it.
#[test]
fn an_interrupted_scan_goes_on() {
    let directory = files()
        .with("a.ndjson", pods(0, 2500))
        // The last ones were read before the interruption.
        .with("b.ndjson", format!("{}{}", pods(2500, 2800), pods(0, 3)));
    let arguments = [
        "scan",
        "--policies",
        "policies.yaml",
        "--as-update",
        "-o",
        "json",
        "a.ndjson",
        "b.ndjson",
    ];
    let whole = directory.run(&arguments);
    whole.stdout_has("3 objects of it are among the inputs before, in a.ndjson: ");
    let kept = ["--checkpoint", "kept.json", "--checkpoint-interval", "0"];
    let arguments = [arguments.as_slice(), kept.as_slice()].concat();
    let path = directory.path().join("kept.json");
    let of_part = interrupted_and_resumed(&directory, &whole, &arguments, |report| {
        total(&report["report"]).iter().any(|count| *count > 0)
    });

    fs::write(&path, &of_part).unwrap();
    let other = scan(&directory, &["--checkpoint", "kept.json", "a.ndjson", "b.ndjson"]);
    assert!(
        other.code == Some(2) && other.stderr.contains("kept.json: it is of another scan"),
        "{other}"
    );
    let directory = directory.with("b.ndjson", pods(2500, 2801));
    let changed = directory.run(&arguments);
    assert!(
        changed.code == Some(2) && changed.stderr.contains("b.ndjson has changed since"),
        "{changed}"
    );
    fs::write(&path, "{}").unwrap();
    let none = directory.run(&arguments);
    assert!(
        none.code == Some(2) && none.stderr.contains("it is no checkpoint of a scan"),
        "{none}"
    );
    let listed = scan(&directory, &["--checkpoint", "x", "-o", "sarif", "a.ndjson"]);
    assert!(
        listed.code == Some(2) && listed.stderr.contains("cannot be continued"),
        "{listed}"
    );
}

#[test]
fn counts_are_metrics() {
    let directory = files().with("pods.ndjson", pods(0, 20) + "{}\n");
    let run = scan(
        &directory,
        &["--metrics-file", "scan.prom", "--report", "0.json", "pods.ndjson"],
    );
    run.exits(1);
    let read = || {
        let text = fs::read_to_string(directory.path().join("scan.prom")).unwrap();
        let (rest, time) = text.trim_end().rsplit_once(' ').unwrap();
        assert!(time.parse::<f64>().unwrap() > 1e9, "{text}");
        rest.lines()
            .filter(|line| !line.starts_with('#'))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let expected = "\
pratique_scan_findings{action=\"warn\",binding=\"owned\",policy=\"owned\"} 20
pratique_scan_findings{action=\"deny\",binding=\"team\",policy=\"team\"} 4
pratique_scan_missing_shards 0
pratique_scan_objects{decision=\"allowed\"} 16
pratique_scan_objects{decision=\"denied\"} 4
pratique_scan_objects{decision=\"failed\"} 1
pratique_scan_objects{decision=\"undecided\"} 0
pratique_scan_policies 3
pratique_scan_timestamp_seconds";
    assert_eq!(read(), expected);
    let merged = directory.run(&["report", "merge", "--metrics-file", "scan.prom", "0.json"]);
    assert_eq!((merged.code, read().as_str()), (Some(1), expected), "{merged}");
}
