//! Documents as a decoder looks at them: as plain values, or as they were written.

use std::ops::Deref;

use pratique_json::{Object, Value};

/// A value of a document.
///
/// A server's decoder goes through an object in the order in which it is written, and notices members that are given
/// twice. A [`Value`] has neither; a tree that keeps the text of a document has both.
pub trait Node<'v>: Copy {
    /// Whether an object may have several members of a name.
    const MAY_REPEAT: bool;

    /// How it has its value.
    type Held: Deref<Target = Value<'v>>;

    /// The value. A list or an object may be without its elements or members.
    fn value(self) -> Self::Held;

    /// A number as it is written, where that is known.
    fn literal(self) -> Option<&'v str>;

    /// The elements of a list; of anything else none.
    fn elements(self) -> impl Iterator<Item = Self>;

    /// The members of an object; of anything else none.
    fn members(self) -> impl Iterator<Item = (&'v str, Self)>;
}

impl<'v, 'a: 'v> Node<'v> for &'v Value<'a> {
    const MAY_REPEAT: bool = false;

    type Held = &'v Value<'v>;

    #[inline]
    fn value(self) -> &'v Value<'v> {
        self
    }

    fn literal(self) -> Option<&'v str> {
        None
    }

    fn elements(self) -> impl Iterator<Item = Self> {
        self.as_array().unwrap_or_default().iter()
    }

    fn members(self) -> impl Iterator<Item = (&'v str, Self)> {
        let members = self.as_object().map(Object::members).unwrap_or_default();
        members.iter().map(|(key, value)| (key.as_ref(), value))
    }
}
