//! Logs of SARIF are as its schema has them, and as GitHub takes them; annotations name a file always.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::story::{BINDING, CLEAN, POLICY, PRIVILEGED, files};
use crate::support::{Directory, Run};

/// Fails unless an object has no members but these; gives it.
#[track_caller]
fn members<'v>(value: &'v Value, names: &[&str]) -> &'v Value {
    let object = value
        .as_object()
        .unwrap_or_else(|| panic!("{value} is no object"));
    let unknown: Vec<&String> = object
        .keys()
        .filter(|key| !names.contains(&key.as_str()))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?} in {value}");
    value
}

#[track_caller]
fn items(value: &Value, most: usize) -> &[Value] {
    let items = value.as_array().unwrap_or_else(|| panic!("{value} is no array"));
    assert!(items.len() <= most, "{} items, and not {most}", items.len());
    items
}

#[track_caller]
fn text(value: &Value, most: usize) -> &str {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is no text"));
    assert!(!text.is_empty() && text.chars().count() <= most, "{text:?}");
    text
}

#[track_caller]
fn message(value: &Value, most: usize) {
    text(&members(value, &["text"])["text"], most);
}

fn level(value: &Value) {
    let levels = ["none", "note", "warning", "error"];
    assert!(levels.contains(&text(value, 10)), "{value}");
}

fn artifact(value: &Value) {
    let uri = text(&members(value, &["uri"])["uri"], 4096);
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    assert!(uri.bytes().all(is_allowed), "{uri}");
    // A colon in its first part would make it one of another scheme.
    let first = uri.split('/').next().unwrap();
    assert!(uri.starts_with("file:///") || !first.contains(':'), "{uri}");
}

fn region(value: &Value) {
    let lines = ["startLine", "startColumn", "endLine", "endColumn"];
    members(value, &[&lines[..], &["byteOffset", "byteLength"]].concat());
    for name in lines {
        assert!(
            value.get(name).is_none_or(|number| number.as_u64() >= Some(1)),
            "{value}"
        );
    }
    let start = value["startLine"].as_u64().unwrap();
    assert!(value["endLine"].as_u64().unwrap_or(start) >= start, "{value}");
}

/// Fails unless a log has what the schema of SARIF 2.1.0 asks for, and what GitHub's code scanning does; gives the results.
#[track_caller]
fn results(log: &Value) -> Vec<Value> {
    members(log, &["$schema", "version", "runs"]);
    assert_eq!(log["version"], "2.1.0");
    let [run] = items(&log["runs"], 20) else {
        panic!("{log}")
    };
    members(run, &["tool", "columnKind", "invocations", "results"]);
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let driver = &members(&run["tool"], &["driver"])["driver"];
    members(driver, &["name", "semanticVersion", "informationUri", "rules"]);
    text(&driver["name"], 255);
    let mut ids = Vec::new();
    for rule in items(&driver["rules"], 25_000) {
        let names = [
            "id",
            "shortDescription",
            "fullDescription",
            "help",
            "helpUri",
            "defaultConfiguration",
        ];
        members(rule, &names);
        ids.push(text(&rule["id"], 1024));
        for name in ["shortDescription", "fullDescription"] {
            message(&rule[name], 1024);
        }
        message(&rule["help"], 10_000);
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "{ids:?}");
    for invocation in items(&run["invocations"], 1) {
        members(
            invocation,
            &["executionSuccessful", "exitCode", "toolExecutionNotifications"],
        );
        assert!(invocation["executionSuccessful"].is_boolean() && invocation["exitCode"].is_u64());
        for notification in items(&invocation["toolExecutionNotifications"], 1000) {
            level(&members(notification, &["level", "message"])["level"]);
            message(&notification["message"], 10_000);
        }
    }
    let results = items(&run["results"], 25_000);
    for result in results {
        let names = [
            "ruleId",
            "ruleIndex",
            "level",
            "message",
            "locations",
            "fixes",
            "properties",
            "suppressions",
            "baselineState",
        ];
        members(result, &names);
        if let Some(suppressions) = result.get("suppressions") {
            for suppression in items(suppressions, 1) {
                members(suppression, &["kind", "status", "justification"]);
                assert!(["external", "inSource"].contains(&text(&suppression["kind"], 10)));
                assert_eq!(suppression["status"], "accepted");
            }
        }
        if let Some(state) = result.get("baselineState") {
            let states = ["new", "unchanged", "updated", "absent"];
            assert!(states.contains(&text(state, 10)), "{state}");
        }
        let rule = text(&result["ruleId"], 1024);
        assert!(ids.contains(&rule), "{rule}");
        if let Some(index) = result.get("ruleIndex") {
            let index = usize::try_from(index.as_u64().unwrap()).unwrap();
            assert_eq!(driver["rules"][index]["id"], rule);
        }
        level(&result["level"]);
        message(&result["message"], 1 << 20);
        let locations = items(&result["locations"], 1000);
        assert!(!locations.is_empty(), "{result}");
        for location in locations {
            members(location, &["physicalLocation", "logicalLocations"]);
            let physical = members(&location["physicalLocation"], &["artifactLocation", "region"]);
            artifact(&physical["artifactLocation"]);
            region(&physical["region"]);
        }
        for fix in result
            .get("fixes")
            .map(|fixes| items(fixes, 1))
            .unwrap_or_default()
        {
            message(
                &members(fix, &["description", "artifactChanges"])["description"],
                10_000,
            );
            for change in items(&fix["artifactChanges"], 1) {
                artifact(&members(change, &["artifactLocation", "replacements"])["artifactLocation"]);
                for replacement in items(&change["replacements"], 1) {
                    region(&members(replacement, &["deletedRegion", "insertedContent"])["deletedRegion"]);
                }
            }
        }
    }
    results.to_vec()
}

/// Inputs with all that can be wrong with them.
fn wrong() -> Directory {
    files(POLICY, BINDING)
        .with(
            "all.yaml",
            format!("{CLEAN}---\n{PRIVILEGED}---\na: [\n---\nkind: Pod\n---\n- 1\n"),
        )
        .with(
            "widget.yaml",
            "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}}",
        )
        .with("typo.yaml", CLEAN.replace("spec:", "spec:\n  hostpid: true"))
        .with(
            "twice: a.yaml",
            "kind: List\napiVersion: v1\nkind: List\nitems: []\n",
        )
        .with("latin.yaml", b"a: \xff\n")
        .with("cut.yaml.gz", b"\x1f\x8b\x08")
        .with("unbound.yaml", POLICY.replace(".static.k8s.io", ""))
}

const INPUTS: [&str; 6] = [
    "all.yaml",
    "widget.yaml",
    "typo.yaml",
    "twice: a.yaml",
    "latin.yaml",
    "cut.yaml.gz",
];

#[test]
fn logs_are_taken() {
    let policies = ["--policies", "policies", "--policies", "unbound.yaml"];
    for command in ["review", "scan"] {
        let run = wrong().run(&[&[command, "-o", "sarif"], &policies[..], &INPUTS].concat());
        let results = results(&run.json());
        let rules = [
            "deny-privileged.static.k8s.io",
            "input",
            "server-warning",
            "unknown-kind",
            "not-evaluated",
        ];
        for rule in rules.into_iter().chain(["no-definition", "duplicate-key"]) {
            let has = results.iter().any(|result| result["ruleId"] == rule);
            assert!(has, "{command}: {rule}: {run}");
        }
        let lines = results.iter().filter(|result| result["ruleId"] == "input");
        let lines = lines.map(|result| {
            let place = &result["locations"][0]["physicalLocation"];
            (
                place["artifactLocation"]["uri"].as_str().unwrap().to_owned(),
                place["region"]["startLine"].as_u64(),
            )
        });
        let lines: Vec<_> = lines.collect();
        assert!(lines.contains(&("all.yaml".to_owned(), Some(18))), "{lines:?}");
        assert!(lines.iter().any(|(uri, _)| uri == "cut.yaml.gz"), "{lines:?}");
    }
    // Standard input is no file.
    let run = wrong().run_with(&["review", "-o", "sarif", "-"], "a: [\n", &[]);
    assert_eq!(results(&run.json()).len(), 1);
    for paths in [
        &["policies"][..],
        &["all.yaml", "latin.yaml"],
        &["widget.yaml"],
        &["unbound.yaml"],
        &["cut.yaml.gz"],
    ] {
        let run = wrong().run(&[&["check", "-o", "sarif"], paths].concat());
        if !run.stdout.is_empty() {
            results(&run.json());
        }
    }
}

#[test]
fn logs_with_accepted_findings_are_taken() {
    let exceptions = "apiVersion: pratique/v1alpha1
kind: Exceptions
exceptions:
- {policy: deny-privileged.static.k8s.io, names: [bad], reason: it is \"replaced\" in spring}
- {policy: deny-privileged.static.k8s.io, names: [old], reason: it was replaced, until: 2026-01-01}
";
    let directory = files(POLICY, BINDING)
        .with(
            "all.yaml",
            format!("{PRIVILEGED}---\n{}", PRIVILEGED.replace("bad", "worse")),
        )
        .with(
            "less.yaml",
            PRIVILEGED.replace("bad", "worse") + "---\n" + &PRIVILEGED.replace("bad", "new"),
        )
        .with("exceptions.yaml", exceptions);
    let run = |more: &[&str]| {
        directory.run(&[&["review", "-o", "sarif", "--manifests", "policies"], more].concat())
    };
    let excepted = run(&["--exceptions", "exceptions.yaml", "all.yaml"]).json();
    let has = |log: &Value, name: &str| {
        results(log)
            .iter()
            .filter(|result| result.get(name).is_some())
            .count()
    };
    assert_eq!(has(&excepted, "suppressions"), 1, "{excepted}");
    results(&run(&["--write-baseline", "baseline.json", "all.yaml"]).json());
    let compared = run(&["--baseline", "baseline.json", "less.yaml"]).json();
    assert_eq!(has(&compared, "baselineState"), 3, "{compared}");
    // What an upgrade finds is in logs of the same form.
    let upgrade = [
        "upgrade",
        "-o",
        "sarif",
        "--from",
        "1.36",
        "--to",
        "1.37",
        "--manifests",
        "policies",
        "all.yaml",
    ];
    let upgrade = directory.run(&upgrade);
    results(&upgrade.json());
}

/// Fails unless every annotation of a run names its file.
#[track_caller]
fn annotated(run: &Run) {
    let commands = run.stdout.lines().filter(|line| line.starts_with("::"));
    let commands: Vec<&str> = commands.collect();
    assert!(!commands.is_empty(), "{run}");
    for command in commands {
        let (_, properties) = command.split_once(' ').unwrap();
        assert!(
            properties.starts_with("file=") && !properties.starts_with("file=,"),
            "{command}"
        );
    }
}

/// GitHub knows files by their paths in the repository, wherever a job runs a command.
#[test]
fn files_are_named_from_the_top_of_the_checkout() {
    let directory = files(POLICY, BINDING).with("all.yaml", PRIVILEGED);
    let path = directory.path();
    let (name, top) = (
        path.file_name().unwrap().to_str().unwrap(),
        path.parent().unwrap(),
    );
    let run = |format: &str, top: &str| {
        let line = ["review", "-o", format, "--manifests", "policies", "./all.yaml"];
        directory.run_with(&line, "", &[("GITHUB_WORKSPACE", top)])
    };
    run("github", top.to_str().unwrap()).stdout_has(&format!("::error file={name}/all.yaml,line=1,"));
    let uri = |run: &Run| {
        let place = run.json()["runs"][0]["results"][0]["locations"][0]["physicalLocation"].clone();
        place["artifactLocation"]["uri"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        uri(&run("sarif", top.to_str().unwrap())),
        format!("{name}/all.yaml")
    );
    for elsewhere in [path.to_str().unwrap(), "/nowhere"] {
        run("github", elsewhere).stdout_has("::error file=all.yaml,line=1,");
        assert_eq!(uri(&run("sarif", elsewhere)), "all.yaml");
    }
}

/// A job that does not trust a change has two checkouts of one repository.
#[test]
fn files_of_a_change_are_named_from_its_top() {
    let config = "[remote \"origin\"]\n\turl = https://github.com/shop/deploy\n";
    let directory = files(POLICY, BINDING)
        .with("change/.git/config", config)
        .with("change/.git/HEAD", "ref: refs/heads/main\n")
        .with("change/rendered/all.yaml", PRIVILEGED);
    let top = directory.path().to_str().unwrap();
    let line = [
        "review",
        "-o",
        "github",
        "--manifests",
        "policies",
        "change/rendered",
    ];
    for (repository, file) in [
        ("shop/deploy", "rendered/all.yaml"),
        ("shop/other", "change/rendered/all.yaml"),
    ] {
        let variables = [("GITHUB_WORKSPACE", top), ("GITHUB_REPOSITORY", repository)];
        directory
            .run_with(&line, "", &variables)
            .exits(1)
            .stdout_has(&format!("::error file={file},line=1,"));
    }
}

/// What ends a command stands beside the change as well.
#[test]
fn failures_are_annotated() {
    let directory = files(
        &POLICY.replace(
            "ValidatingAdmissionPolicy\n",
            "ValidatingAdmissionPolicy\nspek: 3\n",
        ),
        BINDING,
    )
    .with("all.yaml", PRIVILEGED);
    for command in ["review", "scan"] {
        let line = [command, "-o", "github", "--policies", "policies", "all.yaml"];
        let run = directory.run(&line);
        run.exits(1)
            .stdout_has("::error file=policies/policy.yaml,line=")
            .stdout_has("unknown field \"spek\"");
        annotated(&run);
    }
    for (line, file) in [
        (
            &["review", "all.yaml", "-o", "json=none/out.json"][..],
            "none/out.json",
        ),
        (&["review", "nowhere.yaml"], "nowhere.yaml"),
        (&["check", "nowhere"], "nowhere"),
        (&["scan", "all.yaml", "--policies", "all.yaml"], "all.yaml"),
        (&["test", "nowhere"], "nowhere"),
        (
            &["upgrade", "nowhere.yaml", "--from", "1.35", "--to", "1.36"],
            "nowhere.yaml",
        ),
    ] {
        let run = directory.run(&[line, &["-o", "github"]].concat());
        assert_ne!(run.code, Some(0), "{run}");
        run.stdout_has(&format!("::error file={file}"));
        annotated(&run);
    }
    let whole = directory.run(&["review", "-o", "github", "--render", "all.yaml"]);
    whole
        .exits(2)
        .stdout_has("::error title=pratique%3A not evaluated::--render: there is no chart");
}

#[test]
fn annotations_name_a_file() {
    let flags = [
        "-o",
        "github",
        "--policies",
        "policies",
        "--policies",
        "unbound.yaml",
    ];
    let annotate = |command| {
        let run = wrong().run(&[&[command], &flags[..], &INPUTS].concat());
        annotated(&run);
        run.stdout_has("::error file=all.yaml,line=18,");
        run.stdout_has("::error file=cut.yaml.gz,");
        run.stdout_has("::warning file=twice%3A a.yaml,line=");
        run
    };
    let decisions = |run: &Run| {
        let lines = run.stdout.lines().filter(|line| line.contains("::CREATE "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let of_review = decisions(&annotate("review"));
    // A scan annotates what a review does, and has the counts at its end.
    let run = annotate("scan");
    assert!(!of_review.is_empty());
    assert_eq!(of_review, decisions(&run));
    let ending = run.stdout.lines().skip_while(|line| line.starts_with("::"));
    let ending = ending.collect::<Vec<_>>().join("\n");
    assert!(
        ending.contains("note: webhooks and built-in plugins are not run\n"),
        "{ending}"
    );
    assert!(ending.contains(" objects: "), "{ending}");
    assert!(ending.contains("\nevaluated: "), "{ending}");
    annotated(&wrong().run(&["check", "-o", "github", "all.yaml", "latin.yaml"]));
    let suite = Directory::new().with(
        "suite.yaml",
        "apiVersion: pratique/v1alpha1\nkind: Suite\npolicies: [nowhere.yaml]\ntests: [{name: a, object: {}, expect: denied}]\n",
    );
    annotated(&suite.run(&["test", "-o", "github", "suite.yaml"]));
}

#[test]
fn what_github_does_not_take_is_left_out_and_told() {
    let widget = |number: usize| {
        format!(
            "{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{{\"name\":\"p{number}\"}},\"spec\":{{\"containers\":[{{\"name\":\"c\",\"image\":\"i\"}}],\"x\":1}}}}\n"
        )
    };
    let objects: String = (0..25_010).map(widget).collect();
    let directory = files(POLICY, BINDING).with("many.ndjson", &objects);
    let run = directory.run(&["review", "-o", "sarif", "--manifests", "policies", "many.ndjson"]);
    let log = run.json();
    assert_eq!(results(&log).len(), 25_000);
    run.stderr_has("10 more results are not in this output");
    run.stderr_has("of 25000 results GitHub shows the 5000 gravest");
    let told = log["runs"][0]["invocations"][0]["toolExecutionNotifications"].to_string();
    assert!(told.contains("10 more results are not in this output"), "{told}");
    let mut compressed = GzEncoder::new(Vec::new(), Compression::default());
    compressed.write_all(run.stdout.as_bytes()).unwrap();
    assert!(compressed.finish().unwrap().len() <= 10_000_000);
}
