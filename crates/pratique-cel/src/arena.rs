//! Where the temporaries of an evaluation live.

use std::cell::{Cell, OnceCell};
use std::fmt;

use bumpalo::Bump;

use crate::error::{Fault, Stop};
use crate::memory::MemoryLimit;
use crate::value::{Opaque, Value};

/// Memory for what an evaluation makes: freed as a whole when it is dropped, typically with the request.
///
/// It never refuses a value. Evaluations look at how much it has grown, and stop past its [limit](MemoryLimit); what is
/// large is asked for [before](crate::Context::reserve) it is made.
#[derive(Default)]
pub struct Arena {
    bump: Bump,
    /// Values that own heap memory, and so must be dropped one by one.
    opaque: OnceCell<typed_arena::Arena<Box<dyn Opaque>>>,
    /// How much those hold, and whatever else was [counted](Self::count).
    counted: Cell<usize>,
    account: Account,
}

/// How much an arena may hold.
#[derive(Default)]
struct Account {
    limit: MemoryLimit,
    /// How much was taken from the budget.
    taken: Cell<usize>,
}

impl Arena {
    /// An empty arena with the default limit; takes no memory until it is used.
    pub fn new() -> Self {
        Arena::default()
    }

    /// An empty arena with a limit.
    pub fn within(limit: &MemoryLimit) -> Self {
        Arena {
            account: Account {
                limit: limit.clone(),
                taken: Cell::new(0),
            },
            ..Arena::default()
        }
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

    /// An empty list with room for so many values, which grows where it lies.
    pub(crate) fn list<T>(&self, capacity: usize) -> bumpalo::collections::Vec<'_, T> {
        bumpalo::collections::Vec::with_capacity_in(capacity, &self.bump)
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
        self.count(
            OPAQUE
                .saturating_add(size_of::<T>())
                .saturating_add(value.owned_bytes()),
        );
        let stored: &'a dyn Opaque = &**self.opaque.get_or_init(Default::default).alloc(Box::new(value));
        Value::Opaque(stored)
    }

    /// Stores a value of an abstract type that owns nothing: it is forgotten, not dropped.
    pub(crate) fn undropped<'a>(&'a self, value: impl Opaque) -> Value<'a> {
        let stored: &'a dyn Opaque = self.bump.alloc(value);
        Value::Opaque(stored)
    }

    /// Counts bytes that are held elsewhere for as long as the arena, such as a host's own temporaries.
    pub fn count(&self, bytes: usize) {
        self.counted.set(self.counted.get().saturating_add(bytes));
    }

    /// How many bytes the arena holds: what it asked the allocator for, not only what is in use.
    pub fn allocated_bytes(&self) -> usize {
        self.bump.allocated_bytes().saturating_add(self.counted.get())
    }

    /// Whether what it holds, and so many bytes more, is within its limit and its budget.
    ///
    /// # Errors
    /// [`Stop::MemoryLimit`] or [`Stop::MemoryBudget`].
    pub fn check(&self, more: usize) -> Result<(), Fault> {
        self.account.hold(self.allocated_bytes().saturating_add(more))
    }
}

impl Account {
    fn hold(&self, bytes: usize) -> Result<(), Fault> {
        if bytes > self.limit.bytes {
            return Err(Fault::stop(Stop::MemoryLimit));
        }
        match bytes.checked_sub(self.taken.get()) {
            None | Some(0) => Ok(()),
            Some(more) => self.take(more),
        }
    }

    #[cold]
    fn take(&self, bytes: usize) -> Result<(), Fault> {
        if let Some(budget) = &self.limit.budget
            && !budget.take(bytes)
        {
            return Err(Fault::stop(Stop::MemoryBudget));
        }
        self.taken.set(self.taken.get().saturating_add(bytes));
        Ok(())
    }
}

/// What the box and the place of a value that owns heap memory take.
const OPAQUE: usize = 32;

impl Drop for Account {
    fn drop(&mut self) {
        let taken = self.taken.get();
        if let Some(budget) = &self.limit.budget
            && taken > 0
        {
            budget.give_back(taken);
        }
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Arena")
            .field("allocated_bytes", &self.allocated_bytes())
            .finish()
    }
}
