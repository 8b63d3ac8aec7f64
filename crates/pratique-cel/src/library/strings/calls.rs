//! The functions of strings, bound to values.

use std::borrow::Cow;

use super::super::arguments::{int, limit, string};
use super::super::bounds;
use super::super::results;
use crate::context::Context;
use crate::error::Fault;
use crate::ops;
use crate::text;
use crate::value::{Evaluation, Value};

pub(super) fn char_at<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let character = text::char_at(string(arguments, 0)?, int(arguments, 1)?);
    character.map(Value::String).map_err(Fault::from_display)
}

pub(super) fn index_of<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let (text, pattern) = (string(arguments, 0)?, string(arguments, 1)?);
    let index = match arguments.len() {
        2 => Ok(text::index_of(text, pattern)),
        _ => text::index_of_from(text, pattern, int(arguments, 2)?),
    };
    index.map(Value::Int).map_err(Fault::from_display)
}

pub(super) fn last_index_of<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let (text, pattern) = (string(arguments, 0)?, string(arguments, 1)?);
    let index = match arguments.len() {
        2 => Ok(text::last_index_of(text, pattern)),
        _ => text::last_index_of_from(text, pattern, int(arguments, 2)?),
    };
    index.map(Value::Int).map_err(Fault::from_display)
}

pub(super) fn substring<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let (text, start) = (string(arguments, 0)?, int(arguments, 1)?);
    let part = match arguments.len() {
        2 => text::substring(text, start),
        _ => text::substring_range(text, start, int(arguments, 2)?),
    };
    part.map(Value::String).map_err(Fault::from_display)
}

pub(super) fn split<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let (text, separator) = (string(arguments, 0)?, string(arguments, 1)?);
    let limit = limit(arguments, 2)?;
    context.reserve(pieces(text, separator, limit).saturating_mul(size_of::<Value<'_>>()))?;
    results::texts(context, text::split(text, separator, limit))
}

/// At least how many pieces a text is split into.
fn pieces(text: &str, separator: &str, limit: i64) -> usize {
    const FEW: usize = 1_000;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    match text.len() / separator.len().max(1) + 1 {
        most @ 0..FEW => most.min(limit),
        _ => (text.matches(separator).count() + 1).min(limit),
    }
}

pub(super) fn replace<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let (text, old, new) = (
        string(arguments, 0)?,
        string(arguments, 1)?,
        string(arguments, 2)?,
    );
    let limit = limit(arguments, 3)?;
    bounds::check_text(context, replaced_len(text, old, new, limit))?;
    let replaced = text::replace(context, text, (old, new), limit)?;
    Ok(store(context, replaced))
}

/// Texts up to this length are made without a closer look.
const ENOUGH: usize = 1 << 20;

/// At least the length of a text with replacements.
fn replaced_len(text: &str, old: &str, new: &str, limit: i64) -> usize {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let with = |places: usize| {
        text.len()
            .saturating_add(places.min(limit).saturating_mul(new.len()))
    };
    let most = with(text.len() / old.len().max(1) + 1);
    // Counting the places is worth it only where there may be too many.
    if most <= ENOUGH {
        most
    } else {
        with(text.matches(old).count())
    }
}

pub(super) fn trim<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::String(text::trim(string(arguments, 0)?)))
}

pub(super) fn lower_ascii<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let text = string(arguments, 0)?;
    bounds::check_text(context, text.len())?;
    Ok(store(context, text::lower_ascii(text)))
}

pub(super) fn upper_ascii<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let text = string(arguments, 0)?;
    bounds::check_text(context, text.len())?;
    Ok(store(context, text::upper_ascii(text)))
}

pub(super) fn quote<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let text = string(arguments, 0)?;
    // Each character may become two.
    bounds::check_text(context, text.len().saturating_mul(2))?;
    Ok(Value::String(context.arena.str(&text::quote_cel(text))))
}

pub(super) fn join<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let (list, separator) = match arguments {
        [Value::List(list)] => (list, ""),
        [Value::List(list), Value::String(separator)] => (list, *separator),
        _ => return Err(Fault::no_such_overload()),
    };
    let mut joined = String::new();
    for (index, element) in list.iter().enumerate() {
        let Value::String(text) = element else {
            let element_text = ops::format_metered(context, &element)?;
            return Err(Fault::error(format!("join: invalid input: {element_text}")));
        };
        if index > 0 {
            joined.push_str(separator);
        }
        context.work(16 + text.len() as u64)?;
        bounds::check_text(context, joined.len().saturating_add(text.len()))?;
        joined.push_str(text);
    }
    Ok(Value::String(context.arena.str(&joined)))
}

/// A text as a value, copied only where it is new.
fn store<'a>(context: &Context<'a>, text: Cow<'a, str>) -> Value<'a> {
    Value::String(match text {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => context.arena.str(&text),
    })
}
