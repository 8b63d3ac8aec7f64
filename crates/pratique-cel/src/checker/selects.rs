//! Field selection: `x.f`, `has(x.f)`, `x.?f`.

use pratique_gotext::suggest::nearest;

use super::messages::present;
use super::names::QualifiedName;
use super::relate::is_dynamic;
use super::{Reference, TypeChecker};
use crate::ast::{Expr, ExprId, Literal};
use crate::types::Type;

impl<'e> TypeChecker<'e> {
    /// Checks a select; `may_be_name` is false where it is known to be no qualified name.
    pub(super) fn check_select(&mut self, id: ExprId, may_be_name: bool) {
        let Expr::Select {
            operand,
            field,
            test_only,
        } = self.ast.expr(id)
        else {
            return;
        };
        let qualified = if may_be_name && !test_only {
            self.check_qualified(id)
        } else {
            QualifiedName::Never
        };
        if qualified == QualifiedName::Yes {
            return;
        }
        self.check_operand(*operand, *test_only || qualified == QualifiedName::No);
        let of = self.select_field(id, *operand, field, false);
        self.set_type(id, if *test_only { Type::Bool } else { of });
    }

    fn check_operand(&mut self, operand: ExprId, may_be_name: bool) {
        match self.ast.expr(operand) {
            Expr::Select { .. } if self.type_of(operand).is_none() => self.check_select(operand, may_be_name),
            _ => self.check_expression(operand),
        }
    }

    /// Checks `x.?f`, which the parser writes as a call.
    pub(super) fn check_optional_select(&mut self, id: ExprId, target: Option<ExprId>, args: &'e [ExprId]) {
        let ([operand, field], None) = (args, target) else {
            let form = if target.is_some() { " member call with" } else { "" };
            let count = args.len();
            return self.report(id, || {
                format!(
                    "unsupported optional field selection: incorrect signature.{form} argument count: {count}"
                )
            });
        };
        let Expr::Literal(Literal::String(name)) = self.ast.expr(*field) else {
            return self.report(*field, || "unsupported optional field selection".to_owned());
        };
        self.check_expression(*operand);
        let of = self.select_field(id, *operand, name, true);
        self.set_type(id, of);
        if let Some(function) = self.environment.function("_?._") {
            self.set_reference(id, Reference::Overloads(function.clone(), vec![0]));
        }
    }

    /// The type of a field of a node that was visited.
    fn select_field(&mut self, id: ExprId, operand: ExprId, field: &str, optional: bool) -> Type {
        let operand = self.known_type(operand);
        let operand = self.bindings.resolve(&operand);
        let (target, was_optional) = match operand.optional_value() {
            Some(value) => (value, true),
            None => (&operand, false),
        };
        let result = self.field_of(id, target, field);
        if optional || was_optional {
            Type::optional(self.bindings.resolve(&result))
        } else {
            self.bindings.resolve(&result)
        }
    }

    fn field_of(&mut self, id: ExprId, target: &Type, field: &str) -> Type {
        match target {
            Type::Map(_, value) => Type::clone(value),
            Type::Struct(name) if !name.is_empty() => {
                let offset = self.ast.node(id).offset;
                self.field_type(offset, name, field).unwrap_or(Type::Error)
            }
            Type::Free(_) | Type::Param(_) => {
                // The operand is dyn from here on.
                self.bindings.assignable(&Type::Dyn, target);
                Type::Dyn
            }
            other => {
                if !is_dynamic(other) {
                    self.report(id, || {
                        format!("type '{}' does not support field selection", present(other))
                    });
                }
                Type::Dyn
            }
        }
    }

    /// The declared type of a field; a fault where there is none.
    pub(super) fn field_type(&mut self, offset: u32, type_name: &str, field: &str) -> Option<Type> {
        let Some(provider) = self.environment.provider(type_name) else {
            self.report_at(offset, || {
                format!("unexpected failed resolution of '{type_name}'")
            });
            return None;
        };
        let of = provider.field(type_name, field);
        if of.is_none() {
            self.report_at(offset, || format!("undefined field '{field}'"));
            let known = provider.field_names(type_name);
            self.suggest(nearest(field, known.iter().map(|name| &**name)));
        }
        of
    }
}
