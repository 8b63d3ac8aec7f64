//! Lists as sets: `sets.contains`, `sets.equivalent`, `sets.intersects`.
//!
//! Upstream: github.com/google/cel-go, ext/sets.go

use super::arguments::list as list_at;
use super::bounds;
use crate::context::Context;
use crate::cost;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::Function;
use crate::ops;
use crate::types::Type;
use crate::value::{Evaluation, List, Value};

/// CEL's extension for sets, which are lists: `sets.contains([1, 2], [1])`.
pub fn library() -> Library {
    let list = Type::list(Type::param("T"));
    let params = [list.clone(), list];
    Library::from_functions(vec![
        Function::new("sets.contains")
            .global("list_sets_contains_list", &params, Type::Bool, contains)
            .costing(|arguments, _| 1 + pairs(arguments)),
        Function::new("sets.equivalent")
            .global("list_sets_equivalent_list", &params, Type::Bool, equivalent)
            .costing(|arguments, _| 1 + pairs(arguments).saturating_mul(2)),
        Function::new("sets.intersects")
            .global("list_sets_intersects_list", &params, Type::Bool, intersects)
            .costing(|arguments, _| 1 + pairs(arguments)),
    ])
}

fn contains<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    holds_all(context, &list_at(arguments, 0)?, &list_at(arguments, 1)?).map(Value::Bool)
}

fn equivalent<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let (one, other) = (list_at(arguments, 0)?, list_at(arguments, 1)?);
    let same = holds_all(context, &one, &other)? && holds_all(context, &other, &one)?;
    Ok(Value::Bool(same))
}

/// How many pairs of elements there are.
fn pairs(arguments: &[Value<'_>]) -> u64 {
    cost::size_at(arguments, 0).saturating_mul(cost::size_at(arguments, 1))
}

fn intersects<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let (list, other) = (list_at(arguments, 0)?, list_at(arguments, 1)?);
    bounds::check_comparisons(list.len(), other.len())?;
    for element in list.iter() {
        if ops::is_among(context, &element, &other)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn holds_all<'a>(context: &Context<'a>, list: &List<'a>, other: &List<'a>) -> Result<bool, Fault> {
    bounds::check_comparisons(list.len(), other.len())?;
    for element in other.iter() {
        if !ops::is_among(context, &element, list)? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::testing::Caller;
    use Value::{Double, Int, String as Text};

    #[test]
    fn calls() {
        let caller = Caller::new(library());
        let check = |id, one: &[Value<'static>], other: &[Value<'static>], expected, cost| {
            caller.check(
                id,
                &[Value::List(List::Values(one)), Value::List(List::Values(other))],
                expected,
                cost,
            );
        };
        let (numbers, same) = ([Int(1), Int(2)], [Double(2.0), Double(1.0), Int(1)]);
        check("list_sets_contains_list", &numbers, &same, "true", 7);
        check("list_sets_contains_list", &numbers, &[Int(3)], "false", 3);
        check("list_sets_contains_list", &numbers, &[], "true", 1);
        check("list_sets_equivalent_list", &numbers, &same, "true", 13);
        check("list_sets_equivalent_list", &numbers, &[Int(1)], "false", 5);
        check(
            "list_sets_intersects_list",
            &numbers,
            &[Text("1"), Int(2)],
            "true",
            5,
        );
        check("list_sets_intersects_list", &numbers, &[], "false", 1);
    }

    #[test]
    fn too_many_comparisons_are_not_made() {
        let elements: Vec<Value<'_>> = (0..10_000).map(Int).collect();
        let list = Value::List(List::Values(&elements));
        for id in [
            "list_sets_contains_list",
            "list_sets_equivalent_list",
            "list_sets_intersects_list",
        ] {
            let caller = Caller::new(library());
            assert!(
                caller.call(id, &[list, list]).is_err_and(|fault| fault.is_stop()),
                "{id}"
            );
        }
    }
}
