//! Expressions with the types of the kinds that they are for.

mod check;
mod kinds;
mod schema;

pub(crate) use check::{Typed, type_sites, type_sites_as_api};
pub(crate) use kinds::Kinds;
pub(crate) use schema::type_of;
