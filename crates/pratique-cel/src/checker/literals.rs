//! Literals of lists, maps and structs.

use std::sync::Arc;

use super::TypeChecker;
use super::messages::present;
use super::relate::{is_dyn, less_specific};
use crate::ast::{Expr, ExprId, MapEntry, StructField};
use crate::types::Type;

impl<'e> TypeChecker<'e> {
    pub(super) fn check_list(&mut self, id: ExprId, elements: &'e [ExprId], optional: &'e [u32]) {
        let mut element_type = None;
        for (index, element) in elements.iter().enumerate() {
            self.check_expression(*element);
            let of = self.value_type(*element, optional.iter().any(|at| *at as usize == index));
            element_type = Some(self.join(element_type, of));
        }
        let element_type = named(element_type).unwrap_or_else(|| self.bindings.fresh());
        self.set_type(id, Type::list(element_type));
        self.remember_literal(id, elements.len());
    }

    pub(super) fn check_map(&mut self, id: ExprId, entries: &'e [MapEntry]) {
        let (mut key_type, mut value_type) = (None, None);
        for entry in entries {
            self.check_expression(entry.key);
            let of = self.known_type(entry.key);
            key_type = Some(self.join(key_type, of));
            self.check_expression(entry.value);
            let of = self.value_type(entry.value, entry.optional);
            value_type = Some(self.join(value_type, of));
        }
        // Where no key has a type, the values seem to have none either.
        let (key_type, value_type) = match (named(key_type), value_type) {
            (Some(key), Some(value)) => (key, value),
            _ => (self.bindings.fresh(), self.bindings.fresh()),
        };
        self.set_type(id, Type::map(key_type, value_type));
        self.remember_literal(id, entries.len());
    }

    pub(super) fn check_struct(&mut self, id: ExprId, type_name: &'e Arc<str>, fields: &'e [StructField]) {
        let environment = self.environment;
        let declaration =
            environment.resolve(type_name, |name| Some((self.struct_type(name)?, Arc::from(name))));
        let Some((of, name)) = declaration else {
            self.set_type(id, Type::Error);
            return self.report_undeclared(id, type_name);
        };
        if name != *type_name {
            let (type_name, fields) = (name.clone(), fields.to_vec());
            self.rewrite(id, Expr::Struct { type_name, fields });
        }
        let of = match of.message_name() {
            Some(_) => of,
            None => {
                self.report(id, || format!("'{}' is not a message type", of.runtime_name()));
                Type::Error
            }
        };
        let provided: Arc<str> = match (&of, of.message_name()) {
            (Type::Struct(named), _) => named.clone(),
            (_, Some(well_known)) => well_known.into(),
            (_, None) => name,
        };
        self.set_type(id, of);
        for field in fields {
            self.check_field(&provided, field);
        }
    }

    fn check_field(&mut self, type_name: &str, field: &StructField) {
        self.check_expression(field.value);
        let expected = self
            .field_type(field.offset, type_name, &field.name)
            .unwrap_or(Type::Error);
        let actual_type = self.value_type(field.value, field.optional);
        if !self.bindings.assignable(&expected, &actual_type) {
            let name = &field.name;
            self.report_at(field.offset, || {
                let (expected_text, actual_text) = (present(&expected), present(&actual_type));
                format!(
                    "expected type of field '{name}' is '{expected_text}' but provided type is '{actual_text}'"
                )
            });
        }
    }

    /// The type that the name in a struct literal stands for.
    fn struct_type(&self, name: &str) -> Option<Type> {
        if let Some(of) = self.environment.named_type(name) {
            return Some(of.clone());
        }
        self.environment.provider(name)?.type_named(name)
    }

    /// The type of an element or value; where it is marked with `?`, that within the optional.
    fn value_type(&mut self, id: ExprId, optional: bool) -> Type {
        let of = self.known_type(id);
        if !optional {
            return of;
        }
        match of.optional_value() {
            Some(value) => value.clone(),
            None => {
                if !is_dyn(&of) {
                    self.report_mismatch(id, &Type::optional(of.clone()), &of);
                }
                of
            }
        }
    }

    /// The common type of the elements so far and one more: dyn where they have none, which is a fault only once
    /// the types of all nodes are known.
    fn join(&mut self, previous: Option<Type>, current: Type) -> Type {
        let Some(previous) = named(previous) else {
            return current;
        };
        if !self.bindings.assignable(&previous, &current) {
            return Type::Dyn;
        }
        if less_specific(&previous, &current) {
            previous
        } else {
            current
        }
    }

    /// Keeps a literal for the check of mixed types.
    fn remember_literal(&mut self, id: ExprId, len: usize) {
        if len > 0 && self.formats == 0 {
            self.outcome.literals.push(id);
        }
    }
}

/// A type unless it is that of a field that has none: for the reference, there is no type then.
fn named(of: Option<Type>) -> Option<Type> {
    of.filter(|of| !of.is_unnamed())
}
