//! `pratique scan` of a cluster, and of a snapshot of it.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json as value};

use crate::api_server::{ApiServer, Script};
use crate::scan::{POLICIES, total};
use crate::support::{Directory, Run, within};

pub(crate) const PODS: &str = "/api/v1/pods";

/// A Pod as lists have it, of a version.
pub(crate) fn pod(namespace: &str, name: &str, has_team: bool, version: u64) -> Value {
    let mut pod = value!({
        "metadata": {"namespace": namespace, "name": name, "uid": format!("{namespace}-{name}"), "resourceVersion": version.to_string()},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    if has_team {
        pod["metadata"]["labels"] = value!({"team": "a"});
    }
    pod
}

/// Five Pods, of which two have no team. The version of the list is 7.
pub(crate) fn pods() -> Vec<Value> {
    vec![
        pod("infra", "a", true, 1),
        pod("infra", "b", false, 2),
        pod("shop", "a", true, 3),
        pod("shop", "b", false, 4),
        pod("shop", "c", true, 5),
    ]
}

pub(crate) fn served() -> Script {
    Script::new()
        .serve("", "pods", "Pod", true)
        .serve("", "configmaps", "ConfigMap", true)
        .serve("", "secrets", "Secret", true)
        .list(PODS, pods())
}

fn directory(server: &ApiServer) -> Directory {
    server.directory().with("policies.yaml", POLICIES)
}

fn scan(directory: &Directory, more: &[&str]) -> Run {
    let arguments = [
        "scan",
        "--policies",
        "policies.yaml",
        "--kubeconfig",
        "kubeconfig",
    ];
    directory.run(&[&arguments, more].concat())
}

/// What was asked of a collection.
pub(crate) fn asked<'a>(asked: &'a [String], path: &str) -> Vec<&'a str> {
    let prefix = format!("GET {path}?");
    asked
        .iter()
        .filter_map(|asked| asked.strip_prefix(&prefix))
        .collect()
}

#[test]
fn objects_of_a_cluster_are_evaluated() {
    let server = served().start();
    let directory = directory(&server);
    let rate = ["--kube-api-qps", "100", "--kube-api-burst", "5"];
    let run = scan(
        &directory,
        &[rate.as_slice(), &["--chunk-size", "2", "-o", "json"]].concat(),
    );
    run.exits(1);
    let report = run.json();
    assert_eq!(total(&report), [3, 2, 0, 0], "{run}");
    assert!(
        report["run"]["inputs"][0]
            .as_str()
            .unwrap()
            .starts_with("http://127.0.0.1:"),
        "{run}"
    );
    for (text, is_there) in [
        ("\"/api/v1/namespaces/infra/pods/b\"", true),
        ("the kinds were listed that policies match", true),
        ("changed", false),
    ] {
        assert_eq!(run.stdout.contains(text), is_there, "{text}: {run}");
    }
    // Other kinds are not read.
    let seen = server.asked();
    assert_eq!(
        asked(&seen, PODS),
        ["limit=2", "limit=2&continue=2", "limit=2&continue=4"]
    );
    assert!(asked(&seen, "/api/v1/secrets").is_empty(), "{seen:?}");
    let lines = scan(&directory, &["-o", "ndjson"]);
    let denied: Vec<Value> = lines
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &Value| line["decision"] == "denied")
        .collect();
    assert_eq!(denied.len(), 2, "{lines}");
    assert_eq!(
        (&denied[0]["file"], &denied[0]["line"]),
        (&"/api/v1/namespaces/infra/pods/b".into(), &Value::Null)
    );
    // The inputs are what is named, and the cluster says what is known.
    let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","namespace":"shop","labels":{"team":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}"#;
    let directory = directory.with("pod.json", pod);
    assert_eq!(
        total(&scan(&directory, &["-o", "json", "pod.json"]).json()),
        [1, 0, 0, 0]
    );
}

#[test]
fn policies_of_the_cluster_are_evaluated() {
    let policies: Vec<&str> = POLICIES.split("---\n").collect();
    let server = served()
        .admission("validatingadmissionpolicies", policies[0])
        .admission("validatingadmissionpolicybindings", policies[1])
        .start();
    let run = server
        .directory()
        .run(&["scan", "--kubeconfig", "kubeconfig", "-o", "json"]);
    assert_eq!((run.code, total(&run.json())), (Some(1), [3, 2, 0, 0]), "{run}");
}

#[test]
fn changes_while_objects_are_listed_are_reported() {
    let mut later = pods();
    // It was listed before, so that it is not seen again.
    later[0] = pod("infra", "a", false, 8);
    later[3] = pod("shop", "b", true, 9);
    later.push(pod("shop", "d", true, 10));
    for continues in [true, false] {
        let server = served().expire(PODS, later.clone(), continues).start();
        let run = scan(&directory(&server), &["-o", "json", "--chunk-size", "2"]);
        let report = run.json();
        assert_eq!(
            (run.code, total(&report)),
            (Some(1), [5, 1, 0, 0]),
            "{continues}: {run}"
        );
        assert_eq!(report["tally"]["total"]["changed"], 2, "{run}");
        let server = served().expire(PODS, later.clone(), continues).start();
        let lines = scan(&directory(&server), &["-o", "ndjson", "--chunk-size", "2"]);
        // All of them are warned of: they have no owner.
        let changed = lines
            .stdout
            .lines()
            .filter(|line| line.contains("\"changedMeanwhile\":true"));
        let changed: Vec<Value> = changed.map(|line| serde_json::from_str(line).unwrap()).collect();
        let names: Vec<&Value> = changed.iter().map(|line| &line["name"]).collect();
        assert_eq!(names, ["b", "d"], "{lines}");
        assert_eq!(lines.stdout.lines().count(), 6 + 1, "{lines}");
        let human = scan(
            &directory(&served().expire(PODS, later.clone(), continues).start()),
            &["--chunk-size", "2"],
        );
        human.stdout_has("6 warnings, 2 changed meanwhile\n");
    }
}

#[test]
fn what_cannot_be_listed_is_not_evaluated() {
    let policies = POLICIES.replace("apiGroups: ['']", "apiGroups: ['', metrics.example.com]");
    let policies = policies.replace("resources: [pods]", "resources: [pods, secrets, usages]");
    let server = served()
        .list(PODS, vec![pod("shop", "a", true, 1)])
        .refuse(
            "/api/v1/secrets",
            403,
            "secrets is forbidden: User \"me\" cannot list resource \"secrets\"",
        )
        .down("metrics.example.com")
        .down("other.example.com")
        .start();
    let directory = server.directory().with("policies.yaml", policies);
    let run = scan(&directory, &["-o", "json"]);
    run.exits(2);
    let report = run.json();
    assert_eq!(total(&report), [1, 0, 0, 2], "{run}");
    for (place, why) in [
        (
            "/api/v1/secrets",
            "its objects cannot be listed, and are not evaluated: secrets is forbidden",
        ),
        (
            "/apis/metrics.example.com/v1",
            "the server behind it does not say what it serves",
        ),
    ] {
        let problems = report["problems"].as_array().unwrap();
        let problem = problems.iter().find(|problem| problem["place"] == place);
        let message = problem.unwrap_or_else(|| panic!("{place}: {run}"))["message"]
            .as_str()
            .unwrap();
        assert!(message.contains(why) && run.stderr.contains(place), "{run}");
    }
    // What no policy can match does not matter.
    assert!(!run.stderr.contains("other.example.com"), "{run}");
    let without = scan(&directory, &["--fail-on", "deny", "-o", "json"]);
    without.exits(0);
}

#[test]
fn an_interrupted_scan_of_a_cluster_goes_on() {
    let whole = scan(
        &directory(&served().start()),
        &["-o", "json", "--chunk-size", "2"],
    );
    let server = served().hold(PODS, 2).start();
    let directory = directory(&server);
    let kept = ["--checkpoint", "kept.json", "--checkpoint-interval", "0"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_pratique"))
        .args([
            "scan",
            "--policies",
            "policies.yaml",
            "--kubeconfig",
            "kubeconfig",
        ])
        .args(["-o", "json", "--chunk-size", "2"])
        .args(kept)
        .current_dir(directory.path())
        .env_clear()
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let path = directory.path().join("kept.json");
    let has_second = |found: &Value| found["counts"]["report"]["tally"]["total"]["denied"] == 1;
    loop {
        let found = fs::read_to_string(&path).ok();
        let found: Option<Value> = found.map(|found| serde_json::from_str(&found).unwrap());
        if found.as_ref().is_some_and(has_second) {
            break;
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended before: {found:?}");
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    server.release();
    let before = server.asked().len();
    let resumed = scan(
        &directory,
        &[kept.as_slice(), &["-o", "json", "--chunk-size", "2"]].concat(),
    );
    resumed.stderr_has("continued from the checkpoint, after 2 objects");
    let asked_again = server.asked().split_off(before);
    assert_eq!(
        asked(&asked_again, PODS),
        ["limit=2&continue=2", "limit=2&continue=4"]
    );
    // The inputs are the two servers.
    let tally = |run: &Run| run.json()["tally"].clone();
    assert_eq!((resumed.code, tally(&resumed)), (whole.code, tally(&whole)));
    assert!(!path.exists(), "a complete scan leaves no checkpoint");
}

/// Pages that take their time and a list that expires in between give what a fast server gives.
#[test]
fn a_slow_server_is_waited_for() {
    let whole = scan(&directory(&served().start()), &["-o", "json"]).json()["tally"].clone();
    for continues in [true, false] {
        let slow = served()
            .slow(PODS, Duration::from_millis(150))
            .expire(PODS, pods(), continues);
        let server = slow.start();
        let run = scan(&directory(&server), &["-o", "json", "--chunk-size", "2"]);
        assert_eq!((run.code, &run.json()["tally"]), (Some(1), &whole), "{run}");
        // The page that had expired was asked for again: from where the server says, or from the beginning.
        let seen = server.asked();
        let again = if continues {
            "limit=2&continue=2"
        } else {
            "limit=2"
        };
        assert_eq!(
            asked(&seen, PODS)[..3],
            ["limit=2", "limit=2&continue=2", again],
            "{seen:?}"
        );
    }
}

/// No more requests are sent in a second than are allowed; a machine that is slow sends them later still.
#[test]
fn requests_for_objects_have_a_rate() {
    let server = served().start();
    let rate = [
        "--kube-api-qps",
        "5",
        "--kube-api-burst",
        "1",
        "--chunk-size",
        "1",
    ];
    let directory = directory(&server);
    let start = Instant::now();
    let mut seen = 0;
    loop {
        let run = scan(&directory, &[rate.as_slice(), &["-o", "json"]].concat());
        assert_eq!(total(&run.json()), [3, 2, 0, 0], "{run}");
        let times = server.times(PODS).split_off(seen);
        seen += times.len();
        let taken = times[times.len() - 1].duration_since(times[0]);
        // The server gives two objects at a time.
        let expected = Duration::from_millis(200) * u32::try_from(times.len() - 1).unwrap();
        // The first of them may have been under way for longer than the last.
        let under_way = Duration::from_millis(100);
        if times.len() > 2 && taken + under_way >= expected {
            return;
        }
        // For much longer, where the machine has much else to do. Without a rate it is so each time.
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{taken:?} for {times:?}"
        );
    }
}

/// A page that never comes ends the scan in time, with what came before it on standard error, and no report.
#[test]
fn a_page_that_never_comes_is_reported() {
    let server = served().hold(PODS, 1).start();
    let directory = directory(&server);
    let asks = ["-o", "json", "--chunk-size", "2", "--request-timeout", "500ms"];
    let limit = Duration::from_secs(100);
    let run = within(limit, || {
        scan(&directory, &[asks.as_slice(), &["--fail-on", "deny"]].concat())
    });
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run}");
    for message in [
        "the scan has ended early, after 2 objects: 1 allowed, 1 denied",
        "it has no report; with --checkpoint, it could go on from there",
        "no answer within 0.5 seconds",
    ] {
        run.stderr_has(message);
    }
    // From a checkpoint it goes on, once the server answers.
    let kept = ["--checkpoint", "kept.json", "--checkpoint-interval", "0"];
    let arguments = [asks.as_slice(), &kept].concat();
    server.release();
    let server = served().hold(PODS, 2).start();
    let directory = self::directory(&server);
    let early = within(limit, || scan(&directory, &arguments));
    early
        .exits(2)
        .stderr_has("run again, it goes on from its checkpoint");
    server.release();
    let resumed = scan(&directory, &arguments);
    resumed.stderr_has("continued from the checkpoint, after 2 objects");
    assert_eq!(
        (resumed.code, total(&resumed.json())),
        (Some(1), [3, 2, 0, 0]),
        "{resumed}"
    );
}

/// What plugins look at is listed too, and what they look up is known; no collection is read at once for it.
#[test]
fn plugins_see_the_cluster() {
    let namespaces: Vec<Value> = ["infra", "shop"]
        .map(|name| value!({"metadata": {"name": name, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}))
        .to_vec();
    let server = served()
        .serve("", "services", "Service", true)
        .list("/api/v1/namespaces", namespaces)
        .list(
            "/api/v1/services",
            vec![value!({"metadata": {"name": "s", "namespace": "shop"}, "spec": {"ports": [{"port": 80}]}})],
        )
        .start();
    let directory = directory(&server);
    let run = scan(
        &directory,
        &[
            "-o",
            "json",
            "--chunk-size",
            "2",
            "--enable-admission-plugins",
            "DenyServiceExternalIPs",
        ],
    );
    run.exits(1);
    let report = run.json();
    assert_eq!(total(&report), [1, 5, 0, 0], "{run}");
    let seen = server.asked();
    assert_eq!(
        asked(&seen, PODS),
        ["limit=2", "limit=2&continue=2", "limit=2&continue=4"]
    );
    assert_eq!(asked(&seen, "/api/v1/services"), ["limit=2"]);
}

#[test]
fn shards_of_a_cluster_merge_to_the_whole() {
    let server = served().start();
    let directory = directory(&server);
    let whole = scan(&directory, &["-o", "json"]);
    for shard in ["0/2", "1/2"] {
        let name = format!("{}.json", shard.replace('/', "-"));
        scan(&directory, &["--shard", shard, "--report", &name]);
    }
    let merged = directory.run(&["report", "merge", "0-2.json", "1-2.json", "-o", "json"]);
    assert_eq!(
        (merged.code, &merged.stdout),
        (Some(1), &whole.stdout),
        "{merged}"
    );
}

#[test]
fn snapshots_are_scanned() {
    let policies = POLICIES
        .replace("resources: [pods]", "resources: [namespaces]")
        .replace("metadata: {name: same}", "metadata: {name: other}")
        .replace("policyName: same", "policyName: other");
    let policies: Vec<&str> = policies.split("---\n").collect();
    let server = served()
        .admission("validatingadmissionpolicies", policies[0])
        .admission("validatingadmissionpolicybindings", policies[1])
        .start();
    let directory = server.directory();
    let taken = directory.run(&["snapshot", "--kubeconfig", "kubeconfig", "snap"]);
    taken.exits(0);
    let run = directory.run(&["scan", "--snapshot", "snap", "-o", "json"]);
    let report = run.json();
    run.exits(1);
    // The namespace, its service account, and the policy with its binding.
    assert_eq!(total(&report), [3, 1, 0, 0], "{run}");
    let message = "a snapshot has what policies need of a cluster, and not all of its objects";
    assert!(report["notes"].to_string().contains(message), "{run}");
}
