//! Accounting for the work and memory of long-running code.

use pratique_gotext::regexp;
use pratique_json::Object;

use crate::context::Context;
use crate::error::Fault;

/// Accounts for work and memory, on behalf of an evaluation or of nothing. An error is a stop.
pub(crate) trait WorkMeter {
    /// So many units of [work](Context::work).
    fn work(&self, units: u64) -> Result<(), Fault>;

    /// So many bytes that are about to be [held](Context::reserve).
    fn reserve(&self, bytes: usize) -> Result<(), Fault>;

    /// Whether two typed objects with the same members are of the [same type](crate::ObjectTypes).
    fn are_of_one_type(&self, _left: &Object<'_>, _right: &Object<'_>) -> Result<bool, Fault> {
        Ok(true)
    }
}

impl WorkMeter for Context<'_> {
    #[inline]
    fn work(&self, units: u64) -> Result<(), Fault> {
        Context::work(self, units)
    }

    fn reserve(&self, bytes: usize) -> Result<(), Fault> {
        Context::reserve(self, bytes)
    }

    fn are_of_one_type(&self, left: &Object<'_>, right: &Object<'_>) -> Result<bool, Fault> {
        Context::are_of_one_type(self, left, right)
    }
}

impl regexp::Meter for Context<'_> {
    type Stop = Fault;

    #[inline]
    fn work(&self, units: u64) -> Result<(), Fault> {
        Context::work(self, units)
    }

    fn reserve(&self, bytes: usize) -> Result<(), Fault> {
        Context::reserve(self, bytes)
    }
}

/// No evaluation: everything takes as long as it takes.
pub(crate) struct UnmeteredWork;

impl WorkMeter for UnmeteredWork {
    #[inline]
    fn work(&self, _: u64) -> Result<(), Fault> {
        Ok(())
    }

    fn reserve(&self, _: usize) -> Result<(), Fault> {
        Ok(())
    }
}

/// Accounts for work within typed objects, whose members are of the same type where the objects are.
pub(crate) struct TypedWork<'m>(pub(crate) &'m dyn WorkMeter);

impl WorkMeter for TypedWork<'_> {
    fn work(&self, units: u64) -> Result<(), Fault> {
        self.0.work(units)
    }

    fn reserve(&self, bytes: usize) -> Result<(), Fault> {
        self.0.reserve(bytes)
    }
}
