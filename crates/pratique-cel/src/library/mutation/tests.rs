//! Mutations' types, at work.

use pratique_json::Progress;

use super::*;
use crate::Environment;
use crate::arena::Arena;

/// What an expression gives as JSON; or its fault.
fn run(text: &str) -> String {
    run_with(library(), text)
}

fn run_with(library: Library, text: &str) -> String {
    let environment = Environment::kubernetes()
        .with_library(library)
        .with_variable("object", Type::Dyn);
    let program = match environment.compile(text) {
        Ok(program) => program,
        Err(error) => return error.to_string(),
    };
    let object = pratique_json::parse(br#"{"a": [1, {"b": null}], "c": 1.0}"#).expect("well-formed");
    let mut activation = environment.activation();
    if let Some(slot) = environment.slot("object") {
        activation.set(slot, Value::from_json(&object));
    }
    let arena = Arena::new();
    let context = Context::new(&arena, u64::MAX);
    match program.evaluate(&context, &activation) {
        Ok(value) => to_json(&value).map_or_else(|error| error.to_string(), |json| json.to_string()),
        Err(fault) => fault.to_string(),
    }
}

fn check(text: &str, expected: &str) {
    assert_eq!(run(text), expected, "{text}");
}

#[test]
fn objects_have_any_field() {
    check(
        "Object{spec: Object.spec{b: [1, 2], a: 'x'}}",
        r#"{"spec":{"a":"x","b":[1,2]}}"#,
    );
    check("Object{a: 1}.a + 1", "2");
    check("Object{a: 1}.b", "null");
    check("has(Object{a: 1}.a) && !has(Object{a: 1}.b)", "true");
    check("Object{a: Object.a{b: 1}}.a.c", "no such key: c");
    check("dyn(Object{a: 1}).a", "no such key: a");
    check("Object{a: 1}.?a.hasValue()", "false");
    check("Object{?a: optional.none(), ?b: optional.of(1)}", r#"{"b":1}"#);
    check("type(Object{}) == type", "true");
}

#[test]
fn joined_lists_are_read_element_by_element_before_1_37() {
    let text = "Object{a: [[dyn(type(1))]] + [[dyn('b')]]}.a[0][0] == 'int'";
    assert_eq!(run_with(library(), text), "true");
    assert_eq!(run_with(library_before_1_37(), text), "false");
    // A list of texts is one of Go.
    check("Object{a: 'a,b'.split(',')}", r#"{"a":["a","b"]}"#);
    check("Object{a: ['a,b'.split(',')]}", "no JSON form for []string");
}

#[test]
fn objects_are_equal_to_the_last_bit() {
    check("Object{a: 1} == Object{a: 1}", "true");
    check("Object{a: 1} == Object{a: 1.0}", "false");
    check(
        "Object{a: {'x': Object.b{}}} == Object{a: {'x': Object.b{}}}",
        "true",
    );
    check("Object{a: [1]} == Object{a: [1]}", "false");
    check("dyn(Object{}) == dyn({})", "false");
    let quantities = |left: &str, right: &str, same: bool| {
        check(
            &format!("Object{{a: quantity('{left}')}} == Object{{a: quantity('{right}')}}"),
            &same.to_string(),
        );
    };
    quantities("1", "1", true);
    quantities("0.5Gi", "0.50Gi", true);
    quantities("1n", ".000000001", false);
    quantities("1000m", "1", false);
    quantities("0", "00", false);
}

#[test]
fn patches_have_four_fields() {
    check(
        "[JSONPatch{op: 'add', path: '/a', value: b'ab'}]",
        r#"[{"op":"add","path":"/a","value":"YWI="}]"#,
    );
    check("JSONPatch{op: 'add'}.path", "\"\"");
    check("JSONPatch{}.value", "null");
    check(
        "has(JSONPatch{value: null}.value) && !has(JSONPatch{op: ''}.op)",
        "true",
    );
    check("dyn(JSONPatch{}).x", "unsupported indexer: x");
    check(
        "JSONPatch{op: dyn(1)}",
        "unexpected type int64 for JSONPatchType 'op' field",
    );
    check("JSONPatch{value: 1} == JSONPatch{value: 1.0}", "true");
    check("JSONPatch{value: 1} == JSONPatch{}", "false");
}

#[test]
fn only_plain_data_in_objects_has_a_form() {
    check(
        "Object{a: object.c, b: type(1), c: optional.of([true])}",
        r#"{"a":1,"b":"int","c":[true]}"#,
    );
    check("Object{a: null}", "no JSON form for structpb.NullValue");
    check("Object{a: object.a}", "no JSON form for structpb.NullValue");
    check("JSONPatch{value: object.a}", r#"{"value":[1,{"b":null}]}"#);
    check(
        "Object{a: {1: 2}}",
        r#"fail to convert field "a": map key '\x01' is of type types.Int, not string"#,
    );
    check("Object{a: [{1: 2}]}", "map key of type int");
    check("Object{a: [object.a]}", r#"{"a":[[1,{"b":null}]]}"#);
    check("Object{a: [[duration('1s')]]}", r#"{"a":[["1s"]]}"#);
    check(
        "Object{a: [[duration('1s')] + [duration('2s')]]}",
        "no JSON form for time.Duration",
    );
    check("JSONPatch{value: duration('90s')}", r#"{"value":"90s"}"#);
}

#[test]
fn names_of_types_follow_the_fields() {
    let names_of = |text: &str, joins_values: bool| {
        let environment = Environment::kubernetes().with_library(library());
        let program = environment.compile(text).expect("well-formed");
        let arena = Arena::new();
        let context = Context::new(&arena, u64::MAX);
        let value = program
            .evaluate(&context, &environment.activation())
            .expect("a value");
        check_type_names(&value, joins_values, &Progress::unwatched()).map_err(|errors| errors.to_string())
    };
    let names = |text: &str| names_of(text, false);
    let joined = "Object{spec: Object.spec{l: [Object.spec.m{}] + [Object.spec.m{}]}}";
    assert_eq!(names(joined), Ok(()));
    assert!(names_of(joined, true).is_err());
    assert_eq!(
        names("Object{spec: Object.spec{l: [Object.spec.l{}], m: {'x': Object.spec.m{}}}}"),
        Ok(())
    );
    assert_eq!(
        names("Object{spec: Object.metadata{}}"),
        Err(
            "unexpected type name \"Object.metadata\", expected \"Object.spec\", \
             which matches field name path from root Object type"
                .to_owned()
        )
    );
}
