//! Plugins that always answer the same.

mod admit;
mod deny;

pub(crate) use admit::FACTORY as ALWAYS_ADMIT;
pub(crate) use deny::FACTORY as ALWAYS_DENY;
