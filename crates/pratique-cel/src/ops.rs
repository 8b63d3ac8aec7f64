//! Operations on values: equality, order, arithmetic, access to members, conversions, sizes.
//!
//! They take values that are not errors, and return the reference's messages for types that they do not support. Only
//! `failed` deals with values that stand for errors.

mod access;
mod arithmetic;
mod associative;
mod container;
mod convert;
mod equality;
mod error_values;
mod naming;
mod order;
mod size;
mod substring;

pub(crate) use access::{MemberLookup, member, member_str};
pub(crate) use arithmetic::{add, divide, modulo, multiply, negate, subtract};
pub(crate) use container::{check_hash, cost_of_search, find_key, is_among, is_in, is_same_key, unhashable};
pub(crate) use convert::{
    to_bool, to_bytes, to_double, to_duration, to_dyn, to_int, to_string, to_timestamp, to_type, to_uint,
};
pub(crate) use equality::equal;
pub(crate) use equality::{equal_by, pair, surely_equal};
pub(crate) use error_values::{failed, is_failed, presence, sound, wrong};
pub(crate) use naming::{format_metered, unknown_operands, unmet_need};
pub use naming::{format_value, go_type};
pub(crate) use order::{compare, has_order};
pub use size::cost_of_traversal;
pub(crate) use size::{characters, cost_of_equality, cost_of_match, cost_of_string, cost_size, size};
pub(crate) use substring::{contains, ends_with, starts_with};
