//! Where the temporaries of an evaluation live.

use std::cell::OnceCell;
use std::fmt;

use bumpalo::Bump;

use crate::value::{Opaque, Value};

/// Memory for what an evaluation makes: freed as a whole when it is dropped, typically with the request.
#[derive(Default)]
pub struct Arena {
    bump: Bump,
    /// Values that own heap memory, and so must be dropped one by one.
    opaque: OnceCell<typed_arena::Arena<Box<dyn Opaque>>>,
}

impl Arena {
    /// An empty arena; takes no memory until it is used.
    pub fn new() -> Self {
        Arena::default()
    }

    /// Stores a copy of `text`.
    pub fn str(&self, text: &str) -> &str {
        self.bump.alloc_str(text)
    }

    /// Stores two texts as one.
    pub(crate) fn joined(&self, left: &str, right: &str) -> &str {
        let mut text = bumpalo::collections::String::with_capacity_in(left.len() + right.len(), &self.bump);
        text.push_str(left);
        text.push_str(right);
        text.into_bump_str()
    }

    /// Stores a copy of `bytes`.
    pub fn bytes(&self, bytes: &[u8]) -> &[u8] {
        self.bump.alloc_slice_copy(bytes)
    }

    /// Stores a copy of values (or of anything else that needs no drop).
    pub fn slice<T: Copy>(&self, values: &[T]) -> &[T] {
        self.bump.alloc_slice_copy(values)
    }

    /// Makes room for `len` values, all `value` at first.
    #[allow(
        clippy::mut_from_ref,
        reason = "each call gives memory of its own, as the allocator below does"
    )]
    pub(crate) fn filled<T: Copy>(&self, len: usize, value: T) -> &mut [T] {
        self.bump.alloc_slice_fill_copy(len, value)
    }

    /// Stores one value that needs no drop.
    pub fn value<T: Copy>(&self, value: T) -> &T {
        self.bump.alloc(value)
    }

    /// Stores a value of an abstract type.
    pub fn opaque<'a, T: Opaque>(&'a self, value: T) -> Value<'a> {
        if !std::mem::needs_drop::<T>() {
            return self.undropped(value);
        }
        let stored: &'a dyn Opaque = &**self.opaque.get_or_init(Default::default).alloc(Box::new(value));
        Value::Opaque(stored)
    }

    /// Stores a value of an abstract type that owns nothing: it is forgotten, not dropped.
    pub(crate) fn undropped<'a>(&'a self, value: impl Opaque) -> Value<'a> {
        let stored: &'a dyn Opaque = self.bump.alloc(value);
        Value::Opaque(stored)
    }

    /// How many bytes the arena holds for plain values.
    pub fn allocated_bytes(&self) -> usize {
        self.bump.allocated_bytes()
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Arena")
            .field("allocated_bytes", &self.bump.allocated_bytes())
            .finish()
    }
}
