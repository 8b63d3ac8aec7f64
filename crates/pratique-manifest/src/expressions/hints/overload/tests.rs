//! Help for operands, and whether what it suggests compiles.

use pratique_cel::{CompileError, Environment, Type};

use super::*;

#[test]
fn calls_are_read() {
    for (refused, function, receiver, arguments) in [
        (
            "_+_' applied to '(int, string)'",
            "_+_",
            None,
            vec!["int", "string"],
        ),
        (
            "contains' applied to 'list(map(string, dyn)).(map(int, int), dyn)'",
            "contains",
            Some("list(map(string, dyn))"),
            vec!["map(int, int)", "dyn"],
        ),
        (
            "sign' applied to 'optional_type(core/v1.Pod).()'",
            "sign",
            Some("optional_type(core/v1.Pod)"),
            vec![],
        ),
    ] {
        let call = RefusedCall::parse(refused).unwrap();
        assert_eq!(
            (call.function, call.receiver, call.arguments),
            (function, receiver, arguments),
            "{refused}"
        );
    }
    assert!(RefusedCall::parse("_+_").is_none());
    assert!(RefusedCall::parse("_+_' applied to '").is_none());
}

#[test]
fn operands_have_help() {
    for (refused, expected) in [
        (
            "_<_' applied to '(kubernetes.Quantity, kubernetes.Quantity)",
            "a.isLessThan(b)",
        ),
        (
            "_>=_' applied to '(kubernetes.Semver, kubernetes.Semver)",
            "a.isLessThan(b)",
        ),
        (
            "_<_' applied to '(kubernetes.Quantity, int)",
            "make the other side a quantity, too",
        ),
        (
            "_<_' applied to '(string, timestamp)",
            "one as well: timestamp('2025",
        ),
        ("_<_' applied to '(map(dyn, dyn), map(dyn, dyn))", "have an order"),
        ("_<_' applied to '(int, string)", "both sides need the same type"),
        (
            "_==_' applied to '(kubernetes.Quantity, string)",
            "one as well: quantity('1Gi')",
        ),
        ("_==_' applied to '(string, bool)", "never equal"),
        ("_!=_' applied to '(optional_type(dyn), bool)", "orValue(…)"),
        ("@in' applied to '(string, string)", "text.contains"),
        (
            "@in' applied to '(int, map(string, dyn))",
            "int(…), string(…) or dyn(…)",
        ),
        (
            "_+_' applied to '(kubernetes.Quantity, kubernetes.Quantity)",
            "a.add(b)",
        ),
        ("_+_' applied to '(list(int), int)", "put the value into […]"),
        (
            "_+_' applied to '(list(string), int)",
            "put the value into [string(…)]",
        ),
        ("_+_' applied to '(int, double)", "int(…), double(…) or dyn(…)"),
        ("_-_' applied to '(string, string)", "replace"),
        ("_[_]' applied to '(list(dyn), string)", "by its number"),
        ("_[_]' applied to '(string, int)", "charAt"),
        (
            "string' applied to '(kubernetes.Quantity)",
            "the text that it is made of",
        ),
        ("string' applied to '(list(string))", "list.join(', ')"),
        ("string' applied to '(list(core/v1.Container))", "of each element"),
        ("string' applied to '(core/v1.Container)", "a part of it"),
        ("int' applied to '(kubernetes.Quantity)", "asInteger()"),
        ("int' applied to '(list(dyn))", "size(…)"),
        ("bool' applied to '(int)", "!= 0"),
        ("quantity' applied to '(int)", "quantity(string(…))"),
        (
            "isLessThan' applied to 'kubernetes.Quantity.(string)",
            "quantity('1Gi')",
        ),
        (
            "isLessThan' applied to 'string.(string)",
            "quantity(…).isLessThan(quantity('1Gi'))",
        ),
        ("asInteger' applied to 'string.()", "quantity(…).asInteger()"),
        ("getFullYear' applied to 'string.()", "timestamp(…).getFullYear()"),
        ("getHost' applied to 'string.()", "url(…).getHost()"),
        (
            "startsWith' applied to 'list(string).(string)",
            "list.exists(x, x.startsWith('…'))",
        ),
        (
            "lowerAscii' applied to 'list(string).()",
            "list.map(x, x.lowerAscii())",
        ),
        ("startsWith' applied to 'string.(int)", "takes a text"),
        (
            "startsWith' applied to 'int.(string)",
            "string(…).startsWith('…')",
        ),
        ("contains' applied to '(string, string)", "text.contains('…')"),
        ("join' applied to 'list(int).(string)", "list.map(x, string(x))"),
        ("join' applied to 'string.()", "on a list of texts"),
        ("size' applied to '(int)", "have a size"),
        (
            "orValue' applied to 'optional_type(bool).(string)",
            "needs its type",
        ),
        (
            "orValue' applied to 'list(core/v1.Container).(list(dyn))",
            "object.?field",
        ),
    ] {
        let help = help_for_call(&format!("{refused}'")).unwrap_or_default();
        assert!(help.contains(expected), "{refused}: {help:?}");
    }
    assert_eq!(help_for_call("sets.contains' applied to '(int, int)'"), None);
}

/// Expressions of the types that operands have.
const OPERANDS: &[&str] = &[
    "text",
    "int",
    "uint",
    "double",
    "flag",
    "bytes",
    "null",
    "['a']",
    "[1]",
    "[{'name': dyn('a')}]",
    "[quantity(text)]",
    "[[1]]",
    "dyns",
    "{'a': 1}",
    "{'name': dyn('a')}",
    "quantity(text)",
    "semver(text)",
    "url(text)",
    "ip(text)",
    "cidr(text)",
    "timestamp(text)",
    "duration(text)",
    "object",
    "optional.of('a')",
    "optional.of(1)",
    "object.?a",
];

fn environment() -> Environment {
    Environment::kubernetes()
        .with_variable("object", Type::Dyn)
        .with_variable("text", Type::String)
        .with_variable("int", Type::Int)
        .with_variable("uint", Type::Uint)
        .with_variable("double", Type::Double)
        .with_variable("flag", Type::Bool)
        .with_variable("bytes", Type::Bytes)
        .with_variable("value", Type::Dyn)
        .with_variable("dyns", Type::List(Type::Dyn.into()))
}

/// Calls of functions that help is known for, with their operands.
fn calls() -> Vec<(String, Vec<&'static str>)> {
    let mut calls = Vec::new();
    let named = |functions: &'static [(&str, &str)]| functions.iter().map(|(name, _)| *name);
    let methods: Vec<&str> = named(ON_TEXTS)
        .chain(ON_MADE.iter().flat_map(|(_, functions)| named(functions)))
        .chain(["join", "orValue", "sign", "size"])
        .collect();
    let makers = || {
        OF_TEXT
            .iter()
            .copied()
            .chain(["string", "int", "uint", "double", "bool", "size"])
    };
    for left in OPERANDS {
        for function in makers() {
            calls.push((format!("{function}({left})"), vec![*left]));
        }
        for method in &methods {
            calls.push((format!("{left}.{method}()"), vec![*left]));
            calls.push((format!("{method}({left})"), vec![*left]));
        }
        calls.push((format!("!{left}"), vec![*left]));
        for right in OPERANDS.iter().step_by(2) {
            for operator in ["<", ">=", "==", "!=", "+", "-", "*", "/", "%", "&&", "||", "in"] {
                calls.push((format!("{left} {operator} {right}"), vec![*left, *right]));
            }
            calls.push((format!("{left}[{right}]"), vec![*left, *right]));
            calls.push((format!("true ? {left} : {right}"), vec![*left, *right]));
            calls.push((format!("{left} ? {right} : {right}"), vec![*left, *right]));
            for method in &methods {
                calls.push((format!("{left}.{method}({right})"), vec![*left, *right]));
            }
            for function in makers() {
                calls.push((format!("{function}({left}, {right})"), vec![*left, *right]));
            }
        }
    }
    calls
}

/// The parts of a help that are code: words with brackets or quotes, and what operators join.
fn code_of(help: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let depth_of = |word: &str| {
        let count = |signs: &str| word.chars().filter(|sign| signs.contains(*sign)).count();
        let is_open = word.matches('\'').count() % 2 == 1;
        (count("([{") - count(")]}")) + usize::from(is_open)
    };
    for word in help.split(' ') {
        match words.last_mut().filter(|last| depth_of(last) > 0) {
            Some(last) => {
                last.push(' ');
                last.push_str(word);
            }
            None => words.push(word.to_owned()),
        }
    }
    let clean = |word: &String| word.trim_end_matches([',', ';', ':']).to_owned();
    let mut code = Vec::new();
    let mut index = 0;
    while let Some(word) = words.get(index) {
        let mut piece = clean(word);
        let is_sign = |word: &&String| ["==", "!=", "<=", ">", "?", ":", "in"].contains(&word.as_str());
        let is_operand =
            |word: &str| word.contains(['(', '…', '\'', '[']) || ["value", "text"].contains(&word);
        let mut is_code = piece.contains(['(', '[']) && piece != "(";
        while is_operand(&piece) && piece == words[index] {
            let Some(sign) = words.get(index + 1).filter(is_sign) else {
                break;
            };
            let Some(right) = words
                .get(index + 2)
                .filter(|right| sign != "in" || clean(right) == "list")
            else {
                break;
            };
            piece = format!("{piece} {sign} {}", clean(right));
            is_code = true;
            index += 2;
            if clean(right) != *right {
                break;
            }
            words[index].clone_from(&piece);
        }
        if is_code {
            code.push(piece);
        }
        index += 1;
    }
    code
}

/// What may be meant by a part of a help, beside these operands.
fn meanings(code: &str, operands: &[&str]) -> Vec<String> {
    let quoted = code.replace("'…'", "text");
    let second = operands.get(1).unwrap_or(&"1");
    let mut meanings = Vec::new();
    for operand in operands {
        let mut meant = quoted.replace('…', operand);
        for (name, value) in [("a", operands[0]), ("b", *second)] {
            for (before, after) in [
                ("", ".add("),
                ("", ".sub("),
                ("", ".isLessThan("),
                ("", ".isGreaterThan("),
                ("", ".compareTo("),
                ("(", ")"),
            ] {
                meant = meant.replace(
                    &format!("{before}{name}{after}"),
                    &format!("{before}{value}{after}"),
                );
            }
        }
        meant = meant
            .replace("list.", &format!("{operand}."))
            .replace("list[", &format!("{operand}["));
        meant = meant.replace("in list", &format!("in {operand}"));
        meanings.push(format!("{operand}.{meant}"));
        meanings.push(format!("{operand}.{}", quoted.replace('…', "value")));
        meanings.push(meant);
    }
    meanings
}

#[test]
fn what_is_suggested_compiles() {
    let environment = environment();
    let (mut helped, mut wrong) = (0, Vec::new());
    for (call, operands) in calls() {
        let Err(CompileError::Issues { issues, .. }) = environment.compile(&call) else {
            continue;
        };
        let issue = &issues[0].message;
        let Some(refused) = issue.strip_prefix("found no matching overload for '") else {
            continue;
        };
        let Some(help) = help_for_call(refused) else {
            continue;
        };
        helped += 1;
        for code in code_of(&help) {
            let meanings = meanings(&code, &operands);
            if !meanings.iter().any(|meant| environment.compile(meant).is_ok()) {
                wrong.push(format!("{call}: {help}: {code}"));
            }
        }
        // What is converted fits afterwards.
        if help.starts_with("both sides need the same type: convert one") {
            let [left, right] = operands[..] else { continue };
            for function in code_of(&help) {
                let of = |operand: &str| function.replace('…', operand);
                let operator = call
                    .strip_prefix(left)
                    .and_then(|rest| rest.strip_suffix(right))
                    .unwrap_or_default();
                let mended = [
                    format!("{}{operator}{right}", of(left)),
                    format!("{left}{operator}{}", of(right)),
                ];
                let inner = format!("{left}{operator}[{}]", of("value"));
                if !mended
                    .iter()
                    .chain([&inner])
                    .any(|call| environment.compile(call).is_ok())
                    && operator.trim() != "in"
                {
                    wrong.push(format!("{call}: {help}: {function} does not mend it"));
                }
            }
        }
    }
    assert!(helped > 3_000, "{helped}");
    assert!(
        wrong.is_empty(),
        "{} of {helped}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
