//! Validates values against types.

use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};

use pratique_json::{Interrupted, MAX_DEPTH, Progress};
use pratique_schema::merge::{ListType, MapType, MergeSchema, MergeType, MergeTypeId, ScalarKind};

use super::display;
use super::identity::{identify, step};
use super::node::{MergeNode, NodeView};

/// The errors of a value.
#[derive(Debug, Default)]
pub(super) struct ValidationErrors(Vec<ValidationError>);

#[derive(Debug)]
struct ValidationError {
    /// The steps to the value, the last one first.
    path: Vec<String>,
    message: String,
}

/// Validates values against types, until `progress` is interrupted.
pub(super) struct ValueValidator<'s> {
    pub(super) schema: &'s MergeSchema,
    pub(super) progress: &'s Progress<'s>,
    /// Whether sets and keyed lists may have several elements with the same identity.
    pub(super) duplicates: bool,
}

impl ValueValidator<'_> {
    /// Validates a value; the inner error has all its errors.
    pub(super) fn validate_value<'a, N: MergeNode<'a>>(
        &self,
        of: MergeTypeId,
        value: &N,
    ) -> Result<Result<(), ValidationErrors>, Interrupted> {
        let mut errors = ValidationErrors::default();
        self.value(of, value, 0, &mut errors);
        self.progress.outcome()?;
        Ok(if errors.0.is_empty() { Ok(()) } else { Err(errors) })
    }

    // In place, so that scalars cost no call. Rows `apply-*` of `benches/`.
    #[inline(always)]
    fn value<'a, N: MergeNode<'a>>(
        &self,
        of: MergeTypeId,
        value: &N,
        depth: usize,
        errors: &mut ValidationErrors,
    ) {
        if depth > MAX_DEPTH {
            return errors.add("exceeded max depth".to_owned());
        }
        let of = self.schema.get(of);
        // Most values are scalars of the right kind.
        if of.scalar.is_some_and(|kind| fits(kind, &value.view())) {
            return;
        }
        self.other(of, value, depth, errors);
    }

    /// Validates a value that is not a scalar of the right kind.
    #[inline(never)]
    fn other<'a, N: MergeNode<'a>>(
        &self,
        of: &MergeType,
        value: &N,
        depth: usize,
        errors: &mut ValidationErrors,
    ) {
        match (value.view(), of) {
            (NodeView::Map(members), MergeType { map: Some(map), .. }) => {
                self.map(map, members, depth, errors)
            }
            (NodeView::List(elements), MergeType { list: Some(list), .. }) => {
                self.list(list, elements, depth, errors);
            }
            (NodeView::ForeignList, MergeType { list: Some(_), .. }) | (NodeView::Null, _) => {}
            (
                NodeView::Bool(_) | NodeView::Int(_) | NodeView::Float(_) | NodeView::String(_),
                MergeType {
                    scalar: Some(kind), ..
                },
            ) => errors.add(unfit(*kind, value)),
            (_, MergeType { map: Some(_), .. }) => {
                errors.add(format!("expected map, got &{{{}}}", display::plain(value)));
            }
            (
                _,
                MergeType {
                    scalar: Some(kind), ..
                },
            ) => errors.add(unfit(*kind, value)),
            _ => errors.add(format!("expected list, got &{{{}}}", display::plain(value))),
        }
    }

    fn map<'a, N: MergeNode<'a>>(
        &self,
        of: &MapType,
        members: &[(std::borrow::Cow<'a, str>, N)],
        depth: usize,
        errors: &mut ValidationErrors,
    ) {
        let mut walk = of.walk();
        for (key, member) in members {
            if !self.progress.nodes(1) {
                return;
            }
            let previous_count = errors.0.len();
            let declared = walk.member(key);
            match declared {
                Some(id) => self.value(id, member, depth + 1, errors),
                None => errors.add("field not declared in schema".to_owned()),
            }
            errors.prefix(previous_count, || format!(".{key}"));
            if declared.is_none() {
                return;
            }
        }
    }

    fn list<'a, N: MergeNode<'a>>(
        &self,
        of: &ListType,
        elements: &[N],
        depth: usize,
        errors: &mut ValidationErrors,
    ) {
        let mut identities = HashSet::new();
        for (at, element) in elements.iter().enumerate() {
            if !self.progress.nodes(1) {
                return;
            }
            let identity = match identify(&of.merging, element) {
                Ok(identity) => identity,
                Err(error) => return errors.add(format!("element {at}: {error}")),
            };
            if !self.duplicates && identity.is_some_and(|identity| !identities.insert(identity)) {
                errors.add(format!(
                    "duplicate entries for key {}",
                    step(&of.merging, at, element)
                ));
            }
            let previous_count = errors.0.len();
            self.value(of.element, element, depth + 1, errors);
            errors.prefix(previous_count, || step(&of.merging, at, element));
        }
    }
}

/// Whether a value is a scalar of a kind.
#[inline]
fn fits<N>(kind: ScalarKind, value: &NodeView<'_, '_, N>) -> bool {
    match value {
        NodeView::String(_) => matches!(kind, ScalarKind::String | ScalarKind::Untyped),
        NodeView::Int(_) | NodeView::Float(_) => matches!(kind, ScalarKind::Numeric | ScalarKind::Untyped),
        NodeView::Bool(_) => matches!(kind, ScalarKind::Boolean | ScalarKind::Untyped),
        _ => false,
    }
}

/// The message for a value that should be a scalar.
fn unfit<'a, N: MergeNode<'a>>(kind: ScalarKind, value: &N) -> String {
    match kind {
        ScalarKind::Numeric => format!(
            "expected numeric (int or float), got {}",
            display::type_name(value)
        ),
        ScalarKind::String => format!(
            "expected string, got &value.valueUnstructured{{Value:{}}}",
            display::literal(value)
        ),
        ScalarKind::Boolean => format!("expected boolean, got &{{{}}}", display::plain(value)),
        ScalarKind::Untyped => format!("expected any scalar, got &{{{}}}", display::plain(value)),
    }
}

impl ValidationErrors {
    fn add(&mut self, message: String) {
        self.0.push(ValidationError {
            path: Vec::new(),
            message,
        });
    }

    /// Prepends a step to the paths of the errors after the first `previous_count`.
    #[inline]
    fn prefix(&mut self, previous_count: usize, step: impl Fn() -> String) {
        for error in self.0.iter_mut().skip(previous_count) {
            error.path.push(step());
        }
    }
}

impl Display for ValidationErrors {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        if let [only] = self.0.as_slice() {
            return only.fmt(formatter);
        }
        formatter.write_str("errors:")?;
        self.0
            .iter()
            .try_for_each(|error| write!(formatter, "\n  {error}"))
    }
}

impl Display for ValidationError {
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
