//! Where the nodes of a tree are made: children before their parents, macros expanded as soon as their call is read.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::MacroGrammar;
use super::expand::{Expander, Macro};
use crate::ast::{Expr, ExprId, Literal, Node};

/// How many nodes a tree may have: macros that repeat their operand can double a tree each time they are nested. Without
/// them, the longest expression has fewer.
const MOST_NODES: usize = 1 << 17;

/// How many names are remembered.
const MOST_NAMES: usize = 16;

/// A tree that grows.
#[derive(Debug)]
pub(super) struct AstBuilder<'m> {
    pub(super) nodes: Vec<Node>,
    pub(super) macro_calls: BTreeMap<ExprId, Expr>,
    /// The names met so far, as many as are found quickly.
    names: Vec<Arc<str>>,
    macros: &'m [Macro],
    /// Whether names in backquotes are errors.
    pub(super) refuses_quoted_names: bool,
}

/// Why a call that a macro replaces has no expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MacroError {
    /// Where it points, in code points.
    pub offset: u32,
    /// The message.
    pub message: String,
}

impl<'m> AstBuilder<'m> {
    /// A tree without nodes.
    pub(super) fn new(grammar: MacroGrammar<'m>, capacity: usize) -> Self {
        AstBuilder {
            nodes: Vec::with_capacity(capacity),
            macro_calls: BTreeMap::new(),
            names: Vec::with_capacity(MOST_NAMES),
            macros: grammar.macros,
            refuses_quoted_names: grammar.refuses_quoted_names,
        }
    }

    /// Adds a node.
    pub(super) fn add(&mut self, expr: Expr, offset: u32) -> ExprId {
        let id = ExprId(self.nodes.len() as u32);
        self.nodes.push(Node { expr, offset });
        id
    }

    /// The expression of a node made before.
    pub(super) fn expr(&self, id: ExprId) -> Option<&Expr> {
        self.nodes.get(id.0 as usize).map(|node| &node.expr)
    }

    /// The place of a node made before.
    pub(super) fn offset(&self, id: ExprId) -> u32 {
        self.nodes.get(id.0 as usize).map_or(0, |node| node.offset)
    }

    /// Whether the tree has outgrown what a tree may be.
    pub(super) fn is_full(&self) -> bool {
        self.nodes.len() > MOST_NODES
    }

    /// A name, shared with the nodes before that have it.
    pub(super) fn name(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.names.iter().find(|known| ***known == *text) {
            return known.clone();
        }
        let name: Arc<str> = text.into();
        if self.names.len() < MOST_NAMES {
            self.names.push(name.clone());
        }
        name
    }

    /// Adds a placeholder for text that cannot be read.
    pub(super) fn nothing(&mut self, offset: u32) -> ExprId {
        self.add(Expr::Literal(Literal::Null), offset)
    }

    /// Applies an operator.
    pub(super) fn operation(&mut self, operator: &'static str, args: Vec<ExprId>, offset: u32) -> ExprId {
        let call = Expr::Call {
            function: name_of_operator(operator),
            target: None,
            args,
        };
        self.add(call, offset)
    }

    /// Calls a function, or expands the macro of that name and number of arguments.
    pub(super) fn call(
        &mut self,
        name: &str,
        target: Option<ExprId>,
        args: Vec<ExprId>,
        offset: u32,
    ) -> Result<ExprId, MacroError> {
        let call_macro = self
            .macros
            .iter()
            .find(|candidate| candidate.matches(name, target.is_some(), args.len()));
        let Some(call_macro) = call_macro else {
            let function = self.name(name);
            return Ok(self.add(
                Expr::Call {
                    function,
                    target,
                    args,
                },
                offset,
            ));
        };
        let expand = call_macro.expand;
        let id = expand(&mut Expander::new(self, offset), target, &args)?;
        let function = call_macro.shared_name.clone();
        self.macro_calls.insert(
            id,
            Expr::Call {
                function,
                target,
                args,
            },
        );
        Ok(id)
    }

    /// Joins operands by `&&` or `||`: as a balanced tree, so that long chains are not deep.
    pub(super) fn balanced(&mut self, operator: &'static str, terms: &[ExprId], offsets: &[u32]) -> ExprId {
        let middle = offsets.len() / 2;
        let (Some(offset), Some((left, right))) = (offsets.get(middle), terms.split_at_checked(middle + 1))
        else {
            return terms.first().copied().unwrap_or(ExprId(0));
        };
        let left_offsets = offsets.get(..middle).unwrap_or_default();
        let after = offsets.get(middle + 1..).unwrap_or_default();
        let left = self.balanced(operator, left, left_offsets);
        let right = self.balanced(operator, right, after);
        self.operation(operator, vec![left, right], *offset)
    }
}

/// The name of an operator, shared by all trees.
pub(super) fn name_of_operator(operator: &'static str) -> Arc<str> {
    static NAMES: LazyLock<Vec<Arc<str>>> =
        LazyLock::new(|| OPERATORS.iter().map(|name| Arc::from(*name)).collect());
    let known = OPERATORS.iter().position(|name| *name == operator);
    known
        .and_then(|at| NAMES.get(at))
        .map_or_else(|| operator.into(), Arc::clone)
}

const OPERATORS: [&str; 22] = [
    "_==_",
    "_&&_",
    "_||_",
    "_!=_",
    "_[_]",
    "@in",
    "!_",
    "_?_:_",
    "_+_",
    "_-_",
    "-_",
    "_<_",
    "_<=_",
    "_>_",
    "_>=_",
    "_?._",
    "_[?_]",
    "_*_",
    "_/_",
    "_%_",
    "@not_strictly_false",
    "@result",
];
