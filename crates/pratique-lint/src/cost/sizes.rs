//! The sizes of what expressions look at, in an object whose size is known.
//!
//! Bytes that are in one list are in no other: an object is as bad as it can be where all of them are in the list,
//! map or text that costs most. What is not in the way of these is as small as it usually is. What is made of other
//! values has no place in the object; it is told apart by its type.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use pratique_cel::Type;
use pratique_cel::checker::Checked;
use pratique_cel::estimate::{Range, Sizes, UnknownSizes, ValueSize, value_size};

/// The size of a large object: of a Pod with more than a thousand containers.
pub(crate) const LARGE: u64 = 32 << 10;

/// How many elements a list usually has at most, and how many characters a text.
const FEW: u64 = 4;
const SHORT: u64 = 64;

/// The most places whose sizes are varied.
const MOST_PLACES: usize = 64;

/// A value that may be large: its path, or no root and the type of a value that is made of others.
type Place = Vec<String>;

/// Remembers what it is asked for, and answers for a small object.
#[derive(Default)]
pub(crate) struct Asked(RefCell<BTreeSet<Place>>);

/// An object with all of its bytes at one place.
pub(crate) struct Object<'p> {
    focus: Option<&'p Place>,
    bytes: u64,
}

/// An object with its bytes spread evenly over places.
pub(crate) struct Spread {
    pub(crate) bytes: u64,
    pub(crate) over: u64,
}

/// What is known of the values of variables: that they are a part of the object, or constants of known sizes.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    by_name: HashMap<String, ValueSize>,
}

/// Sizes in which variables have those of what they stand for.
pub(crate) struct Through<'v, S> {
    variables: &'v Variables,
    inner: S,
}

impl Variables {
    /// Adds a variable that sees those before it.
    pub(crate) fn define(&mut self, name: &str, checked: &Checked) {
        let value = value_size(checked, &Through::new(self, UnknownSizes));
        self.by_name.insert(name.to_owned(), value);
    }

    /// The variable that a path leads to, and the steps after it.
    fn find<'p>(&self, path: &'p [String]) -> Option<(&ValueSize, &'p [String])> {
        match path {
            [root, name, rest @ ..] if root == "variables" => Some((self.by_name.get(name)?, rest)),
            _ => None,
        }
    }
}

impl<'v, S> Through<'v, S> {
    pub(crate) fn new(variables: &'v Variables, inner: S) -> Self {
        Through { variables, inner }
    }

    pub(crate) fn into_inner(self) -> S {
        self.inner
    }
}

impl<S: Sizes> Sizes for Through<'_, S> {
    fn size(&self, path: &[String], of: &Type) -> Option<Range> {
        let Some((variable, rest)) = self.variables.find(path) else {
            return self.inner.size(path, of);
        };
        if !variable.path.is_empty() {
            let path: Vec<String> = variable.path.iter().chain(rest).cloned().collect();
            return self.inner.size(&path, of);
        }
        let known = match rest {
            [] => variable.size,
            [step] if step.starts_with('@') => variable.items,
            _ => None,
        };
        // Without bounds nothing more is known of it than of what any variable holds.
        known
            .filter(|size| size.is_bounded())
            .or_else(|| self.inner.size(path, of))
    }
}

impl Asked {
    /// The places that were asked for and may be large.
    pub(crate) fn into_places(self) -> Vec<Place> {
        self.0.into_inner().into_iter().take(MOST_PLACES).collect()
    }
}

impl Sizes for Asked {
    fn size(&self, path: &[String], of: &Type) -> Option<Range> {
        if bytes_each(of).is_some() {
            self.0.borrow_mut().extend(place(path, of));
        }
        usual(of)
    }
}

impl Object<'_> {
    pub(crate) fn small() -> Self {
        Object {
            focus: None,
            bytes: 0,
        }
    }

    pub(crate) fn with(focus: &Place, bytes: u64) -> Object<'_> {
        Object {
            focus: Some(focus),
            bytes,
        }
    }
}

impl Sizes for Object<'_> {
    fn size(&self, path: &[String], of: &Type) -> Option<Range> {
        let (Some(focus), Some(each)) = (self.focus, bytes_each(of)) else {
            return usual(of);
        };
        if place(path, of).as_ref() == Some(focus) {
            return Some(up_to(self.bytes / each));
        }
        // One element is enough to hold all bytes; what holds a value that is made of others, is not known.
        let is_made = focus.first().is_some_and(String::is_empty);
        let holds = !path.is_empty() && (focus.starts_with(path) || (is_made && matches!(of, Type::List(_))));
        if holds { Some(up_to(1)) } else { usual(of) }
    }
}

impl Sizes for Spread {
    fn size(&self, path: &[String], of: &Type) -> Option<Range> {
        match bytes_each(of) {
            Some(each) if varies(path) && !is_within(path) => {
                Some(up_to(self.bytes / self.over.max(1) / each))
            }
            _ => usual(of),
        }
    }
}

/// The place of a value, if its size varies.
fn place(path: &[String], of: &Type) -> Option<Place> {
    if path.is_empty() {
        let of = of.optional_value().unwrap_or(of);
        // Most of what has no type is small.
        return (*of != Type::Dyn).then(|| vec![String::new(), of.to_string()]);
    }
    varies(path).then(|| path.to_vec())
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

/// The size of what nobody made large.
fn usual(of: &Type) -> Option<Range> {
    match of {
        Type::String | Type::Bytes => Some(up_to(SHORT)),
        Type::Dyn => Some(up_to(2 * FEW)),
        Type::List(_) | Type::Map(..) | Type::Struct(_) => Some(up_to(FEW)),
        other => other.optional_value().and_then(usual),
    }
}

/// How many bytes each element or character of a value takes at least; `None` for what has no size.
fn bytes_each(of: &Type) -> Option<u64> {
    match of {
        Type::String | Type::Bytes => Some(1),
        Type::List(element) => Some(least(element) + 1),
        Type::Map(_, value) => Some(least(value) + 6),
        Type::Dyn => Some(16),
        other => other.optional_value().and_then(bytes_each),
    }
}

/// The least bytes that a value usually takes in JSON.
fn least(of: &Type) -> u64 {
    match of {
        Type::Int | Type::Uint | Type::Double => 1,
        // Few texts in lists have less than a handful of characters.
        Type::String | Type::Bytes => 7,
        Type::Bool => 4,
        // Hardly any struct is valid without a name or two.
        Type::Struct(_) => 24,
        _ => 3,
    }
}

fn up_to(max: u64) -> Range {
    Range { min: 0, max }
}
