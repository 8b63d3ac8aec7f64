//! Field management: which manager has set which fields of an object, and server-side apply.
//!
//! `set` and `element` are sets of fields and their written form, `walk` compares objects, `entry` is one entry of
//! `metadata.managedFields`, `updater` changes entries as requests change an object, and `apply` merges
//! applied configurations.

mod apply;
mod element;
mod entry;
mod set;
mod updater;
mod walk;

pub(crate) use apply::{AppliedConfiguration, ApplyError};
pub(crate) use entry::fault;
pub(crate) use set::FieldSet;
pub use updater::take_managed_fields;
pub(crate) use updater::{UpdateRequest, update};
