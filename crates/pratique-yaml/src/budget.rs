//! A bound on the memory of reading, so that no text exhausts it, however it refers to itself.
//!
//! The cost is an estimate of what values take at their peak, as text, tree and object: each use of a YAML alias costs as
//! much as the value that it stands for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much memory one load may take by default, in bytes, by the estimate of this module.
///
/// Forty thousand small policies, or ten thousand of 5 KB each, are below it.
pub const DEFAULT_LOAD_BYTES: u64 = 384 << 20;

/// The cost of a byte of a file: as it is read, split, as characters, and for messages.
pub const FILE: u64 = 4;
/// The cost of a byte of a value's or a key's text: in the tree of values, and in the object.
const TEXT: u64 = 2;
/// The cost of a document, or of an error, besides its text.
pub const DOCUMENT: u64 = 1 << 10;
/// The cost of a value, besides its text.
const VALUE: u64 = 96;
/// The cost of a key, besides its text.
const KEY: u64 = 128;

/// A bound on the memory of one load. Clones share the rest.
#[derive(Clone, Debug)]
pub struct Budget(Arc<SharedBudget>);

#[derive(Debug)]
struct SharedBudget {
    limit: u64,
    spent: AtomicU64,
}

/// The budget is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetExceeded;

impl Budget {
    /// A budget of so many bytes.
    pub fn new(limit: u64) -> Self {
        let spent = AtomicU64::new(0);
        Budget(Arc::new(SharedBudget { limit, spent }))
    }

    /// A budget for text that was read within another budget before.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX)
    }

    /// A budget for text whose length is already bounded: values that grow with the length fit, values that grow by aliases do
    /// not.
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
    pub fn spend(&self, bytes: u64) -> Result<(), BudgetExceeded> {
        let previous_bytes = self.0.spent.fetch_add(bytes, Ordering::Relaxed);
        match previous_bytes.checked_add(bytes) {
            Some(spent) if spent <= self.0.limit => Ok(()),
            _ => {
                self.exceed();
                Err(BudgetExceeded)
            }
        }
    }

    /// Marks it as exceeded, for good.
    fn exceed(&self) {
        self.0.spent.store(u64::MAX / 2, Ordering::Relaxed);
    }

    /// Whether the budget was exceeded.
    pub fn is_exceeded(&self) -> bool {
        self.0.spent.load(Ordering::Relaxed) > self.0.limit
    }

    /// The limit in bytes.
    pub fn limit(&self) -> u64 {
        self.0.limit
    }

    /// How much is left.
    #[cfg(test)]
    fn left(&self) -> u64 {
        self.0.limit.saturating_sub(self.0.spent.load(Ordering::Relaxed))
    }

    /// The message for a load that exceeds the budget.
    pub fn message(&self) -> String {
        let limit = self.0.limit >> 20;
        format!(
            "more than {limit} MiB of memory would be needed to load this: values that YAML aliases repeat count each time"
        )
    }
}

/// Spends for the values of one document, in large steps, as documents are read on several threads.
#[derive(Debug)]
pub struct Meter<'b> {
    budget: &'b Budget,
    total: u64,
    unspent: u64,
}

/// The size of a step.
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

    /// Spends for a value with so many bytes of text.
    ///
    /// # Errors
    /// When the budget does not have them.
    pub fn value(&mut self, length: usize) -> Result<(), BudgetExceeded> {
        self.spend(VALUE, length)
    }

    /// Spends for a key with so many bytes of text.
    ///
    /// # Errors
    /// When the budget does not have them.
    pub fn key(&mut self, length: usize) -> Result<(), BudgetExceeded> {
        self.spend(KEY, length)
    }

    /// Spends for bytes of other text.
    ///
    /// # Errors
    /// When the budget does not have them.
    pub fn spend_text(&mut self, length: usize) -> Result<(), BudgetExceeded> {
        self.spend(0, length)
    }

    fn spend(&mut self, fixed: u64, length: usize) -> Result<(), BudgetExceeded> {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        let bytes = length.saturating_mul(TEXT).saturating_add(fixed);
        self.total = self.total.saturating_add(bytes);
        self.unspent = self.unspent.saturating_add(bytes);
        match self.unspent {
            0..STEP => Ok(()),
            _ => self.budget.spend(std::mem::take(&mut self.unspent)),
        }
    }

    /// The cost of the document.
    ///
    /// # Errors
    /// When the budget does not have it.
    pub fn finish(self) -> Result<u64, BudgetExceeded> {
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
        assert_eq!(budget.clone().spend(2 << 20), Err(BudgetExceeded));
        assert_eq!((budget.left(), budget.is_exceeded()), (0, true));
        assert_eq!(budget.spend(0), Err(BudgetExceeded));
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
        assert_eq!(meter.spend_text(1 << 20), Err(BudgetExceeded));
    }
}
