//! Macros: calls that the parser replaces by other expressions.

use std::sync::Arc;

use super::builder::{AstBuilder, MacroError, name_of_operator};
use crate::ast::{Comprehension, Expr, ExprId, Literal};

/// A macro: a call that the parser replaces.
#[derive(Clone, Debug)]
pub struct Macro {
    /// The name of the function whose calls it replaces.
    pub name: &'static str,
    /// Whether it is called on something, as in `target.name(…)`.
    pub member: bool,
    /// How many arguments it takes; `None` for any number.
    pub arguments: Option<usize>,
    /// Makes the expression that replaces a call, from its target and arguments.
    pub expand: MacroExpansion,
    /// The name, shared by the calls that trees remember.
    pub(super) shared_name: Arc<str>,
}

/// Makes the expression that replaces a call, from its target and arguments.
pub type MacroExpansion = fn(&mut Expander<'_, '_>, Option<ExprId>, &[ExprId]) -> Result<ExprId, MacroError>;

impl Macro {
    /// A macro `target.name(…)` with a number of arguments.
    pub fn member(name: &'static str, arguments: usize, expand: MacroExpansion) -> Self {
        Macro {
            name,
            member: true,
            arguments: Some(arguments),
            expand,
            shared_name: name.into(),
        }
    }

    /// A macro `name(…)` with a number of arguments.
    pub fn global(name: &'static str, arguments: usize, expand: MacroExpansion) -> Self {
        Macro {
            member: false,
            ..Macro::member(name, arguments, expand)
        }
    }

    /// Whether it replaces a call.
    pub(super) fn matches(&self, name: &str, member: bool, arguments: usize) -> bool {
        self.member == member && self.arguments.is_none_or(|count| count == arguments) && self.name == name
    }
}

/// The name of the variable in which comprehensions gather their result: no name that can be written.
pub const ACCUMULATOR: &str = "@result";

/// Makes the nodes of an expansion, all at the place of the call.
#[derive(Debug)]
pub struct Expander<'b, 'm> {
    builder: &'b mut AstBuilder<'m>,
    offset: u32,
}

impl<'b, 'm> Expander<'b, 'm> {
    pub(super) fn new(builder: &'b mut AstBuilder<'m>, offset: u32) -> Self {
        Expander { builder, offset }
    }

    /// The expression of a target or an argument.
    pub fn expr(&self, id: ExprId) -> Option<&Expr> {
        self.builder.expr(id)
    }

    /// The name that an argument is, when it is a simple name.
    pub fn name(&self, id: ExprId) -> Option<Arc<str>> {
        match self.expr(id) {
            Some(Expr::Ident(name)) => Some(name.clone()),
            _ => None,
        }
    }

    /// An error that points at a target or an argument.
    pub fn error(&self, id: ExprId, message: impl Into<String>) -> MacroError {
        MacroError {
            offset: self.builder.offset(id),
            message: message.into(),
        }
    }

    /// A constant.
    pub fn literal(&mut self, value: Literal) -> ExprId {
        self.add(Expr::Literal(value))
    }

    /// A name.
    pub fn ident(&mut self, name: &Arc<str>) -> ExprId {
        self.add(Expr::Ident(name.clone()))
    }

    /// The variable in which comprehensions gather their result.
    pub fn accumulator(&mut self) -> ExprId {
        let name = self.accumulator_name();
        self.add(Expr::Ident(name))
    }

    /// [`ACCUMULATOR`], shared.
    pub fn accumulator_name(&self) -> Arc<str> {
        name_of_operator(ACCUMULATOR)
    }

    /// A list.
    pub fn list(&mut self, elements: &[ExprId]) -> ExprId {
        self.add(Expr::List {
            elements: elements.to_vec(),
            optional: Vec::new(),
        })
    }

    /// An empty map.
    pub fn map(&mut self) -> ExprId {
        self.add(Expr::Map(Vec::new()))
    }

    /// A call of a function or operator.
    pub fn call(&mut self, function: &'static str, args: &[ExprId]) -> ExprId {
        self.builder.operation(function, args.to_vec(), self.offset)
    }

    /// A call of a function on a target.
    pub fn member_call(&mut self, function: &'static str, target: ExprId, args: &[ExprId]) -> ExprId {
        self.add(Expr::Call {
            function: function.into(),
            target: Some(target),
            args: args.to_vec(),
        })
    }

    /// A test of the presence of a field.
    pub fn presence(&mut self, operand: ExprId, field: &Arc<str>) -> ExprId {
        self.add(Expr::Select {
            operand,
            field: field.clone(),
            test_only: true,
        })
    }

    /// A comprehension.
    pub fn comprehension(&mut self, comprehension: Comprehension) -> ExprId {
        self.add(Expr::Comprehension(Box::new(comprehension)))
    }

    fn add(&mut self, expr: Expr) -> ExprId {
        self.builder.add(expr, self.offset)
    }

    /// A copy of an expression made before, in its own place, so that it can stand twice in the tree.
    pub fn copy(&mut self, root: ExprId) -> ExprId {
        if self.builder.is_full() {
            return root;
        }
        let ids = self.descendants(root);
        let first = self.builder.nodes.len() as u32;
        // Children have lower ids than their parents, so each finds its children's copies made.
        let copy_of = |id: ExprId| ids.binary_search(&id).map_or(id, |at| ExprId(first + at as u32));
        for id in &ids {
            if self.builder.is_full() {
                break;
            }
            let Some(expr) = self.builder.expr(*id) else {
                continue;
            };
            // Entries of copies point at the macro's call.
            let copy = expr.with_children(self.offset, copy_of);
            let offset = self.builder.offset(*id);
            self.builder.add(copy, offset);
        }
        copy_of(root)
    }

    /// The ids of an expression and of all below it, in ascending order.
    fn descendants(&self, root: ExprId) -> Vec<ExprId> {
        let mut ids = vec![root];
        let mut next = 0;
        while let Some(id) = ids.get(next).copied() {
            next += 1;
            if let Some(expr) = self.builder.expr(id) {
                expr.for_each_child(|child| ids.push(child));
            }
        }
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}
