//! Findings that are accepted: by exceptions, or as a baseline knows them.

use std::fs;

use serde_json::Value;

use crate::support::{Directory, Run};

/// Two validations of Pods, which deny, and one that warns.
const POLICIES: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: team}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations:
  - {expression: \"'team' in object.metadata.?labels.orValue({})\", message: a Pod needs a team}
  - {expression: \"'tier' in object.metadata.?labels.orValue({})\", message: a Pod needs a tier}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: team}
spec: {policyName: team, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: owned}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations:
  - {expression: has(object.metadata.ownerReferences), message: nobody owns it}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: owned}
spec: {policyName: owned, validationActions: [Warn]}
";

fn pod(name: &str, labels: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: shop, labels: {{{labels}}}}}\n\
         spec: {{containers: [{{name: a, image: nginx:1}}]}}\n---\n"
    )
}

fn directory(pods: &[(&str, &str)]) -> Directory {
    let pods = pods.iter().map(|(name, labels)| pod(name, labels));
    Directory::new()
        .with("policies.yaml", POLICIES)
        .with("pods.yaml", pods.collect::<String>())
}

fn exceptions(list: &str) -> String {
    format!("apiVersion: pratique/v1alpha1\nkind: Exceptions\nexceptions:\n{list}")
}

fn review(directory: &Directory, more: &[&str]) -> Run {
    let arguments = [&["review", "pods.yaml", "--policies", "policies.yaml"], more].concat();
    directory.run(&arguments)
}

fn scan(directory: &Directory, more: &[&str]) -> Run {
    let arguments = [&["scan", "pods.yaml", "--policies", "policies.yaml"], more].concat();
    directory.run(&arguments)
}

const KNOWN: [&str; 2] = ["--baseline", "known.json"];

#[test]
fn what_was_there_is_known_and_what_is_new_fails() {
    let directory = directory(&[("old", "tier: web")]);
    let written = review(&directory, &["--write-baseline", "known.json"]);
    written
        .exits(1)
        .shows(&["known.json: 2 findings written as a baseline"]);
    let known = review(&directory, &KNOWN);
    known.exits(0).shows(&[
        "pods.yaml:1:1: CREATE pods shop/old: denied (422 Invalid), accepted\n  accepted: known to the baseline\n",
        "0 allowed, 0 denied, 1 accepted\n",
        "accepted: 2 findings known to known.json\n",
    ]);
    // Another validation of the same policy fails, for an object that moved within its file.
    let pods = format!("\n\n{}{}", pod("old", ""), pod("new", ""));
    fs::write(directory.path().join("pods.yaml"), pods).unwrap();
    review(&directory, &KNOWN).exits(1).shows(&[
        "pods.yaml:3:1: CREATE pods shop/old: denied (422 Invalid)\n",
        "  also by team with binding team: a Pod needs a tier\n",
        "0 allowed, 2 denied, 1 warning\n",
    ]);
    // What is gone is told, and does not fail.
    let clean = pod("old", "team: a, tier: web");
    fs::write(directory.path().join("pods.yaml"), clean).unwrap();
    review(&directory, &KNOWN).exits(0).shows(&[
        "1 finding of the baseline is gone, or there are fewer: team denies pods shop/old",
        "accepted: 1 finding known to known.json\n",
    ]);
}

/// A validation is known by its expression: another one at its place is not the same, and it is the same at another place.
#[test]
fn a_baseline_knows_validations_by_their_expressions() {
    const TEAM: &str =
        "  - {expression: \"'team' in object.metadata.?labels.orValue({})\", message: a Pod needs a team}\n";
    const TIER: &str =
        "  - {expression: \"'tier' in object.metadata.?labels.orValue({})\", message: a Pod needs a tier}\n";
    let directory = directory(&[("old", "tier: web")]);
    review(&directory, &["--write-baseline", "known.json"]).exits(1);
    let known = |policies: String| {
        assert_ne!(policies, POLICIES);
        fs::write(directory.path().join("policies.yaml"), policies).unwrap();
        review(&directory, &KNOWN)
    };
    let zone = TEAM.replace("team", "zone");
    known(POLICIES.replace(TEAM, &format!("{zone}{TEAM}")))
        .exits(1)
        .shows(&[
            "denied request: a Pod needs a zone",
            "accepted: 2 findings known to known.json\n",
        ]);
    known(POLICIES.replace(TEAM, &zone)).exits(1).shows(&[
        "denied request: a Pod needs a zone",
        "1 finding of the baseline is gone",
    ]);
    known(POLICIES.replace(&format!("{TEAM}{TIER}"), &format!("{TIER}{TEAM}")))
        .exits(0)
        .shows(&["accepted: 2 findings known to known.json\n"]);
    known(POLICIES.replace("'team' in object", "'team'\n    in  object")).exits(0);
    // Once more in the same policy, it is found once more.
    known(POLICIES.replace(TEAM, &format!("{TEAM}{TEAM}")))
        .exits(1)
        .shows(&["1 finding the baseline has, but not as often: team denies pods shop/old"]);
    known(POLICIES.replace(TEAM, ""))
        .exits(0)
        .shows(&["1 finding of the baseline is gone, or there are fewer: team denies pods shop/old"]);
    let text = fs::read_to_string(directory.path().join("known.json")).unwrap();
    let mut baseline: Value = serde_json::from_str(&text).unwrap();
    baseline["findings"][0]["validation"] = 0.into();
    fs::write(directory.path().join("known.json"), baseline.to_string()).unwrap();
    review(&directory, &KNOWN).exits(2).shows(&[
        "known.json: it is no baseline that can be used: it knows validations by their places",
        "--write-baseline writes it anew",
    ]);
}

#[test]
fn exceptions_name_validations_by_message_or_expression() {
    let directory = directory(&[("old", "tier: web")]);
    for (validation, code) in [
        ("a Pod needs a team", 0),
        ("\"'team'   in object.metadata.?labels.orValue({})\"", 0),
        ("\"'tier' in object.metadata.?labels.orValue({})\"", 1),
        ("0", 0),
        ("1", 1),
    ] {
        let list = format!("- {{policy: team, validation: {validation}, reason: it moves}}\n");
        fs::write(directory.path().join("exceptions.yaml"), exceptions(&list)).unwrap();
        review(&directory, &["--exceptions", "exceptions.yaml"]).exits(code);
    }
}

#[test]
fn exceptions_that_accept_nothing_are_told() {
    let directory = directory(&[("old", "tier: web")]);
    let list = "- {policy: team, validation: 7, reason: r}\n\
                - {policy: owned, kinds: [Podd], reason: r}\n\
                - {policy: owned, names: [new], reason: r}\n\
                - {policy: teem, reason: r}\n";
    fs::write(directory.path().join("exceptions.yaml"), exceptions(list)).unwrap();
    let accepted = ["--exceptions", "exceptions.yaml"];
    const TOLD: [&str; 4] = [
        "unused exception: team has 2 validations, and none with the place 7",
        "unused exception: there is nothing of owned that it accepts; Kubernetes has no kind Podd",
        "unused exception: there is nothing of owned that it accepts",
        "unused exception: no policy, webhook or admission plugin is named teem",
    ];
    for format in ["human", "json", "sarif", "junit", "github"] {
        let run = review(&directory, &[&accepted[..], &["--output", format]].concat());
        run.exits(1).shows(&TOLD);
        if format != "human" {
            assert!(TOLD.iter().all(|told| run.stdout.contains(told)), "{run}");
        }
    }
    scan(&directory, &accepted)
        .exits(1)
        .shows(&TOLD)
        .shows(&["exceptions.yaml:4:3"]);
    // Another part of the inputs may need them.
    let part = scan(&directory, &[&accepted[..], &["--shard", "0/2"]].concat());
    assert!(!part.to_string().contains("unused exception"), "{part}");
}

/// What an exception accepts has not gone from the baseline, which would say so otherwise.
#[test]
fn what_is_excepted_is_not_gone() {
    let directory = directory(&[("old", "tier: web")]);
    review(&directory, &["--write-baseline", "known.json"]).exits(1);
    let list = "- {policy: team, reason: r}\n- {policy: owned, reason: r}\n";
    fs::write(directory.path().join("exceptions.yaml"), exceptions(list)).unwrap();
    let run = review(
        &directory,
        &[&KNOWN[..], &["--exceptions", "exceptions.yaml"]].concat(),
    );
    run.exits(0)
        .shows(&["accepted: 0 findings known to known.json, 2 findings by 2 of 2 exceptions"]);
    assert!(!run.to_string().contains("gone"), "{run}");
}

/// What is known of an object that is undecided may still be there: only what is decided can be gone.
#[test]
fn what_is_undecided_is_not_gone() {
    let policies = POLICIES
        .replacen(
            "metadata: {name: team}\nspec:\n",
            "metadata: {name: team}\nspec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n",
            1,
        )
        .replace(
            "{policyName: team,",
            "{policyName: team, paramRef: {name: limits, namespace: shop, parameterNotFoundAction: Deny},",
        );
    let directory = directory(&[("old", "tier: web"), ("other", "tier: web")])
        .with("policies.yaml", policies)
        .with(
            "params.yaml",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: limits, namespace: shop}}",
        );
    for run in [review, scan] {
        fs::write(
            directory.path().join("pods.yaml"),
            pod("old", "tier: web") + &pod("other", "tier: web"),
        )
        .unwrap();
        run(
            &directory,
            &["--objects", "params.yaml", "--write-baseline", "known.json"],
        )
        .exits(1)
        .shows(&["known.json: 4 findings written as a baseline"]);
        let undecided = run(&directory, &KNOWN);
        undecided.exits(3);
        assert!(!undecided.to_string().contains("gone"), "{undecided}");
        fs::write(directory.path().join("pods.yaml"), pod("old", "tier: web")).unwrap();
        let fewer = run(&directory, &KNOWN);
        fewer.exits(3).shows(&[
            "2 findings of the baseline are gone, or there are fewer: owned warns about pods shop/other, team denies pods \
             shop/other; ",
        ]);
    }
}

/// Of two that accept the same, one is left over.
#[test]
fn exceptions_that_repeat_others_are_told() {
    let directory = directory(&[("old", "tier: web")]);
    let list = "- {policy: team, reason: r}\n- {policy: owned, reason: r}\n- {policy: team, names: [old], reason: r}\n";
    fs::write(directory.path().join("exceptions.yaml"), exceptions(list)).unwrap();
    let run = review(&directory, &["--exceptions", "exceptions.yaml"]);
    run.exits(0).shows(&[
        "exceptions.yaml:6:3: unused exception: the one at exceptions.yaml:4:3 accepts the same",
        "by 2 of 3 exceptions",
    ]);
}

/// What is accepted has its column in the table of a summary.
#[test]
fn summaries_count_what_is_accepted() {
    let directory = directory(&[("old", "tier: web")]);
    review(&directory, &["--write-baseline", "known.json"]).exits(1);
    let run = review(&directory, &[&KNOWN[..], &["--summary"]].concat());
    run.exits(0).shows(&[
        "objects by policy and namespace:\nPOLICY  NAMESPACE  DENIED  WARNED  AUDITED  UNDECIDED  ACCEPTED\n\
         owned   shop            0       0        0          0         1\n\
         team    shop            0       0        0          0         1\n",
        "0 allowed, 0 denied, 1 accepted\n",
    ]);
    review(&directory, &["--summary"]).shows(&["NAMESPACE  DENIED  WARNED  AUDITED  UNDECIDED\n"]);
}

#[test]
fn more_of_what_is_known_fails() {
    let directory = directory(&[("old", "tier: web")]);
    review(&directory, &["--write-baseline", "known.json"]).exits(1);
    let twice = format!("{}{}", pod("old", "tier: web"), pod("old", "tier: web"));
    fs::write(directory.path().join("pods.yaml"), twice).unwrap();
    for command in [
        review(&directory, &KNOWN),
        review(&directory, &[&KNOWN[..], &["--output", "junit"]].concat()),
        review(&directory, &[&KNOWN[..], &["--output", "sarif"]].concat()),
    ] {
        command
            .exits(1)
            .shows(&["2 findings the baseline has, but not as often: "]);
    }
}

#[test]
fn baselines_are_told_in_all_outputs() {
    let directory = directory(&[
        ("old", "tier: web"),
        ("new", "tier: web"),
        ("fine", "team: a, tier: b"),
    ]);
    review(&directory, &["--write-baseline", "known.json"]).exits(1);
    let text = fs::read_to_string(directory.path().join("known.json")).unwrap();
    let mut baseline: Value = serde_json::from_str(&text).unwrap();
    let findings = baseline["findings"].as_array_mut().unwrap();
    findings.retain(|finding| finding["name"] != "new");
    findings.push(serde_json::json!({
        "policy": "team", "binding": "team", "action": "deny", "resource": "pods", "namespace": "shop", "name": "gone",
        "expression": "0",
    }));
    fs::write(directory.path().join("known.json"), baseline.to_string()).unwrap();
    let of = |format: &str| review(&directory, &[&KNOWN[..], &["--output", format]].concat());
    let sarif = of("sarif");
    sarif.exits(1);
    let results = sarif.json()["runs"][0]["results"].clone();
    let states: Vec<(&str, &str, &str)> = results
        .as_array()
        .unwrap()
        .iter()
        .map(|result| {
            let text = |value: &'_ Value| value.as_str().unwrap_or_default().to_owned();
            let state: &'static str = text(&result["baselineState"]).leak();
            let rule: &'static str = text(&result["ruleId"]).leak();
            let level: &'static str = text(&result["level"]).leak();
            (state, rule, level)
        })
        .collect();
    assert!(states.contains(&("unchanged", "team", "note")), "{states:?}");
    assert!(states.contains(&("new", "team", "error")), "{states:?}");
    assert!(
        states.contains(&("absent", "baseline-gone", "note")),
        "{states:?}"
    );
    sarif.shows(&["accepted: 3 findings known to known.json"]);
    of("junit").exits(1).shows(&[
        "<skipped message=\"team: accepted: known to the baseline: a Pod needs a team\"/>",
        "failures=\"1\"",
        "baseline-gone known.json",
    ]);
    of("github").exits(1).shows(&[
        "::notice file=pods.yaml,line=1,",
        "accepted: known to the baseline: a Pod needs a team",
        "::notice file=known.json,title=baseline-gone::",
        "::error file=pods.yaml,line=6,",
        "1 denied, 1 accepted",
    ]);
    let json = of("json");
    json.exits(1).shows(&[
        "\"decision\":\"accepted\"",
        "\"acceptedBy\":\"baseline\"",
        "\"rule\":\"baseline-gone\"",
        "{\"acceptedFindings\":{\"known\":3}}",
    ]);
    // The server denies it all the same.
    let first: Value = serde_json::from_str(json.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(first["response"]["allowed"], false);
}

#[test]
fn a_baseline_is_that_of_its_command() {
    let directory = directory(&[("old", "")]);
    review(&directory, &["--write-baseline", "known.json"]).exits(1);
    scan(&directory, &KNOWN)
        .exits(2)
        .shows(&["known.json: it is no baseline that can be used: it has the findings of `pratique review`"]);
    fs::write(directory.path().join("known.json"), "{}").unwrap();
    review(&directory, &KNOWN).exits(2).shows(&["missing field"]);
    scan(&directory, &["--baseline", "known.json", "--shard", "0/2"])
        .exits(2)
        .shows(&["they go with neither --shard nor --checkpoint"]);
}

#[test]
fn exceptions_say_what_they_accept() {
    let directory = directory(&[
        ("legacy-a", "app: old"),
        ("legacy-b", "app: new"),
        ("web", "app: old"),
    ]);
    let list = "- policy: team\n  validation: 0\n  kinds: [Pod]\n  namespaces: [sh*]\n  names: [legacy-*]\n  \
                selector: {matchLabels: {app: old}}\n  reason: it moves in spring\n  until: 2999-12-31\n\
                - {policy: team, validation: a Pod needs a tier, reason: tiers come later}\n\
                - {policy: other, reason: nobody knows}\n";
    fs::write(directory.path().join("exceptions.yaml"), exceptions(list)).unwrap();
    let run = review(&directory, &["--exceptions", "exceptions.yaml"]);
    run.exits(1).shows(&[
        "pods.yaml:1:1: CREATE pods shop/legacy-a: denied (422 Invalid), accepted\n",
        "  accepted: team: exception until 2999-12-31: it moves in spring\n",
        "  accepted: team: exception: tiers come later\n",
        "pods.yaml:6:1: CREATE pods shop/legacy-b: denied (422 Invalid)\n",
        "0 allowed, 2 denied, 1 accepted, 3 warnings\n",
        "accepted: 4 findings by 2 of 3 exceptions\n",
        "warning: exceptions.yaml:13:3: unused exception: no policy, webhook or admission plugin is named other\n",
    ]);
    let sarif = review(&directory, &["--exceptions", "exceptions.yaml", "-o", "sarif"]);
    let results = sarif.json()["runs"][0]["results"].clone();
    let mut results = results.as_array().unwrap().iter();
    let suppressed = results.find(|result| !result["suppressions"].is_null()).unwrap();
    assert_eq!(
        suppressed["suppressions"][0]["justification"],
        "it moves in spring"
    );
    let summary = review(
        &directory,
        &["--exceptions", "exceptions.yaml", "-o", "json", "--summary"],
    );
    summary.shows(&["\"acceptedFindings\":{\"excepted\":4,\"exceptions\":3,\"unusedExceptions\":1}"]);
}

#[test]
fn what_is_alike_is_told_once_with_its_count() {
    let directory = directory(&[("old", "app: old")]);
    fs::write(
        directory.path().join("exceptions.yaml"),
        exceptions("- {policy: team, reason: it is old}\n"),
    )
    .unwrap();
    let run = review(&directory, &["--exceptions", "exceptions.yaml"]);
    run.shows(&["  accepted: team: exception: it is old (2 findings)\n"]);
    assert_eq!(run.stdout.matches("it is old").count(), 1, "{run}");
    review(&directory, &["--write-baseline", "known.json"]);
    let clean = pod("old", "team: a, tier: web");
    fs::write(directory.path().join("pods.yaml"), clean).unwrap();
    let run = review(&directory, &KNOWN);
    run.shows(&["are gone, or there are fewer: ", "team denies pods shop/old (2)"]);
}

#[test]
fn an_expired_exception_is_a_finding() {
    let directory = directory(&[("old", "tier: web")]);
    let list = "- {policy: team, reason: it moves, until: 2020-02-29}\n";
    fs::write(directory.path().join("exceptions.yaml"), exceptions(list)).unwrap();
    for format in ["human", "json", "sarif", "junit", "github"] {
        let run = review(
            &directory,
            &["--exceptions", "exceptions.yaml", "--output", format],
        );
        run.exits(1).shows(&[
            "the exception of team held until 2020-02-29: it accepts nothing any more (it moves)",
            "exceptions.yaml",
        ]);
    }
}

/// A finding by itself: every command and every format tells it and fails, where nothing else is wrong.
#[test]
fn an_expired_exception_fails_as_a_denial_does() {
    let directory = directory(&[("web", "team: a, tier: web")]);
    let list = "- {policy: team, reason: it moves, until: 2020-02-29}\n";
    fs::write(directory.path().join("exceptions.yaml"), exceptions(list)).unwrap();
    let told = "the exception of team held until 2020-02-29";
    for (format, sign) in [
        ("human", "expired: 1 exception\n"),
        ("json", r#"{"acceptedFindings":{"expiredExceptions":1}}"#),
        (
            "ndjson",
            r#"{"warning":{"rule":"expired-exception","place":"exceptions.yaml:4:3""#,
        ),
        ("sarif", r#""level": "error""#),
        ("junit", "<failure message=\"the exception of team"),
        (
            "github",
            "::error file=exceptions.yaml,line=4,col=3,title=expired-exception::",
        ),
        ("yaml", "expired: 1 exception\n"),
        ("diff", "expired: 1 exception\n"),
    ] {
        let more = ["--exceptions", "exceptions.yaml", "--output", format];
        review(&directory, &more).exits(1).shows(&[told, sign]);
    }
    for (format, sign) in [
        ("human", "note: expired: 1 exception\n"),
        ("json", r#""rule": "expired-exception""#),
        (
            "ndjson",
            r#"{"warning":{"rule":"expired-exception","place":"exceptions.yaml:4:3""#,
        ),
        ("sarif", r#""level": "error""#),
        ("junit", "<failure message=\"the exception of team"),
        ("policyreport", r#""fail": 1"#),
        ("openreports", r#""policy": "expired-exception""#),
    ] {
        let more = ["--exceptions", "exceptions.yaml", "--output", format];
        scan(&directory, &more).exits(1).shows(&[told, sign]);
    }
    let impact = [
        "impact",
        "pods.yaml",
        "--old",
        "policies.yaml",
        "--new",
        "policies.yaml",
        "--exceptions",
        "exceptions.yaml",
    ];
    directory
        .run(&impact)
        .exits(1)
        .shows(&[told, "expired: 1 exception\n"]);
    // A report keeps it, with its page.
    let more = [
        "--exceptions",
        "exceptions.yaml",
        "--report",
        "scan.json,scan.html",
    ];
    scan(&directory, &more).exits(1);
    let merged = directory.run(&["report", "merge", "scan.json"]);
    merged.exits(1).shows(&[told]);
    let page = fs::read_to_string(directory.path().join("scan.html")).unwrap();
    assert!(page.contains(told), "{page}");
    // Who fails for errors only, does so.
    let more = ["--exceptions", "exceptions.yaml", "--fail-on", "error"];
    review(&directory, &more).exits(0).shows(&[told]);
}

#[test]
fn exceptions_of_the_project_file_are_told() {
    let project = "apiVersion: pratique/v1alpha1\nkind: Configuration\nexceptions:\n- {policy: team, reason: it moves}\n";
    let directory = directory(&[("old", "")]).with("pratique.yaml", project);
    for run in [review(&directory, &[]), scan(&directory, &[])] {
        run.exits(0).shows(&[
            "pratique.yaml:3:1: `exceptions` is set, by which what is refused otherwise may pass",
            "1 accepted",
        ]);
    }
    // Whoever names others takes these.
    fs::write(directory.path().join("none.yaml"), exceptions("  []\n")).unwrap();
    review(&directory, &["--exceptions", "none.yaml"]).exits(1);
    let wrong = project.replace("reason", "reasn");
    fs::write(directory.path().join("pratique.yaml"), wrong).unwrap();
    review(&directory, &[]).exits(2).shows(&["reasn"]);
}

#[test]
fn scans_accept_as_reviews_do() {
    let directory = directory(&[("old", "tier: web"), ("new", "")]);
    let list = "- {policy: team, names: [new], reason: it moves}\n";
    fs::write(directory.path().join("exceptions.yaml"), exceptions(list)).unwrap();
    let accepted = ["--exceptions", "exceptions.yaml"];
    let written = [&accepted[..], &["--write-baseline", "known.json"]].concat();
    scan(&directory, &written).exits(1);
    let all = [&accepted[..], &KNOWN].concat();
    let run = scan(&directory, &[&all[..], &["--report", "page.html"]].concat());
    run.exits(0).shows(&[
        "ACCEPTED",
        "team (team, accepted)\n",
        "known to the baseline: a Pod needs a team",
        "exception: it moves: a Pod needs a tier",
        "note: accepted: 3 findings known to known.json, 2 findings by 1 of 1 exception\n",
        "2 objects: 0 allowed, 0 denied, 2 accepted\n",
    ]);
    let page = fs::read_to_string(directory.path().join("page.html")).unwrap();
    assert!(
        page.contains("2 of 2 objects would be refused, all of which is accepted."),
        "{page}"
    );
    let reports = scan(&directory, &[&all[..], &["--output", "policyreport"]].concat());
    reports
        .exits(0)
        .shows(&["\"result\": \"skip\"", "exception: it moves: a Pod needs a team"]);
    let lines = scan(&directory, &[&all[..], &["--output", "ndjson"]].concat());
    lines
        .exits(0)
        .shows(&["\"decision\":\"accepted\"", "\"reason\":\"it moves\""]);
}
