//! Calls: which function, and which of its overloads.

use std::sync::Arc;

use super::messages::present;
use super::relate::{is_dyn, plausible, same};
use super::unify::instantiate;
use super::{Reference, TypeChecker};
use crate::ast::{Expr, ExprId, undotted};
use crate::function::{Function, Overload};
use crate::types::Type;

/// The arguments of a call, the receiver of a member call first.
#[derive(Clone, Copy)]
struct CallOperands<'e> {
    target: Option<ExprId>,
    args: &'e [ExprId],
}

/// The overloads of a function that fit a call.
#[derive(Default)]
struct FittingOverloads {
    indices: Vec<usize>,
    result: Option<Type>,
}

impl<'e> TypeChecker<'e> {
    pub(super) fn check_call(
        &mut self,
        id: ExprId,
        function: &'e Arc<str>,
        target: Option<ExprId>,
        args: &'e [ExprId],
    ) {
        let is_format = **function == *"format";
        self.formats += usize::from(is_format);
        match &**function {
            "_?._" => self.check_optional_select(id, target, args),
            _ => self.check_function(id, function, target, args),
        }
        self.formats -= usize::from(is_format);
        if matches!(
            undotted(function),
            "duration" | "timestamp" | "matches" | "format"
        ) {
            self.outcome.literals.push(id);
        }
    }

    fn check_function(&mut self, id: ExprId, name: &'e Arc<str>, target: Option<ExprId>, args: &'e [ExprId]) {
        for arg in args {
            self.check_expression(*arg);
        }
        let Some(target) = target else {
            if name.starts_with('.') {
                self.call_by_name(id, undotted(name).into(), args);
            }
            return self.resolve_call(id, name, None, args);
        };
        if let Some(qualified) = self.function_name(target, name) {
            self.call_by_name(id, qualified.clone(), args);
            return self.resolve_call(id, &qualified, None, args);
        }
        self.check_expression(target);
        self.resolve_call(id, name, Some(target), args);
    }

    /// Rewrites a call to one of the global function `function`.
    fn call_by_name(&mut self, id: ExprId, function: Arc<str>, args: &[ExprId]) {
        let args = args.to_vec();
        let target = None;
        self.rewrite(
            id,
            Expr::Call {
                function,
                target,
                args,
            },
        );
    }

    /// Finds the overloads that fit a call whose arguments were visited.
    fn resolve_call(&mut self, id: ExprId, name: &str, target: Option<ExprId>, args: &'e [ExprId]) {
        let environment = self.environment;
        let Some(function) = environment.resolve(name, |name| environment.function(name)) else {
            self.set_type(id, Type::Error);
            if self.loose {
                let unknown = Arc::new(Function::new(undotted(name)));
                self.set_reference(id, Reference::Overloads(unknown, Vec::new()));
            }
            return self.report_undeclared(id, name);
        };
        if target.is_none() && function.name.len() > name.len() {
            self.call_by_name(id, function.name.clone(), args);
        }
        let operands = CallOperands { target, args };
        let fitting = match &*function.name {
            "_&&_" | "_||_" => self.resolve_logic(args),
            _ => self.fitting(function, operands),
        };
        let Some(result) = fitting.result else {
            self.set_type(id, Type::Error);
            if self.loose {
                self.set_reference(id, Reference::Overloads(function.clone(), Vec::new()));
            }
            if fitting.indices.is_empty() {
                self.report_no_overload(id, &function.name, operands);
            }
            return;
        };
        self.set_type(id, result);
        self.set_reference(id, Reference::Overloads(function.clone(), fitting.indices));
    }

    /// The operands of `&&` and `||` are bool, each by itself.
    fn resolve_logic(&mut self, args: &[ExprId]) -> FittingOverloads {
        let mut result = Some(Type::Bool);
        for arg in args {
            let of = self.known_type(*arg);
            if !self.bindings.assignable(&of, &Type::Bool) {
                self.report_mismatch(*arg, &Type::Bool, &of);
                result = None;
            }
        }
        let indices = vec![0];
        FittingOverloads { indices, result }
    }

    /// All overloads that fit; where their results differ, the result is dyn.
    fn fitting(&mut self, function: &Function, operands: CallOperands<'_>) -> FittingOverloads {
        let mut fitting_overloads = FittingOverloads::default();
        for (index, overload) in function.overloads.iter().enumerate() {
            if overload.member != operands.target.is_some() {
                continue;
            }
            let Some(result) = self.try_overload(overload, operands) else {
                continue;
            };
            fitting_overloads.indices.push(index);
            fitting_overloads.result = match fitting_overloads.result {
                None => Some(result).filter(|result| !result.is_unnamed()),
                Some(first) if is_dyn(&first) || same(&result, &first) => Some(first),
                Some(_) => Some(Type::Dyn),
            };
        }
        // If the results of all overloads have no type, there is no overload.
        if fitting_overloads.result.is_none() {
            fitting_overloads.indices.clear();
        }
        fitting_overloads
    }

    /// The result of an overload where the arguments fit it.
    fn try_overload(&mut self, overload: &Overload, operands: CallOperands<'_>) -> Option<Type> {
        let free = self.bindings.reserve(overload.type_params.len());
        if !self.is_plausible(overload, operands) {
            return None;
        }
        let generic = !overload.type_params.is_empty();
        let mark = self.bindings.mark();
        for (operand, param) in operands.ids().zip(overload.params.iter()) {
            let of = self.outcome.types.get(operand.0 as usize)?.as_ref()?;
            let fits = if generic {
                self.bindings
                    .fits(of, &instantiate(param, &overload.type_params, free))
            } else {
                self.bindings.fits(of, param)
            };
            if !fits {
                self.bindings.undo(mark);
                return None;
            }
        }
        Some(if generic {
            let result = instantiate(&overload.result, &overload.type_params, free);
            self.bindings.resolve(&result)
        } else {
            overload.result.clone()
        })
    }

    /// Whether number and outermost types of the arguments are those of an overload.
    fn is_plausible(&self, overload: &Overload, operands: CallOperands<'_>) -> bool {
        operands.ids().count() == overload.params.len()
            && operands
                .ids()
                .zip(overload.params.iter())
                .all(|(operand, param)| self.type_of(operand).is_some_and(|of| plausible(of, param)))
    }

    #[cold]
    fn report_no_overload(&mut self, id: ExprId, name: &str, operands: CallOperands<'_>) {
        let target = operands.target.map(|target| self.settled(target));
        let args: Vec<_> = operands.args.iter().map(|arg| self.settled(*arg)).collect();
        let receiver = target.map(|target| target + ".").unwrap_or_default();
        let args = args.join(", ");
        self.report(id, || {
            format!("found no matching overload for '{name}' applied to '{receiver}({args})'")
        });
    }

    fn settled(&mut self, id: ExprId) -> String {
        let of = self.known_type(id);
        present(&self.bindings.settle(&of))
    }
}

impl<'e> CallOperands<'e> {
    fn ids(self) -> impl Iterator<Item = ExprId> + use<'e> {
        self.target.into_iter().chain(self.args.iter().copied())
    }
}
