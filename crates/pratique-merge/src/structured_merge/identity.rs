//! The identities of elements of sets and keyed lists.

use std::collections::HashMap;

use pratique_gotext::strconv::quote;
use pratique_json::{Progress, find_member};
use pratique_schema::merge::{ListKey, ListMerging};

use super::display;
use super::node::{MergeNode, NodeView};

/// The identity of an element: itself in a set, some of its fields in a keyed list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ElementIdentity<'v> {
    /// The element itself, or the value of its only key.
    One(IdentityPart<'v>),
    /// By key; `None` where neither the element nor its type has a value.
    Keys(Vec<Option<IdentityPart<'v>>>),
}

/// A value that identifies. Numbers are equal whether or not they are written with a fraction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum IdentityPart<'v> {
    Bool(bool),
    Int(i64),
    Float(u64),
    String(&'v str),
    /// A value of another type, as messages show it.
    Other(String),
}

/// Why an element of a list has no identity.
#[derive(Debug, thiserror::Error)]
pub(super) enum IdentityError {
    #[error("associative list without keys has an element that's a map type")]
    MapInSet,
    #[error("not supported: associative list with lists as elements")]
    ListInSet,
    #[error("associative list without keys has an element that's an explicit null")]
    NullInSet,
    #[error("associative list with keys may not have a null element")]
    Null,
    #[error("associative list with keys may not have non-map elements")]
    NotAMap,
    #[error(
        "associative list with keys has an element that omits all key fields [{0}] (and doesn't have default values for any key fields)"
    )]
    NoKeys(String),
}

/// Identifies an element of a list; none if the list is atomic.
pub(super) fn identify<'v, 'a: 'v, N: MergeNode<'a>>(
    merging: &'v ListMerging,
    element: &'v N,
) -> Result<Option<ElementIdentity<'v>>, IdentityError> {
    match merging {
        ListMerging::Atomic => Ok(None),
        ListMerging::Set => of_set(element).map(Some),
        ListMerging::Keyed(keys) => of_keys(keys, element).map(Some),
    }
}

fn of_set<'v, 'a: 'v, N: MergeNode<'a>>(element: &'v N) -> Result<ElementIdentity<'v>, IdentityError> {
    match element.view() {
        NodeView::Map(_) => Err(IdentityError::MapInSet),
        NodeView::List(_) | NodeView::ForeignList => Err(IdentityError::ListInSet),
        NodeView::Null => Err(IdentityError::NullInSet),
        _ => Ok(ElementIdentity::One(part(element))),
    }
}

fn of_keys<'v, 'a: 'v, N: MergeNode<'a>>(
    keys: &'v [ListKey],
    element: &'v N,
) -> Result<ElementIdentity<'v>, IdentityError> {
    let NodeView::Map(members) = element.view() else {
        return Err(match element.view() {
            NodeView::Null => IdentityError::Null,
            _ => IdentityError::NotAMap,
        });
    };
    let find = |key: &'v ListKey| match find_member(members, &key.name) {
        Some(value) => Some(part(value)),
        None => key.default.as_ref().map(part),
    };
    if let [key] = keys {
        return find(key).map(ElementIdentity::One).ok_or_else(|| no_keys(keys));
    }
    let parts: Vec<Option<IdentityPart<'v>>> = keys.iter().map(find).collect();
    if parts.iter().any(Option::is_some) {
        Ok(ElementIdentity::Keys(parts))
    } else {
        Err(no_keys(keys))
    }
}

fn no_keys(keys: &[ListKey]) -> IdentityError {
    let names: Vec<String> = keys.iter().map(|key| quote(&key.name)).collect();
    IdentityError::NoKeys(names.join(" "))
}

fn part<'v, 'a: 'v, N: MergeNode<'a>>(value: &'v N) -> IdentityPart<'v> {
    match value.view() {
        NodeView::Bool(value) => IdentityPart::Bool(value),
        NodeView::Int(number) => IdentityPart::Int(number),
        NodeView::Float(number) => {
            whole(number).map_or_else(|| IdentityPart::Float(number.to_bits()), IdentityPart::Int)
        }
        NodeView::String(text) => IdentityPart::String(text),
        _ => IdentityPart::Other(display::identifying(value)),
    }
}

/// The integer that a number is, if it is one.
fn whole(number: f64) -> Option<i64> {
    let bounds = i64::MIN as f64..i64::MAX as f64;
    (number.fract() == 0.0 && bounds.contains(&number)).then_some(number as i64)
}

/// An element as paths show it: `[="a"]`, `[name="a",protocol="TCP"]`, or `[0]` in a list without identities.
pub(super) fn step<'a, N: MergeNode<'a>>(merging: &ListMerging, at: usize, element: &N) -> String {
    match merging {
        ListMerging::Atomic => format!("[{at}]"),
        ListMerging::Set => format!("[={}]", display::identifying(element)),
        ListMerging::Keyed(keys) => {
            let members = match element.view() {
                NodeView::Map(members) => members,
                _ => &[],
            };
            let key_texts = keys.iter().filter_map(|key| {
                let value = find_member(members, &key.name).map(display::identifying);
                let value = value.or_else(|| key.default.as_ref().map(display::identifying))?;
                Some(format!("{}={value}", key.name))
            });
            let mut sorted_texts: Vec<String> = key_texts.collect();
            sorted_texts.sort();
            format!("[{}]", sorted_texts.join(","))
        }
    }
}

/// Elements by their identities.
pub(super) struct IdentityIndex<'i, 'v> {
    all: &'i [ElementIdentity<'v>],
    /// Built for lists that are not short.
    map: Option<HashMap<&'i ElementIdentity<'v>, usize>>,
}

const FEW: usize = 8;

impl<'i, 'v> IdentityIndex<'i, 'v> {
    /// Indexes identities, which all differ; incomplete once `progress` is interrupted.
    pub(super) fn new(all: &'i [ElementIdentity<'v>], progress: &Progress<'_>) -> Self {
        let going_on = || all.iter().zip(0..).take_while(|_| progress.nodes(1));
        let map = (all.len() > FEW).then(|| going_on().collect());
        IdentityIndex { all, map }
    }

    /// The position of an identity.
    pub(super) fn find(&self, wanted: &ElementIdentity<'_>) -> Option<usize> {
        match &self.map {
            Some(map) => map.get(wanted).copied(),
            None => self.all.iter().position(|identity| identity == wanted),
        }
    }
}
