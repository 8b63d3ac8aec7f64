//! Documents as a decoder looks at them: as plain values, or as they were written.

use std::borrow::Cow;

use pratique_json::Value;

/// A value of a document.
///
/// A server's decoder goes through an object in the order in which it is written, and notices members that are given
/// twice. A [`Value`] has neither; a tree that keeps the text of a document has both.
pub trait Node<'v>: Copy {
    /// Whether an object may have several members of a name.
    const MAY_REPEAT: bool;

    /// The value. A list or an object may be without its elements or members.
    fn value(self) -> Cow<'v, Value<'v>>;

    /// A number as it is written, where that is known.
    fn literal(self) -> Option<&'v str>;

    /// The elements of a list; of anything else none.
    fn elements(self) -> impl Iterator<Item = Self>;

    /// The members of an object; of anything else none.
    fn members(self) -> impl Iterator<Item = (&'v str, Self)>;
}

impl<'v, 'a: 'v> Node<'v> for &'v Value<'a> {
    const MAY_REPEAT: bool = false;

    #[inline]
    fn value(self) -> Cow<'v, Value<'v>> {
        Cow::Borrowed(self)
    }

    fn literal(self) -> Option<&'v str> {
        None
    }

    fn elements(self) -> impl Iterator<Item = Self> {
        self.as_array().unwrap_or_default().iter()
    }

    fn members(self) -> impl Iterator<Item = (&'v str, Self)> {
        self.as_object().into_iter().flat_map(|object| object.iter())
    }
}
