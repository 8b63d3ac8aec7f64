//! Type checking of expressions against the kinds that they match.

mod check;
mod kinds;
mod schema;

pub(crate) use check::{Typed, type_sites, type_sites_as_api};
pub(crate) use kinds::Kinds;
pub(crate) use schema::type_of;
