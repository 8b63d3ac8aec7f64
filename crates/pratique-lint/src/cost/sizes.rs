//! The sizes of what expressions look at, in an object whose size is known.
//!
//! Bytes that are in one list are in no other: an object is as bad as it can be where all of them are in the list,
//! map or text that costs most. What is not in the way of these is as small as it usually is.

use std::cell::RefCell;
use std::collections::BTreeSet;

use pratique_cel::Type;
use pratique_cel::estimate::{Range, Sizes};

/// The size of a large object: of a Pod with more than a thousand containers, of all that fits an etcd request a tenth.
pub(crate) const LARGE: u64 = 128 << 10;

/// How many elements a list usually has at most, and how many characters a text.
const FEW: u64 = 4;
const SHORT: u64 = 64;

/// The most places whose sizes are varied.
const MOST_PATHS: usize = 64;

/// Remembers what it is asked for, and answers for a small object.
#[derive(Default)]
pub(crate) struct Asked(RefCell<BTreeSet<Vec<String>>>);

/// An object with all of its bytes at one place.
pub(crate) struct Object<'p> {
    focus: &'p [String],
    bytes: u64,
}

/// An object with its bytes spread evenly over places.
pub(crate) struct Spread {
    pub(crate) bytes: u64,
    pub(crate) over: u64,
}

impl Asked {
    /// The places that were asked for and may be large.
    pub(crate) fn into_paths(self) -> Vec<Vec<String>> {
        self.0.into_inner().into_iter().take(MOST_PATHS).collect()
    }
}

impl Sizes for Asked {
    fn size(&self, path: &[String], of: &Type) -> Option<Range> {
        if varies(path) && bytes_each(of).is_some() {
            self.0.borrow_mut().insert(path.to_vec());
        }
        usual(path, of)
    }
}

impl Object<'_> {
    pub(crate) fn small() -> Self {
        Object { focus: &[], bytes: 0 }
    }

    pub(crate) fn with(focus: &[String], bytes: u64) -> Object<'_> {
        Object { focus, bytes }
    }
}

impl Sizes for Object<'_> {
    fn size(&self, path: &[String], of: &Type) -> Option<Range> {
        let around = |path: &[String], inner: &[String]| inner.starts_with(path) && inner.len() > path.len();
        if path == self.focus
            && let Some(each) = bytes_each(of)
        {
            return Some(up_to(self.bytes / each));
        }
        if around(path, self.focus) && bytes_each(of).is_some() {
            return Some(up_to(1));
        }
        // What is in many elements is small in each.
        if !self.focus.is_empty() && around(self.focus, path) && bytes_each(of).is_some() {
            return Some(up_to(FEW));
        }
        usual(path, of)
    }
}

impl Sizes for Spread {
    fn size(&self, path: &[String], of: &Type) -> Option<Range> {
        match bytes_each(of) {
            Some(each) if varies(path) && !is_within(path) => {
                Some(up_to(self.bytes / self.over.max(1) / each))
            }
            _ => usual(path, of),
        }
    }
}

/// Whether the size of a place depends on who makes the request: the request itself is small.
fn varies(path: &[String]) -> bool {
    let root = path.first().map(String::as_str);
    matches!(root, Some("object" | "oldObject" | "params" | "variables")) && path.len() > 1
}

/// Whether a place is in an element of a list or map.
fn is_within(path: &[String]) -> bool {
    path.iter().any(|step| step.starts_with('@'))
}

fn usual(path: &[String], of: &Type) -> Option<Range> {
    if path.is_empty() {
        return None;
    }
    match of {
        Type::String | Type::Bytes => Some(up_to(SHORT)),
        Type::List(_) | Type::Map(..) | Type::Dyn => Some(up_to(FEW)),
        _ => None,
    }
}

/// How many bytes each element or character of a value takes at least; `None` for what has no size.
fn bytes_each(of: &Type) -> Option<u64> {
    match of {
        Type::String | Type::Bytes => Some(1),
        Type::List(element) => Some(least(element) + 1),
        Type::Map(_, value) => Some(least(value) + 6),
        Type::Dyn => Some(4),
        other => other.optional_value().and_then(bytes_each),
    }
}

/// The least bytes that a value takes in JSON.
fn least(of: &Type) -> u64 {
    match of {
        Type::Int | Type::Uint | Type::Double => 1,
        Type::String | Type::Bytes => 3,
        Type::Bool => 4,
        // Hardly any struct is valid without a name or two.
        Type::Struct(_) => 15,
        _ => 3,
    }
}

fn up_to(max: u64) -> Range {
    Range { min: 0, max }
}
