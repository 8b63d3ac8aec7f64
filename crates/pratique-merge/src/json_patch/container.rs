//! Finds the array or object that holds the place that a pointer names.

use std::borrow::Cow;

use super::chunks::ChunkedSequence;
use super::index::{self, IndexError};
use super::node::PatchNode;

/// Why a key or an index does not name a place in a container.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PlaceError {
    /// The array has no such element.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The key is not an index to insert at.
    #[error("value was not a proper array index: '{key}': {error}")]
    InsertionIndex { key: String, error: IndexError },
    /// The object has no such member.
    #[error("Unable to remove nonexistent key: {0}: missing value")]
    NoMember(String),
    /// A member is added to the null of an expression. The reference crashes here.
    #[error("null has no members")]
    Nothing,
}

/// An array or object that holds a place.
pub(super) enum PatchContainer<'d, 'a> {
    Object(&'d mut ChunkedSequence<(Cow<'a, str>, PatchNode<'a>)>),
    Array(&'d mut ChunkedSequence<PatchNode<'a>>),
    /// The null of an expression: an object that has no members and cannot have any.
    Nothing,
}

/// The container of the place and the place's name in it; `None` when there is no such container.
pub(super) fn find<'d, 'a, 'p>(
    document: &'d mut PatchNode<'a>,
    path: &'p str,
) -> Option<(PatchContainer<'d, 'a>, Cow<'p, str>)> {
    let (parents, last) = path.rsplit_once('/')?;
    let mut at = document;
    // The reference ignores the text before the first slash.
    for token in parents.split('/').skip(1) {
        let token = decode(token);
        at.open();
        at = match at {
            PatchNode::Object(members) => member(members, &token)?,
            PatchNode::Array(elements) => {
                let position = index::position(&token, elements.len()).ok()?;
                elements.get_mut(position)?
            }
            PatchNode::Nothing | PatchNode::Plain(_) => return None,
        };
    }
    at.open();
    let container = match at {
        PatchNode::Object(members) => PatchContainer::Object(members),
        PatchNode::Array(elements) => PatchContainer::Array(elements),
        PatchNode::Nothing => PatchContainer::Nothing,
        PatchNode::Plain(_) => return None,
    };
    Some((container, decode(last)))
}

fn member<'d, 'a>(
    members: &'d mut ChunkedSequence<(Cow<'a, str>, PatchNode<'a>)>,
    key: &str,
) -> Option<&'d mut PatchNode<'a>> {
    let at = position(members, key).ok()?;
    members.get_mut(at).map(|(_, node)| node)
}

fn position(members: &ChunkedSequence<(Cow<'_, str>, PatchNode<'_>)>, key: &str) -> Result<usize, usize> {
    members.search(|(other, _)| other.as_ref().cmp(key))
}

impl<'a> PatchContainer<'_, 'a> {
    /// The value at a key or index: `None` for a missing member, an error for an invalid index.
    pub(super) fn get(&self, key: &str) -> Result<Option<&PatchNode<'a>>, PlaceError> {
        match self {
            PatchContainer::Nothing => Ok(None),
            PatchContainer::Object(members) => {
                let at = position(members, key).ok();
                Ok(at.and_then(|at| members.get(at)).map(|(_, node)| node))
            }
            PatchContainer::Array(elements) => Ok(elements.get(index::position(key, elements.len())?)),
        }
    }

    /// Replaces a value.
    pub(super) fn set(&mut self, key: &str, value: PatchNode<'a>) -> Result<(), PlaceError> {
        let PatchContainer::Array(elements) = self else {
            return self.add(key, value);
        };
        let position = index::position(key, elements.len())?;
        if let Some(place) = elements.get_mut(position) {
            *place = value;
        }
        Ok(())
    }

    /// Adds a member, or inserts an element: `-` appends, and so does -1.
    pub(super) fn add(&mut self, key: &str, value: PatchNode<'a>) -> Result<(), PlaceError> {
        match self {
            PatchContainer::Nothing => return Err(PlaceError::Nothing),
            PatchContainer::Object(members) => match position(members, key) {
                Ok(at) => {
                    if let Some((_, node)) = members.get_mut(at) {
                        *node = value;
                    }
                }
                Err(at) => members.insert(at, (Cow::Owned(key.to_owned()), value)),
            },
            PatchContainer::Array(elements) if key == "-" => elements.insert(elements.len(), value),
            PatchContainer::Array(elements) => {
                let index = index::parse(key).map_err(|error| PlaceError::InsertionIndex {
                    key: key.to_owned(),
                    error,
                })?;
                // One past the end is a place to insert at, and -1 stands for it.
                elements.insert(index::within(index, elements.len() + 1)?, value);
            }
        }
        Ok(())
    }

    /// Removes a value and returns it.
    pub(super) fn remove(&mut self, key: &str) -> Result<PatchNode<'a>, PlaceError> {
        let missing = || PlaceError::NoMember(key.to_owned());
        match self {
            PatchContainer::Nothing => Err(missing()),
            PatchContainer::Object(members) => {
                let at = position(members, key).map_err(|_| missing())?;
                let removed = members.remove(at).map(|(_, node)| node);
                removed.ok_or_else(missing)
            }
            PatchContainer::Array(elements) => {
                let position = index::position(key, elements.len())?;
                elements.remove(position).ok_or_else(missing)
            }
        }
    }
}

/// Replaces `~1` by `/` and `~0` by `~`.
fn decode(token: &str) -> Cow<'_, str> {
    if !token.contains('~') {
        return Cow::Borrowed(token);
    }
    // In one pass from the left, so that `~01` is `~1` and not `/`.
    let mut decoded = String::with_capacity(token.len());
    let mut rest = token;
    while let Some((plain_text, after)) = rest.split_once('~') {
        decoded.push_str(plain_text);
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
