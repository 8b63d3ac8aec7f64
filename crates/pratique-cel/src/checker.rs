//! From syntax tree to typed tree.
//!
//! The tree is walked once, depth first. What the type of a node is may be found out later than the node is
//! visited (`[]` is a list of something): such types are [free](Type::Free) until the end.
//!
//! Upstream: github.com/google/cel-go, checker/checker.go

mod alternatives;
mod calls;
mod check_result;
mod comprehensions;
mod literals;
mod messages;
mod names;
mod relate;
mod selects;
mod unify;
mod validate;

use pratique_gotext::suggest::nearest;

pub use check_result::{CheckedAst, Reference};

use crate::ast::{Ast, Expr, ExprId, Literal};
use crate::environment::Environment;
use crate::error::{Issue, SHOWN_ISSUES, in_order};
use crate::types::Type;

use messages::mismatch;
use unify::TypeBindings;

/// Checks types, then literals; all faults are reported, by their place. Those beyond the first hundred have no message.
pub(crate) fn check_ast(environment: &Environment, ast: Ast) -> Result<CheckedAst, Vec<Issue>> {
    let mut checker = TypeChecker::new(environment, &ast);
    checker.check_expression(ast.root);
    checker.settle();
    let WalkOutcome {
        mut issues,
        types,
        references,
        rewrites,
        literals,
    } = checker.outcome;
    if issues.is_empty() && environment.checks_literals() {
        issues = validate::validate(&ast, &types, &references, &literals);
    }
    if !issues.is_empty() {
        return Err(in_order(issues));
    }
    Ok(checked(ast, types, references, rewrites))
}

/// Finds types and references as far as there are any. Unresolved names and calls are dyn: they are errors when they are evaluated.
pub(crate) fn check_loosely(environment: &Environment, ast: Ast) -> CheckedAst {
    let mut checker = TypeChecker::new(environment, &ast);
    checker.loose = true;
    checker.check_expression(ast.root);
    checker.settle();
    let mut outcome = checker.outcome;
    for of in outcome.types.iter_mut().flatten() {
        if *of == Type::Error {
            *of = Type::Dyn;
        }
    }
    checked(ast, outcome.types, outcome.references, outcome.rewrites)
}

fn checked(
    mut ast: Ast,
    types: Vec<Option<Type>>,
    references: Vec<Option<Reference>>,
    rewrites: Vec<(ExprId, Expr)>,
) -> CheckedAst {
    for (id, expr) in rewrites {
        if let Some(node) = ast.nodes.get_mut(id.0 as usize) {
            node.expr = expr;
        }
    }
    let types = types.into_iter().map(|of| of.unwrap_or(Type::Dyn)).collect();
    CheckedAst {
        ast,
        types,
        references,
    }
}

/// One walk over a tree.
struct TypeChecker<'e> {
    environment: &'e Environment,
    ast: &'e Ast,
    /// The variables of the comprehensions around the node, outermost first.
    locals: Vec<(&'e str, Type)>,
    bindings: TypeBindings,
    /// How many calls of `format` are around the node: their lists may mix types.
    formats: usize,
    /// Whether type errors are left to the evaluation.
    loose: bool,
    outcome: WalkOutcome,
}

/// The results of a walk.
#[derive(Default)]
struct WalkOutcome {
    types: Vec<Option<Type>>,
    references: Vec<Option<Reference>>,
    rewrites: Vec<(ExprId, Expr)>,
    issues: Vec<Issue>,
    literals: Vec<ExprId>,
}

impl<'e> TypeChecker<'e> {
    fn new(environment: &'e Environment, ast: &'e Ast) -> Self {
        let outcome = WalkOutcome {
            types: vec![None; ast.len()],
            references: vec![None; ast.len()],
            ..WalkOutcome::default()
        };
        TypeChecker {
            environment,
            ast,
            locals: Vec::new(),
            bindings: TypeBindings::default(),
            formats: 0,
            loose: false,
            outcome,
        }
    }

    /// Finds the type of a node and of all below it. A node that several share is visited once.
    fn check_expression(&mut self, id: ExprId) {
        if self.type_of(id).is_some() || self.bindings.exhausted() {
            return;
        }
        let ast: &'e Ast = self.ast;
        match ast.expr(id) {
            Expr::Literal(literal) => self.set_type(id, literal_type(literal)),
            Expr::Ident(name) => self.check_ident(id, name),
            Expr::Select { .. } => self.check_select(id, true),
            Expr::Call {
                function,
                target,
                args,
            } => self.check_call(id, function, *target, args),
            Expr::List { elements, optional } => self.check_list(id, elements, optional),
            Expr::Map(entries) => self.check_map(id, entries),
            Expr::Struct { type_name, fields } => self.check_struct(id, type_name, fields),
            Expr::Comprehension(comprehension) => self.check_comprehension(id, comprehension),
        }
    }

    /// Replaces free types in the types of all nodes.
    fn settle(&mut self) {
        if !self.bindings.is_empty() {
            for of in self.outcome.types.iter_mut().flatten() {
                *of = self.bindings.settle(of);
            }
        }
        if self.bindings.exhausted() {
            let offset = self.ast.node(self.ast.root).offset;
            let position = self.ast.source.position(offset);
            let message = "the types of the expression are too large".to_owned();
            self.outcome.issues.push(Issue::new(position, message));
        }
    }

    fn type_of(&self, id: ExprId) -> Option<&Type> {
        self.outcome.types.get(id.0 as usize)?.as_ref()
    }

    /// The type of a node that was visited; free types in it are as they were then.
    fn known_type(&self, id: ExprId) -> Type {
        self.type_of(id).cloned().unwrap_or(Type::Error)
    }

    fn set_type(&mut self, id: ExprId, of: Type) {
        if let Some(place) = self.outcome.types.get_mut(id.0 as usize) {
            *place = Some(of);
        }
    }

    fn set_reference(&mut self, id: ExprId, reference: Reference) {
        if let Some(place) = self.outcome.references.get_mut(id.0 as usize) {
            *place = Some(reference);
        }
    }

    fn rewrite(&mut self, id: ExprId, expr: Expr) {
        self.outcome.rewrites.push((id, expr));
    }

    /// Reports a fault at a node.
    fn report(&mut self, at: ExprId, message: impl FnOnce() -> String) {
        self.report_at(self.ast.node(at).offset, message);
    }

    /// Reports a fault at a place, unless it may come of having given up.
    #[cold]
    fn report_at(&mut self, offset: u32, message: impl FnOnce() -> String) {
        if self.loose || self.bindings.exhausted() {
            return;
        }
        let is_shown = self.outcome.issues.len() < SHOWN_ISSUES;
        let message = if is_shown { message() } else { String::new() };
        let position = self.ast.source.position(offset);
        self.outcome.issues.push(Issue::new(position, message));
    }

    fn report_undeclared(&mut self, at: ExprId, name: &str) {
        if self.loose {
            return;
        }
        let environment = self.environment;
        let container = environment.container();
        self.report(at, || {
            if !environment.is_of_cel_go_0_33() {
                return format!("undeclared reference to '{name}' (in container '{container}')");
            }
            let suffix = alternatives::suffix(name, environment);
            if container.is_empty() {
                format!("undeclared reference to '{name}'{suffix}")
            } else {
                format!("undeclared reference to '{name}' (in container '{container}'){suffix}")
            }
        });
        let locals = self.locals.iter().map(|(local, _)| *local);
        let meant = nearest(name, environment.names().chain(locals));
        self.suggest(meant);
    }

    /// Adds to the last fault the name that was probably meant.
    fn suggest(&mut self, meant: Option<&str>) {
        let is_shown = self.outcome.issues.len() <= SHOWN_ISSUES;
        if let Some(last) = self.outcome.issues.last_mut().filter(|_| is_shown) {
            last.meant = meant.map(Box::from);
        }
    }

    fn report_mismatch(&mut self, at: ExprId, expected: &Type, actual: &Type) {
        self.report(at, || mismatch(expected, actual));
    }
}

/// The type of a constant.
fn literal_type(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}

#[cfg(test)]
mod tests;
