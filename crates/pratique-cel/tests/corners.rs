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
    library::kubernetes()
        .with_library(library::json_patch())
        .with_library(library::mutation::library())
        .with_variable("object", Type::Dyn)
        .with_variable("absent", Type::Dyn)
}

/// Checks what an expression gives, or why it does not compile or gives nothing; and what it costs.
#[track_caller]
fn check(text: &str, expected: &str, cost: u64) {
    let (outcome, own) = outcome(text);
    assert_eq!((outcome.as_str(), own), (expected, cost), "{text}");
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
