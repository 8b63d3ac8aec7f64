//! Sorting a list by keys.

use std::cmp::Ordering;

use super::compare::is_ordered;
use crate::context::Context;
use crate::error::Fault;
use crate::library::{bounds, results};
use crate::ops;
use crate::value::{Evaluation, List, Value};

/// `sort`: sorts a list by its own elements.
pub(super) fn sort<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match arguments {
        [Value::List(list)] => sorted(context, list, list),
        [other] => Err(ops::unknown_operands("sort", other)),
        _ => Err(Fault::no_such_overload()),
    }
}

/// The expansion of `sortBy`: sorts a list by a list of keys of the same length.
pub(super) fn sort_by_keys<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match arguments {
        [Value::List(list), Value::List(keys)] => sorted(context, list, keys),
        [other, _] => Err(ops::unknown_operands("@sortByAssociatedKeys", other)),
        _ => Err(Fault::no_such_overload()),
    }
}

/// A key and the element that is sorted by it.
type KeyedElement<'a> = (Value<'a>, Value<'a>);

/// The elements of a list in the order of their keys; those with equal keys stay in theirs.
fn sorted<'a>(context: &Context<'a>, list: &List<'a>, keys: &List<'a>) -> Evaluation<'a> {
    if list.len() != keys.len() {
        return Err(Fault::error(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, \
             but got {} and {} elements respectively",
            list.len(),
            keys.len(),
        )));
    }
    let Some(first) = keys.get(0) else {
        return Ok(Value::List(*list));
    };
    if !ops::has_order(&first) {
        return Err(Fault::error("list elements must be comparable"));
    }
    if keys.iter().any(|key| key.type_name() != first.type_name()) {
        return Err(Fault::error("list elements must have the same type"));
    }
    // Each element with its key, and again while runs are merged.
    bounds::check_elements(context, keys.len().saturating_mul(4))?;
    let mut pairs: Vec<KeyedElement<'a>> = keys.iter().zip(list.iter()).collect();
    sort_pairs(context, &mut pairs)?;
    results::collected(context, pairs.into_iter().map(|(_, element)| element))
}

/// Lists up to this length are sorted by insertion, as in the reference.
const INSERTION: usize = 12;

/// The work of putting an element in its place among its neighbours.
const ELEMENT: u64 = 20;

/// A merge sort of its own: the standard library's wants an order of all keys, and NaN has none.
fn sort_pairs<'a>(context: &Context<'a>, pairs: &mut Vec<KeyedElement<'a>>) -> Result<(), Fault> {
    let mut width = INSERTION;
    for run in pairs.chunks_mut(width) {
        context.work(ELEMENT.saturating_mul(width as u64))?;
        insertion_sort(context, run)?;
    }
    while width < pairs.len() {
        let mut merged = Vec::with_capacity(pairs.len());
        for two_runs in pairs.chunks(2 * width) {
            context.work(ELEMENT.saturating_mul(two_runs.len() as u64))?;
            let (left, right) = two_runs.split_at_checked(width).unwrap_or((two_runs, &[]));
            merge(context, left, right, &mut merged)?;
        }
        *pairs = merged;
        width *= 2;
    }
    Ok(())
}

fn insertion_sort(context: &Context<'_>, run: &mut [KeyedElement<'_>]) -> Result<(), Fault> {
    for end in 1..run.len() {
        for place in (1..=end).rev() {
            match (run.get(place - 1), run.get(place)) {
                (Some(previous), Some(current))
                    if is_ordered(context, &current.0, &previous.0, Ordering::Less)? =>
                {
                    run.swap(place - 1, place);
                }
                _ => break,
            }
        }
    }
    Ok(())
}

fn merge<'a>(
    context: &Context<'a>,
    mut left: &[KeyedElement<'a>],
    mut right: &[KeyedElement<'a>],
    merged: &mut Vec<KeyedElement<'a>>,
) -> Result<(), Fault> {
    while let (Some((one, left_rest)), Some((other, right_rest))) = (left.split_first(), right.split_first())
    {
        if is_ordered(context, &other.0, &one.0, Ordering::Less)? {
            merged.push(*other);
            right = right_rest;
        } else {
            merged.push(*one);
            left = left_rest;
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
    Ok(())
}
