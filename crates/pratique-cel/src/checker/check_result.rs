//! The result of checking.

use std::sync::Arc;

use crate::ast::{Ast, ExprId, Literal};
use crate::environment::Slot;
use crate::function::Function;
use crate::types::Type;

/// An expression whose types and references are known.
#[derive(Clone, Debug)]
pub struct CheckedAst {
    /// The tree. The checker rewrites it where a qualified name turned out to be one name: the select
    /// `a.b` that names the variable `a.b` becomes the identifier, `a.f(x)` that calls the function `a.f` loses its target.
    pub ast: Ast,
    /// The type of each node.
    pub types: Vec<Type>,
    /// The declaration that each identifier or call refers to.
    pub references: Vec<Option<Reference>>,
}

/// The declaration that a name or call refers to.
#[derive(Clone, Debug)]
pub enum Reference {
    /// A variable of the environment.
    Variable(Slot),
    /// A variable of an enclosing comprehension, by its place on the stack of such variables: where `n` are in
    /// scope around a comprehension, its accumulator is `n`, its first variable `n + 1`, its second `n + 2`.
    /// The range and the first value of the accumulator see `n` variables, the result `n + 1`.
    Local(u32),
    /// A type used as a value.
    Type(Type),
    /// A type used as a value that has no value at run time: `reference to undefined type`.
    UndefinedType(Arc<str>),
    /// A declared constant.
    Constant(Literal),
    /// The overloads of a function that fit: indices into its list.
    Overloads(Arc<Function>, Vec<usize>),
}

impl CheckedAst {
    /// The type of a node.
    pub fn type_of(&self, id: ExprId) -> &Type {
        self.types.get(id.0 as usize).unwrap_or(&Type::Dyn)
    }

    /// The declaration that a node refers to.
    pub fn reference(&self, id: ExprId) -> Option<&Reference> {
        self.references.get(id.0 as usize)?.as_ref()
    }

    /// The type of the whole expression.
    pub fn result_type(&self) -> &Type {
        self.type_of(self.ast.root)
    }
}
