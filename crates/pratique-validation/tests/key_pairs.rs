//! Certificates and keys of `testdata/validation/key-pairs.jsonl`, with what Go's `tls.X509KeyPair` says of them: that of Go 1.26, of
//! which kube-apiserver 1.37 is built.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use pratique_json::Value;
use pratique_validation::check_key_pair;

#[track_caller]
fn check_file(path: &Path) {
    let file = std::fs::read_to_string(path).unwrap();
    let mut differences = Vec::new();
    let mut count = 0;
    for line in file.lines() {
        let case = pratique_json::parse(line.as_bytes()).unwrap();
        let text = |name: &str| case.get(name).and_then(Value::as_str).unwrap_or_default();
        let pair = check_key_pair(text("certificate").as_bytes(), text("key").as_bytes());
        let actual = pair.err().map(|error| error.to_string()).unwrap_or_default();
        count += 1;
        if actual != text("error") {
            let (name, expected) = (text("name"), text("error"));
            differences.push(format!("{name}: expected {expected:?}, got {actual:?}"));
        }
    }
    assert!(count > 0);
    let number = differences.len();
    assert!(
        differences.is_empty(),
        "{number} of {count}:\n{}",
        differences.join("\n")
    );
}

#[test]
fn a_key_belongs_to_a_certificate() {
    check_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/validation/key-pairs.jsonl"));
}
