//! Input meant to hurt: it gets a clear error, in bounded time, memory and stack.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails may stop"
)]

use std::thread;

use pratique_manifest::{
    ConfigurationLoader, ConfigurationOptions, LoadOptions, Loader, ManifestFile, ManifestPlugin, Reloader,
    UncheckedExpressions,
};
use pratique_schema::FeatureGates;

/// Loads a file on a stack of a thread's usual size and gives the server's text.
#[track_caller]
fn check(content: impl Into<Vec<u8>>, expected: &str) {
    let file = ManifestFile {
        path: "a.yaml".into(),
        content: content.into(),
    };
    let load = move || {
        let options = LoadOptions::new(&UncheckedExpressions);
        let loaded =
            Loader::for_plugin(ManifestPlugin::ValidatingAdmissionPolicy, &options).load_files(&[file]);
        loaded.map_or_else(|errors| errors.to_string(), |_| String::new())
    };
    let text = thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(load)
        .unwrap()
        .join()
        .unwrap();
    assert!(
        text.contains(expected),
        "{}",
        text.chars().take(300).collect::<String>()
    );
}

fn policy(metadata: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {metadata}\n"
    )
}

#[test]
fn deep_nesting() {
    check(policy(&"[".repeat(100_000)), "exceeded max depth of 10000");
    check(policy(&"{a: ".repeat(100_000)), "exceeded max depth of 10000");
    check(
        policy(&("[".repeat(9_000) + &"]".repeat(9_000))),
        "cannot unmarshal array into Go struct field ValidatingAdmissionPolicy.metadata",
    );
    check(
        format!("{{\"kind\": {}", "[".repeat(100_000)),
        "exceeded max depth",
    );
    check(
        format!("{{\"kind\": {}{}}}", "[".repeat(9_000), "]".repeat(9_000)),
        "cannot unmarshal array into Go struct field .kind of type string",
    );
    let blocks: String = (0..2_000)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect();
    check(blocks, "Object 'Kind' is missing in");
    let dashes: String = (0..9_000).map(|_| "- ").collect();
    check(dashes, "cannot unmarshal array into Go value");
    let dashes: String = (0..11_000).map(|_| "- ").collect();
    check(dashes, "exceeded max depth of 10000");
    check(
        policy(&format!(
            "{{name: a, managedFields: [{{fieldsV1: {}{}}}]}}",
            "{a: ".repeat(9_000),
            "}".repeat(9_000)
        )),
        "exceeded max depth",
    );
    let lists = "{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": [".repeat(4_000);
    check(
        lists + &"]}".repeat(4_000),
        "lists are nested more than 128 levels deep",
    );
    let keys = "? ".repeat(9_000);
    check(keys, "invalid map key");
}

#[test]
fn alias_bombs() {
    let level = |level: usize| {
        format!(
            "b{level}: &a{level} [{}]\n",
            format!("*a{},", level - 1).repeat(9)
        )
    };
    let levels: String = (1..=20).map(level).collect();
    check(
        format!("b0: &a0 [x]\n{levels}"),
        "document contains excessive aliasing",
    );
    check("a: &a [*a]", "anchor 'a' value contains itself");
    check("a: &a\n  <<: *a\n", "anchor 'a' value contains itself");
}

#[test]
fn long_files() {
    let comments = format!("    # {}\n", "x".repeat(120)).repeat(40_000);
    check(
        policy(&format!("\n  labels:\n{comments}    a: b\nbogus: 1")),
        "unknown field \"bogus\"",
    );
    let line = policy(&format!("\n  labels:\n{}", "    a: b\n".repeat(20_000)));
    check(line, "key \"a\" already set in map");
    check(
        policy(&format!("\n  name: \"{}", "x\n".repeat(500_000))),
        "found unexpected end of stream",
    );
    check(
        policy(&format!("\n  name: \"{}\"", "y".repeat(5_000_000))),
        "must be no more than 253 characters",
    );
}

#[test]
fn bytes_that_are_no_text() {
    check(b"a: \xff\xfe".to_vec(), "invalid leading UTF-8 octet");
    // A byte order mark alone is a document, and has no text.
    check(
        b"\xfe\xff".to_vec(),
        "Object 'Kind' is missing in '\u{fffd}\u{fffd}'",
    );
    check(vec![0; 1 << 20], "control characters are not allowed");
    check(
        b"{\"kind\": \"\xff\"}".to_vec(),
        "Object 'apiVersion' is missing in",
    );
    check("---".repeat(1 << 20), "invalid Yaml document separator");
    check("---\n".repeat(20_000), "Object 'Kind' is missing in '---'");
}

/// Loads a file within some mebibytes, and gives the server's text.
fn load_within(mebibytes: u64, content: &str) -> Result<usize, String> {
    let file = ManifestFile {
        path: "a.yaml".into(),
        content: content.into(),
    };
    let options = LoadOptions::new(&UncheckedExpressions).with_max_bytes(mebibytes << 20);
    let loaded = Loader::for_plugin(ManifestPlugin::ValidatingAdmissionPolicy, &options).load_files(&[file]);
    match loaded {
        Ok(set) => Ok(set.validating_policies.len()),
        Err(errors) => {
            assert_eq!(errors.failures().len(), 1, "{errors}");
            Err(errors.to_string())
        }
    }
}

const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: NAME.static.k8s.io}\n\
    spec:\n  matchConstraints:\n    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]\n  \
    validations: [{expression: 'true'}]\n";

/// What a text comes to takes far more than the text: the load is refused for that, and for nothing else.
#[test]
fn small_texts_that_take_much_memory() {
    let long = "s".repeat(20_000);
    let scalars = format!("x: &a '{long}'\ny: [{}]\n", "*a,".repeat(4_000));
    let keys = format!("x: &a {{? '{long}' : 1}}\ny: [{}]\n", "{<<: *a},".repeat(4_000));
    let numbers = format!("y: [{}]\n", "1,".repeat(200_000));
    let twice = format!("x: {{{}}}\n", "a: 1,".repeat(100_000));
    for content in [scalars, keys, numbers, twice] {
        // A document before it has another fault.
        let text = load_within(8, &format!("a: b\n---\n{POLICY}{content}")).unwrap_err();
        assert!(
            text.starts_with("error loading a.yaml: more than 8 MiB of memory would be needed"),
            "{text}"
        );
    }
    let json = format!("{{\"kind\": \"x\", \"y\": [{}1]}}", "1,".repeat(200_000));
    let text = load_within(8, &json).unwrap_err();
    assert!(
        text.starts_with("error loading a.yaml: more than 8 MiB"),
        "{text}"
    );
    let documents = "a\n---\n".repeat(20_000);
    let text = load_within(8, &documents).unwrap_err();
    assert!(
        text.starts_with("error loading manifests: more than 8 MiB"),
        "{text}"
    );
    let comments = "# nothing\n".repeat(400_000);
    let text = load_within(8, &comments).unwrap_err();
    assert!(
        text.starts_with("error loading manifests: more than 8 MiB"),
        "{text}"
    );
    let items = format!("apiVersion: v1\nkind: List\nitems: [{}]\n", "1,".repeat(20_000));
    let text = load_within(8, &items).unwrap_err();
    assert!(text.contains("more than 8 MiB"), "{text}");
}

/// Prefixes of tags are repeated by each tag; documents that are split have none, what a plugin's configuration is has.
#[test]
fn long_prefixes_of_tags() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.yaml");
    let prefix = "s".repeat(100_000);
    let tags = "!a b,".repeat(100_000);
    std::fs::write(&path, format!("%TAG ! tag:{prefix}\n---\ny: [{tags}]\n")).unwrap();
    let options = ConfigurationOptions {
        manifests: LoadOptions::new(&UncheckedExpressions),
        feature_gates: FeatureGates::default(),
    };
    let loaded = ConfigurationLoader::new(&options).load(path.to_str().unwrap());
    let text = loaded.unwrap_err().to_string();
    assert!(
        text.contains("more than 384 MiB of memory would be needed"),
        "{text}"
    );
}

#[test]
fn ten_thousand_policies_are_within_reason() {
    let padding = format!("# {}\n", "x".repeat(2_000));
    let policies: Vec<String> = (0..10_000)
        .map(|number| POLICY.replace("NAME", &format!("p{number}")) + &padding)
        .collect();
    assert_eq!(load_within(384, &policies.join("---\n")), Ok(10_000));
    // Aliases as people write them.
    let aliases = POLICY.replace("NAME", "a").replace(
        "[{expression: 'true'}]",
        &format!(
            "[{{expression: &e 'true', message: &m '{}'}}{}]",
            "m".repeat(500),
            ", {expression: *e, message: *m}".repeat(99)
        ),
    );
    assert_eq!(load_within(1, &aliases), Ok(1));
}

/// A directory is read no further than its memory goes, and what it was before stays.
#[test]
fn reloads_have_the_same_bound() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    let options = LoadOptions::new(&UncheckedExpressions).with_max_bytes(1 << 20);
    let mut reloader = Reloader::new(ManifestPlugin::ValidatingAdmissionPolicy);
    write("a.yaml", &POLICY.replace("NAME", "a"));
    let first = reloader.load(path, None, &options).unwrap().unwrap();
    for number in 0..200 {
        write(
            &format!("b{number}.yaml"),
            &POLICY.replace("NAME", &format!("b{number}")),
        );
    }
    let refused = reloader
        .load(path, Some(&first.hash), &options)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("more than 1 MiB"), "{refused}");
    // Files that are known count as they did when they were read.
    for number in 0..100 {
        std::fs::remove_file(directory.path().join(format!("b{number}.yaml"))).unwrap();
    }
    let second = reloader.load(path, None, &options).unwrap().unwrap();
    assert_eq!(second.validating_policies.len(), 101);
    for number in 0..100 {
        write(
            &format!("b{number}.yaml"),
            &POLICY.replace("NAME", &format!("b{number}")),
        );
    }
    let again = reloader.load(path, None, &options).unwrap_err().to_string();
    assert_eq!(again, refused);
    write("c.yaml", &"x".repeat(1 << 20));
    let large = reloader.load(path, None, &options).unwrap_err().to_string();
    assert!(large.contains("larger than 262144 bytes"), "{large}");
}
