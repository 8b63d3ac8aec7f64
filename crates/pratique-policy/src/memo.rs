//! The results of expressions for one request, which policies with the same expressions share.
//!
//! A result is identified by the bound expression and by the [inputs](crate::inputs::InputKey) that it was evaluated
//! with. It comes with its cost, which every policy that uses it is charged: whether a budget suffices does not depend on
//! which policy comes first. Every evaluation has the same limit of its own, so that an evaluation past that limit gives
//! the same error at the same cost, too.

pub(crate) mod entry;

use std::cell::RefCell;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use pratique_cel::Fault;

use crate::batch::results::BatchResults;
use crate::few::InlineList;

pub(crate) use entry::{MemoEntry, MemoKey, ended, is_incomplete};

/// The results of a request.
#[derive(Debug, Default)]
pub(crate) struct ResultMemo<'s> {
    entries: RefCell<MemoEntries<'s>>,
    batches: RefCell<InlineList<BatchResults<'s>>>,
}

/// Results by their keys. Many a request has one only.
#[derive(Debug, Default)]
struct MemoEntries<'s> {
    first: Option<(MemoKey, MemoEntry<'s>)>,
    others: HashMap<MemoKey, MemoEntry<'s>, RandomState>,
}

impl<'s> MemoEntries<'s> {
    fn get(&self, key: MemoKey) -> Option<&MemoEntry<'s>> {
        match &self.first {
            Some((first, entry)) if *first == key => Some(entry),
            _ => self.others.get(&key),
        }
    }

    fn insert(&mut self, key: MemoKey, entry: MemoEntry<'s>) {
        match &self.first {
            Some((first, _)) if *first != key => {
                self.others.insert(key, entry);
            }
            _ => self.first = Some((key, entry)),
        }
    }
}

/// Where a new result is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultRetention {
    /// The memo keeps it.
    Memo,
    /// The caller keeps it.
    Caller,
}

impl<'s> ResultMemo<'s> {
    /// The result under a key, or else that of `evaluate`. An expression without a key is always evaluated.
    ///
    /// A policy that reuses a result is charged for the variables that the expression read when it was evaluated, as if
    /// it had evaluated it: `replay` reads these. Fails when that is interrupted.
    #[inline]
    pub(crate) fn get_or_evaluate<T>(
        &self,
        key: Option<MemoKey>,
        retention: ResultRetention,
        evaluator: T,
        replay: impl FnOnce(T, u64) -> Result<(), Fault>,
        evaluate: impl FnOnce(T) -> MemoEntry<'s>,
    ) -> Result<MemoEntry<'s>, Fault> {
        if let Some(entry) = key.and_then(|key| self.get(key)) {
            if entry.reads != 0 {
                replay(evaluator, entry.reads)?;
            }
            return Ok(entry);
        }
        let entry = evaluate(evaluator);
        if let (Some(key), ResultRetention::Memo) = (key, retention) {
            self.insert(key, entry.clone());
        }
        Ok(entry)
    }

    fn get(&self, key: MemoKey) -> Option<MemoEntry<'s>> {
        let batches = self.batches.borrow();
        let entry = batches.iter().find_map(|batch| batch.get(key));
        entry.or_else(|| self.entries.borrow().get(key).cloned())
    }

    /// Whether there is no result yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.batches.borrow().is_empty() && self.entries.borrow().first.is_none()
    }

    /// Keeps the results of a batch.
    pub(crate) fn keep(&self, results: BatchResults<'s>) {
        self.batches.borrow_mut().push(results);
    }

    /// Keeps a result, unless it is incomplete: next time it may not be.
    fn insert(&self, key: MemoKey, entry: MemoEntry<'s>) {
        if !entry.evaluation.as_ref().is_err_and(is_incomplete) {
            self.entries.borrow_mut().insert(key, entry);
        }
    }
}
