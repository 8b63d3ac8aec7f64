//! From a pointer to the array or object that holds the place it names.

use std::borrow::Cow;

use pratique_json::{Object, Value};

use super::{index, nothing};

/// The reference crashes here.
const NO_MEMBERS: &str = "null has no members";

/// What holds a place.
pub(super) enum Container<'d, 'a> {
    Object(&'d mut Object<'a>),
    Array(&'d mut Vec<Value<'a>>),
    /// The null of an expression: an object that has no members and cannot have any.
    Nothing,
}

/// The container of the place and the place's own token; `None` when there is no such container.
pub(super) fn find<'d, 'a, 'p>(
    document: &'d mut Value<'a>,
    path: &'p str,
) -> Option<(Container<'d, 'a>, Cow<'p, str>)> {
    let (parents, last) = path.rsplit_once('/')?;
    let mut at = document;
    // What stands before the first slash is ignored, as the reference does.
    for token in parents.split('/').skip(1) {
        let token = decode(token);
        at = match at {
            Value::Object(object) => object.get_mut(&token)?,
            Value::Array(elements) => {
                let position = index::within(index::parse(&token).ok()?, elements.len()).ok()?;
                elements.get_mut(position)?
            }
            _ => return None,
        };
    }
    match at {
        Value::Object(object) => Some((Container::Object(object), decode(last))),
        Value::Array(elements) => Some((Container::Array(elements), decode(last))),
        marked if nothing::is(marked) => Some((Container::Nothing, decode(last))),
        _ => None,
    }
}

impl<'a> Container<'_, 'a> {
    /// The value at a key or index: `None` for a member that is not there, an error for an index that is none.
    pub(super) fn get(&self, key: &str) -> Result<Option<&Value<'a>>, String> {
        match self {
            Container::Nothing => Ok(None),
            Container::Object(object) => Ok(object.get(key)),
            Container::Array(elements) => {
                Ok(elements.get(index::within(index::parse(key)?, elements.len())?))
            }
        }
    }

    /// Puts a value in the place of what is there.
    pub(super) fn set(&mut self, key: &str, value: Value<'a>) -> Result<(), String> {
        match self {
            Container::Nothing => return Err(NO_MEMBERS.to_owned()),
            Container::Object(object) => {
                object.insert(key.to_owned(), value);
            }
            Container::Array(elements) => {
                let position = index::within(index::parse(key)?, elements.len())?;
                if let Some(place) = elements.get_mut(position) {
                    *place = value;
                }
            }
        }
        Ok(())
    }

    /// Adds a member, or inserts an element: `-` appends, and so does -1.
    pub(super) fn add(&mut self, key: &str, value: Value<'a>) -> Result<(), String> {
        match self {
            Container::Nothing => return Err(NO_MEMBERS.to_owned()),
            Container::Object(object) => {
                object.insert(key.to_owned(), value);
            }
            Container::Array(elements) if key == "-" => elements.push(value),
            Container::Array(elements) => {
                let index = index::parse(key)
                    .map_err(|error| format!("value was not a proper array index: '{key}': {error}"))?;
                // One past the end is a place to insert at, and what -1 means.
                elements.insert(index::within(index, elements.len() + 1)?, value);
            }
        }
        Ok(())
    }

    /// Takes a value out.
    pub(super) fn remove(&mut self, key: &str) -> Result<Value<'a>, String> {
        let missing = || format!("Unable to remove nonexistent key: {key}: missing value");
        match self {
            Container::Nothing => Err(missing()),
            Container::Object(object) => object.remove(key).ok_or_else(missing),
            Container::Array(elements) => {
                let position = index::within(index::parse(key)?, elements.len())?;
                Ok(elements.remove(position))
            }
        }
    }
}

fn decode(token: &str) -> Cow<'_, str> {
    if !token.contains('~') {
        return Cow::Borrowed(token);
    }
    // In one pass from the left, so that `~01` is `~1` and not `/`.
    let mut decoded = String::with_capacity(token.len());
    let mut rest = token;
    while let Some((before, after)) = rest.split_once('~') {
        decoded.push_str(before);
        let (character, length) = match after.chars().next() {
            Some('1') => ('/', 1),
            Some('0') => ('~', 1),
            _ => ('~', 0),
        };
        decoded.push(character);
        rest = after.get(length..).unwrap_or_default();
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}
