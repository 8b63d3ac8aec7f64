//! Threads that a caller lends.

/// Does things at the same time.
///
/// Policies judge on the thread that asks. Where there are so many that it pays, parts of the work are given to these.
pub trait Workers: Sync {
    /// Does both, and returns when both are done.
    fn both(&self, one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send));

    /// How many expressions are worth the way to another thread and back.
    fn worthwhile(&self) -> usize;
}
