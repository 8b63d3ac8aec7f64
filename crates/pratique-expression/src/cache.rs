//! Expressions that are in use, so that equal ones are compiled once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::closed::{Closed, ClosedSet, Definition};
use crate::declarations::{Declarations, Use};
use crate::error::ExpressionError;
use crate::expression::Expression;

/// Expressions in use somewhere. Shared by all policies; what nobody uses any more is dropped.
#[derive(Debug, Default)]
pub struct Cache {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    expressions: HashMap<Key, Weak<Expression>>,
    closed: ClosedSet,
    /// At how many entries to look for dead ones.
    sweep_at: usize,
}

/// All that the result of compiling depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) usage: Use,
    pub(crate) declarations: Declarations,
    pub(crate) minor: u32,
    /// The variables that the expression can see, with their types.
    pub(crate) variables: String,
}

impl Cache {
    /// An empty cache.
    pub fn new() -> Self {
        Cache::default()
    }

    /// The expression of a key, compiled unless it is known. Faults are not kept: they end a load.
    pub(crate) fn get_or_compile(
        &self,
        key: Key,
        compile: impl FnOnce() -> Result<Expression, ExpressionError>,
    ) -> Result<Arc<Expression>, ExpressionError> {
        if let Some(known) = self.lock().expressions.get(&key).and_then(Weak::upgrade) {
            return Ok(known);
        }
        let expression = Arc::new(compile()?);
        let mut inner = self.lock();
        if inner.expressions.len() >= inner.sweep_at {
            inner
                .expressions
                .retain(|_, expression| expression.strong_count() > 0);
            inner.sweep_at = 2 * inner.expressions.len() + 64;
        }
        inner.expressions.insert(key, Arc::downgrade(&expression));
        Ok(expression)
    }

    /// An expression with the definitions of its variables, the same for all who have the same; `None` where its value is
    /// that of one policy.
    pub fn close(
        &self,
        expression: &Arc<Expression>,
        define: impl Fn(&str) -> Definition,
    ) -> Option<Arc<Closed>> {
        self.lock().closed.close(expression, define)
    }

    /// A thread that panicked leaves the map as it was before or after an insertion.
    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
