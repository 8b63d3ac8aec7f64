//! Input meant to hurt: it gets a clear error, in bounded time, memory and stack.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails may stop"
)]

use std::thread;

use pratique_manifest::{ManifestFile, Options, Plugin, UncheckedExpressions, load_files};

/// Loads a file on a stack of a thread's usual size and gives the server's text.
#[track_caller]
fn check(content: impl Into<Vec<u8>>, expected: &str) {
    let file = ManifestFile {
        path: "a.yaml".into(),
        content: content.into(),
    };
    let load = move || {
        let options = Options::new(&UncheckedExpressions);
        let loaded = load_files(&[file], Plugin::ValidatingAdmissionPolicy, &options);
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
