//! Kubernetes' functions of lists: `isSorted`, `sum`, `min`, `max`, `indexOf`, `lastIndexOf`, `includes`.
//!
//! Upstream: k8s.io/apiserver/pkg/cel/library/lists.go

use std::cmp::Ordering;

use super::compare::{comparable, is_ordered};
use crate::context::Context;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{CallFn, Function};
use crate::library::arguments::list;
use crate::ops;
use crate::time::Duration;
use crate::types::Type;
use crate::value::{Evaluation, Value};

/// Version 0 of the library.
pub(crate) fn library() -> Library {
    Library::from_functions(functions())
}

/// Kubernetes' functions of lists: `isSorted`, `sum`, `min`, `max`, `indexOf`, `lastIndexOf`, `includes`.
pub fn library_with_includes() -> Library {
    let params = [Type::Dyn, Type::Dyn];
    let includes = Function::new("includes").member("list_includes_dyn_dyn", &params, Type::Bool, includes);
    let mut functions = functions();
    functions.push(includes.traversing());
    Library::from_functions(functions)
}

fn functions() -> Vec<Function> {
    let element = Type::param("A");
    let params = [Type::list(element.clone()), element];
    let sorted = |_: &str| "is_sorted_bool".to_owned();
    let functions = [
        for_comparable("isSorted", sorted, |_| Type::Bool, is_sorted),
        sums(),
        for_comparable("max", |name| format!("max_{name}"), Type::clone, max),
        for_comparable("min", |name| format!("min_{name}"), Type::clone, min),
        Function::new("indexOf").member("list_a_index_of_int", &params, Type::Int, index_of),
        Function::new("lastIndexOf").member("list_a_last_index_of_int", &params, Type::Int, last_index_of),
    ];
    functions.into_iter().map(Function::traversing).collect()
}

/// A function with an overload `list_TYPE_…` for lists of each comparable type.
fn for_comparable(
    name: &str,
    suffix: fn(&str) -> String,
    result: fn(&Type) -> Type,
    call: CallFn,
) -> Function {
    comparable()
        .iter()
        .fold(Function::new(name), |function, (type_name, of)| {
            let id = format!("list_{type_name}_{}", suffix(type_name));
            function.member(&id, &[Type::list(of.clone())], result(of), call)
        })
}

/// The sum of an empty list is the zero of its type.
fn sums() -> Function {
    let overloads: [(&str, Type, CallFn); 4] = [
        ("int", Type::Int, |context, arguments| {
            sum(context, Value::Int(0), arguments)
        }),
        ("uint", Type::Uint, |context, arguments| {
            sum(context, Value::Uint(0), arguments)
        }),
        ("double", Type::Double, |context, arguments| {
            sum(context, Value::Double(0.0), arguments)
        }),
        ("duration", Type::Duration, |context, arguments| {
            sum(context, Value::Duration(Duration::from_nanos(0)), arguments)
        }),
    ];
    overloads
        .into_iter()
        .fold(Function::new("sum"), |function, (name, of, call)| {
            function.member(
                &format!("list_{name}_sum_{name}"),
                &[Type::list(of.clone())],
                of,
                call,
            )
        })
}

fn sum<'a>(context: &Context<'a>, zero: Value<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    list(arguments, 0)?.iter().try_fold(zero, |sum, element| {
        context.work(ELEMENT)?;
        ops::add(context, &sum, &element)
    })
}

/// The work of looking at an element.
const ELEMENT: u64 = 8;

/// Elements that have no order among each other count as sorted.
fn is_sorted<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let mut previous: Option<Value<'a>> = None;
    for element in list(arguments, 0)?.iter() {
        require_order(&element)?;
        if let Some(previous) = previous
            && is_ordered(context, &previous, &element, Ordering::Greater)?
        {
            return Ok(Value::Bool(false));
        }
        previous = Some(element);
    }
    Ok(Value::Bool(true))
}

fn max<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    extreme(context, "max", Ordering::Less, arguments)
}

fn min<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    extreme(context, "min", Ordering::Greater, arguments)
}

/// The first element that stands in the order `worse` to no later one.
fn extreme<'a>(
    context: &Context<'a>,
    name: &str,
    worse: Ordering,
    arguments: &[Value<'a>],
) -> Evaluation<'a> {
    let mut best: Option<Value<'a>> = None;
    for element in list(arguments, 0)?.iter() {
        require_order(&element)?;
        let is_better = match &best {
            Some(best) => is_ordered(context, best, &element, worse)?,
            None => true,
        };
        if is_better {
            best = Some(element);
        }
    }
    best.ok_or_else(|| Fault::error(format!("{name} called on empty list")))
}

fn index_of<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    position(context, arguments, &mut (0..list(arguments, 0)?.len()))
}

fn last_index_of<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    position(context, arguments, &mut (0..list(arguments, 0)?.len()).rev())
}

/// The first of some indices whose element is equal to the second argument, or −1.
fn position<'a>(
    context: &Context<'a>,
    arguments: &[Value<'a>],
    indices: &mut dyn Iterator<Item = usize>,
) -> Evaluation<'a> {
    let (list, wanted) = (
        list(arguments, 0)?,
        arguments.get(1).ok_or_else(Fault::no_such_overload)?,
    );
    let of_pair = ops::pair(wanted);
    for index in indices {
        context.work(of_pair)?;
        if let Some(element) = list.get(index)
            && ops::surely_equal(context, &element, wanted)?
        {
            return i64::try_from(index).map(Value::Int).map_err(Fault::from_display);
        }
    }
    Ok(Value::Int(-1))
}

/// Whether a list has an equal element; anything else includes what it is equal to.
fn includes<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let [target, wanted] = arguments else {
        return Err(Fault::no_such_overload());
    };
    let Value::List(list) = target else {
        return ops::surely_equal(context, target, wanted).map(Value::Bool);
    };
    let of_pair = ops::pair(wanted);
    for element in list.iter() {
        context.work(of_pair)?;
        if ops::surely_equal(context, &element, wanted)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn require_order(value: &Value<'_>) -> Result<(), Fault> {
    if ops::has_order(value) {
        Ok(())
    } else {
        Err(Fault::no_such_overload())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::testing::Caller;
    use crate::value::List;
    use Value::{Double, Int, Null, String as Text};

    fn check(id: &str, list: &[Value<'_>], expected: &str, cost: u64) {
        Caller::new(library_with_includes()).check(id, &[Value::List(List::Values(list))], expected, cost);
    }

    #[test]
    fn orders() {
        check(
            "list_int_is_sorted_bool",
            &[Int(1), Int(1), Double(2.5)],
            "true",
            3,
        );
        check("list_int_is_sorted_bool", &[Int(2), Int(1)], "false", 2);
        check("list_int_is_sorted_bool", &[Int(2), Text("a")], "true", 1);
        check("list_int_is_sorted_bool", &[Int(2), Null], "no such overload", 2);
        check(
            "list_string_max_string",
            &[Text("a"), Text("b"), Text("ab")],
            "'b'",
            0,
        );
        check(
            "list_double_min_double",
            &[Double(2.0), Double(f64::NAN), Int(1)],
            "1",
            3,
        );
        check("list_int_min_int", &[], "min called on empty list", 0);
    }

    #[test]
    fn sums() {
        check("list_int_sum_int", &[Int(1), Int(2)], "3", 2);
        check("list_int_sum_int", &[], "0", 0);
        check(
            "list_int_sum_int",
            &[Int(i64::MAX), Int(1)],
            "integer overflow",
            2,
        );
        check("list_double_sum_double", &[Double(0.5), Double(1.0)], "1.5", 2);
    }

    #[test]
    fn positions() {
        let check = |id, wanted, expected| {
            let elements = [Int(1), Double(2.0), Int(1), Null];
            let arguments = [Value::List(List::Values(&elements)), wanted];
            Caller::new(library_with_includes()).check(id, &arguments, expected, 4);
        };
        check("list_a_index_of_int", Int(1), "0");
        check("list_a_last_index_of_int", Int(1), "2");
        check("list_a_index_of_int", Int(2), "1");
        check("list_a_index_of_int", Text("1"), "-1");
        check("list_includes_dyn_dyn", Null, "true");
        check("list_includes_dyn_dyn", Int(3), "false");
    }

    #[test]
    fn includes_of_what_is_no_list() {
        Caller::new(library_with_includes()).check(
            "list_includes_dyn_dyn",
            &[Text("model-a"), Text("model-a")],
            "true",
            0,
        );
    }
}
