//! `pratique serve --policies` follows changes of files.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::serve::{Client, POLICY, Serving, eventually};
use crate::support::Directory;

/// Policies of the API that refuse a name.
fn policy(name: &str) -> String {
    POLICY.replace(".static.k8s.io", "").replace("NAME", name)
}

/// How many reloads had such an outcome.
fn reloads(client: &mut Client, status: &str) -> bool {
    let name = "apiserver_manifest_admission_config_controller_automatic_reloads_total";
    let status = format!("status=\"{status}\"");
    let metrics = client.get("/metrics");
    metrics
        .lines()
        .any(|line| line.starts_with(name) && line.contains(&status))
}

#[test]
fn files_are_read_again() {
    let directory = Directory::new().with("policies/deep/a.yaml", policy("old")).with(
        "single.yaml",
        policy("one")
            .replace("name: names", "name: single")
            .replace("Name: names", "Name: single"),
    );
    let paths = "policies,single.yaml";
    let serving = Serving::start(directory.path(), &["--plain-http", "--policies", paths]);
    let mut client = serving.client();
    assert!(!client.allows("old") && !client.allows("one") && client.allows("new"));
    fs::write(directory.path().join("policies/deep/a.yaml"), policy("new")).unwrap();
    eventually("the new one counts", || {
        client.allows("old") && !client.allows("new")
    });
    assert!(!client.allows("one"));
    eventually("the reload is counted", || reloads(&mut client, "success"));

    // What cannot be loaded leaves what is in use.
    fs::write(directory.path().join("single.yaml"), "kind: [").unwrap();
    eventually("the fault is counted", || reloads(&mut client, "failure"));
    assert!(!client.allows("new") && !client.allows("one"));
    let more = policy("two")
        .replace("name: names", "name: more")
        .replace("Name: names", "Name: more");
    fs::write(directory.path().join("policies/more.yaml"), more).unwrap();
    // A file that is rewritten in place without its policy would be waited for.
    put(
        &directory.path().join("single.yaml"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    );
    eventually("others count", || client.allows("one") && !client.allows("two"));
    serving.signal("INT");
    let (code, log) = serving.wait();
    assert_eq!(code, Some(0), "{log}");
    for text in ["reloaded policies", "reloading policies"] {
        assert!(log.contains(text), "{text} in {log}");
    }
}

#[test]
fn the_status_page_shows_what_files_have() {
    let directory = Directory::new().with("policies/a.yaml", policy("no"));
    let serving = Serving::start(directory.path(), &["--plain-http", "--policies", "policies"]);
    let mut client = serving.client();
    for page in [client.get("/"), client.get("/configz")] {
        assert!(page.contains("names") && page.contains("policies"), "{page}");
    }
    assert!(
        client.get("/configz").contains("\"hash\":\"sha256:"),
        "{}",
        client.get("/configz")
    );
    assert!(
        !client.get("/").contains("<code title=\"\">"),
        "{}",
        client.get("/")
    );
    // The command is about what the policies match.
    assert!(!serving.greeting.contains("hostNetwork"), "{}", serving.greeting);
    fs::write(directory.path().join("policies/a.yaml"), "kind: [").unwrap();
    eventually("the fault is shown", || {
        client.get("/configz").contains("\"error\":")
    });
}

#[test]
fn any_namespace_may_exist_where_none_is_given() {
    let definition = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n";
    let directory = Directory::new()
        .with("policies/a.yaml", policy("no"))
        .with("objects.yaml", definition);
    let arguments = [
        "--plain-http",
        "--policies",
        "policies",
        "--cluster-objects",
        "objects.yaml",
    ];
    let serving = Serving::start(directory.path(), &arguments);
    let mut client = serving.client();
    assert!(client.allows("yes") && !client.allows("no"));
    assert!(
        serving.greeting.contains("--cluster-objects have no Namespace"),
        "{}",
        serving.greeting
    );
    // The command that is printed is about a namespace that there is.
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
    fs::write(directory.path().join("objects.yaml"), namespace).unwrap();
    let serving = Serving::start(directory.path(), &arguments);
    assert!(
        serving.greeting.contains("\"namespace\":\"shop\""),
        "{}",
        serving.greeting
    );
}

#[test]
fn broken_files_of_directories_are_faults() {
    let directory = Directory::new()
        .with("policies/a.yaml", policy("old"))
        .with("policies/template.yaml", "{{ if }}: [");
    let serving = Serving::start(directory.path(), &["--plain-http", "--policies", "policies"]);
    let mut client = serving.client();
    assert!(!client.allows("old"));
    fs::write(directory.path().join("policies/a.yaml"), "kind: [").unwrap();
    eventually("the fault is counted", || reloads(&mut client, "failure"));
    assert!(!client.allows("old"));
    fs::write(directory.path().join("policies/a.yaml"), policy("new")).unwrap();
    eventually("it is mended", || client.allows("old") && !client.allows("new"));
    serving.signal("INT");
    let (_, log) = serving.wait();
    assert!(
        log.contains("policies/a.yaml: it is neither YAML nor JSON of objects"),
        "{log}"
    );
}

/// Writes a file in place as slow programs do, with a pause at the end of each document.
fn write_slowly(path: &Path, text: &str) {
    let parts: Vec<&str> = text.split_inclusive("---\n").collect();
    write_parts(path, &parts, Duration::from_millis(300));
}

/// Writes a file in place, with a pause before each part.
fn write_parts(path: &Path, parts: &[&str], pause: Duration) {
    let mut file = File::create(path).unwrap();
    for part in parts {
        thread::sleep(pause);
        file.write_all(part.as_bytes()).unwrap();
    }
}

/// Puts a whole file in place, some time after it was written.
fn put(path: &Path, text: &str) {
    let aside = path.with_extension("new");
    fs::write(&aside, text).unwrap();
    thread::sleep(Duration::from_millis(20));
    fs::rename(aside, path).unwrap();
}

/// The policy and the binding of a name, which refuse the name `no`.
fn policy_and_binding(name: &str) -> (String, String) {
    let text = policy("no")
        .replace("name: names", &format!("name: {name}"))
        .replace("Name: names", &format!("Name: {name}"));
    let (policy, binding) = text.split_once("---\n").unwrap();
    (policy.to_owned(), binding.to_owned())
}

/// Changes files of policies that deny a name before and after; it is never allowed meanwhile.
fn check_denied_during(files: &[(&str, &str)], change: impl FnOnce(&Path) + Send) {
    let directory = files.iter().fold(Directory::new(), |directory, (name, text)| {
        directory.with(name, text)
    });
    let serving = Serving::start(directory.path(), &["--plain-http", "--policies", "policies"]);
    let mut client = serving.client();
    assert!(!client.allows("no") && client.allows("yes"));
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            change(&directory.path().join("policies"));
            over.store(true, Ordering::Release);
        });
        while !over.load(Ordering::Acquire) && !writer.is_finished() {
            assert!(!client.allows("no"), "allowed while files change");
            thread::sleep(Duration::from_millis(2));
        }
    });
    // Until what was written last is in effect, and then.
    let mark = policy("mark")
        .replace("name: names", "name: mark")
        .replace("Name: names", "Name: mark");
    fs::write(directory.path().join("policies/mark.yaml"), mark).unwrap();
    eventually("all that was written is in effect", || {
        assert!(!client.allows("no"), "allowed after files changed");
        !client.allows("mark")
    });
    serving.signal("INT");
    let (_, log) = serving.wait();
    let message = "policies may be unfinished, keeping the version in use";
    assert!(log.contains(message), "{log}");
}

#[test]
fn files_that_are_rewritten_slowly_allow_nothing() {
    let (policy, binding) = policy_and_binding("first");
    let texts = [[&*policy, &binding], [&*binding, &policy]].map(|both| both.join("---\n") + "---\n");
    let cases = texts
        .iter()
        .flat_map(|text| [false, true].map(|is_removed_first| (text, is_removed_first)));
    at_once(cases, |(text, is_removed_first)| {
        check_denied_during(&[("policies/all.yaml", text)], |directory| {
            let path = directory.join("all.yaml");
            for round in 0..4 {
                if is_removed_first {
                    fs::remove_file(&path).unwrap();
                }
                write_slowly(&path, &format!("# {round}\n{text}"));
            }
        });
    });
}

/// A policy that is there before its binding, and a binding before its policy.
#[test]
fn policies_and_bindings_of_several_files_change_together() {
    let (policy, binding) = policy_and_binding("second");
    let (old_policy, old_binding) = policy_and_binding("first");
    let files = [
        ("policies/policy.yaml", &*old_policy),
        ("policies/binding.yaml", &*old_binding),
    ];
    let [first, second] = [("policy.yaml", &policy), ("binding.yaml", &binding)];
    at_once([[first, second], [second, first]], |order| {
        check_denied_during(&files, |directory| {
            for (name, text) in order {
                put(&directory.join(name), text);
                thread::sleep(Duration::from_millis(1500));
            }
        });
    });
}

/// Checks cases at the same time: they wait for seconds, and compute next to nothing.
fn at_once<C: Send>(cases: impl IntoIterator<Item = C>, check: impl Fn(C) + Sync) {
    thread::scope(|scope| {
        for case in cases {
            let check = &check;
            scope.spawn(move || check(case));
        }
    });
}

/// Starts a server while a file is written that denies a name; the first answer denies it.
#[track_caller]
fn check_denied_from_the_start(flags: &[&str], parts: &[&str], pause: Duration) {
    let directory = Directory::new();
    let path = directory.path().join("policies/all.yaml");
    fs::create_dir(path.parent().unwrap()).unwrap();
    thread::scope(|scope| {
        let writer = scope.spawn(|| write_parts(&path, parts, pause));
        while !path.exists() {
            thread::sleep(Duration::from_millis(1));
        }
        let arguments = [&["--plain-http"], flags].concat();
        let serving = Serving::start(directory.path(), &arguments);
        let is_written = writer.is_finished();
        let mut client = serving.client();
        assert!(!client.allows("no"), "{flags:?}: {parts:?}");
        assert!(is_written && client.allows("yes"), "{flags:?}: {parts:?}");
        let is_told = serving.greeting.contains("waiting for ");
        assert!(is_told, "{flags:?}: {parts:?}: {}", serving.greeting);
    });
}

#[test]
fn files_that_are_written_during_the_start_are_waited_for() {
    let (policy, binding) = policy_and_binding("first");
    let of_manifests = |text: &str| {
        text.replace("name: first", "name: first.static.k8s.io")
            .replace("Name: first", "Name: first.static.k8s.io")
    };
    let [short, long] = [300, 1500].map(Duration::from_millis);
    let of_api = ["--policies", "policies"];
    let of_files = ["--manifests", "policies", "--plugin", "ValidatingAdmissionPolicy"];
    let kinds = [
        (&of_api[..], [policy.clone(), binding.clone()]),
        (&of_files, [&policy, &binding].map(|text| of_manifests(text))),
    ];
    let cases = kinds.iter().flat_map(|(flags, [policy, binding])| {
        let (half, rest) = policy.split_at(policy.find("  validations").unwrap());
        // An object without its counterpart, in either order, and half of one.
        [
            (*flags, vec![&**policy, "---\n", binding], long),
            (*flags, vec![&**binding, "---\n", policy], long),
            (*flags, vec![half, rest, "---\n", binding], short),
        ]
    });
    at_once(cases, |(flags, parts, pause)| {
        check_denied_from_the_start(flags, &parts, pause)
    });
}

/// Of two objects with a name the later one counts, as if both were applied, which nobody may notice otherwise.
#[test]
fn objects_that_others_replace_are_told() {
    let second = policy("second");
    let directory = Directory::new()
        .with("policies/a.yaml", policy("first"))
        .with("policies/b.yaml", &second);
    let serving = Serving::start(directory.path(), &["--plain-http", "--policies", "policies"]);
    let mut client = serving.client();
    assert!(client.allows("first") && !client.allows("second"));
    let told = |log: &str, kind: &str, file: &str, by: &str| {
        let parts = [
            format!("kind={kind} name=names file=policies/{file} by=policies/{by}"),
            "an object of --policies does not count: a later one has its name".to_owned(),
        ];
        let is_told = |line: &str| parts.iter().all(|part| line.contains(part));
        log.lines().filter(|line| is_told(line)).count()
    };
    let kinds = ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"];
    for kind in kinds {
        assert_eq!(
            told(&serving.greeting, kind, "a.yaml", "b.yaml"),
            1,
            "{}",
            serving.greeting
        );
    }
    put(&directory.path().join("policies/c.yaml"), &policy("third"));
    eventually("the third counts", || {
        client.allows("second") && !client.allows("third")
    });
    serving.signal("INT");
    let (_, log) = serving.wait();
    for kind in kinds {
        assert_eq!(told(&log, kind, "a.yaml", "b.yaml"), 0, "{log}");
        assert_eq!(told(&log, kind, "b.yaml", "c.yaml"), 1, "{log}");
    }
}

#[test]
fn static_manifests_are_read_once() {
    let directory = Directory::new().with("policies/a.yaml", POLICY.replace("NAME", "old"));
    let serving = Serving::start(directory.path(), &["--plain-http", "--policies", "policies"]);
    let mut client = serving.client();
    assert!(!client.allows("old"));
    let api = policy("other")
        .replace("name: names", "name: api")
        .replace("Name: names", "Name: api");
    fs::write(
        directory.path().join("policies/a.yaml"),
        POLICY.replace("NAME", "new") + "---" + &api,
    )
    .unwrap();
    eventually("the policy of the API counts", || !client.allows("other"));
    assert!(!client.allows("old") && client.allows("new"));
    serving.signal("INT");
    let (_, log) = serving.wait();
    assert!(
        log.contains("static manifests of --policies changed, which are read once"),
        "{log}"
    );
}

/// A mutating policy of widgets with a binding, as JSON patches.
fn widget_policy(name: &str, patch: &str) -> String {
    format!(
        "---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {{name: {name}}}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{{apiGroups: [example.com], apiVersions: [v1], resources: [widgets], operations: [CREATE]}}]
  mutations: [{{patchType: JSONPatch, jsonPatch: {{expression: \"{patch}\"}}}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {{name: {name}}}
spec: {{policyName: {name}}}
"
    )
}

#[test]
fn custom_resources_are_defaulted_between_mutations() {
    let adds = widget_policy("a", "[JSONPatch{op: 'add', path: '/spec', value: {'parts': 1}}]");
    let reads = widget_policy(
        "b",
        "[JSONPatch{op: 'add', path: '/spec/seen', value: string(object.spec.size)}]",
    );
    let definition = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"}, "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets"}, "versions": [{"name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {
                "size": {"type": "integer", "default": 3}, "parts": {"type": "integer"}, "seen": {"type": "string"}}}}}}}]}}"#;
    let directory = Directory::new()
        .with("policies.yaml", adds + &reads)
        .with("definitions.json", definition)
        .with(
            "namespaces.yaml",
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n",
        );
    let arguments = [
        "--plain-http",
        "--policies",
        "policies.yaml",
        "--cluster-objects",
        "definitions.json,namespaces.yaml",
    ];
    let serving = Serving::start(directory.path(), &arguments);
    let review = serde_json::json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u", "operation": "CREATE", "namespace": "default", "name": "w",
            "kind": {"group": "example.com", "version": "v1", "kind": "Widget"},
            "resource": {"group": "example.com", "version": "v1", "resource": "widgets"},
            "userInfo": {"username": "dev"},
            "object": {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "default"}}
        }
    });
    let (_, body) = serving
        .client()
        .ask("POST", "/mutate", &review.to_string())
        .unwrap();
    let answer: serde_json::Value = serde_json::from_str(&body).unwrap();
    let patch = answer["response"]["patch"]
        .as_str()
        .unwrap_or_else(|| panic!("{body}"));
    let patch = pratique_json::base64::decode(patch).unwrap();
    let patch: serde_json::Value = serde_json::from_slice(&patch).unwrap();
    let spec = serde_json::json!({"parts": 1, "seen": "3", "size": 3});
    assert_eq!(
        patch,
        serde_json::json!([{"op": "add", "path": "/spec", "value": spec}])
    );
}
