//! Static analysis of expressions under facts that hold for some of the requests: for deletions, or for Pods.
//!
//! Expressions are not evaluated, only simplified: the remaining nodes show what they read, and where it fails.

mod facts;
mod fold;
mod policy;
mod walk;

pub(crate) use facts::{KnownValue, RequestFacts};
pub(crate) use fold::FoldedExpression;
pub(crate) use policy::{FoldedPolicy, ParsedExpressions, parse_site};
pub(crate) use walk::{
    TextRange, byte_offset, chain_place, chain_text, constant_key, ident_path, live_nodes, place_of,
};
