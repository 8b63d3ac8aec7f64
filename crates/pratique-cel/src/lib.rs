//! CEL as Kubernetes speaks it: parser, type checker, planner, evaluator and cost, with the Kubernetes function libraries.
//!
//! This crate knows no Kubernetes object: it sees JSON, the types a host declares, and the traits a host implements.

mod arena;
pub mod ast;
pub mod checker;
mod constant;
mod context;
mod declared;
mod environment;
mod error;
pub mod estimate;
pub mod function;
pub mod library;
pub mod names;
pub mod net;
pub mod ops;
pub mod parser;
pub mod plan;
pub mod print;
pub mod quantity;
pub mod quote;
pub mod regex;
mod report;
pub mod semver;
mod snippet;
mod source;
pub mod text;
pub mod time;
mod types;
pub mod url;
pub mod value;

pub use arena::Arena;
pub use constant::Constant;
pub use context::Context;
pub use declared::{StructType, TypeProvider};
pub use environment::{Activation, Environment, Slot};
pub use error::{CompileError, Fault, FaultKind, Issue, Stop};
pub use plan::Program;
pub use report::Report;
pub use source::{Position, Source};
pub use types::Type;
pub use value::Value;
