//! CEL's extension for lists, version 3: `slice`, `flatten`, `sort`, `sortBy`, `distinct`, `reverse`, `lists.range`.
//!
//! Upstream: github.com/google/cel-go, ext/lists.go

use super::compare::comparable;
use super::sort;
use crate::context::Context;
use crate::cost::{self, CostFn, CostNeed};
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{CallFn, Function, Overload};
use crate::library::arguments::{int, list};
use crate::library::{bounds, results};
use crate::ops;
use crate::types::Type;
use crate::value::{Evaluation, List, Value};

/// The functions of the extension. Its macro `sortBy` is with the macros.
pub(crate) fn library() -> Library {
    let element = || Type::param("T");
    let list = || Type::list(element());
    let distinct_overload = Overload::new("list_distinct", true, &[list()], list())
        .implemented(distinct)
        .costing_by(0, CostNeed::List, compares_last);
    Library::from_functions(vec![
        slice_function(makes_result),
        flatten_function(list()),
        sorting("sort", "sort", &[], sort::sort),
        sorting(
            "@sortByAssociatedKeys",
            "sortByAssociatedKeys",
            &[list()],
            sort::sort_by_keys,
        ),
        range_function(makes_result),
        Function::new("reverse")
            .member("list_reverse", &[list()], list(), reverse)
            .costing(makes_result),
        Function::new("distinct").with(distinct_overload),
    ])
}

/// The functions whose failures cost something else since Kubernetes 1.38: what fails has no size, a negative depth counts nothing,
/// and one that is no integer is no crash.
// Upstream: cel-go v0.33, common/cost/model.go, lengthExpr.track and IntArg; before, ext/lists.go, trackListOutputSize and
// trackListFlatten
pub(crate) fn costs_since_1_38() -> Library {
    let makes: CostFn = |_, result| cost::makes_list(1.0, result.map_or(0, cost::size));
    let any = Type::list(Type::Dyn);
    let flatten = Overload::new("list_flatten_int", true, &[any.clone(), Type::Int], any);
    let flatten = flatten.costing(|arguments, _| {
        let depth = match arguments.get(1) {
            Some(Value::Int(depth)) => u64::try_from(*depth).unwrap_or(0),
            _ => 1,
        };
        cost::makes_list(1.0, cost::size_at(arguments, 0).saturating_mul(depth))
    });
    Library::from_functions(vec![
        slice_function(makes),
        range_function(makes),
        Function::new("flatten").with(flatten).singleton(flatten_to_any),
    ])
}

fn slice_function(cost: CostFn) -> Function {
    let list = || Type::list(Type::param("T"));
    Function::new("slice")
        .member("list_slice", &[list(), Type::Int, Type::Int], list(), slice)
        .costing(cost)
}

fn range_function(cost: CostFn) -> Function {
    Function::new("lists.range")
        .global("lists_range", &[Type::Int], Type::list(Type::Int), range)
        .costing(cost)
}

/// `flatten` for arguments of all types: it refuses them itself.
fn flatten_function(list: Type) -> Function {
    let (nested, any) = (Type::list(list.clone()), Type::list(Type::Dyn));
    Function::new("flatten")
        .with(Overload::new("list_flatten", true, &[nested], list).costing(flattening))
        .with(
            Overload::new("list_flatten_int", true, &[any.clone(), Type::Int], any).costing_by(
                1,
                CostNeed::Int,
                flattening,
            ),
        )
        .singleton(flatten)
}

/// A function that sorts by the last of its arguments, a list of each comparable type.
fn sorting(name: &str, suffix: &str, receiver: &[Type], call: CallFn) -> Function {
    let function = comparable()
        .iter()
        .fold(Function::new(name), |function, (_, of)| {
            let id = format!("list_{}_{suffix}", of.runtime_name());
            let keys = Type::list(of.clone());
            let result = receiver.first().unwrap_or(&keys).clone();
            let params: Vec<Type> = receiver.iter().cloned().chain([keys]).collect();
            let overload = Overload::new(&id, true, &params, result);
            function.with(overload.costing_by(receiver.len(), CostNeed::List, compares_last))
        });
    function.singleton(call)
}

fn slice<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let (list, start, end) = (list(arguments, 0)?, int(arguments, 1)?, int(arguments, 2)?);
    let refuse = |why: &str| Err(Fault::error(format!("cannot slice({start}, {end}), {why}")));
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return refuse("negative indexes not supported");
    };
    if from > to {
        return refuse("start index must be less than or equal to end index");
    }
    if to > list.len() {
        return refuse(&format!("list is length {}", list.len()));
    }
    bounds::check_elements(context, to - from)?;
    results::collected(
        context,
        (from..to).map(|index| list.get(index).unwrap_or(Value::Null)),
    )
}

fn flatten<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let (list, depth) = match arguments {
        [Value::List(list)] => (list, 1),
        [Value::List(list), Value::Int(depth)] => (list, *depth),
        _ => return Err(cannot_flatten(arguments)),
    };
    if depth < 0 {
        return Err(Fault::error("level must be non-negative"));
    }
    let mut flat = Vec::new();
    flatten_into(context, &mut flat, list, depth)?;
    Ok(results::list(context, &flat))
}

/// The same where a depth that is no integer is no crash.
fn flatten_to_any<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match arguments {
        [_, Value::Int(_)] => flatten(context, arguments),
        [list, depth] => {
            let (list, depth) = (full_type(list), full_type(depth));
            Err(Fault::error(format!("no such overload: {list}.flatten({depth})")))
        }
        _ => flatten(context, arguments),
    }
}

/// Lists nest no deeper than expressions and the input do, and so does the recursion.
fn flatten_into<'a>(
    context: &Context<'a>,
    flat: &mut Vec<Value<'a>>,
    list: &List<'a>,
    depth: i64,
) -> Result<(), Fault> {
    bounds::check_elements(context, flat.len().saturating_add(list.len()))?;
    for element in list.iter() {
        context.work(8)?;
        match element {
            Value::List(inner) if depth > 0 => flatten_into(context, flat, &inner, depth - 1)?,
            element => flat.push(element),
        }
    }
    Ok(())
}

/// The reference calls this function with arguments of any type, and computes its cost from them.
fn cannot_flatten(arguments: &[Value<'_>]) -> Fault {
    match arguments {
        [list] => Fault::error(format!("no such overload: {}.flatten()", full_type(list))),
        [list, Value::Int(_)] => Fault::error(format!("no such overload: {}.flatten(int)", full_type(list))),
        [_, depth] => {
            let depth = ops::go_type(depth);
            Fault::internal(format!("interface conversion: ref.Val is {depth}, not types.Int"))
        }
        _ => Fault::no_such_overload(),
    }
}

/// The name of a value's type with its parameters, which are not known at run time.
fn full_type<'a>(value: &Value<'a>) -> &'a str {
    match value {
        Value::Map(_) => "map(dyn, dyn)",
        Value::Optional(_) => "optional_type(dyn)",
        other => other.type_name(),
    }
}

/// The longest range.
const MAX_RANGE: i64 = 1_000_000;

fn range<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let size = int(arguments, 0)?;
    if size < 0 {
        return Err(Fault::error(format!(
            "lists.range: size must be non-negative, got {size}"
        )));
    }
    if size > MAX_RANGE {
        let text = format!("lists.range: size {size} exceeds maximum allowed ({MAX_RANGE})");
        return Err(Fault::error(text));
    }
    bounds::check_elements(context, usize::try_from(size).unwrap_or(usize::MAX))?;
    results::collected(context, (0..size).map(Value::Int))
}

fn reverse<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let list = list(arguments, 0)?;
    bounds::check_elements(context, list.len())?;
    let indices = (0..list.len()).rev();
    results::collected(
        context,
        indices.map(|index| list.get(index).unwrap_or(Value::Null)),
    )
}

fn distinct<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let list = list(arguments, 0)?;
    if list.is_empty() {
        return Ok(Value::List(list));
    }
    bounds::check_comparisons(list.len(), list.len())?;
    let mut unique: Vec<Value<'a>> = Vec::new();
    for element in list.iter() {
        if !ops::is_among(context, &element, &List::Values(&unique))? {
            unique.push(element);
        }
    }
    Ok(results::list(context, &unique))
}

pub(crate) fn makes_result(_: &[Value<'_>], result: Option<&Value<'_>>) -> u64 {
    cost::makes_list(1.0, result.map_or(1, cost::size))
}

fn flattening(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    let depth = match arguments.get(1) {
        Some(Value::Int(depth)) => *depth as f64,
        _ => 1.0,
    };
    cost::makes_list(depth, cost::size_at(arguments, 0))
}

/// Comparing all elements of the last argument with each other; strings and bytes, by the type of the first, cost more.
fn compares_last(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    let size = arguments.last().map_or(1, cost::size);
    let factor = match arguments.last() {
        Some(Value::List(list)) if matches!(list.get(0), Some(Value::String(_) | Value::Bytes(_))) => 2.1,
        _ => 2.0,
    };
    cost::makes_list(factor, size.saturating_mul(size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::testing::Caller;
    use Value::{Double, Int, String as Text};

    fn check(id: &str, arguments: &[Value<'_>], expected: &str, cost: u64) {
        Caller::new(library()).check(id, arguments, expected, cost);
    }

    fn list<'a>(elements: &'a [Value<'a>]) -> Value<'a> {
        Value::List(List::Values(elements))
    }

    #[test]
    fn parts() {
        let numbers = [Int(1), Int(2), Int(3)];
        let slice = |start, end, expected, cost| {
            check(
                "list_slice",
                &[list(&numbers), Int(start), Int(end)],
                expected,
                cost,
            )
        };
        slice(1, 3, "[2, 3]", 13);
        slice(3, 3, "[]", 11);
        slice(-1, 2, "cannot slice(-1, 2), negative indexes not supported", 12);
        slice(
            2,
            1,
            "cannot slice(2, 1), start index must be less than or equal to end index",
            12,
        );
        slice(0, 4, "cannot slice(0, 4), list is length 3", 12);
        check("list_reverse", &[list(&numbers)], "[3, 2, 1]", 14);
        check(
            "list_distinct",
            &[list(&[Int(1), Double(1.0), Text("1"), Int(1)])],
            "[1, '1']",
            43,
        );
        check("list_distinct", &[list(&[Text("a"), Text("a")])], "['a']", 19);
    }

    #[test]
    fn flattening() {
        let innermost = [Int(3)];
        let inner = [Int(2), list(&innermost)];
        let outer = [Int(1), list(&inner)];
        check("list_flatten", &[list(&outer)], "[1, 2, [3]]", 13);
        check("list_flatten_int", &[list(&outer), Int(2)], "[1, 2, 3]", 15);
        check("list_flatten_int", &[list(&outer), Int(0)], "[1, [2, [3]]]", 11);
        check(
            "list_flatten_int",
            &[list(&outer), Int(-1)],
            "level must be non-negative",
            13,
        );
        check("list_flatten", &[Int(1)], "no such overload: int.flatten()", 12);
        let wrong = "internal error: interface conversion: ref.Val is types.String, not types.Int";
        check("list_flatten_int", &[list(&outer), Text("a")], wrong, 13);
    }

    #[test]
    fn ranges() {
        check("lists_range", &[Int(3)], "[0, 1, 2]", 14);
        check(
            "lists_range",
            &[Int(-1)],
            "lists.range: size must be non-negative, got -1",
            12,
        );
        let too_long = "lists.range: size 1000001 exceeds maximum allowed (1000000)";
        check("lists_range", &[Int(1_000_001)], too_long, 12);
    }

    #[test]
    fn sorting() {
        check(
            "list_int_sort",
            &[list(&[Int(3), Int(1), Int(2)])],
            "[1, 2, 3]",
            29,
        );
        check(
            "list_string_sort",
            &[list(&[Text("b"), Text("a")])],
            "['a', 'b']",
            19,
        );
        check("list_int_sort", &[list(&[])], "[]", 11);
        check(
            "list_int_sort",
            &[list(&[Int(1), Text("a")])],
            "list elements must have the same type",
            19,
        );
        check(
            "list_int_sort",
            &[list(&[list(&[])])],
            "list elements must be comparable",
            13,
        );
        let by = |elements: &[Value<'_>], keys: &[Value<'_>], expected, cost| {
            check(
                "list_int_sortByAssociatedKeys",
                &[list(elements), list(keys)],
                expected,
                cost,
            );
        };
        by(
            &[Text("a"), Text("b"), Text("c")],
            &[Int(2), Int(1), Int(1)],
            "['b', 'c', 'a']",
            29,
        );
        let sizes = "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got 1 and 0 elements respectively";
        by(&[Int(1)], &[], sizes, 11);
    }

    #[test]
    fn long_lists_are_sorted_in_their_order() {
        let keys: Vec<Value<'_>> = (0..1_000).map(|index| Int(index * 7_919 % 10)).collect();
        let elements: Vec<Value<'_>> = (0..1_000).map(Int).collect();
        let mut expected: Vec<i64> = (0..1_000).collect();
        expected.sort_by_key(|index| index * 7_919 % 10);
        let expected: Vec<String> = expected.iter().map(i64::to_string).collect();
        let expected = format!("[{}]", expected.join(", "));
        check(
            "list_int_sortByAssociatedKeys",
            &[list(&elements), list(&keys)],
            &expected,
            2_000_011,
        );
        let nan: Vec<Value<'_>> = (0..100)
            .map(|index| {
                Double(if index % 3 == 0 {
                    f64::NAN
                } else {
                    -f64::from(index)
                })
            })
            .collect();
        let sorted = Caller::new(library());
        assert!(sorted.call("list_double_sort", &[list(&nan)]).is_ok());
    }
}
