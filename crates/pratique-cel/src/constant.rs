//! Values that a program holds: literals, and values computed from them while planning.

mod value;

use std::sync::Arc;

use crate::ast::Literal;
use crate::time::{Duration, Timestamp};

/// A value that borrows nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `null`
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A floating-point number.
    Double(f64),
    /// A string.
    String(Arc<str>),
    /// A sequence of bytes.
    Bytes(Arc<[u8]>),
    /// A point in time.
    Timestamp(Timestamp),
    /// A span of time.
    Duration(Duration),
    /// A list.
    List(Box<[Constant]>),
    /// A map: unique keys, in the order they were written.
    Map(Box<[(Constant, Constant)]>),
    /// A type, by its name at run time.
    Type(Arc<str>),
}

impl From<&Literal> for Constant {
    fn from(literal: &Literal) -> Self {
        match literal {
            Literal::Null => Constant::Null,
            Literal::Bool(value) => Constant::Bool(*value),
            Literal::Int(number) => Constant::Int(*number),
            Literal::Uint(number) => Constant::Uint(*number),
            Literal::Double(number) => Constant::Double(*number),
            Literal::String(text) => Constant::String(text.clone()),
            Literal::Bytes(bytes) => Constant::Bytes(bytes.clone()),
        }
    }
}
