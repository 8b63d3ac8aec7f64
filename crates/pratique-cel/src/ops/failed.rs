//! Values that stand for errors: in lists, maps and optionals the reference keeps native values that it cannot convert, which
//! are errors when they are read.

use std::any::Any;

use crate::arena::Arena;
use crate::context::Context;
use crate::error::Fault;
use crate::value::{Evaluation, Opaque, Value};

/// An error in the place of a value.
#[derive(Debug)]
struct Failed {
    fault: Fault,
    /// The reference's name of the type of the native value.
    native: &'static str,
}

/// A value that stands for an error. `native` is the reference's name of the type of the native value.
pub(crate) fn failed<'a>(context: &Context<'a>, fault: Fault, native: &'static str) -> Value<'a> {
    failed_in(context.arena, fault, native)
}

/// [`failed`], in an arena.
pub(crate) fn failed_in<'a>(arena: &'a Arena, fault: Fault, native: &'static str) -> Value<'a> {
    arena.opaque(Failed { fault, native })
}

/// A value, or the error that it stands for.
#[inline]
pub(crate) fn sound(value: Value<'_>) -> Evaluation<'_> {
    match value {
        Value::Opaque(opaque) => sound_opaque(opaque),
        value => Ok(value),
    }
}

fn sound_opaque(opaque: &dyn Opaque) -> Evaluation<'_> {
    match opaque.as_any().downcast_ref::<Failed>() {
        Some(failed) => Err(failed.fault.clone()),
        None => Ok(Value::Opaque(opaque)),
    }
}

/// The reference's name of the type of a value that stands for an error.
pub(super) fn native_name(opaque: &dyn Opaque) -> Option<&'static str> {
    let failed = opaque.as_any().downcast_ref::<Failed>();
    failed.map(|failed| failed.native)
}

impl Opaque for Failed {
    fn type_name(&self) -> &'static str {
        "error"
    }

    fn equal(&self, _: &Value<'_>) -> Result<bool, Fault> {
        Err(self.fault.clone())
    }

    fn text(&self) -> String {
        self.fault.to_string()
    }

    fn owned_bytes(&self) -> usize {
        usize::try_from(self.fault.size()).unwrap_or(usize::MAX)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
