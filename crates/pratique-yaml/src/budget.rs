//! How much memory reading may take, so that no text, however it refers to itself, takes all that there is.
//!
//! What is counted is about what values take at their peak, as text, tree and object: each use of a YAML alias is counted
//! like what it stands for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much memory one load may take by default, in bytes, by the estimate of this module.
///
/// Forty thousand small policies, or ten thousand of 5 KB each, are below it.
pub const DEFAULT_LOAD_BYTES: u64 = 384 << 20;

/// A byte of a file: as it is read, split, as characters, and for messages.
pub const FILE: u64 = 4;
/// A byte of a value's or a key's text: in the tree of values, and in the object.
const TEXT: u64 = 2;
/// A document, or something that is wrong with one, besides its text.
pub const DOCUMENT: u64 = 1 << 10;
/// A value, besides its text.
const VALUE: u64 = 96;
/// A key, besides its text.
const KEY: u64 = 128;

/// A bound on the memory of one load. Clones share what is left.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limit: u64,
    spent: AtomicU64,
}

/// More was needed than there was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exceeded;

impl Budget {
    /// A budget of so many bytes.
    pub fn new(limit: u64) -> Self {
        let spent = AtomicU64::new(0);
        Budget(Arc::new(Inner { limit, spent }))
    }

    /// For text that was read within a budget before.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX)
    }

    /// For text whose length is bounded by who gives it: what grows with the length only is within it, and what grows by
    /// aliases is not.
    pub fn for_text(length: usize) -> Self {
        const SHORTEST_VALUE: u64 = 2;
        let per_byte = FILE + TEXT + (KEY + VALUE) / SHORTEST_VALUE;
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        Self::new(length.saturating_mul(per_byte).saturating_add(64 << 20))
    }

    /// Spends some bytes.
    ///
    /// # Errors
    /// When there are not that many left.
    pub fn spend(&self, bytes: u64) -> Result<(), Exceeded> {
        let before = self.0.spent.fetch_add(bytes, Ordering::Relaxed);
        match before.checked_add(bytes) {
            Some(spent) if spent <= self.0.limit => Ok(()),
            _ => {
                self.exceed();
                Err(Exceeded)
            }
        }
    }

    /// Marks it as exceeded, for good.
    fn exceed(&self) {
        self.0.spent.store(u64::MAX / 2, Ordering::Relaxed);
    }

    /// Whether more was to be spent than there was.
    pub fn is_exceeded(&self) -> bool {
        self.0.spent.load(Ordering::Relaxed) > self.0.limit
    }

    /// How much there was.
    pub fn limit(&self) -> u64 {
        self.0.limit
    }

    /// How much is left.
    #[cfg(test)]
    fn left(&self) -> u64 {
        self.0.limit.saturating_sub(self.0.spent.load(Ordering::Relaxed))
    }

    /// What is said of a load that needs more.
    pub fn message(&self) -> String {
        let limit = self.0.limit >> 20;
        format!(
            "more than {limit} MiB of memory would be needed to load this: values that YAML aliases repeat count each time"
        )
    }
}

/// Spends for the values of one document, in larger steps: documents are read on several threads.
#[derive(Debug)]
pub struct Meter<'b> {
    budget: &'b Budget,
    total: u64,
    unspent: u64,
}

/// How much is spent at once.
const STEP: u64 = 16 << 10;

impl<'b> Meter<'b> {
    /// Spends of a budget.
    pub fn new(budget: &'b Budget) -> Self {
        Meter {
            budget,
            total: 0,
            unspent: 0,
        }
    }

    /// A value with so many bytes of text.
    ///
    /// # Errors
    /// When the budget does not have them.
    pub fn value(&mut self, length: usize) -> Result<(), Exceeded> {
        self.spend(VALUE, length)
    }

    /// A key with so many bytes of text.
    ///
    /// # Errors
    /// When the budget does not have them.
    pub fn key(&mut self, length: usize) -> Result<(), Exceeded> {
        self.spend(KEY, length)
    }

    /// Some bytes of text that are part of neither.
    ///
    /// # Errors
    /// When the budget does not have them.
    pub fn text(&mut self, length: usize) -> Result<(), Exceeded> {
        self.spend(0, length)
    }

    fn spend(&mut self, fixed: u64, length: usize) -> Result<(), Exceeded> {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        let bytes = length.saturating_mul(TEXT).saturating_add(fixed);
        self.total = self.total.saturating_add(bytes);
        self.unspent = self.unspent.saturating_add(bytes);
        match self.unspent {
            0..STEP => Ok(()),
            _ => self.budget.spend(std::mem::take(&mut self.unspent)),
        }
    }

    /// All that the document took.
    ///
    /// # Errors
    /// When the budget does not have it.
    pub fn finish(self) -> Result<u64, Exceeded> {
        self.budget.spend(self.unspent)?;
        Ok(self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_is_gone() {
        let budget = Budget::new(3 << 20);
        assert_eq!(budget.spend(2 << 20), Ok(()));
        assert_eq!((budget.left(), budget.is_exceeded()), (1 << 20, false));
        assert_eq!(budget.clone().spend(2 << 20), Err(Exceeded));
        assert_eq!((budget.left(), budget.is_exceeded()), (0, true));
        assert_eq!(budget.spend(0), Err(Exceeded));
        assert!(budget.message().starts_with("more than 3 MiB"));
    }

    #[test]
    fn documents_pay_for_all_values() {
        let budget = Budget::new(1 << 20);
        let mut meter = Meter::new(&budget);
        for _ in 0..100 {
            meter.value(10).unwrap();
            meter.key(5).unwrap();
        }
        let total = 100 * (VALUE + KEY + 15 * TEXT);
        assert_eq!(meter.finish(), Ok(total));
        assert_eq!(budget.left(), (1 << 20) - total);
        let mut meter = Meter::new(&budget);
        assert_eq!(meter.text(1 << 20), Err(Exceeded));
    }
}
