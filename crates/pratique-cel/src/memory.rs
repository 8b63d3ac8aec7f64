//! Memory limits of evaluations.

use std::fmt::Debug;
use std::sync::Arc;

/// A number of bytes that evaluations share, for example all that a server may use. Implemented by the host.
///
/// An [`Arena`](crate::Arena) takes from it when it grows, which is about as often as it calls the allocator, and gives
/// everything back when it is dropped.
pub trait MemoryBudget: Debug + Send + Sync {
    /// Takes so many bytes, or returns false if fewer are left.
    fn take(&self, bytes: usize) -> bool;

    /// Gives back bytes that were taken.
    fn give_back(&self, bytes: usize);
}

/// The memory that the [`Arena`](crate::Arena) of a request may take.
///
/// Past the limit an evaluation ends as [`Stop::MemoryLimit`](crate::Stop::MemoryLimit), and with an exhausted budget as
/// [`Stop::MemoryBudget`](crate::Stop::MemoryBudget); operators absorb neither.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use pratique_cel::{Arena, MemoryBudget, MemoryLimit};
///
/// /// The bytes that are left for all requests.
/// #[derive(Debug)]
/// struct Left(AtomicUsize);
///
/// impl MemoryBudget for Left {
///     fn take(&self, bytes: usize) -> bool {
///         let take = |left: usize| left.checked_sub(bytes);
///         self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
///     }
///
///     fn give_back(&self, bytes: usize) {
///         self.0.fetch_add(bytes, Ordering::Relaxed);
///     }
/// }
///
/// let left = Arc::new(Left(AtomicUsize::new(512 << 20)));
/// let arena = Arena::within(&MemoryLimit::default().with_budget(left.clone()));
/// # drop(arena);
/// # assert_eq!(left.0.load(Ordering::Relaxed), 512 << 20);
/// ```
#[derive(Clone, Debug)]
pub struct MemoryLimit {
    /// The limit of one arena in bytes. As arenas grow by doubling, about half of it may be in use when it is reached.
    pub bytes: usize,
    /// The budget that arenas share.
    pub budget: Option<Arc<dyn MemoryBudget>>,
}

impl MemoryLimit {
    /// 256 MiB. Within the cost limit of Kubernetes one expression makes texts of 10 MB or lists of 80,000 elements by
    /// means that are charged by size, which take a few megabytes; even a hundred policies that do so over an object
    /// of the largest size that an API server takes stay below.
    pub const DEFAULT: usize = 256 << 20;

    /// A limit in bytes, without a budget.
    pub fn new(bytes: usize) -> Self {
        MemoryLimit { bytes, budget: None }
    }

    /// Adds a budget from which the memory is taken.
    pub fn with_budget(self, budget: Arc<dyn MemoryBudget>) -> Self {
        MemoryLimit {
            budget: Some(budget),
            ..self
        }
    }
}

impl Default for MemoryLimit {
    fn default() -> Self {
        MemoryLimit::new(Self::DEFAULT)
    }
}

/// Memory that a host holds for a request besides arenas, such as its body: subject to the same limit and budget. It is given
/// back when this is dropped.
///
/// ```
/// use pratique_cel::{HeldMemory, MemoryLimit, OutOfMemory};
///
/// let mut answer = HeldMemory::new(&MemoryLimit::new(1 << 20));
/// assert_eq!(answer.grow(1 << 20), Ok(()));
/// assert_eq!(answer.grow(1), Err(OutOfMemory::Limit));
/// answer.shrink(1 << 10);
/// assert_eq!(answer.grow(1), Ok(()));
/// ```
#[derive(Debug, Default)]
pub struct HeldMemory {
    limit: MemoryLimit,
    bytes: usize,
}

/// Why memory cannot be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum OutOfMemory {
    /// The limit of a request is exceeded.
    #[error("it takes more memory than a request may have")]
    Limit,
    /// The budget that requests share is exhausted.
    #[error("no memory is left")]
    Budget,
}

impl HeldMemory {
    /// Holds nothing yet, and at most `limit`.
    pub fn new(limit: &MemoryLimit) -> Self {
        HeldMemory {
            limit: limit.clone(),
            bytes: 0,
        }
    }

    /// The bytes that are held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Holds so many bytes more.
    ///
    /// # Errors
    /// They exceed the limit or the budget; then it holds as many as before.
    pub fn grow(&mut self, bytes: usize) -> Result<(), OutOfMemory> {
        let sum = self.bytes.saturating_add(bytes);
        if sum > self.limit.bytes {
            return Err(OutOfMemory::Limit);
        }
        if let Some(budget) = &self.limit.budget
            && bytes > 0
            && !budget.take(bytes)
        {
            return Err(OutOfMemory::Budget);
        }
        self.bytes = sum;
        Ok(())
    }

    /// Holds so many bytes less.
    pub fn shrink(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        if let Some(budget) = &self.limit.budget
            && bytes > 0
        {
            budget.give_back(bytes);
        }
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        self.shrink(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// The bytes that are left.
    #[derive(Debug)]
    struct Left(AtomicUsize);

    impl MemoryBudget for Left {
        fn take(&self, bytes: usize) -> bool {
            let take = |left: usize| left.checked_sub(bytes);
            self.0
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                .is_ok()
        }

        fn give_back(&self, bytes: usize) {
            self.0.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    #[test]
    fn what_is_held_is_taken_from_the_budget_and_given_back() {
        let left = Arc::new(Left(AtomicUsize::new(100)));
        let limit = MemoryLimit::new(80).with_budget(left.clone());
        let (mut first, mut second) = (HeldMemory::new(&limit), HeldMemory::new(&limit));
        assert_eq!(first.grow(70), Ok(()));
        assert_eq!(first.grow(11), Err(OutOfMemory::Limit));
        assert_eq!(second.grow(31), Err(OutOfMemory::Budget));
        first.shrink(20);
        assert_eq!(second.grow(31), Ok(()));
        assert_eq!((first.bytes(), second.bytes()), (50, 31));
        assert_eq!(left.0.load(Ordering::Relaxed), 19);
        drop((first, second));
        assert_eq!(left.0.load(Ordering::Relaxed), 100);
    }
}
