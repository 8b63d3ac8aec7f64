//! What an evaluation needs and its host does not know.

use std::fmt::{self, Display, Formatter};

use crate::library::authz::Question;

/// What an evaluation needs and its host does not know: it ends there, as any value could be right.
///
/// Expressions that do not get that far have their value: `object.kind == 'A' || authorizer…` where the kind is `A`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown {
    /// A part of a variable, by its path: `namespaceObject.metadata.annotations`.
    Attribute(Box<str>),
    /// The answer to an authorization check.
    Check(Box<Question>),
}

impl Display for Unknown {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Unknown::Attribute(path) => write!(formatter, "{path} is not known"),
            Unknown::Check(check) => write!(formatter, "it is not known whether {check}"),
        }
    }
}
