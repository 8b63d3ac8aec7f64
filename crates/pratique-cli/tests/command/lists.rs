//! Lists of any kind: objects that clients find in `items` are evaluated wherever objects are read.

use std::fmt::Write as _;

use crate::story::{BINDING, POLICY, PRIVILEGED, files};
use crate::support::{Directory, Run};

const WARNING: &str =
    "a ConfigMap with `items` is a list, as it is to kubectl: its items are read, and its own fields are not";

/// A privileged Pod as JSON.
const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"bad","namespace":"shop"},"spec":{"containers":[{"name":"c","image":"i","securityContext":{"privileged":true}}]}}"#;

/// A ConfigMap that hides items.
fn hidden(items: &str) -> String {
    format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a"}},"items":[{items}]}}"#)
}

/// Many ConfigMaps, so that a list is read in pieces.
fn many() -> String {
    let mut items = String::new();
    for number in 0..1500 {
        let filler = "x".repeat(1000);
        write!(
            items,
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"c{number}"}},"data":{{"a":"{filler}"}}}},"#
        )
        .unwrap();
    }
    items
}

#[track_caller]
fn ends(run: &Run, code: i32, counts: &str) {
    run.exits(code);
    assert_eq!(run.counts(), Some(counts), "{run}");
}

#[test]
fn items_of_any_kind_are_reviewed() {
    let directory = files(POLICY, BINDING);
    let review = |input: &str| directory.run_with(&["review", "--manifests", "policies", "-"], input, &[]);
    let yaml = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{a: b}}\nitems:\n- {}",
        PRIVILEGED.replace('\n', "\n  ")
    );
    for input in [
        hidden(POD),
        yaml,
        // A list within a list, and a list within an object that is none by its kind.
        format!(r#"{{"apiVersion":"v1","kind":"List","items":[{}]}}"#, hidden(POD)),
        hidden(&format!(
            r#"{{"apiVersion":"v1","kind":"PodList","items":[{POD}]}}"#
        )),
        hidden(&hidden(&hidden(POD))),
        // The kind follows the items.
        format!(r#"{{"items":[{POD}],"apiVersion":"v1","kind":"ConfigMap"}}"#),
        // An item without a kind has the one of its list.
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","items":[{}]}}"#,
            POD.replace(r#""apiVersion":"v1","kind":"Pod","#, "")
        ),
        format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","items":[],"items":[{POD}]}}"#),
    ] {
        ends(&review(&input), 1, "0 allowed, 1 denied");
    }
    review(&hidden(POD)).stderr_has(&format!("<stdin>:1:1: {WARNING}"));
    ends(
        &review(&hidden(&format!("{}{POD}", many()))),
        1,
        "1500 allowed, 1 denied",
    );
    let yaml = format!(
        "apiVersion: v1\nkind: ConfigMap\nitems:\n- {}\n- {POD}\n",
        many().trim_end_matches(',').replace("}},{\"api", "}}\n- {\"api")
    );
    let run = review(&yaml);
    ends(&run, 1, "1500 allowed, 1 denied");
    run.stderr_has(WARNING);
}

#[test]
fn what_is_no_object_in_a_list_is_an_error() {
    let directory = files(POLICY, BINDING);
    let review = |input: &str| directory.run_with(&["review", "--manifests", "policies", "-"], input, &[]);
    for item in ["null", "1", "\"a\"", "[]", "true"] {
        for kind in ["ConfigMap", "List", "PodList"] {
            let run = review(&format!(
                r#"{{"apiVersion":"v1","kind":"{kind}","items":[{item}]}}"#
            ));
            run.exits(2).stderr_has("expected an object");
        }
    }
    // An empty list hides no object that other clients create.
    let with_items = |items: &str| POD.replacen('{', &format!("{{\"items\":{items},"), 1);
    for items in ["[]", "null", "\"a\"", "{}"] {
        let run = review(&with_items(items));
        ends(&run, 1, "0 allowed, 1 denied, 1 warning");
        run.stdout_has("unknown field \"items\"");
    }
    ends(
        &review(&with_items(&format!("[{}]", " ".repeat(2 << 20)))),
        1,
        "0 allowed, 1 denied, 1 warning",
    );
    // In pieces, the last of equal keys counts and the first one was read.
    for (end, why) in [
        (
            r#""kind":"PodList""#.to_owned(),
            "of kind ConfigMap, and its kind is PodList",
        ),
        (format!(r#""items":[{POD}]"#), "and it has other items as well"),
    ] {
        let list = hidden(many().trim_end_matches(','));
        let list = format!("{},{end}}}", list.strip_suffix('}').unwrap());
        review(&list).exits(2).stderr_has(why);
    }
}

#[test]
fn every_command_finds_hidden_objects() {
    let suite = |test: &str| {
        format!(
            "apiVersion: pratique/v1alpha1\nkind: Suite\npolicies: [policies]\ntests:\n- name: a\n  {test}\n  expect: {{verdict: allowed}}\n"
        )
    };
    let directory = files(POLICY, BINDING)
        .with("hidden.json", hidden(POD))
        .with("none/p.yaml", POLICY.replace("[\"pods\"]", "[\"services\"]"))
        .with("none/b.yaml", BINDING)
        .with("file_test.yaml", suite("objects: [hidden.json]"))
        .with("inline_test.yaml", suite(&format!("object: {}", hidden(POD))))
        .with("several_test.yaml", suite(&format!("objects: [{}]", hidden(POD))));
    let scan = directory.run(&[
        "scan",
        "--manifests",
        "policies",
        "--output",
        "json",
        "hidden.json",
    ]);
    scan.exits(1).stderr_has(WARNING);
    assert_eq!(scan.json()["tally"]["total"]["denied"], 1, "{scan}");
    let impact = directory.run(&["impact", "--old", "none", "--new", "policies", "hidden.json"]);
    impact.exits(1).stdout_has("1 request: 1 newly refused");
    for name in ["file", "inline", "several"] {
        let test = directory.run(&["test", &format!("{name}_test.yaml")]);
        test.exits(1).stdout_has("privileged containers are not allowed");
    }
}

/// What would be created with a list is configuration of admission, too; static manifests are read by the server.
#[test]
fn policies_in_items_are_loaded() {
    let object = |text: &str| {
        let text = text
            .replace(".static.k8s.io", "")
            .replace("deny-privileged-binding", "b");
        format!("- {}\n", text.trim_end().replace('\n', "\n  "))
    };
    let list = format!(
        "apiVersion: v1\nkind: ConfigMap\nitems:\n{}{}",
        object(POLICY),
        object(BINDING)
    );
    let directory = Directory::new()
        .with("all.yaml", &list)
        .with("static/all.yaml", &list)
        .with("bad.yaml", PRIVILEGED);
    directory
        .run(&["review", "--policies", "all.yaml", "bad.yaml"])
        .exits(1)
        .stdout_has("privileged containers are not allowed");
    directory
        .run(&["check", "--plugin", "ValidatingAdmissionPolicy", "static"])
        .exits(1)
        .stdout_has("no kind \"ConfigMap\" is registered");
}
