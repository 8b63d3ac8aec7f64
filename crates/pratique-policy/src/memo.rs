//! What expressions gave for this request, for the policies that ask the same again.
//!
//! A value is known by the [`Closed`] expression that gave it and by the [`Frame`] that it saw. It comes with its cost,
//! which everybody pays who asks: whether a budget suffices does not depend on who asked first. Every evaluation has
//! the same limit of its own, so that an evaluation past that limit gives the same error at the same cost, too.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use pratique_cel::value::Evaluation;
use pratique_cel::{Fault, FaultKind};
use pratique_expression::{Closed, Sees};

use crate::few::Few;
use crate::outcome::Unfinished;
use crate::sweep::Findings;

/// What expressions see of a request: in which form the objects, `request` and `namespaceObject`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame(u32);

/// The forms of `namespaceObject`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamespaceForm {
    /// Null, for match conditions.
    Absent = 0,
    /// For validations: without what has no place in policies.
    Reduced = 1,
    /// For audit annotations and mutations.
    Full = 2,
}

/// What an expression gave.
#[derive(Clone, Debug)]
pub(crate) struct Known<'s> {
    pub(crate) evaluation: Evaluation<'s>,
    /// What it cost, without the variables that it read.
    pub(crate) cost: u64,
    /// Which of the variables that it names it read: a bit for each.
    pub(crate) reads: u64,
}

/// What is known of a request.
#[derive(Debug, Default)]
pub(crate) struct Memo<'s> {
    known: RefCell<Table<'s>>,
    findings: RefCell<Few<Findings<'s>>>,
}

/// What is known, by expression. Many a request learns one thing only.
#[derive(Debug, Default)]
struct Table<'s> {
    first: Option<(Key, Known<'s>)>,
    others: HashMap<Key, Known<'s>, RandomState>,
}

impl<'s> Table<'s> {
    fn get(&self, key: Key) -> Option<&Known<'s>> {
        match &self.first {
            Some((first, known)) if *first == key => Some(known),
            _ => self.others.get(&key),
        }
    }

    fn insert(&mut self, key: Key, known: Known<'s>) {
        match &self.first {
            Some((first, _)) if *first != key => {
                self.others.insert(key, known);
            }
            _ => self.first = Some((key, known)),
        }
    }
}

/// A closed expression, by its address: policies keep it for longer than a request. And what it sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    closed: usize,
    frame: u32,
}

impl Frame {
    /// What nobody else sees.
    pub(crate) const OWN: Frame = Frame(u32::MAX);

    /// The frame of the objects and the request at these places among the forms that there are of them.
    pub(crate) fn of(objects: usize, request: usize, namespace: NamespaceForm) -> Frame {
        match (u8::try_from(objects), u8::try_from(request)) {
            (Ok(objects), Ok(request)) => {
                Frame(u32::from(objects) << 16 | u32::from(request) << 8 | namespace as u32)
            }
            _ => Frame::OWN,
        }
    }

    /// The part of the frame that counts for an expression.
    fn seen(self, sees: Sees) -> u32 {
        let part = |counts: bool, mask: u32| if counts { self.0 & mask } else { 0 };
        // The request names the kind that its objects are seen in.
        part(sees.objects, 0xff_0000) | part(sees.request, 0xff00) | part(sees.namespace, 0xff)
    }
}

impl Key {
    pub(crate) fn new(closed: &Arc<Closed>, frame: Frame) -> Option<Key> {
        (frame != Frame::OWN).then(|| Key {
            closed: Arc::as_ptr(closed).addr(),
            frame: frame.seen(closed.sees()),
        })
    }

    /// The address of the closed expression.
    pub(crate) fn closed(self) -> usize {
        self.closed
    }

    /// Whether an expression that sees this sees of a frame what this one does.
    pub(crate) fn is_seen_as(self, frame: Frame, sees: Sees) -> bool {
        self.frame == frame.seen(sees)
    }
}

impl<'s> Memo<'s> {
    pub(crate) fn get(&self, key: Key) -> Option<Known<'s>> {
        let findings = self.findings.borrow();
        let found = findings.iter().find_map(|own| own.get(key));
        found.or_else(|| self.known.borrow().get(key).cloned())
    }

    /// Whether nothing is known yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.findings.borrow().is_empty() && self.known.borrow().first.is_none()
    }

    /// Remembers what a sweep has found out.
    pub(crate) fn keep(&self, findings: Findings<'s>) {
        self.findings.borrow_mut().push(findings);
    }

    /// Remembers what an expression gave, unless it came to no end: next time it may.
    pub(crate) fn set(&self, key: Key, known: Known<'s>) {
        if !known.evaluation.as_ref().is_err_and(is_open) {
            self.known.borrow_mut().insert(key, known);
        }
    }
}

/// Whether a fault says nothing of the expression, but that it was not evaluated to its end, for now or for lack of what
/// it needs.
pub(crate) fn is_open(fault: &Fault) -> bool {
    matches!(fault.kind(), FaultKind::Unknown(_)) || Unfinished::from_fault(fault).is_some()
}

/// What a fault stands for that ended more than the evaluation.
pub(crate) fn ended(fault: &Fault) -> Unfinished {
    Unfinished::from_fault(fault).unwrap_or(Unfinished::Interrupted)
}
