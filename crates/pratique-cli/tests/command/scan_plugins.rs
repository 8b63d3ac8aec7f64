//! `pratique scan --chain`: the plugins of an API server that decide about what is there.

use serde_json::Value;

use crate::scan::{POLICIES, total};
use crate::support::{Directory, Run};

const SHOP: &str = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop","labels":{"pod-security.kubernetes.io/enforce":"baseline","pod-security.kubernetes.io/warn":"restricted","pod-security.kubernetes.io/audit":"restricted"}}}"#;
const BANK: &str = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"bank"}}"#;
const LIMITS: &str = r#"{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"small","namespace":"bank"},"spec":{"limits":[{"type":"Container","max":{"cpu":"2"},"default":{"cpu":"1"}}]}}"#;

fn pod(namespace: &str, name: &str, container: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"{namespace}","labels":{{"team":"a"}},"ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"u","controller":true}}]}},"spec":{{"containers":[{{"name":"c","image":"x:1"{container}}}]}}}}"#
    )
}

const PRIVILEGED: &str = r#","securityContext":{"privileged":true}"#;
const LARGE: &str = r#","resources":{"limits":{"cpu":"4"}}"#;

/// A directory with policies and namespaces.
fn files() -> Directory {
    Directory::new()
        .with("policies.yaml", POLICIES)
        .with("namespaces.ndjson", [SHOP, BANK].join("\n"))
}

const COMPLETE: [&str; 4] = ["--chain", "--objects", "namespaces.ndjson", "--objects-complete"];

fn scan(lines: &[&str], arguments: &[&str]) -> Run {
    let directory = files().with("objects.ndjson", lines.join("\n"));
    directory.run(&[&["scan", "-o", "json"], arguments, &["objects.ndjson"]].concat())
}

/// What was found by a name: what it denies, warns of, records, and is undecided about.
fn found(report: &Value, name: &str) -> [u64; 4] {
    let rows = report["tally"]["policies"]["rows"].as_array().unwrap().iter();
    let of_name: Vec<&Value> = rows
        .filter(|row| row["key"][0] == name || row["names"][0] == name)
        .collect();
    ["denied", "warned", "audited", "undecided"].map(|count| {
        let counts = of_name
            .iter()
            .map(|row| row["counts"][count].as_u64().unwrap_or_default());
        counts.sum()
    })
}

#[test]
fn plugins_decide_beside_policies() {
    let pods = [
        pod("shop", "plain", ""),
        pod("shop", "privileged", PRIVILEGED),
        pod("bank", "privileged", PRIVILEGED),
        pod("bank", "large", LARGE),
        pod("shop", "teamless", PRIVILEGED).replace("\"team\"", "\"none\""),
    ];
    // Limits count wherever they stand, as namespaces do.
    let lines: Vec<&str> = pods.iter().map(String::as_str).chain([SHOP, LIMITS]).collect();
    let arguments = [COMPLETE.as_slice(), &["--policies", "policies.yaml"]].concat();
    let run = scan(&lines, &arguments);
    let whole = run.json();
    run.exits(1);
    assert_eq!(total(&whole), [4, 3, 0, 0], "{whole:#}");
    assert_eq!(found(&whole, "PodSecurity"), [2, 1, 3, 0], "{whole:#}");
    assert_eq!(found(&whole, "LimitRanger"), [1, 0, 0, 0], "{whole:#}");
    // A plugin does not hide what a policy finds.
    assert_eq!(found(&whole, "team")[0], 1, "{whole:#}");
    for message in [
        r#"pods \"privileged\" is forbidden: violates PodSecurity \"baseline:latest\": privileged (container \"c\" must not set securityContext.privileged=true)"#,
        r#"pods \"large\" is forbidden: maximum cpu usage per Container is 2, but limit is 4"#,
        "built-in plugins that do not decide about what is there",
    ] {
        run.stdout_has(message);
    }
    // Without it, they are not asked.
    let without = scan(&lines, &["--chain=off", "--policies", "policies.yaml"]);
    assert_eq!(total(&without.json())[1], 1, "{without}");
    // Shards add up.
    let directory = files().with("objects.ndjson", lines.join("\n"));
    for shard in ["0/2", "1/2"] {
        let file = format!("{}.json", shard.replace('/', "-"));
        let of_shard = ["scan", "--shard", shard, "--report", &file];
        directory.run(&[&of_shard, arguments.as_slice(), &["objects.ndjson"]].concat());
    }
    let merged = directory.run(&["report", "merge", "-o", "json", "0-2.json", "1-2.json"]);
    assert_eq!(merged.json(), whole);
}

#[test]
fn a_plugin_that_lacks_its_state_is_undecided() {
    let plain = pod("shop", "plain", "");
    // It is not known which limits there are.
    let run = scan(&[SHOP, &plain], &["--chain"]);
    let found_by = |run: &Run, name| found(&run.json(), name);
    assert_eq!((run.code, total(&run.json())), (Some(3), [1, 0, 1, 0]), "{run}");
    assert_eq!(found_by(&run, "LimitRanger"), [0, 0, 0, 1], "{run}");
    run.stdout_has("LimitRange objects in namespace");
    // Nor which labels a namespace has.
    let run = scan(
        &[&plain],
        &["--chain", "--disable-admission-plugins", "LimitRanger"],
    );
    assert_eq!((run.code, total(&run.json())), (Some(3), [0, 0, 1, 0]), "{run}");
    assert_eq!(found_by(&run, "PodSecurity"), [0, 0, 0, 1], "{run}");
    // On a pipe it counts for what follows.
    let arguments = [&["scan", "-o", "json"], COMPLETE.as_slice(), &["-"]].concat();
    let large = pod("bank", "large", LARGE);
    let piped = [&large, LIMITS, &large].join("\n");
    let run = files().run_with(&arguments, &piped, &[]);
    assert_eq!(total(&run.json()), [2, 1, 0, 0], "{run}");
}

#[test]
fn plugins_that_are_off_by_default_are_named() {
    let service = r#"{"apiVersion":"v1","kind":"Service","metadata":{"name":"s","namespace":"bank"},"spec":{"externalIPs":["192.0.2.1"],"ports":[{"port":80}]}}"#;
    let run = scan(
        &[BANK, service],
        &["--enable-admission-plugins", "DenyServiceExternalIPs"],
    );
    assert_eq!((run.code, total(&run.json())), (Some(1), [1, 1, 0, 0]), "{run}");
    assert_eq!(
        found(&run.json(), "DenyServiceExternalIPs"),
        [1, 0, 0, 0],
        "{run}"
    );
}

/// The levels of namespaces without labels, and who is exempt, are those of the AdmissionConfiguration.
#[test]
fn plugins_are_configured() {
    let configuration = "\
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults: {enforce: baseline}
    exemptions: {namespaces: [system]}
";
    let namespaces = [BANK.to_owned(), BANK.replace("bank", "system")];
    let pods = [pod("bank", "a", PRIVILEGED), pod("system", "b", PRIVILEGED)];
    let directory = Directory::new()
        .with("admission.yaml", configuration)
        .with("namespaces.ndjson", namespaces.join("\n"))
        .with("objects.ndjson", pods.join("\n"));
    let run = directory.run(&[
        "scan",
        "--chain",
        "--objects",
        "namespaces.ndjson",
        "--objects-complete",
        "--admission-control-config-file",
        "admission.yaml",
        "-o",
        "json",
        "objects.ndjson",
    ]);
    assert_eq!((run.code, total(&run.json())), (Some(1), [1, 1, 0, 0]), "{run}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (arguments, why) in [
        (
            &["--enable-admission-plugins", "ResourceQuota"][..],
            "ResourceQuota is not evaluated for what is there: what is there is counted in the usage of its quotas already",
        ),
        (
            &["--enable-admission-plugins", "NodeRestriction"],
            "it decides by who sends a request",
        ),
        (&["--chain", "--as-update"], "leave out --as-update"),
        (
            &[
                "--enable-admission-plugins",
                "PodNodeSelector",
                "--disable-admission-plugins",
                "PodNodeSelector",
            ],
            "PodNodeSelector",
        ),
    ] {
        let run = scan(&[BANK], arguments);
        run.exits(2);
        run.stderr_has(why);
    }
}
