//! Identities of expressions.

use std::sync::atomic::{AtomicU64, Ordering};

/// The identity of an expression while the process runs. Unlike an address, no other expression ever has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ExpressionIdentity(u64);

impl ExpressionIdentity {
    /// One that nothing else has.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        ExpressionIdentity(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}
