//! Values that stand for errors: in lists, maps and optionals the reference keeps native values that it cannot convert, which
//! are errors when they are read.

use std::any::Any;

use crate::arena::Arena;
use crate::context::Context;
use crate::error::Fault;
use crate::value::{Evaluation, Opaque, Value};

/// An error in the place of a value.
#[derive(Debug)]
struct FailedValue {
    fault: Fault,
    /// The reference's name of the type of the native value.
    native: &'static str,
    /// Whether it is an error to ask for its presence.
    is_loud: bool,
}

/// A value that stands for an error. `native` is the reference's name of the type of the native value.
pub(crate) fn failed<'a>(context: &Context<'a>, fault: Fault, native: &'static str) -> Value<'a> {
    let is_loud = false;
    context.arena.opaque(FailedValue {
        fault,
        native,
        is_loud,
    })
}

/// A value of the host that stands for an error, also in presence tests.
pub(crate) fn wrong(arena: &Arena, fault: Fault) -> Value<'_> {
    let (native, is_loud) = ("*types.Err", true);
    arena.opaque(FailedValue {
        fault,
        native,
        is_loud,
    })
}

/// Whether a value is one of the host that stands for an error.
pub(crate) fn is_wrong(value: &Value<'_>) -> bool {
    let failed = value.downcast::<FailedValue>();
    failed.is_some_and(|failed| failed.is_loud)
}

/// Whether a member is present.
pub(crate) fn presence(member: Option<Value<'_>>) -> Result<bool, Fault> {
    match member.as_ref().and_then(Value::downcast::<FailedValue>) {
        Some(failed) if failed.is_loud => Err(failed.fault.clone()),
        _ => Ok(member.is_some()),
    }
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
    match Value::Opaque(opaque).downcast::<FailedValue>() {
        Some(failed) => Err(failed.fault.clone()),
        None => Ok(Value::Opaque(opaque)),
    }
}

/// Whether a value stands for an error.
pub(crate) fn is_failed(opaque: &dyn Opaque) -> bool {
    (opaque as &dyn Any).is::<FailedValue>()
}

/// The reference's name of the type of a value that stands for an error.
pub(super) fn native_name(opaque: &dyn Opaque) -> Option<&'static str> {
    let failed = (opaque as &dyn Any).downcast_ref::<FailedValue>();
    failed.map(|failed| failed.native)
}

impl Opaque for FailedValue {
    fn type_name(&self) -> &'static str {
        "error"
    }

    fn equal(&self, _: &Value<'_>) -> Result<bool, Fault> {
        Err(self.fault.clone())
    }

    fn to_text(&self) -> String {
        self.fault.to_string()
    }

    fn owned_bytes(&self) -> usize {
        usize::try_from(self.fault.size()).unwrap_or(usize::MAX)
    }
}
