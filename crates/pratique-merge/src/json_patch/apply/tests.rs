//! One table for all operations.

use pratique_json::{Progress, Value, parse};

use super::super::{Error, Operation, apply, decode};

#[track_caller]
fn check(document: &str, patch: &str, expected: &str) {
    let document = parse(document.as_bytes()).unwrap().into_owned();
    let operations = decode(&parse(patch.as_bytes()).unwrap()).unwrap();
    let result = match apply(document, &operations, &Progress::unwatched()) {
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

/// The outcome of a patch that does not change the document for the reader.
#[track_caller]
fn check_copies(document: &str, patch: &str, expected: &str) {
    let document = parse(document.as_bytes()).unwrap();
    let operations = decode(&parse(patch.as_bytes()).unwrap()).unwrap();
    let result = apply(document, &operations, &Progress::unwatched());
    assert_eq!(
        result.map_or_else(|error| error.to_string(), |_| "applies".to_owned()),
        expected
    );
}

#[test]
fn copies_are_bounded() {
    let doubling = r#"{"op":"copy","from":"/a","path":"/a/-"}"#;
    check_copies(
        r#"{"a":[1]}"#,
        &format!("[{}]", [doubling; 40].join(",")),
        "Unable to complete the copy, the accumulated size increase of copy is 4194280, exceeding the limit 3145728",
    );
}

#[test]
fn copies_are_counted_in_bytes_of_json() {
    let exceeding = |bytes: usize| {
        format!(
            "Unable to complete the copy, the accumulated size increase of copy is {bytes}, exceeding the limit 3145728"
        )
    };
    let copies = |from: &[&str]| {
        let copy = |from: &&str| format!(r#"{{"op":"copy","from":"/{from}","path":"/x"}}"#);
        let moved = r#"{"op":"move","from":"/x","path":"/y"},{"op":"move","from":"/y","path":"/x"}"#;
        format!(
            "[{},{moved}]",
            from.iter().map(copy).collect::<Vec<_>>().join(",")
        )
    };
    // A mebibyte with its quotes; angle brackets take six bytes, and null of the document none.
    let document = format!(
        r#"{{"text":"{}","less":"{}","one":1,"none":null,"list":[{{"a":"<"}},null]}}"#,
        "x".repeat((1 << 20) - 2),
        "<".repeat(600_000),
    );
    let check = |from: &[&str], expected: &str| check_copies(&document, &copies(from), expected);
    check(&["text", "text", "text"], "applies");
    check(&["text", "text", "text", "none", "missing"], "applies");
    check(&["text", "text", "text", "one"], &exceeding(3_145_729));
    check(&["text", "text", "text", "text"], &exceeding(4_194_304));
    check(&["less"], &exceeding(3_600_002));
    check(&["text", "text", "text", "list"], &exceeding(3_145_728 + 21));
    check(&["text", "text", "text", "list/0"], &exceeding(3_145_728 + 14));
}

#[test]
fn nesting_is_bounded() {
    let copy = |times: usize| {
        let copy = |at: usize| {
            format!(
                r#"{{"op":"copy","from":"/a","path":"/a{}"}}"#,
                "/a".repeat(at + 1)
            )
        };
        format!("[{}]", (0..times).map(copy).collect::<Vec<_>>().join(","))
    };
    // Each copy nests what it copies once more than the one before.
    check_copies(r#"{"a":{}}"#, &copy(19), "applies");
    check_copies(r#"{"a":{}}"#, &copy(1000), "exceeded max depth");
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let path = |times: usize| "/0".repeat(times);
    let document = format!("[{deep},{deep},1]");
    let add = |at: usize| format!(r#"[{{"op":"add","path":"{}","value":{deep}}}]"#, path(at));
    check_copies(&document, &add(100), "applies");
    check_copies(&document, &add(101), "exceeded max depth");
    let moved = |at: usize| format!(r#"[{{"op":"move","from":"/1","path":"{}"}}]"#, path(at));
    check_copies(&document, &moved(100), "applies");
    check_copies(&document, &moved(101), "exceeded max depth");
}

/// Applies as many operations, each made from its number.
#[track_caller]
fn check_many(
    document: &str,
    many: usize,
    operation: impl Fn(usize) -> (&'static str, String),
) -> Value<'static> {
    let operations: Vec<Operation<'_>> = (0..many)
        .map(|number| {
            let (op, path) = operation(number);
            Operation {
                op: op.into(),
                path: path.into(),
                value: Some(Value::Int(number as i64)),
                ..Operation::default()
            }
        })
        .collect();
    let document = parse(document.as_bytes()).unwrap().into_owned();
    let began = std::time::Instant::now();
    let patched = apply(document, &operations, &Progress::unwatched())
        .unwrap()
        .into_owned();
    // Minutes where each operation moves all that is there.
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
    patched
}

#[test]
fn many_operations_take_time_by_their_number() {
    const MANY: usize = 300_000;
    let patched = check_many(r#"{"a":[]}"#, MANY, |_| ("add", "/a/0".to_owned()));
    let elements = patched.get("a").and_then(Value::as_array).unwrap();
    let numbers = (0..MANY as i64).rev().map(Value::Int);
    assert!(elements.iter().cloned().eq(numbers));

    let ends = |number: usize| if number.is_multiple_of(2) { "/a/0" } else { "/a/-" };
    check_many(r#"{"a":[]}"#, MANY, |number| ("add", ends(number).to_owned()));

    let patched = check_many(r#"{"a":{}}"#, MANY, |number| {
        ("add", format!("/a/{:06}", MANY - number))
    });
    let members = patched.get("a").and_then(Value::as_object).unwrap();
    assert_eq!(members.len(), MANY);
    assert!(members.members().is_sorted_by(|(a, _), (b, _)| a < b));

    let array = format!(r#"{{"a":[{}0]}}"#, "1,".repeat(MANY));
    let patched = check_many(&array, MANY, |_| ("remove", "/a/0".to_owned()));
    assert_eq!(patched.to_string(), r#"{"a":[0]}"#);
}

#[test]
fn callers_interrupt() {
    let operation = Operation {
        op: "add".into(),
        path: "/a/-".into(),
        value: Some(Value::Int(1)),
        ..Operation::default()
    };
    let operations = vec![operation; 10_000];
    let asked = std::cell::Cell::new(0);
    let third = || {
        asked.set(asked.get() + 1);
        asked.get() == 3
    };
    let document = || parse(br#"{"a":[]}"#).unwrap();
    assert_eq!(
        apply(document(), &operations, &Progress::new(&third)).unwrap_err(),
        Error::Interrupted
    );
    assert_eq!(asked.get(), 3);

    // Large values count by their size.
    let large = Operation {
        op: "test".into(),
        path: "/a".into(),
        value: Some(Value::from("x".repeat(100_000))),
        ..Operation::default()
    };
    assert_eq!(
        apply(document(), &[large], &Progress::new(&|| true)).unwrap_err(),
        Error::Interrupted
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
    let result = match apply(document, &operations, &Progress::unwatched()) {
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
