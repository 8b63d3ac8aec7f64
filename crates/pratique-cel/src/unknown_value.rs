//! Unknown values.

use std::fmt::{self, Display, Formatter};

use crate::authorization::Question;

/// A value that the host does not know. An evaluation that reads it ends, as the result could be any.
///
/// An expression that does not read it has a result: `object.kind == 'A' || authorizer…` where the kind is `A`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownValue {
    /// A part of a variable, by its path: `namespaceObject.metadata.annotations`.
    Attribute(Box<str>),
    /// The answer to an authorization check.
    Check(Box<Question>),
}

impl Display for UnknownValue {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            UnknownValue::Attribute(path) => write!(formatter, "{path} is not known"),
            UnknownValue::Check(check) => write!(formatter, "it is not known whether {check}"),
        }
    }
}
