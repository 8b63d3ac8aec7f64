//! Corners that random comparison with the reference found: what expressions give there, and what that costs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may stop where it fails"
)]

use pratique_cel::{Arena, Context, Environment, Type, Value, json, library};

/// Everything that Kubernetes declares, the types of mutations included, and `object`; `absent` has no value.
fn environment() -> Environment {
    Environment::kubernetes()
        .with_library(library::json_patch())
        .with_library(library::mutation::library())
        .with_variable("object", Type::Dyn)
        .with_variable("absent", Type::Dyn)
}

/// Checks what an expression gives, or why it does not compile or gives nothing; and what it costs.
#[track_caller]
fn check(text: &str, expected: &str, cost: u64) {
    let (outcome, charged) = outcome(text);
    assert_eq!((outcome.as_str(), charged), (expected, cost), "{text}");
}

fn outcome(text: &str) -> (String, u64) {
    let environment = environment();
    let program = match environment.compile(text) {
        Ok(program) => program,
        Err(error) => return (error.to_string(), 0),
    };
    let object = json::parse(br#"{"a": 1, "n": null, "l": [1, 2]}"#).unwrap();
    let mut activation = environment.activation();
    activation.set(environment.slot("object").unwrap(), Value::from_json(&object));
    activation.set(environment.slot("absent").unwrap(), Value::Null);
    let arena = Arena::new();
    let context = Context::new(&arena, 1_000_000);
    let result = program.evaluate(&context, &activation);
    let text = result.map_or_else(|fault| fault.to_string(), |value| format!("{value:?}"));
    (text, context.cost())
}

/// The text of one fault of compiling.
fn compile_fault(text: &str, column: usize, problem: &str) -> String {
    let dots = ".".repeat(column - 1);
    format!("ERROR: <input>:1:{column}: {problem}\n | {text}\n | {dots}^")
}

#[test]
fn names_of_types_are_no_variables() {
    let undefined = "program instantiation failed: reference to undefined type: x";
    check("[int].map(x, x)", undefined, 0);
    check("[type(object)].filter(x, true)", undefined, 0);
    check("optional.of(int).optMap(x, 1)", undefined, 0);
    check("optional.of(int).optFlatMap(x, optional.of(1))", undefined, 0);
    check("{}.transformMap(x, y, 1)[type(1)]", undefined, 0);
    check("[int].exists_one(x, true)", "Bool(true)", 4);
}

#[test]
fn fields_without_a_type() {
    let untyped = "unexpected compilation error: missing type conversion to proto: ";
    check("JSONPatch{}.nope", untyped, 0);
    check("[JSONPatch{}.nope]", untyped, 0);
    check("[1].map(x, JSONPatch{}.nope)", untyped, 0);
    check("[JSONPatch{}.nope, JSONPatch{}.nope]", untyped, 0);
    check("JSONPatch{e: [][0]}", untyped, 0);
    check("JSONPatch{e: {}[[]]}", untyped, 0);
    check("optional.of(JSONPatch{}).nope", untyped, 0);
    check("JSONPatch{}.?nope", untyped, 0);
    let no_value = compile_fault(
        "JSONPatch{}.?a.value()",
        21,
        "found no matching overload for 'value' applied to 'optional_type().()'",
    );
    check("JSONPatch{}.?a.value()", &no_value, 0);
    let no_choice = compile_fault(
        "(true ? {}[1] : JSONPatch{}.n)",
        7,
        "found no matching overload for '_?_:_' applied to '(bool, , )'",
    );
    check("(true ? {}[1] : JSONPatch{}.n)", &no_choice, 0);
    check("has(JSONPatch{}.nope)", "unsupported field: nope", 41);
    check("JSONPatch{e: object}", "unexpected JSONPatchType field: e", 41);
}

#[test]
fn patches_are_no_maps() {
    check("dyn(JSONPatch{})[1]", "unsupported indexer: %!s(types.Int=1)", 43);
    check(
        "dyn(JSONPatch{})[true]",
        "unsupported indexer: %!s(types.Bool=true)",
        43,
    );
    let no_range = "got '*mutation.JSONPatchVal', expected iterable type";
    check("dyn(JSONPatch{op: 'a'}).map(x, x)", no_range, 41);
    check("dyn(JSONPatch{op: 'a'}).all(x, true)", no_range, 41);
    check(
        "dyn(JSONPatch{op: 'a'}).transformList(k, v, k)",
        "unsupported comprehension range type: *mutation.JSONPatchVal",
        41,
    );
}

#[test]
fn keys_of_a_wrong_type() {
    let invalid = |of: &str| format!("invalid qualifier type: {of}");
    check("{}[absent]", &invalid("<nil>"), 2);
    check("{}[object.n]", &invalid("types.Null"), 3);
    check("{}[dyn(absent)]", &invalid("types.Null"), 4);
    check("{}[dyn(format.byte())]", &invalid("cel.Format"), 4);
}

#[test]
fn keys_without_a_hash() {
    let unhashable = |of: &str| format!("internal error: runtime error: hash of unhashable type {of}");
    check("{format.date(): 1}", &unhashable("cel.Format"), 1);
    check("{semver('1.2.3'): 1}", &unhashable("cel.Semver"), 1);
    check("dyn(b'a') in {1: 1}", &unhashable("types.Bytes"), 0);
    check("dyn(semver('1.2.3')) in {'a': 1}", &unhashable("cel.Semver"), 2);
    check("dyn(b'a') in {}", "Bool(false)", 1);
    check("dyn(b'a') in object", "Bool(false)", 2);
    check(
        "{?dyn(b'a'): optional.none()}",
        "internal error: hash of unhashable type: types.Bytes",
        1,
    );
}

#[test]
fn errors_among_arguments() {
    check("object.zz.format([])", "no such key: zz", 2);
    check("'%s'.format(object.zz)", "no such key: zz", 3);
    let no_list = "internal error: interface conversion: *types.Err is not traits.Lister: missing method Add";
    check("[][1].sortBy(x, 1)", no_list, 4);
    check("(object.a.sortBy(x, 1) + object)", no_list, 4);
    check(
        "object.sortBy(x, 1)",
        "no such overload: @sortByAssociatedKeys",
        39,
    );
    let no_int = |of: &str| format!("internal error: interface conversion: ref.Val is {of}, not types.Int");
    check("[1].flatten(object)", &no_int("*types.baseMap"), 1);
    check("[1].flatten(object.zz)", &no_int("*types.Err"), 2);
    check("object.zz.flatten(object)", &no_int("*types.baseMap"), 3);
}

#[test]
fn the_least_integer() {
    check(
        "sign(quantity('1').sub(-9223372036854775808)) < 0",
        "Bool(true)",
        4,
    );
}

#[test]
fn sizes_within_optionals() {
    check(
        "sets.contains(dyn(optional.of([1, 2])), object)",
        "no such overload: sets.contains(optional_type, map)",
        7,
    );
}

#[test]
fn scalars_in_messages() {
    let unfit = |field: &str, problem: &str| {
        format!("field type conversion error for google.protobuf.{field} value type: {problem}")
    };
    check(
        "google.protobuf.Timestamp{seconds: object}",
        &unfit("Timestamp.seconds", "type conversion error from map to 'int64'"),
        41,
    );
    check(
        "google.protobuf.Timestamp{nanos: dyn(1u)}",
        &unfit(
            "Timestamp.nanos",
            "unsupported type conversion from 'uint' to int32",
        ),
        40,
    );
    check(
        "google.protobuf.Duration{nanos: 5000000000}",
        &unfit("Duration.nanos", "integer overflow"),
        40,
    );
    check(
        "google.protobuf.BytesValue{value: dyn('a')}",
        &unfit(
            "BytesValue.value",
            "unsupported native conversion from string to '[]uint8'",
        ),
        40,
    );
    check(
        "google.protobuf.Timestamp{seconds: dyn(optional.none())}",
        &unfit("Timestamp.seconds", "optional.none() dereference"),
        42,
    );
    check(
        "google.protobuf.Int64Value{value: dyn(optional.of(1))}",
        "Int(1)",
        42,
    );
}

#[test]
fn times_in_messages() {
    let taken = |key: &str| format!("insert failed: key {key} already exists");
    let twice = |key: &str| format!("[1, 2].transformMapEntry(i, x, {{{key}: 1}})");
    check(
        &twice("timestamp('2020-01-01T00:00:00.5Z')"),
        &taken("2020-01-01 00:00:00.5 +0000 UTC"),
        5,
    );
    check(
        &twice("timestamp('2020-01-01T00:00:00-02:30')"),
        &taken("2020-01-01 00:00:00 -0230 -0230"),
        5,
    );
    check(&twice("duration('1h')"), &taken("1h0m0s"), 5);
    check(&twice("duration('-90.5s')"), &taken("-1m30.5s"), 5);
    check(&twice("duration('1500us')"), &taken("1.5ms"), 5);
}

#[test]
fn zones_that_no_file_can_have() {
    check("timestamp(1).getHours('UTC\\000')", "invalid argument", 1);
    check("timestamp(1).getHours('Australia/')", "is a directory", 1);
    check("timestamp(1).getHours('UTC/')", "not a directory", 1);
}

#[test]
fn the_end_of_time() {
    check(
        "timestamp('9999-12-31T03:59:59Z').getHours('America/New_York')",
        "Int(22)",
        1,
    );
    let far = "google.protobuf.Timestamp{seconds: 9007199254740993}";
    check(&format!("{far}.getFullYear()"), "Int(285428751)", 41);
    check(&format!("{far} - duration('1s')"), "timestamp overflow", 41);
}

#[test]
fn keys_found_by_their_address() {
    let twice = |key: &str| format!("[1, 2].transformMapEntry(i, x, {{{key}: 1}}).size()");
    check(&twice("object.l"), "Int(2)", 70);
    check(&twice("[object.a]"), "Int(2)", 90);
    check(&twice("quantity('1')"), "Int(2)", 68);
    check(&twice("[]"), "insert failed: key [] already exists", 6);
    check(
        &twice("[].distinct()"),
        "insert failed: key [] already exists",
        88,
    );
    check(&twice("[].sortBy(k, k)"), "Int(2)", 94);
    check(&twice("optional.of([]).optMap(k, k).value()"), "Int(2)", 80);
    check(&twice("optional.of({}).optMap(k, k).value()"), "Int(2)", 80);
    check(
        "{'k': [1]}.transformMap(k, x, {x: 1} == {x: 1})['k']",
        "Bool(true)",
        69,
    );
}

#[test]
fn errors_within_lists_and_maps() {
    let unfit = |of: &str| format!("unsupported conversion to ref.Val: {of}");
    let quantity = unfit("(*resource.Quantity)1");
    check("Object{a: [quantity('1')]}.a.size()", "Int(1)", 54);
    check("Object{a: [quantity('1')]}.a[0]", &quantity, 54);
    check("Object{a: [quantity('1')]}.a.map(x, x)", &quantity, 67);
    check("Object{a: [quantity('1')]}.a[?0].orValue(1)", &quantity, 54);
    check("Object{a: {'k': ip('::1')}}.a.k", &unfit("(netip.Addr)::1"), 74);
    check("Object{a: [[1 > 0 ? 1 : 2]]}.a[0][0]", "Int(1)", 65);
    check(
        "{}[Object{a: quantity('1')}.a]",
        "invalid qualifier type: *resource.Quantity",
        44,
    );
    check(
        "Object{a: quantity('1')}.a[object]",
        "invalid qualifier type: *types.baseMap",
        44,
    );
    check("Object{a: quantity('1')}.a[?object.zz]", "no such key: zz", 44);
    check("has(Object{a: quantity('1')}.a.b)", &quantity, 43);
    check("Object{a: format.date()}.a.b", "no such key: b", 44);
    check(
        "{}[Object{a: format.date()}.a]",
        "invalid qualifier type: cel.Format",
        44,
    );
    check(
        "Object{a: Object.a{b: {1: 2}}}.a.b",
        r#"fail to convert field "b": map key '\x01' is of type types.Int, not string"#,
        83,
    );
}

#[test]
fn paths_of_conditionals() {
    let absent = |text: &str, cost: u64| check(text, "Bool(false)", cost);
    absent("(false ? object : optional.of({}).b).b.hasValue()", 2);
    absent(
        "(true ? (true ? optional.of(dyn(object)).z : optional.of(dyn(1))) : optional.of(dyn(1))).b.hasValue()",
        4,
    );
    check("(true ? [optional.of([])][0] : null)[1]", "no such key: 1", 13);
    check("(true ? optional.of([1]) : null)[0].value()", "Int(1)", 3);
    check("(true ? object.?l : optional.none())[1].value()", "Int(2)", 3);
    check(
        "has((true ? [optional.of({'a': 1})][0] : null).a)",
        "Bool(false)",
        12,
    );
}

#[test]
fn literals_of_calls_with_a_leading_dot() {
    let invalid = compile_fault(".duration('').getHours()", 11, "invalid duration argument");
    check(".duration('').getHours()", &invalid, 0);
}

#[test]
fn objects_within_messages() {
    let fits = |text: &str, cost: u64| check(text, "Bool(true)", cost);
    fits(
        "google.protobuf.ListValue{values: [Object{a: 1}]} == [{'a': 1}]",
        91,
    );
    fits(
        "google.protobuf.Struct{fields: {'b': Object.s{}}} == {'b': {}}",
        111,
    );
}

/// The operation of a request is an input that the reference sees through a type; the options are not.
#[test]
fn options_of_a_request() {
    let environment = environment().with_variable("request", Type::Dyn);
    let request = json::parse(
        br#"{"options": {"kind": "CreateOptions", "l": []}, "kind": {}, "l": [], "texts": ["a"]}"#,
    )
    .unwrap();
    let check = |text: &str, expected: &str| {
        let program = environment.compile(text).expect(text);
        let mut activation = environment.activation();
        activation.set(
            environment.slot("request").unwrap(),
            Value::from_typed_json(&request),
        );
        let arena = Arena::new();
        let context = Context::new(&arena, 1_000_000);
        let result = program.evaluate(&context, &activation);
        let shown = result.map_or_else(|fault| fault.to_string(), |value| format!("{value:?}"));
        assert_eq!(shown, expected, "{text}");
    };
    check("request.options == 1", "Bool(false)");
    check("request.options[1]", "no such key: 1");
    check("request['options'] == 1", "Bool(false)");
    check("request.options.l == 1", "Bool(false)");
    check("request.kind == 1", "no such overload");
    check("request.kind[1]", "unsupported map key type: types.Int");
    check(
        "dyn(request.kind) in request.kind",
        "unsupported map key type: *common.reflectSchemalessTypedStruct",
    );
    check("request.l == 1", "no such overload");
    check("request.texts[dyn(0u)]", "unsupported index type: types.Uint");
    check("{}[request.texts[dyn(0u)]]", "invalid qualifier type: *types.Err");
    check(
        "[request.texts].map(x, x[0.0])",
        "unsupported index type: types.Double",
    );
    check("Object{a: request.l} == Object{a: request.l}", "Bool(true)");
    check("Object{a: request.kind} == Object{a: request.kind}", "Bool(true)");
}
