//! Estimates of the cost of an expression, before it is evaluated.
//!
//! The estimate follows the rules by which the reference decides whether an expression may be part of a schema:
//! it counts the worst case, with loops over all that a list may hold.
//!
//! Upstream: github.com/google/cel-go, checker/cost.go

mod calls;
mod comprehensions;
mod extensions;
mod kubernetes;
mod operand;
mod sizes;

use std::collections::HashMap;

use crate::ast::{Expr, ExprId};
use crate::checker::{CheckedAst, Reference};
use crate::types::Type;

use crate::cost::Range;
pub use sizes::{Sizes, UnknownSizes};

use operand::{NEW_LIST, OperandPath, below};
use sizes::{EntrySize, literal_size};

/// The range in which the cost of evaluating an expression lies.
pub fn estimate(checked: &CheckedAst, sizes: &dyn Sizes) -> Range {
    CostEstimator::new(checked, sizes).cost(checked.ast.root)
}

/// The size of an expression's value, as far as it is known before evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSize {
    /// Where the value stands in the declared variables, as [`Sizes`] names it; empty for a value that the expression makes.
    pub path: Vec<String>,
    /// Its size.
    pub size: Option<Range>,
    /// The sizes of the values in it, of a list or map that the expression makes.
    pub items: Option<Range>,
}

/// The size of an expression's value, from which hosts derive the sizes of variables that are defined by expressions.
pub fn value_size(checked: &CheckedAst, sizes: &dyn Sizes) -> ValueSize {
    let mut estimator = CostEstimator::new(checked, sizes);
    let root = checked.ast.root;
    estimator.cost(root);
    ValueSize {
        path: estimator.path(root),
        size: estimator.size(root),
        items: estimator.entry_size(root).map(|entry| entry.value),
    }
}

impl<'c> CostEstimator<'c> {
    fn new(checked: &'c CheckedAst, sizes: &'c dyn Sizes) -> Self {
        CostEstimator {
            checked,
            sizes,
            locals: Vec::new(),
            paths: HashMap::new(),
            known: HashMap::new(),
            entries: HashMap::new(),
        }
    }
}

/// The cost of reading a variable or a field.
const READ: Range = Range::exactly(1);
const NEW_MAP: Range = Range::exactly(30);
const NEW_STRUCT: Range = Range::exactly(40);

struct CostEstimator<'c> {
    checked: &'c CheckedAst,
    sizes: &'c dyn Sizes,
    /// The variables of the comprehensions around the node.
    locals: Vec<LocalEstimate>,
    paths: HashMap<ExprId, OperandPath>,
    known: HashMap<ExprId, Range>,
    entries: HashMap<ExprId, EntrySize>,
}

/// The path and sizes of a variable of a comprehension.
#[derive(Clone, Default)]
struct LocalEstimate {
    path: OperandPath,
    size: Option<Range>,
    entry: Option<EntrySize>,
}

impl<'c> CostEstimator<'c> {
    fn cost(&mut self, id: ExprId) -> Range {
        let checked = self.checked;
        match checked.ast.expr(id) {
            Expr::Literal(_) => Range::exactly(0),
            Expr::Ident(name) => self.ident(id, name),
            Expr::Select {
                operand,
                field,
                test_only,
            } => self.select(id, *operand, field, *test_only),
            Expr::Call {
                function,
                target,
                args,
            } => self.call(id, function, *target, args),
            Expr::List { elements, .. } => self.list(id, elements),
            Expr::Map(_) => self.map(id),
            Expr::Struct { fields, .. } => fields
                .iter()
                .fold(NEW_STRUCT, |sum, field| sum.plus(self.cost(field.value))),
            Expr::Comprehension(comprehension) => {
                if checked.ast.is_binding(comprehension) {
                    self.binding(id, comprehension)
                } else {
                    self.comprehension(id, comprehension)
                }
            }
        }
    }

    fn ident(&mut self, id: ExprId, name: &str) -> Range {
        let path = match self.local(id) {
            Some(local) => local.path.clone(),
            None => vec![name.to_owned()],
        };
        self.set_path(id, path);
        READ
    }

    fn select(&mut self, id: ExprId, operand: ExprId, field: &str, test_only: bool) -> Range {
        let cost = self.cost(operand);
        if test_only {
            return cost;
        }
        let path = below(self.path(operand), field);
        self.set_path(id, path);
        match self.checked.type_of(operand) {
            Type::Map(..) | Type::Struct(_) => cost.plus(READ),
            _ => cost,
        }
    }

    fn list(&mut self, id: ExprId, elements: &[ExprId]) -> Range {
        let mut cost = NEW_LIST;
        let mut size = nothing_yet(elements.is_empty());
        for element in elements {
            cost = cost.plus(self.cost(*element));
            size = size.or(self.size_or_unknown(*element));
        }
        let entry = EntrySize {
            is_list: true,
            key: Range::exactly(1),
            value: size,
        };
        self.entries.insert(id, entry);
        cost
    }

    fn map(&mut self, id: ExprId) -> Range {
        let checked = self.checked;
        let Expr::Map(entries) = checked.ast.expr(id) else {
            return NEW_MAP;
        };
        let mut cost = NEW_MAP;
        let (mut key, mut value) = (nothing_yet(entries.is_empty()), nothing_yet(entries.is_empty()));
        for entry in entries {
            cost = cost.plus(self.cost(entry.key)).plus(self.cost(entry.value));
            key = key.or(self.size_or_unknown(entry.key));
            value = value.or(self.size_or_unknown(entry.value));
        }
        let is_list = false;
        self.entries.insert(id, EntrySize { is_list, key, value });
        cost
    }

    fn local(&self, id: ExprId) -> Option<&LocalEstimate> {
        match self.checked.reference(id)? {
            Reference::Local(place) => self.locals.get(*place as usize),
            _ => None,
        }
    }

    fn path(&self, id: ExprId) -> OperandPath {
        let path = match self.local(id) {
            Some(local) => Some(&local.path),
            None => self.paths.get(&id),
        };
        path.cloned().unwrap_or_default()
    }

    fn set_path(&mut self, id: ExprId, path: OperandPath) {
        self.paths.insert(id, path);
    }

    /// The size of a node's value; `None` where nothing is known of it.
    fn size(&mut self, id: ExprId) -> Option<Range> {
        if let Some(size) = self.known.get(&id) {
            return Some(*size);
        }
        if let Some(size) = literal_size(self.checked.ast.expr(id)) {
            return Some(size);
        }
        let of = self.checked.type_of(id);
        let path = self.path(id);
        if let Some(size) = self.sizes.size(&path, of) {
            self.known.insert(id, size);
            return Some(size);
        }
        if is_scalar(of) {
            Some(Range::exactly(1))
        } else {
            self.local(id).and_then(|local| local.size)
        }
    }

    fn size_or_unknown(&mut self, id: ExprId) -> Range {
        self.size(id).unwrap_or(Range::UNKNOWN)
    }

    fn set_size(&mut self, id: ExprId, size: Option<Range>) {
        if let Some(size) = size {
            self.known.insert(id, size);
        }
    }

    fn entry_size(&self, id: ExprId) -> Option<EntrySize> {
        match self.entries.get(&id) {
            Some(entry) => Some(*entry),
            None => self.local(id).and_then(|local| local.entry),
        }
    }

    fn set_entry(&mut self, id: ExprId, entry: Option<EntrySize>) {
        if let Some(entry) = entry {
            self.entries.insert(id, entry);
        }
    }

    fn copy_size(&mut self, to: ExprId, from: ExprId) {
        let size = self.size(from);
        self.set_size(to, size);
        let entry = self.entry_size(from);
        self.set_entry(to, entry);
    }
}

/// The range to start from when the ranges of elements are joined.
fn nothing_yet(is_empty: bool) -> Range {
    if is_empty { Range::exactly(0) } else { Range::NONE }
}

/// Whether all values of a type have the same size.
fn is_scalar(of: &Type) -> bool {
    match of {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
        Type::Wrapper(inner) => is_scalar(inner),
        other => other.optional_value().is_some_and(is_scalar),
    }
}

#[cfg(test)]
mod tests;
