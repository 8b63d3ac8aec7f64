//! Whether a value is of a type.

use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};

use pratique_json::{Interrupted, MAX_DEPTH, Progress};
use pratique_schema::merge::{ListType, MapType, MergeSchema, MergeType, MergeTypeId, ScalarKind};

use super::identity::{identify, step};
use super::node::{Node, View};
use super::words;

/// What is wrong with a value, and where.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<Fault>);

#[derive(Debug)]
struct Fault {
    /// The steps to the place, the last one first.
    path: Vec<String>,
    message: String,
}

/// Checks values against types. Where its `progress` is not to go on, it finds no more.
pub(super) struct Validator<'s> {
    pub(super) schema: &'s MergeSchema,
    pub(super) progress: &'s Progress<'s>,
    /// Whether sets and keyed lists may have several elements with the same identity.
    pub(super) duplicates: bool,
}

impl Validator<'_> {
    /// Finds all faults of a value, and tells them.
    pub(super) fn check<'a, N: Node<'a>>(
        &self,
        of: MergeTypeId,
        value: &N,
    ) -> Result<Result<(), String>, Interrupted> {
        let mut faults = Faults::default();
        self.value(of, value, 0, &mut faults);
        self.progress.outcome()?;
        Ok(match faults.0.is_empty() {
            true => Ok(()),
            false => Err(faults.to_string()),
        })
    }

    #[inline]
    fn value<'a, N: Node<'a>>(&self, of: MergeTypeId, value: &N, depth: usize, faults: &mut Faults) {
        if depth > MAX_DEPTH {
            return faults.add("exceeded max depth".to_owned());
        }
        let of = self.schema.get(of);
        // Most values are scalars that fit.
        if of.scalar.is_some_and(|kind| fits(kind, &value.view())) {
            return;
        }
        self.other(of, value, depth, faults);
    }

    /// A value that is no scalar, or not the one that it has to be.
    fn other<'a, N: Node<'a>>(&self, of: &MergeType, value: &N, depth: usize, faults: &mut Faults) {
        match (value.view(), of) {
            (View::Map(members), MergeType { map: Some(map), .. }) => self.map(map, members, depth, faults),
            (View::List(elements), MergeType { list: Some(list), .. }) => {
                self.list(list, elements, depth, faults);
            }
            (View::ForeignList, MergeType { list: Some(_), .. }) | (View::Null, _) => {}
            (
                View::Bool(_) | View::Int(_) | View::Float(_) | View::String(_),
                MergeType {
                    scalar: Some(kind), ..
                },
            ) => faults.add(unfit(*kind, value)),
            (_, MergeType { map: Some(_), .. }) => {
                faults.add(format!("expected map, got &{{{}}}", words::plain(value)));
            }
            (
                _,
                MergeType {
                    scalar: Some(kind), ..
                },
            ) => faults.add(unfit(*kind, value)),
            _ => faults.add(format!("expected list, got &{{{}}}", words::plain(value))),
        }
    }

    fn map<'a, N: Node<'a>>(
        &self,
        of: &MapType,
        members: &[(std::borrow::Cow<'a, str>, N)],
        depth: usize,
        faults: &mut Faults,
    ) {
        let mut walk = of.walk();
        for (key, member) in members {
            if !self.progress.nodes(1) {
                return;
            }
            let before = faults.0.len();
            let declared = walk.member(key);
            match declared {
                Some(id) => self.value(id, member, depth + 1, faults),
                None => faults.add("field not declared in schema".to_owned()),
            }
            faults.prefix(before, || format!(".{key}"));
            if declared.is_none() {
                return;
            }
        }
    }

    fn list<'a, N: Node<'a>>(&self, of: &ListType, elements: &[N], depth: usize, faults: &mut Faults) {
        let mut seen = HashSet::new();
        for (at, element) in elements.iter().enumerate() {
            if !self.progress.nodes(1) {
                return;
            }
            let identity = match identify(&of.merging, element) {
                Ok(identity) => identity,
                Err(fault) => return faults.add(format!("element {at}: {fault}")),
            };
            if !self.duplicates && identity.is_some_and(|identity| !seen.insert(identity)) {
                faults.add(format!(
                    "duplicate entries for key {}",
                    step(&of.merging, at, element)
                ));
            }
            let before = faults.0.len();
            self.value(of.element, element, depth + 1, faults);
            faults.prefix(before, || step(&of.merging, at, element));
        }
    }
}

/// Whether a value is a scalar of a kind.
#[inline]
fn fits<N>(kind: ScalarKind, value: &View<'_, '_, N>) -> bool {
    match value {
        View::String(_) => matches!(kind, ScalarKind::String | ScalarKind::Untyped),
        View::Int(_) | View::Float(_) => matches!(kind, ScalarKind::Numeric | ScalarKind::Untyped),
        View::Bool(_) => matches!(kind, ScalarKind::Boolean | ScalarKind::Untyped),
        _ => false,
    }
}

/// What is wrong with a value that has to be a scalar.
fn unfit<'a, N: Node<'a>>(kind: ScalarKind, value: &N) -> String {
    match kind {
        ScalarKind::Numeric => format!("expected numeric (int or float), got {}", words::type_name(value)),
        ScalarKind::String => format!(
            "expected string, got &value.valueUnstructured{{Value:{}}}",
            words::literal(value)
        ),
        ScalarKind::Boolean => format!("expected boolean, got &{{{}}}", words::plain(value)),
        ScalarKind::Untyped => format!("expected any scalar, got &{{{}}}", words::plain(value)),
    }
}

impl Faults {
    fn add(&mut self, message: String) {
        self.0.push(Fault {
            path: Vec::new(),
            message,
        });
    }

    /// Adds a step to the places of the faults found since there were `before`.
    #[inline]
    fn prefix(&mut self, before: usize, step: impl Fn() -> String) {
        for fault in self.0.iter_mut().skip(before) {
            fault.path.push(step());
        }
    }
}

impl Display for Faults {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        if let [only] = self.0.as_slice() {
            return only.fmt(formatter);
        }
        formatter.write_str("errors:")?;
        self.0
            .iter()
            .try_for_each(|fault| write!(formatter, "\n  {fault}"))
    }
}

impl Display for Fault {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        for step in self.path.iter().rev() {
            formatter.write_str(step)?;
        }
        if !self.path.is_empty() {
            formatter.write_str(": ")?;
        }
        formatter.write_str(&self.message)
    }
}
