//! Expressions that are in use, so that equal ones are compiled once.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::closed::{Closed, ClosedSet, Definition};
use crate::declarations::{Declarations, Use};
use crate::error::ExpressionError;
use crate::expression::Expression;
use crate::in_use::InUse;

/// Expressions in use somewhere. Shared by all policies; what nobody uses any more is dropped.
#[derive(Default)]
pub struct Cache {
    inner: Mutex<Inner>,
    watch: Option<Watch>,
}

/// Measures compilations: nothing here reads a clock.
struct Watch {
    now: fn() -> Instant,
    tell: Box<dyn Fn(Duration) + Send + Sync>,
}

#[derive(Debug, Default)]
struct Inner {
    expressions: InUse<Key, Expression>,
    closed: ClosedSet,
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

    /// An empty cache that tells how long each compilation took, by a clock that is given.
    pub fn timed(now: fn() -> Instant, tell: impl Fn(Duration) + Send + Sync + 'static) -> Self {
        Cache {
            inner: Mutex::default(),
            watch: Some(Watch {
                now,
                tell: Box::new(tell),
            }),
        }
    }

    /// The expression of a key, compiled unless it is known. Faults are not kept: they end a load.
    ///
    /// Two threads may compile the same at the same time. There is one expression nevertheless: that of the first who is
    /// done.
    pub(crate) fn get_or_compile(
        &self,
        key: Key,
        compile: impl FnOnce() -> Result<Expression, ExpressionError>,
    ) -> Result<Arc<Expression>, ExpressionError> {
        if let Some(known) = self.lock().expressions.get(&key) {
            return Ok(known);
        }
        let start = self.watch.as_ref().map(|watch| (watch, (watch.now)()));
        let compiled = compile();
        if let Some((watch, start)) = start {
            (watch.tell)((watch.now)().saturating_duration_since(start));
        }
        let expression = Arc::new(compiled?);
        let mut inner = self.lock();
        if let Some(known) = inner.expressions.get(&key) {
            return Ok(known);
        }
        inner.expressions.insert(key, &expression);
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

impl fmt::Debug for Cache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Cache")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composition::Composition;

    #[test]
    fn who_is_first_makes_it() {
        let cache = Cache::new();
        let policy = Composition::new(&cache);
        let compile = || policy.compile("1 == 1", Use::Validation, Declarations::default());
        let key = Key {
            text: "1 == 1".to_owned(),
            usage: Use::Validation,
            declarations: Declarations::default(),
            minor: 37,
            variables: String::new(),
        };
        let mut first = None;
        // Another is done while this one compiles.
        let second = cache.get_or_compile(key, || {
            first = Some(compile().unwrap());
            let environment = policy.environment(Declarations::default());
            Expression::compile(&environment, "1 == 1", Use::Validation)
        });
        assert!(Arc::ptr_eq(&first.unwrap(), &second.unwrap()));
    }
}
