//! Expressions that are in use, so that equal ones are compiled once.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pratique_cel::Type;
use pratique_schema::Release;

use crate::bound::{BoundExpression, BoundExpressions, Definition};
use crate::declarations::{Declarations, ExpressionPurpose};
use crate::error::ExpressionError;
use crate::expression::Expression;
use crate::weak_map::WeakMap;

/// Compiled expressions of a server, shared by all policies. Those that no policy uses any more are dropped.
pub struct Cache {
    release: &'static Release,
    inner: Mutex<CacheInner>,
    timer: Option<CompileTimer>,
}

/// Measures compilations with the clock of the caller: nothing here reads one.
struct CompileTimer {
    now: fn() -> Instant,
    observe: Box<dyn Fn(Duration) + Send + Sync>,
}

#[derive(Debug, Default)]
struct CacheInner {
    expressions: WeakMap<CompileKey, Expression>,
    bound: BoundExpressions,
}

/// Everything that the result of compiling depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CompileKey {
    pub(crate) text: String,
    pub(crate) usage: ExpressionPurpose,
    pub(crate) declarations: Declarations,
    pub(crate) minor: u32,
    /// The variables that the expression can see, with their types.
    pub(crate) variables: Vec<(Arc<str>, Type)>,
}

impl Cache {
    /// An empty cache, for a server of the latest release.
    pub fn new() -> Self {
        Cache::default()
    }

    /// The same for a server of another release, without expressions.
    #[must_use]
    pub fn of_release(self, release: &'static Release) -> Self {
        Cache {
            release,
            inner: Mutex::default(),
            timer: self.timer,
        }
    }

    /// The release of the server.
    pub fn release(&self) -> &'static Release {
        self.release
    }

    /// An empty cache that calls `observe` with the duration of each compilation, by the clock `now`.
    pub fn timed(now: fn() -> Instant, observe: impl Fn(Duration) + Send + Sync + 'static) -> Self {
        Cache {
            release: Release::latest(),
            inner: Mutex::default(),
            timer: Some(CompileTimer {
                now,
                observe: Box::new(observe),
            }),
        }
    }

    /// The expression of a key, compiled unless it is known. Faults are not kept: they end a load.
    ///
    /// Two threads may compile the same at the same time. The first result is kept.
    pub(crate) fn get_or_compile(
        &self,
        key: CompileKey,
        compile: impl FnOnce() -> Result<Expression, ExpressionError>,
    ) -> Result<Arc<Expression>, ExpressionError> {
        if let Some(known) = self.lock().expressions.get(&key) {
            return Ok(known);
        }
        let start = self.timer.as_ref().map(|timer| (timer, (timer.now)()));
        let compiled = compile();
        if let Some((timer, start)) = start {
            (timer.observe)((timer.now)().saturating_duration_since(start));
        }
        let expression = Arc::new(compiled?);
        let mut inner = self.lock();
        if let Some(known) = inner.expressions.get(&key) {
            return Ok(known);
        }
        inner.expressions.insert(key, &expression);
        Ok(expression)
    }

    /// Binds an expression to the definitions of its variables; equal definitions give the same bound expression. `None` if its
    /// value cannot be shared between policies.
    pub fn bind(
        &self,
        expression: &Arc<Expression>,
        define: impl Fn(&str) -> Definition,
    ) -> Option<Arc<BoundExpression>> {
        self.lock().bound.bind(expression, define)
    }

    /// A thread that panicked leaves the map as it was before or after an insertion.
    fn lock(&self) -> std::sync::MutexGuard<'_, CacheInner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Cache {
    fn default() -> Self {
        Cache {
            release: Release::latest(),
            inner: Mutex::default(),
            timer: None,
        }
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Cache")
            .field("release", &self.release)
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composition::Composition;

    #[test]
    fn the_first_result_is_kept() {
        let cache = Cache::new();
        let policy = Composition::new(&cache);
        let compile = || policy.compile("1 == 1", ExpressionPurpose::Validation, Declarations::default());
        let key = CompileKey {
            text: "1 == 1".to_owned(),
            usage: ExpressionPurpose::Validation,
            declarations: Declarations::default(),
            minor: 37,
            variables: Vec::new(),
        };
        let mut first = None;
        // Another is done while this one compiles.
        let second = cache.get_or_compile(key, || {
            first = Some(compile().unwrap());
            let environment = policy.environment(Declarations::default());
            Expression::compile(&environment, "1 == 1", ExpressionPurpose::Validation)
        });
        assert!(Arc::ptr_eq(&first.unwrap(), &second.unwrap()));
    }
}
