//! Functions of CEL that are methods of Rust types: their receiver is read from the arguments, and their result becomes a
//! value.

use std::fmt::Display;

use super::arguments::{opaque, string};
use crate::arena::Arena;
use crate::error::Fault;
use crate::function::{Function, Overload};
use crate::types::Type;
use crate::value::{Evaluation, Opaque, Value};

/// The result of a method.
pub(super) trait MethodResult {
    fn into_value(self, arena: &Arena) -> Evaluation<'_>;
}

impl MethodResult for bool {
    fn into_value(self, _: &Arena) -> Evaluation<'_> {
        Ok(Value::Bool(self))
    }
}

impl MethodResult for i64 {
    fn into_value(self, _: &Arena) -> Evaluation<'_> {
        Ok(Value::Int(self))
    }
}

impl MethodResult for f64 {
    fn into_value(self, _: &Arena) -> Evaluation<'_> {
        Ok(Value::Double(self))
    }
}

impl MethodResult for String {
    fn into_value(self, arena: &Arena) -> Evaluation<'_> {
        Ok(Value::String(arena.str(&self)))
    }
}

impl<T: Opaque> MethodResult for T {
    fn into_value(self, arena: &Arena) -> Evaluation<'_> {
        Ok(arena.opaque(self))
    }
}

/// The text of an error is that of the fault.
impl<R: MethodResult, E: Display> MethodResult for Result<R, E> {
    fn into_value(self, arena: &Arena) -> Evaluation<'_> {
        let result = self.map_err(Fault::from_display)?;
        result.into_value(arena)
    }
}

/// A type whose values are the receivers or operands of methods.
pub(super) trait MethodOperand: 'static {
    /// The value at a position of the arguments.
    fn at<'a>(arguments: &[Value<'a>], index: usize) -> Result<&'a Self, Fault>;
}

impl<T: Opaque> MethodOperand for T {
    fn at<'a>(arguments: &[Value<'a>], index: usize) -> Result<&'a Self, Fault> {
        opaque(arguments, index)
    }
}

/// The function `name(text)`.
pub(super) fn of_text<R: MethodResult + 'static>(
    name: &str,
    id: &str,
    result: Type,
    call: fn(&str) -> R,
) -> Function {
    let overload = Overload::new(id, false, &[Type::String], result);
    Function::new(name).with(
        overload.shared(move |context, arguments| call(string(arguments, 0)?).into_value(context.arena)),
    )
}

/// The overload `value.name()` for values of an abstract type.
pub(super) fn method<T: MethodOperand, R: MethodResult + 'static>(
    id: &str,
    of: Type,
    result: Type,
    call: fn(&T) -> R,
) -> Overload {
    let overload = Overload::new(id, true, &[of], result);
    overload.shared(move |context, arguments| call(T::at(arguments, 0)?).into_value(context.arena))
}

/// The overload `value.name(other)` for two values of abstract types.
pub(super) fn method_of_two<T: MethodOperand, U: MethodOperand, R: MethodResult + 'static>(
    id: &str,
    params: [Type; 2],
    result: Type,
    call: fn(&T, &U) -> R,
) -> Overload {
    let overload = Overload::new(id, true, &params, result);
    overload.shared(move |context, arguments| {
        call(T::at(arguments, 0)?, U::at(arguments, 1)?).into_value(context.arena)
    })
}
