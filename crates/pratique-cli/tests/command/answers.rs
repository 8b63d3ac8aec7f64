//! What `pratique review` prints, what it fails for, and the Pods of workloads.

use serde_json::Value;

use crate::story::{BINDING, CLEAN, POLICY, PRIVILEGED, files};
use crate::support::Directory;

/// A Pod that is denied, one that is allowed, and a document that is none.
fn several() -> Directory {
    files(POLICY, BINDING).with("all.yaml", format!("{CLEAN}---\n{PRIVILEGED}---\na: [\n"))
}

#[test]
fn every_format() {
    for format in ["ndjson", "junit", "github"] {
        several()
            .run(&[
                "review",
                "--manifests",
                "policies",
                "--output",
                format,
                "all.yaml",
            ])
            .is(&format!("review-{format}.txt"));
    }
    several()
        .run(&["review", "--manifests", "policies", "--quiet", "all.yaml"])
        .is("review-quiet.txt");
    several()
        .run(&["review", "--manifests", "policies", "--summary", "all.yaml"])
        .is("review-summary.txt");
}

#[test]
fn for_code_scanning() {
    let run = several().run(&[
        "review",
        "--manifests",
        "policies",
        "--output",
        "sarif",
        "all.yaml",
    ]);
    let log = run.json();
    let of = &log["runs"][0];
    assert_eq!(
        (&log["version"], &of["invocations"][0]["exitCode"]),
        (&"2.1.0".into(), &1.into())
    );
    let results = of["results"].as_array().unwrap();
    assert_eq!(results.len(), 2, "{log}");
    assert_eq!(results[0]["ruleId"], "deny-privileged.static.k8s.io");
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "all.yaml");
    assert_eq!(place["region"]["startLine"], 9, "{log}");
    assert_eq!(results[1]["ruleId"], "input");
    let rules: Vec<&Value> = of["tool"]["driver"]["rules"].as_array().unwrap().iter().collect();
    assert!(
        results
            .iter()
            .all(|result| rules.iter().any(|rule| rule["id"] == result["ruleId"]))
    );
}

#[test]
fn json_says_which_policy_and_where() {
    let run = several().run(&[
        "review",
        "--manifests",
        "policies",
        "--output",
        "json",
        "--summary",
        "all.yaml",
    ]);
    let lines: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let denied = &lines[1]["result"];
    assert_eq!(
        (
            &denied["file"],
            &denied["line"],
            &denied["namespace"],
            &denied["name"]
        ),
        (&"all.yaml".into(), &9.into(), &"shop".into(), &"bad".into())
    );
    let policy = &denied["policies"][0];
    assert_eq!(policy["binding"], "deny-privileged-binding.static.k8s.io");
    assert_eq!(
        (&policy["action"], &policy["message"]),
        (&"deny".into(), &"privileged containers are not allowed".into())
    );
    assert_eq!(lines[1]["kind"], "AdmissionReview");
    assert!(
        lines[2]["error"]["place"]
            .as_str()
            .unwrap()
            .starts_with("all.yaml:")
    );
    let summary = &lines[3]["summary"];
    assert_eq!((&summary["denied"], &summary["errors"]), (&1.into(), &1.into()));
    assert_eq!(summary["policies"][0]["namespace"], "shop");
}

#[test]
fn what_a_review_fails_for() {
    let acting = |actions: &str| BINDING.replace("[Deny]", actions);
    for (actions, input, fail_on, code) in [
        ("[Deny]", PRIVILEGED, None, 1),
        ("[Deny]", PRIVILEGED, Some("warn,error"), 0),
        ("[Warn]", PRIVILEGED, None, 0),
        ("[Warn]", PRIVILEGED, Some("warn"), 1),
        ("[Audit]", PRIVILEGED, Some("deny,warn"), 0),
        ("[Audit]", PRIVILEGED, Some("audit"), 1),
        ("[Deny]", "a: [", None, 2),
        ("[Deny]", "a: [", Some("deny"), 0),
        ("[Deny]", CLEAN, Some("deny,warn,audit,undecided,error"), 0),
    ] {
        let directory = files(POLICY, &acting(actions)).with("in.yaml", input);
        let flags: Vec<&str> = fail_on.into_iter().flat_map(|on| ["--fail-on", on]).collect();
        let run = directory.run(&[&["review", "--manifests", "policies", "in.yaml"][..], &flags].concat());
        assert_eq!(run.code, Some(code), "{actions} {fail_on:?}\n{run}");
    }
    let run = files(POLICY, &acting("[Warn, Audit]")).run(&["review", "--manifests", "policies", "bad.yaml"]);
    assert_eq!(
        run.counts(),
        Some("1 allowed, 0 denied, 1 warning, 1 audited"),
        "{run}"
    );
}

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: c, image: i, securityContext: {privileged: true}}
";

#[test]
fn pods_of_workloads() {
    let directory = files(POLICY, BINDING)
        .with("web.yaml", DEPLOYMENT)
        .with(
            "empty.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: none}\nspec: {}\n",
        )
        .with(
            "rollout.yaml",
            DEPLOYMENT
                .replace("apps/v1", "argoproj.io/v1alpha1")
                .replace("Deployment", "Rollout"),
        );
    let review =
        |arguments: &[&str]| directory.run(&[&["review", "--manifests", "policies"][..], arguments].concat());
    review(&["--expand", "web.yaml"]).is("expanded.txt");
    review(&["--expand=off", "web.yaml"]).is("not-expanded.txt");
    let run = review(&["--expand", "--validation", "off", "empty.yaml"]);
    run.exits(2).stderr_has("it has no Pod template at spec.template");
    assert_eq!(
        review(&["--operation", "delete", "--expand", "web.yaml"]).code,
        Some(0)
    );
    assert_eq!(review(&["--expand", "rollout.yaml"]).code, Some(0));
    let template = ["--pod-template", "Rollout.argoproj.io=spec.template"];
    let run = review(&[&template[..], &["--output", "ndjson", "rollout.yaml"]].concat());
    let pod: Value = serde_json::from_str(run.stdout.lines().nth(1).unwrap()).unwrap();
    assert_eq!(
        (&pod["parent"]["kind"], &pod["parent"]["name"], &pod["decision"]),
        (&"Rollout".into(), &"web".into(), &"denied".into())
    );
    assert_eq!(review(&["--pod-template", "a", "web.yaml"]).code, Some(2));
}

/// An object with a field that there is none of.
const MISSPELT: &str = "apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80, targetport: 8080}]}
";

#[test]
fn what_a_person_is_told_ci_is_told() {
    const FIELD: &str = r#"unknown field "spec.ports[0].targetport""#;
    const KIND: &str = "kind (Widget of example.com/v1)";
    const UNBOUND: &str =
        "ValidatingAdmissionPolicy deny-privileged.static.k8s.io is not evaluated: no binding";
    let directory = files(POLICY, BINDING)
        .with("unbound.yaml", POLICY.replace(".static.k8s.io", ""))
        .with("web.yaml", MISSPELT)
        .with(
            "widget.yaml",
            "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: shop}}",
        )
        .with(
            "twice.yaml",
            "kind: List\napiVersion: v1\nkind: List\nitems: []\n",
        );
    let unbound = UNBOUND.replace(".static.k8s.io", "");
    let inputs = ["web.yaml", "widget.yaml", "twice.yaml"];
    let texts = [FIELD, KIND, r#"key "kind" already set in map"#, &unbound];
    let policies = [
        "--policies",
        "policies",
        "--policies",
        "unbound.yaml",
        "--origin",
        "api",
    ];
    for command in ["review", "scan"] {
        let formats: &[&str] = match command {
            "review" => &["human", "json", "ndjson", "sarif", "junit", "github"],
            _ => &["human", "ndjson", "sarif", "junit"],
        };
        for format in formats {
            let run = |more: &[&str]| {
                directory.run(&[&[command, "-o", format], &policies[..], more, &inputs].concat())
            };
            let output = run(&[]);
            output.exits(0);
            let told = match *format {
                "human" => output.to_string(),
                _ => output.stdout.clone(),
            };
            let told = told.replace("&quot;", "\"").replace("\\\"", "\"");
            for text in texts {
                assert!(told.contains(text), "{command} {format}: {text}\n{output}");
            }
            assert_eq!(run(&["--fail-on", "warn"]).code, Some(1), "{command} {format}");
        }
    }
    // Nothing that is warned of passes where warnings fail.
    let strict = [
        &["review", "-o", "junit", "--fail-on", "warn"],
        &policies[..],
        &["web.yaml"],
    ]
    .concat();
    let run = directory.run(&strict);
    run.stdout_has(r#"tests="2" failures="2" errors="0" skipped="0""#);
    // Without a policy nothing passes.
    let run = directory.run(&["review", "-o", "junit", "--policies", "unbound.yaml", "web.yaml"]);
    run.exits(3);
    run.stdout_has("no policy and no webhook is evaluated");
    run.stdout_has(r#"tests="2" failures="0" errors="0" skipped="2""#);
}

/// A binding that warns and audits says one thing, of which two things follow.
#[test]
fn what_is_said_twice_is_told_once() {
    let binding = BINDING.replace("[Deny]", "[Warn, Audit]");
    assert_ne!(binding, BINDING);
    let directory = files(POLICY, &binding).with("pod.yaml", PRIVILEGED);
    let run = |format: &str| directory.run(&["review", "--manifests", "policies", "-o", format, "pod.yaml"]);
    let github = run("github").exits(0).stdout.clone();
    assert_eq!(github.matches("title=deny-privileged").count(), 1, "{github}");
    assert!(github.contains("::warning file=pod.yaml"), "{github}");
    let junit = run("junit").exits(0).stdout.clone();
    assert_eq!(
        junit.matches("deny-privileged.static.k8s.io: ").count(),
        1,
        "{junit}"
    );
    for command in ["review", "scan"] {
        let arguments = [command, "--manifests", "policies", "-o", "sarif", "pod.yaml"];
        let sarif = directory.run(&arguments).exits(0).stdout.clone();
        assert_eq!(
            sarif.matches("\"ruleId\": \"deny-privileged").count(),
            1,
            "{sarif}"
        );
        assert!(sarif.contains("\"level\": \"warning\""), "{sarif}");
    }
    // A diff has no place for counts.
    run("diff")
        .exits(0)
        .stderr_has("1 allowed, 0 denied, 1 warning, 1 audited\n");
}

#[test]
fn server_warnings_are_counted() {
    let directory = files(POLICY, BINDING).with("web.yaml", MISSPELT);
    let run = directory.run(&["review", "--manifests", "policies", "--summary", "web.yaml"]);
    run.stdout_has("1 allowed, 0 denied, 1 warning");
    let run = directory.run(&["scan", "--manifests", "policies", "web.yaml"]);
    run.stdout_has("1 object: 1 allowed, 0 denied, 1 warning");
    // A policy's warning is told once.
    let warning = files(POLICY, &BINDING.replace("[Deny]", "[Warn]"));
    let run = warning.run(&["review", "--manifests", "policies", "-o", "github", "bad.yaml"]);
    assert_eq!(run.stdout.matches("::warning file=").count(), 1, "{run}");
}

#[test]
fn pods_are_looked_at_where_something_is_about_them() {
    let of_pods = |resources: &str, operations: &str| {
        POLICY
            .replace("resources: [\"pods\"]", &format!("resources: {resources}"))
            .replace("[\"CREATE\", \"UPDATE\"]", operations)
            .replace("apiGroups: [\"\"]", "apiGroups: ['*']")
    };
    // The policy's expression is about Pods, and fails for workloads where it matches them.
    for (resources, operations, mode, code, pods) in [
        ("[pods]", "[CREATE]", None, 1, 1),
        ("[pods]", "[CREATE]", Some("--expand=auto"), 1, 1),
        ("[pods]", "[CREATE]", Some("--expand=on"), 1, 1),
        ("[pods]", "[CREATE]", Some("--expand=off"), 0, 0),
        ("['*']", "['*']", Some("--expand=on"), 1, 1),
        // What is refused makes no Pods.
        ("['*']", "['*']", None, 1, 0),
        ("[pods]", "[UPDATE]", None, 0, 0),
        ("[services]", "[CREATE]", None, 0, 0),
    ] {
        let directory = files(&of_pods(resources, operations), BINDING).with("web.yaml", DEPLOYMENT);
        let review = ["review", "--manifests", "policies", "web.yaml", "-o", "ndjson"];
        let run = directory.run(&[&review[..], mode.as_slice()].concat());
        run.exits(code);
        let parent: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
        let named = parent["pods"].as_array().map_or(0, Vec::len);
        assert_eq!(
            (named, run.stdout.matches("\"parent\"").count()),
            (pods, pods),
            "{resources} {operations} {mode:?}: {run}"
        );
    }
    // The built-in policies look into the templates of workloads themselves.
    let directory = Directory::new().with("web.yaml", DEPLOYMENT);
    let run = directory.run(&["review", "web.yaml"]);
    run.exits(1);
    assert_eq!(run.counts(), Some("0 allowed, 1 denied"), "{run}");
    // Plugins are about Pods.
    let run = directory.run(&["review", "--chain", "web.yaml"]);
    run.stdout_has("its Pod web-");
}

#[test]
fn the_last_line_says_what_was_evaluated() {
    let directory = files(POLICY, BINDING).with("web.yaml", DEPLOYMENT);
    let last = |arguments: &[&str]| {
        let run = directory.run(arguments);
        run.stdout.lines().last().unwrap_or_default().to_owned()
    };
    let left_out = "webhooks";
    for command in ["review", "scan"] {
        assert_eq!(
            last(&[command, "good.yaml"]),
            format!(
                "evaluated: Pod Security baseline, built in (12 policies); defaults, mutating and validating policies, \
                 validation of built-in kinds; Kubernetes 1.37; not evaluated: built-in plugins, {left_out}"
            )
        );
        let named = last(&[
            command,
            "good.yaml",
            "--manifests",
            "policies",
            "--defaults",
            "off",
        ]);
        assert_eq!(
            named,
            format!(
                "evaluated: 1 policy of policies; mutating and validating policies; Kubernetes 1.37; not evaluated: \
                 defaults, built-in plugins, {left_out}, validation of built-in kinds"
            )
        );
    }
    let chain = last(&["review", "good.yaml", "--chain"]);
    assert!(
        chain.starts_with("evaluated: no policy; defaults, ")
            && chain.contains(" built-in plugins, mutating"),
        "{chain}"
    );
    let github = last(&["review", "good.yaml", "--level", "restricted", "-o", "github"]);
    assert!(github.contains("Pod Security restricted, built in ("), "{github}");
    let json = directory.run(&["review", "good.yaml", "-o", "ndjson", "--summary"]);
    json.stdout_has("\"evaluated\":\"evaluated: Pod Security baseline, built in");
}

#[test]
fn a_scan_says_whose_pods_it_does_not_look_at() {
    let directory = files(POLICY, BINDING).with("web.yaml", DEPLOYMENT);
    let scan = ["scan", "--expand=off", "--manifests", "policies", "web.yaml"];
    let run = directory.run(&scan);
    run.exits(0)
        .stdout_has("the Pods of 1 workload are not reviewed, and 1 policy for Pods is not evaluated");
    assert_eq!(
        directory.run(&[&scan[..], &["--fail-on", "warn"]].concat()).code,
        Some(1)
    );
    let run = directory.run(&["scan", "web.yaml"]);
    assert!(!run.stderr.contains("the Pods of"), "{run}");
}
