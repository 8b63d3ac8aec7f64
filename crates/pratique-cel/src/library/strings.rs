//! CEL's extension for strings, version 2: searching, cutting, joining, quoting and formatting.
//!
//! Upstream: github.com/google/cel-go, ext/strings.go

mod calls;
mod format;

use crate::cost;
use crate::environment::Library;
use crate::function::{Function, Overload};
use crate::types::Type;
use crate::value::Value;

const STRING: Type = Type::String;
const INT: Type = Type::Int;

/// CEL's extension for strings, version 2: `split`, `join`, `replace`, `format`, `strings.quote` …
pub fn library() -> Library {
    let mut functions = searching();
    functions.extend(cutting());
    functions.extend(making());
    Library::from_functions(functions)
}

fn searching() -> Vec<Function> {
    let char_at = [("string_char_at_int", &[STRING, INT][..])];
    let index_of = [
        ("string_index_of_string", &[STRING, STRING][..]),
        ("string_index_of_string_int", &[STRING, STRING, INT]),
    ];
    let last_index_of = [
        ("string_last_index_of_string", &[STRING, STRING][..]),
        ("string_last_index_of_string_int", &[STRING, STRING, INT]),
    ];
    vec![
        Function::new("charAt").members(&STRING, calls::char_at, &char_at),
        Function::new("indexOf")
            .members(&INT, calls::index_of, &index_of)
            .traversing(),
        Function::new("lastIndexOf")
            .members(&INT, calls::last_index_of, &last_index_of)
            .traversing(),
    ]
}

fn cutting() -> Vec<Function> {
    let substring = [
        ("string_substring_int", &[STRING, INT][..]),
        ("string_substring_int_int", &[STRING, INT, INT]),
    ];
    let split = [
        ("string_split_string", &[STRING, STRING][..]),
        ("string_split_string_int", &[STRING, STRING, INT]),
    ];
    vec![
        Function::new("substring")
            .members(&STRING, calls::substring, &substring)
            .costing_always(cost::reads_first),
        Function::new("split")
            .members(&Type::list(STRING), calls::split, &split)
            .costing_always(cost::reads_first_twice),
        Function::new("trim")
            .member("string_trim", &[STRING], STRING, calls::trim)
            .costing_always(cost::reads_first),
    ]
}

fn making() -> Vec<Function> {
    let strings = || Type::list(STRING);
    let replace = [
        ("string_replace_string_string", &[STRING, STRING, STRING][..]),
        ("string_replace_string_string_int", &[STRING, STRING, STRING, INT]),
    ];
    let join = [
        ("list_join", &[strings()][..]),
        ("list_join_string", &[strings(), STRING]),
    ];
    let format = Overload::new("string_format", true, &[STRING, Type::list(Type::Dyn)], STRING);
    vec![
        Function::new("lowerAscii")
            .member("string_lower_ascii", &[STRING], STRING, calls::lower_ascii)
            .costing_always(cost::reads_first),
        Function::new("upperAscii")
            .member("string_upper_ascii", &[STRING], STRING, calls::upper_ascii)
            .costing_always(cost::reads_first),
        Function::new("replace")
            .members(&STRING, calls::replace, &replace)
            .costing_always(cost::reads_first_twice),
        Function::new("join")
            .members(&STRING, calls::join, &join)
            .costing_always(makes_result),
        Function::new("strings.quote")
            .global("strings_quote", &[STRING], STRING, calls::quote)
            .costing(reads_any),
        Function::new("format").with(format.implemented(format::call).costing(reads_any).sequential()),
    ]
}

/// The cost of reading the first argument, for functions that the reference charges like those of the standard library.
fn reads_any(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    cost::traversal(arguments.first().map_or(1, crate::ops::cost_size))
}

fn makes_result(_: &[Value<'_>], result: Option<&Value<'_>>) -> u64 {
    cost::traversal(result.map_or(1, cost::size).saturating_mul(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::testing::Caller;
    use crate::value::List;
    use Value::{Int, String as Text};

    #[test]
    fn calls() {
        let caller = Caller::new(library());
        let check =
            |id, arguments: &[Value<'static>], expected, cost| caller.check(id, arguments, expected, cost);
        check("string_char_at_int", &[Text("aé"), Int(1)], "'é'", 1);
        check(
            "string_char_at_int",
            &[Text("aé"), Int(3)],
            "index out of range: 3",
            1,
        );
        check("string_index_of_string", &[Text("tacocat"), Text("c")], "2", 0);
        check(
            "string_index_of_string_int",
            &[Text("tacocat tacocat"), Text("c"), Int(3)],
            "4",
            1,
        );
        check(
            "string_last_index_of_string",
            &[Text("tacocat"), Text("ta")],
            "0",
            0,
        );
        check(
            "string_last_index_of_string_int",
            &[Text("tacocat"), Text("c"), Int(3)],
            "2",
            0,
        );
        check("string_substring_int", &[Text("tacocat"), Int(4)], "'cat'", 1);
        check(
            "string_substring_int_int",
            &[Text("tacocat"), Int(4), Int(2)],
            "invalid substring range. start: 4, end: 2",
            1,
        );
        check("string_split_string", &[Text("a,b"), Text(",")], "['a', 'b']", 1);
        check(
            "string_split_string_int",
            &[Text("a,b"), Text(","), Int(1)],
            "['a,b']",
            1,
        );
        check("string_trim", &[Text(" a ")], "'a'", 1);
        check("string_lower_ascii", &[Text("AÉ")], "'aÉ'", 1);
        check("string_upper_ascii", &[Text("aé")], "'Aé'", 1);
        check(
            "string_replace_string_string",
            &[Text("banana"), Text("a"), Text("o")],
            "'bonono'",
            2,
        );
        check(
            "string_replace_string_string_int",
            &[Text("banana"), Text("a"), Text("o"), Int(1)],
            "'bonana'",
            2,
        );
        check("strings_quote", &[Text("a\"b")], r#"'"a\"b"'"#, 1);
        check("string_char_at_int", &[Int(1), Int(1)], "no such overload", 1);
    }

    #[test]
    fn joins() {
        let caller = Caller::new(library());
        let check = |list: &[Value<'static>], separator: Option<&'static str>, expected, cost| {
            let list = Value::List(List::Values(list));
            match separator {
                Some(separator) => caller.check("list_join_string", &[list, Text(separator)], expected, cost),
                None => caller.check("list_join", &[list], expected, cost),
            }
        };
        check(&[Text("a"), Text("b")], None, "'ab'", 1);
        check(
            &[Text("a"), Text("b"), Text("cdef")],
            Some(", "),
            "'a, b, cdef'",
            2,
        );
        check(&[], Some("-"), "''", 0);
        check(&[Text("a"), Int(1)], None, "join: invalid input: 1", 1);
    }

    #[test]
    fn formats() {
        let caller = Caller::new(library());
        let elements = [Int(1), Text("a")];
        let arguments = [Text("%s of %d"), Value::List(List::Values(&elements))];
        let expected =
            "error during formatting: decimal clause can only be used on integers, was given string";
        caller.check("string_format", &arguments, expected, 1);
        let arguments = [Text("%d of %s"), Value::List(List::Values(&elements))];
        caller.check("string_format", &arguments, "'1 of a'", 1);
    }

    #[test]
    fn what_would_be_too_large_is_not_made() {
        let caller = Caller::new(library());
        let long = "a".repeat(1 << 16);
        let text = Text(&long);
        let stopped = |id, arguments: &[Value<'_>]| {
            let caller = Caller::new(library());
            let result = caller
                .call(id, arguments)
                .map(|_| ())
                .map_err(|fault| fault.to_string());
            assert_eq!(
                result,
                Err("operation cancelled: actual cost limit exceeded".to_owned()),
                "{id}"
            );
        };
        stopped("string_replace_string_string", &[text, Text(""), text]);
        stopped("string_replace_string_string", &[text, Text("a"), text]);
        let elements = [text; 1 << 11];
        let list = Value::List(List::Values(&elements));
        stopped("list_join", &[list]);
        stopped("string_format", &[Text("%s"), list]);
        let arguments = [text, Text("b"), text];
        assert!(caller.call("string_replace_string_string", &arguments).is_ok());
        let arguments = [text, Text("a"), text, Int(3)];
        assert!(
            caller
                .call("string_replace_string_string_int", &arguments)
                .is_ok()
        );
    }
}
