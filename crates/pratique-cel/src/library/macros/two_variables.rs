//! Comprehensions over the indices and elements of lists, and the keys and values of maps.
//!
//! Upstream: github.com/google/cel-go, ext/comprehensions.go

use std::sync::Arc;

use super::arguments::{distinct_from_accumulator, receiver};
use super::standard::{
    QuantifierFold, comprehension, filtered, fold_all, fold_exists, fold_exists_one, gather,
};
use crate::ast::{ExprId, Literal};
use crate::function::{Function, Overload};
use crate::parser::{Expander, Macro, MacroError, MacroExpansion};
use crate::types::Type;

pub(super) fn macros() -> Vec<Macro> {
    let all: MacroExpansion =
        |macros, target, args| expand(macros, target, args, ResultShape::Quantifier(fold_all));
    let exists: MacroExpansion =
        |macros, target, args| expand(macros, target, args, ResultShape::Quantifier(fold_exists));
    let exists_one: MacroExpansion =
        |macros, target, args| expand(macros, target, args, ResultShape::Quantifier(fold_exists_one));
    let list: MacroExpansion = |macros, target, args| expand(macros, target, args, ResultShape::List);
    let map: MacroExpansion = |macros, target, args| expand(macros, target, args, ResultShape::Map);
    let entries: MacroExpansion = |macros, target, args| expand(macros, target, args, ResultShape::Entries);
    vec![
        Macro::member("all", 3, all),
        Macro::member("exists", 3, exists),
        Macro::member("existsOne", 3, exists_one),
        Macro::member("exists_one", 3, exists_one),
        Macro::member("transformList", 3, list),
        Macro::member("transformList", 4, list),
        Macro::member("transformMap", 3, map),
        Macro::member("transformMap", 4, map),
        Macro::member("transformMapEntry", 3, entries),
        Macro::member("transformMapEntry", 4, entries),
    ]
}

/// The function by which macros add entries to the map they gather. It cannot be written, and plans do without it:
/// only the checker asks for it.
pub(super) fn map_insert() -> Function {
    let (key, value) = (Type::param("K"), Type::param("V"));
    let map = Type::map(key.clone(), value.clone());
    let by_key = [map.clone(), key, value];
    let entries = [map.clone(), map.clone()];
    Function::new("cel.@mapInsert")
        .with(Overload::new(
            "@mapInsert_map_key_value",
            false,
            &by_key,
            map.clone(),
        ))
        .with(Overload::new("@mapInsert_map_map", false, &entries, map))
}

/// The result that a comprehension computes from its last argument.
enum ResultShape {
    /// An answer about a predicate.
    Quantifier(fn(&mut Expander<'_, '_>, ExprId) -> QuantifierFold),
    /// A list of results.
    List,
    /// A map of results by the first variable.
    Map,
    /// A map of the entries of the results.
    Entries,
}

/// `range.name(first, second, …, last)`, with a filter before the last where there are four arguments.
fn expand(
    macros: &mut Expander<'_, '_>,
    target: Option<ExprId>,
    args: &[ExprId],
    gather_as: ResultShape,
) -> Result<ExprId, MacroError> {
    let (first, second, filter, last) = match *args {
        [first, second, last] => (first, second, None, last),
        [first, second, filter, last] => (first, second, Some(filter), last),
        _ => return Err(macros.error(ExprId(0), "wrong number of arguments")),
    };
    let range = receiver(macros, target)?;
    let (var, var2) = variables(macros, first, second)?;
    let fold = match gather_as {
        ResultShape::Quantifier(quantifier) => quantifier(macros, last),
        ResultShape::List => gather(macros, filter, last),
        ResultShape::Map => insert(macros, filter, Some(&var), last),
        ResultShape::Entries => insert(macros, filter, None, last),
    };
    Ok(comprehension(macros, range, var, Some(var2), fold))
}

fn variables(
    macros: &Expander<'_, '_>,
    first: ExprId,
    second: ExprId,
) -> Result<(Arc<str>, Arc<str>), MacroError> {
    let simple = |id| {
        let name = macros.name(id);
        name.ok_or_else(|| macros.error(id, "argument must be a simple name"))
    };
    let (var, var2) = (simple(first)?, simple(second)?);
    if var == var2 {
        return Err(macros.error(second, format!("duplicate variable name: {var}")));
    }
    distinct_from_accumulator(macros, first, &var)?;
    distinct_from_accumulator(macros, second, &var2)?;
    Ok((var, var2))
}

/// Inserts a value under a key, or without a key the entries of a map, into the map so far.
fn insert(
    macros: &mut Expander<'_, '_>,
    filter: Option<ExprId>,
    key: Option<&Arc<str>>,
    value: ExprId,
) -> QuantifierFold {
    let init = macros.map();
    let condition = macros.literal(Literal::Bool(true));
    let so_far = macros.accumulator();
    let step = match key {
        Some(key) => {
            let key = macros.ident(key);
            macros.call("cel.@mapInsert", &[so_far, key, value])
        }
        None => macros.call("cel.@mapInsert", &[so_far, value]),
    };
    let step = filtered(macros, filter, step);
    QuantifierFold::gathering(macros, init, condition, step)
}
