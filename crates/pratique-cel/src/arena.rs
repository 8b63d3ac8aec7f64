//! Memory for the temporary values of evaluations.

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;

use bumpalo::Bump;

use crate::error::{Fault, Stop};
use crate::memory::{HeldMemory, MemoryLimit, OutOfMemory};
use crate::value::{Opaque, Value};

/// Memory for the values of evaluations, which is freed when the arena is dropped, typically with the request.
///
/// An allocation never fails. Evaluations check how much the arena has grown, and stop past its [limit](MemoryLimit); large
/// values are [checked](crate::Context::reserve) before they are allocated.
#[derive(Default)]
pub struct Arena {
    bump: Bump,
    /// Values that own heap memory, and so have to be dropped.
    opaque: OnceCell<typed_arena::Arena<Box<dyn Opaque>>>,
    /// The bytes that those hold, and others that were [counted](Self::count).
    counted: Cell<usize>,
    /// As much as was seen to be allocated.
    held: RefCell<HeldMemory>,
}

/// A vector whose elements are in an arena, and stay there when it is dropped.
pub(crate) type ArenaVec<'a, T> = bumpalo::collections::Vec<'a, T>;

impl Arena {
    /// An empty arena with the default limit. It allocates when it is first used.
    pub fn new() -> Self {
        Arena::default()
    }

    /// An empty arena with a limit.
    pub fn within(limit: &MemoryLimit) -> Self {
        Arena {
            held: RefCell::new(HeldMemory::new(limit)),
            ..Arena::default()
        }
    }

    /// Stores a copy of `text`.
    pub fn str(&self, text: &str) -> &str {
        self.bump.alloc_str(text)
    }

    /// Stores the concatenation of two strings.
    pub(crate) fn concat(&self, left: &str, right: &str) -> &str {
        let mut text = bumpalo::collections::String::with_capacity_in(left.len() + right.len(), &self.bump);
        text.push_str(left);
        text.push_str(right);
        text.into_bump_str()
    }

    /// Stores a copy of `bytes`.
    pub fn bytes(&self, bytes: &[u8]) -> &[u8] {
        self.bump.alloc_slice_copy(bytes)
    }

    /// Stores a copy of a slice.
    pub fn slice<T: Copy>(&self, values: &[T]) -> &[T] {
        self.bump.alloc_slice_copy(values)
    }

    /// An empty vector in the arena.
    pub(crate) fn list<T>(&self, capacity: usize) -> ArenaVec<'_, T> {
        ArenaVec::with_capacity_in(capacity, &self.bump)
    }

    /// Stores a slice of `len` times `value`.
    #[allow(clippy::mut_from_ref, reason = "each call returns another piece of memory")]
    pub(crate) fn filled<T: Copy>(&self, len: usize, value: T) -> &mut [T] {
        self.bump.alloc_slice_fill_copy(len, value)
    }

    /// Stores a value.
    pub fn value<T: Copy>(&self, value: T) -> &T {
        self.bump.alloc(value)
    }

    /// Stores a value of an abstract type.
    pub fn opaque<'a, T: Opaque>(&'a self, value: T) -> Value<'a> {
        if !std::mem::needs_drop::<T>() {
            return self.undropped(value);
        }
        self.count(
            OPAQUE_OVERHEAD
                .saturating_add(size_of::<T>())
                .saturating_add(value.owned_bytes()),
        );
        let stored: &'a dyn Opaque = &**self.opaque.get_or_init(Default::default).alloc(Box::new(value));
        Value::Opaque(stored)
    }

    /// Stores a value of an abstract type without dropping it ever: it must not own anything.
    pub(crate) fn undropped<'a>(&'a self, value: impl Opaque) -> Value<'a> {
        let stored: &'a dyn Opaque = self.bump.alloc(value);
        Value::Opaque(stored)
    }

    /// Counts bytes that are held elsewhere for as long as the arena, such as temporary values of the host.
    pub fn count(&self, bytes: usize) {
        self.counted.set(self.counted.get().saturating_add(bytes));
    }

    /// The bytes that the arena holds, whether in use or not.
    pub fn allocated_bytes(&self) -> usize {
        self.bump.allocated_bytes().saturating_add(self.counted.get())
    }

    /// Checks that so many more bytes than it holds are within its limit and its budget.
    ///
    /// # Errors
    /// [`Stop::MemoryLimit`] or [`Stop::MemoryBudget`].
    pub fn check_room(&self, more: usize) -> Result<(), Fault> {
        let bytes = self.allocated_bytes().saturating_add(more);
        let mut held = self.held.borrow_mut();
        let missing = bytes.saturating_sub(held.bytes());
        held.grow(missing).map_err(|error| {
            Fault::stop(match error {
                OutOfMemory::Limit => Stop::MemoryLimit,
                OutOfMemory::Budget => Stop::MemoryBudget,
            })
        })
    }
}

/// The bytes that an opaque value that is dropped takes besides itself: its box and the pointer to it.
const OPAQUE_OVERHEAD: usize = 32;

impl fmt::Debug for Arena {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Arena")
            .field("allocated_bytes", &self.allocated_bytes())
            .finish()
    }
}
