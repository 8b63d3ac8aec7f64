//! Errors in the place of values: the reference keeps what it cannot make a value of within lists, maps and optionals,
//! and it is an error only once it is read.

use std::any::Any;

use crate::context::Context;
use crate::error::Fault;
use crate::value::{Evaluation, Opaque, Value};

/// An error where a value should be.
#[derive(Debug)]
struct Failed {
    fault: Fault,
    /// The reference's name of the type of what is there.
    native: &'static str,
}

/// A value that stands for an error; `native` is the reference's name of the type of what is there.
pub(crate) fn failed<'a>(context: &Context<'a>, fault: Fault, native: &'static str) -> Value<'a> {
    context.arena.opaque(Failed { fault, native })
}

/// A value unless it stands for an error.
#[inline]
pub(crate) fn sound(value: Value<'_>) -> Evaluation<'_> {
    match value {
        Value::Opaque(own) => sound_opaque(own),
        value => Ok(value),
    }
}

fn sound_opaque(own: &dyn Opaque) -> Evaluation<'_> {
    match own.as_any().downcast_ref::<Failed>() {
        Some(failed) => Err(failed.fault.clone()),
        None => Ok(Value::Opaque(own)),
    }
}

/// The reference's name of the type of what stands for an error.
pub(super) fn native_name(own: &dyn Opaque) -> Option<&'static str> {
    let failed = own.as_any().downcast_ref::<Failed>();
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
