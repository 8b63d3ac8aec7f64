//! Size hints for the cost estimate, for objects of a known size.
//!
//! Bytes that are in one list are in no other: the worst object has all of them in the list, map or string that costs
//! most, and everything else is as small as usual. Values that an expression builds have no path in the object; they
//! are distinguished by type.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use pratique_cel::CheckedAst;
use pratique_cel::Type;
use pratique_cel::cost::Range;
use pratique_cel::estimate::{Sizes, UnknownSizes, ValueSize, value_size};

/// The size of a large object: of a Pod with more than a thousand containers.
pub(crate) const LARGE: u64 = 32 << 10;

/// The usual maximum number of elements of a list, and of characters of a string.
const FEW: u64 = 4;
const SHORT: u64 = 64;

/// The maximum number of places whose sizes are varied.
const MOST_PLACES: usize = 64;

/// A value that may be large: its path, or an empty root and the type of a value that an expression builds.
type ValuePlace = Vec<String>;

/// Records the places whose sizes the estimate asks for, and answers for a small object.
#[derive(Default)]
pub(crate) struct PlaceRecorder(RefCell<BTreeSet<ValuePlace>>);

/// An object with all of its bytes at one place.
pub(crate) struct FocusedObject<'p> {
    focus: Option<&'p ValuePlace>,
    bytes: u64,
}

/// An object with its bytes spread evenly over places.
pub(crate) struct SpreadObject {
    pub(crate) bytes: u64,
    pub(crate) over: u64,
}

/// The sizes of variables that are a part of the object, or constants.
#[derive(Debug, Default)]
pub(crate) struct VariableSizes {
    by_name: HashMap<String, ValueSize>,
}

/// Size hints that resolve variables to their definitions.
pub(crate) struct WithVariables<'v, S> {
    variables: &'v VariableSizes,
    inner: S,
}

impl VariableSizes {
    /// Adds a variable, which may read those before it.
    pub(crate) fn define(&mut self, name: &str, checked: &CheckedAst) {
        let value = value_size(checked, &WithVariables::new(self, UnknownSizes));
        self.by_name.insert(name.to_owned(), value);
    }

    /// The variable at the start of a path, and the remaining steps.
    fn find<'p>(&self, path: &'p [String]) -> Option<(&ValueSize, &'p [String])> {
        match path {
            [root, name, rest @ ..] if root == "variables" => Some((self.by_name.get(name)?, rest)),
            _ => None,
        }
    }
}

impl<'v, S> WithVariables<'v, S> {
    pub(crate) fn new(variables: &'v VariableSizes, inner: S) -> Self {
        WithVariables { variables, inner }
    }

    pub(crate) fn into_inner(self) -> S {
        self.inner
    }
}

impl<S: Sizes> Sizes for WithVariables<'_, S> {
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
        // An unbounded size says nothing about the variable.
        known
            .filter(|size| size.is_bounded())
            .or_else(|| self.inner.size(path, of))
    }
}

impl PlaceRecorder {
    /// The recorded places that may be large.
    pub(crate) fn into_places(self) -> Vec<ValuePlace> {
        self.0.into_inner().into_iter().take(MOST_PLACES).collect()
    }
}

impl Sizes for PlaceRecorder {
    fn size(&self, path: &[String], of: &Type) -> Option<Range> {
        if bytes_each(of).is_some() {
            self.0.borrow_mut().extend(place(path, of));
        }
        usual(of)
    }
}

impl FocusedObject<'_> {
    pub(crate) fn small() -> Self {
        FocusedObject {
            focus: None,
            bytes: 0,
        }
    }

    pub(crate) fn with(focus: &ValuePlace, bytes: u64) -> FocusedObject<'_> {
        FocusedObject {
            focus: Some(focus),
            bytes,
        }
    }
}

impl Sizes for FocusedObject<'_> {
    fn size(&self, path: &[String], of: &Type) -> Option<Range> {
        let (Some(focus), Some(each)) = (self.focus, bytes_each(of)) else {
            return usual(of);
        };
        if place(path, of).as_ref() == Some(focus) {
            return Some(up_to(self.bytes / each));
        }
        // One element can hold all bytes. The parents of a value that an expression builds are not known.
        let is_made = focus.first().is_some_and(String::is_empty);
        let holds = !path.is_empty() && (focus.starts_with(path) || (is_made && matches!(of, Type::List(_))));
        if holds { Some(up_to(1)) } else { usual(of) }
    }
}

impl Sizes for SpreadObject {
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
fn place(path: &[String], of: &Type) -> Option<ValuePlace> {
    if path.is_empty() {
        let of = of.optional_value().unwrap_or(of);
        // Most values without a type are small.
        return (*of != Type::Dyn).then(|| vec![String::new(), of.to_string()]);
    }
    varies(path).then(|| path.to_vec())
}

/// Whether the client controls the size of a place: the request itself is small.
fn varies(path: &[String]) -> bool {
    let root = path.first().map(String::as_str);
    matches!(root, Some("object" | "oldObject" | "params" | "variables")) && path.len() > 1
}

/// Whether a place is inside an element of a list or map.
fn is_within(path: &[String]) -> bool {
    path.iter().any(|step| step.starts_with('@'))
}

/// The usual size of a value.
fn usual(of: &Type) -> Option<Range> {
    match of {
        Type::String | Type::Bytes => Some(up_to(SHORT)),
        Type::Dyn => Some(up_to(2 * FEW)),
        Type::List(_) | Type::Map(..) | Type::Struct(_) => Some(up_to(FEW)),
        other => other.optional_value().and_then(usual),
    }
}

/// The minimum number of bytes of an element or character of a value; `None` for types without a size.
fn bytes_each(of: &Type) -> Option<u64> {
    match of {
        Type::String | Type::Bytes => Some(1),
        Type::List(element) => Some(least(element) + 1),
        Type::Map(_, value) => Some(least(value) + 6),
        Type::Dyn => Some(16),
        other => other.optional_value().and_then(bytes_each),
    }
}

/// The usual minimum size of a value as JSON, in bytes.
fn least(of: &Type) -> u64 {
    match of {
        Type::Int | Type::Uint | Type::Double => 1,
        // Strings in lists usually have several characters.
        Type::String | Type::Bytes => 7,
        Type::Bool => 4,
        // Valid structs usually have one or two names.
        Type::Struct(_) => 24,
        _ => 3,
    }
}

fn up_to(max: u64) -> Range {
    Range { min: 0, max }
}
