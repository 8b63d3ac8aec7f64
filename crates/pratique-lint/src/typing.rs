//! Type checking of expressions against the kinds that they match.

mod check;
mod custom;
mod kinds;
mod schema;

pub(crate) use check::{
    ExpressionAge, TypedSite, type_custom_sites, type_sites, type_sites_as_api, type_stored_sites,
};
pub use custom::CustomTypes;
pub(crate) use custom::OBJECT_META;
pub(crate) use kinds::MatchedKinds;
pub(crate) use schema::{FieldPresence, presence, type_of};
