//! One table for all operations.

use pratique_json::{Value, parse};

use super::super::{Operation, apply, decode};

#[track_caller]
fn check(document: &str, patch: &str, expected: &str) {
    let document = parse(document.as_bytes()).unwrap().into_owned();
    let operations = decode(&parse(patch.as_bytes()).unwrap()).unwrap();
    let result = match apply(document, &operations) {
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    };
    assert_eq!(result, expected, "{patch}");
}

#[test]
fn members_are_added_replaced_and_removed() {
    check(
        r#"{"a":1}"#,
        r#"[{"op":"add","path":"/b","value":[]}]"#,
        r#"{"a":1,"b":[]}"#,
    );
    check(
        r#"{"a":1}"#,
        r#"[{"op":"add","path":"/b"}]"#,
        r#"{"a":1,"b":null}"#,
    );
    check(
        r#"{"a":1}"#,
        r#"[{"op":"replace","path":"/b","value":2}]"#,
        r#"{"a":1,"b":2}"#,
    );
    check(r#"{"a":1}"#, r#"[{"op":"remove","path":"/a"}]"#, "{}");
    check(
        r#"{"a/b":{"~":1}}"#,
        r#"[{"op":"replace","path":"/a~1b/~0","value":2}]"#,
        r#"{"a/b":{"~":2}}"#,
    );
    check(
        "{}",
        r#"[{"op":"remove","path":"/a"}]"#,
        "error in remove for path: '/a': Unable to remove nonexistent key: a: missing value",
    );
    check(
        "{}",
        r#"[{"op":"add","path":"/a/b","value":1}]"#,
        r#"add operation does not apply: doc is missing path: "/a/b": missing value"#,
    );
}

#[test]
fn elements_are_inserted_at_indices() {
    check("[1,2]", r#"[{"op":"add","path":"/-","value":3}]"#, "[1,2,3]");
    check("[1,2]", r#"[{"op":"add","path":"/-1","value":3}]"#, "[1,2,3]");
    check("[1,2]", r#"[{"op":"add","path":"/-3","value":3}]"#, "[3,1,2]");
    check("[1,2]", r#"[{"op":"replace","path":"/-1","value":3}]"#, "[1,3]");
    check("[1,2]", r#"[{"op":"remove","path":"/01"}]"#, "[1]");
    check(
        "[1]",
        r#"[{"op":"add","path":"/3","value":3}]"#,
        "error in add for path: '/3': Unable to access invalid index: 3: invalid index referenced",
    );
    check(
        "[1]",
        r#"[{"op":"replace","path":"/x","value":3}]"#,
        "replace operation does not apply: doc is missing key: /x: missing value",
    );
}

#[test]
fn values_move_and_copy() {
    check(
        r#"{"a":1}"#,
        r#"[{"op":"move","from":"/a","path":"/b"}]"#,
        r#"{"b":1}"#,
    );
    check(
        r#"{"a":[1]}"#,
        r#"[{"op":"copy","from":"/a","path":"/b"}]"#,
        r#"{"a":[1],"b":[1]}"#,
    );
    check(
        "{}",
        r#"[{"op":"copy","from":"/a","path":"/b"}]"#,
        r#"{"b":null}"#,
    );
    check(
        "{}",
        r#"[{"op":"copy","path":"/b"}]"#,
        "copy operation failed to decode from: operation, missing from field: missing value",
    );
}

#[test]
fn tests_compare_numbers_as_written() {
    check(
        r#"{"a":3}"#,
        r#"[{"op":"test","path":"/a","value":3}]"#,
        r#"{"a":3}"#,
    );
    check(
        r#"{"a":3}"#,
        r#"[{"op":"test","path":"/a","value":3.0}]"#,
        "testing value /a failed: test failed",
    );
    check(
        r#"{"a":1.5}"#,
        r#"[{"op":"test","path":"/a","value":1.5}]"#,
        r#"{"a":1.5}"#,
    );
    check("{}", r#"[{"op":"test","path":"/a","value":null}]"#, "{}");
    check(
        r#"{"a":{}}"#,
        r#"[{"op":"test","path":"","value":{"a":{}}}]"#,
        r#"{"a":{}}"#,
    );
}

#[test]
fn the_whole_document_can_only_be_replaced_and_tested() {
    check("{}", r#"[{"op":"replace","path":"","value":[1]}]"#, "[1]");
    check(
        "{}",
        r#"[{"op":"add","path":"","value":{}}]"#,
        r#"add operation does not apply: doc is missing path: "": missing value"#,
    );
    check("{}", r#"[{"op":"patch","path":"/a"}]"#, "Unexpected kind: patch");
}

#[test]
fn copies_are_bounded() {
    let doubling = r#"{"op":"copy","from":"/a","path":"/a/-"}"#;
    let patch = format!("[{}]", [doubling; 40].join(","));
    check(
        r#"{"a":[1]}"#,
        &patch,
        "copy operations add more than 1000000 values",
    );
}

/// Applies operations that are written `op path`, with the null of an expression, or `op=value path`.
#[track_caller]
fn check_null(operations: &[&'static str], expected: &str) {
    let operation = |text: &&'static str| {
        let (op, path) = text.split_once(' ').unwrap();
        let (op, value) = match op.split_once('=') {
            Some((op, value)) => (op, parse(value.as_bytes()).unwrap()),
            None => (op, Value::Null),
        };
        Operation {
            op: op.into(),
            path: path.into(),
            value: Some(value),
            ..Operation::default()
        }
    };
    let operations: Vec<Operation<'_>> = operations.iter().map(operation).collect();
    let document = parse(br#"{"a":null,"b":{},"c":[],"d":[1]}"#).unwrap();
    let result = match apply(document, &operations) {
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    };
    assert_eq!(result, expected, "{operations:?}");
}

#[test]
fn what_is_no_text_is_said_in_most_operations() {
    check(
        "{}",
        r#"[{"op":"replace","path":1}]"#,
        "replace operation failed to decode path: json: cannot unmarshal number into Go value of type string",
    );
    check(
        "{}",
        r#"[{"op":"add","path":1}]"#,
        "add operation failed to decode path: missing value",
    );
    check(
        "{}",
        r#"[{"op":"move","path":"/a"}]"#,
        "move operation failed to decode from: operation, missing from field: missing value",
    );
}

#[test]
fn the_null_of_an_expression_is_an_object_of_nothing() {
    let same = r#"{"a":null,"b":{},"c":[],"d":[1]}"#;
    let added = r#"{"a":null,"b":{},"c":[],"d":[1],"x":null}"#;
    check_null(&["test /b"], same);
    check_null(&["test /c"], same);
    check_null(&["test /a"], "testing value /a failed: test failed");
    check_null(&["test /d"], "testing value /d failed: test failed");
    check_null(&["test /x"], "testing value /x failed: test failed");
    check_null(&["add /x", "test /x"], added);
    check_null(&["add /x", "test={} /x"], added);
    check_null(&["add /x", "test=[] /x"], "testing value /x failed: test failed");
    check_null(
        &["add /x", "test=1 /x/y"],
        "testing value /x/y failed: test failed",
    );
    check_null(
        &["add /x", "remove /x/y"],
        "error in remove for path: '/x/y': Unable to remove nonexistent key: y: missing value",
    );
    check_null(
        &["add /x", "add=1 /x/y"],
        "error in add for path: '/x/y': null has no members",
    );
    check_null(&["replace "], "null");
}
