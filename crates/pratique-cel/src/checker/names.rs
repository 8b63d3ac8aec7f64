//! The resolution of identifiers and qualified names.

use std::sync::Arc;

use super::{Reference, TypeChecker, literal_type};
use crate::ast::{Expr, ExprId, undotted};
use crate::environment::Slot;
use crate::types::Type;

impl<'e> TypeChecker<'e> {
    pub(super) fn check_ident(&mut self, id: ExprId, name: &'e Arc<str>) {
        let resolution = match self.local(name) {
            Some((place, of)) => Some((of.clone(), Reference::Local(place))),
            None if self.loose => Some(self.global(name).unwrap_or(UNDECLARED)),
            None => self.global(name),
        };
        let Some((of, reference)) = resolution else {
            self.set_type(id, Type::Error);
            return self.report_undeclared(id, name);
        };
        if !self.environment.container().is_empty()
            && let Some(name) = self.variable_name(&reference)
        {
            self.rewrite(id, Expr::Ident(name));
        }
        self.set_type(id, of);
        self.set_reference(id, reference);
    }

    /// The whole name of a variable.
    fn variable_name(&self, reference: &Reference) -> Option<Arc<str>> {
        match reference {
            Reference::Variable(slot) => self.environment.variable_name(*slot).map(Arc::from),
            _ => None,
        }
    }

    /// Resolves a chain of selects as one qualified name, if that is declared.
    pub(super) fn check_qualified(&mut self, id: ExprId) -> QualifiedName {
        let Some(root) = self.root_name(id) else {
            return QualifiedName::Never;
        };
        if self.local(root).is_some() || !self.environment.has_namespace(undotted(root)) {
            return QualifiedName::Never;
        }
        let name = self.joined_name(id);
        let Some((of, reference)) = self.global(&name) else {
            return QualifiedName::No;
        };
        let name = match self.variable_name(&reference) {
            Some(whole) => whole,
            None => undotted(&name).into(),
        };
        self.set_type(id, of);
        self.set_reference(id, reference);
        self.rewrite(id, Expr::Ident(name));
        QualifiedName::Yes
    }

    /// The variable of an enclosing comprehension: its place and type.
    ///
    /// A leading dot skips these variables, even one that a macro was given with a leading dot: `[1].filter(.x, true)` is refused.
    fn local(&self, name: &str) -> Option<(u32, &Type)> {
        if name.starts_with('.') {
            return None;
        }
        let place = self.locals.iter().rposition(|(local, _)| *local == name)?;
        self.locals.get(place).map(|(_, of)| (place as u32, of))
    }

    /// The declaration that a name refers to outside of comprehensions.
    fn global(&self, name: &str) -> Option<(Type, Reference)> {
        self.environment.resolve(name, |name| self.declared(name))
    }

    fn declared(&self, name: &str) -> Option<(Type, Reference)> {
        let environment = self.environment;
        if let Some((slot, of)) = environment.variable(name) {
            return Some((of.clone(), Reference::Variable(slot)));
        }
        if let Some(of) = environment.named_type(name) {
            return Some((Type::type_of(of.clone()), Reference::Type(of.clone())));
        }
        if let Some(of) = environment
            .provider(name)
            .and_then(|types| types.type_named(name))
        {
            return Some((Type::type_of(of), Reference::UndefinedType(name.into())));
        }
        let value = environment.constant(name)?;
        Some((literal_type(value), Reference::Constant(value.clone())))
    }

    /// The identifier at the root of a chain of selects.
    fn root_name(&self, id: ExprId) -> Option<&'e str> {
        let mut at = id;
        loop {
            match self.ast.expr(at) {
                Expr::Ident(name) => return Some(name),
                Expr::Select {
                    operand,
                    test_only: false,
                    ..
                } => at = *operand,
                _ => return None,
            }
        }
    }

    /// The names of a chain of selects, with dots between.
    fn joined_name(&self, id: ExprId) -> String {
        let mut names: Vec<&str> = Vec::new();
        let mut at = id;
        loop {
            match self.ast.expr(at) {
                Expr::Select { operand, field, .. } => {
                    names.push(field);
                    at = *operand;
                }
                Expr::Ident(name) => {
                    names.push(name);
                    break;
                }
                _ => break,
            }
        }
        names.reverse();
        names.join(".")
    }

    /// The name `target.function` where a function has it.
    pub(super) fn function_name(&self, target: ExprId, function: &str) -> Option<Arc<str>> {
        let root = self.root_name(target)?;
        if !self.environment.has_function_namespace(undotted(root)) {
            return None;
        }
        let name = format!("{}.{function}", self.joined_name(target));
        let environment = self.environment;
        environment.resolve(&name, |name| {
            environment.function(name).map(|function| function.name.clone())
        })
    }
}

/// A variable that has no value.
const UNDECLARED: (Type, Reference) = (Type::Dyn, Reference::Variable(Slot::NOWHERE));

/// Whether a chain of selects is one name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum QualifiedName {
    /// It is.
    Yes,
    /// It is not; a shorter chain may be.
    No,
    /// Nor is any shorter chain.
    Never,
}
