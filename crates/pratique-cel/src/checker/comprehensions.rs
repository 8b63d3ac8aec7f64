//! Comprehensions.

use super::TypeChecker;
use super::messages::present;
use crate::ast::{Comprehension, ExprId};
use crate::types::Type;

impl<'e> TypeChecker<'e> {
    pub(super) fn check_comprehension(&mut self, id: ExprId, comprehension: &'e Comprehension) {
        self.check_expression(comprehension.range);
        self.check_expression(comprehension.init);
        let (first, second) = self.variable_types(comprehension);
        let accumulator = self.known_type(comprehension.init);

        let outer = self.locals.len();
        self.locals
            .push((&comprehension.accumulator, accumulator.clone()));
        self.locals.push((&comprehension.var, first));
        if let (Some(var2), Some(second)) = (&comprehension.var2, second) {
            self.locals.push((var2, second));
        }
        self.check_expression(comprehension.condition);
        self.expect(comprehension.condition, &Type::Bool);
        self.check_expression(comprehension.step);
        self.expect(comprehension.step, &accumulator);
        self.locals.truncate(outer + 1);
        self.check_expression(comprehension.result);
        self.locals.truncate(outer);

        let result = self.known_type(comprehension.result);
        let result = self.bindings.resolve(&result);
        self.set_type(id, result);
    }

    /// The types of the variables; the second's is `None` where there is one variable only.
    fn variable_types(&mut self, comprehension: &Comprehension) -> (Type, Option<Type>) {
        let two = comprehension.var2.is_some();
        let range = self.known_type(comprehension.range);
        let range = self.bindings.resolve(&range);
        match &range {
            Type::List(element) if two => (Type::Int, Some(Type::clone(element))),
            Type::List(element) => (Type::clone(element), None),
            Type::Map(key, value) => (Type::clone(key), two.then(|| Type::clone(value))),
            Type::Dyn | Type::Error | Type::Free(_) | Type::Param(_) => {
                // The range is dyn from here on.
                self.bindings.assignable(&Type::Dyn, &range);
                (Type::Dyn, two.then_some(Type::Dyn))
            }
            other => {
                self.report(comprehension.range, || {
                    let other = present(other);
                    format!(
                        "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                    )
                });
                (Type::Error, two.then_some(Type::Error))
            }
        }
    }

    fn expect(&mut self, id: ExprId, expected: &Type) {
        let actual_type = self.known_type(id);
        if !self.bindings.assignable(expected, &actual_type) {
            self.report_mismatch(id, expected, &actual_type);
        }
    }
}
