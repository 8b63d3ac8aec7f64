//! The types of the CEL type system.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// A CEL type, as declared or as inferred by the checker. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `dyn`: checked at run time only.
    Dyn,
    /// The type of an expression that has an error of its own.
    Error,
    /// `null_type`
    Null,
    /// `bool`
    Bool,
    /// `int`: 64 bits, signed.
    Int,
    /// `uint`: 64 bits, unsigned.
    Uint,
    /// `double`: IEEE 754, 64 bits.
    Double,
    /// `string`
    String,
    /// `bytes`
    Bytes,
    /// `timestamp`, that is `google.protobuf.Timestamp`.
    Timestamp,
    /// `duration`, that is `google.protobuf.Duration`.
    Duration,
    /// `any`, that is `google.protobuf.Any`.
    Any,
    /// A primitive or null: `wrapper(int)` and its like.
    Wrapper(Arc<Type>),
    /// `list(E)`
    List(Arc<Type>),
    /// `map(K, V)`
    Map(Arc<Type>, Arc<Type>),
    /// A structured type, by its qualified name.
    Struct(Arc<str>),
    /// An abstract type by its name, with its parameters: `optional_type(T)` and its like.
    Opaque(Arc<str>, Arc<[Type]>),
    /// The type of a type: `type(int)`; without parameter `type`.
    Type(Option<Arc<Type>>),
    /// A type parameter of an overload, or a fresh one of the checker.
    Param(Arc<str>),
}

impl Type {
    /// `list(element)`
    pub fn list(element: Type) -> Type {
        Type::List(Arc::new(element))
    }

    /// `map(key, value)`
    pub fn map(key: Type, value: Type) -> Type {
        Type::Map(Arc::new(key), Arc::new(value))
    }

    /// `optional_type(value)`
    pub fn optional(value: Type) -> Type {
        Type::Opaque(OPTIONAL.into(), [value].into())
    }

    /// The structured type `name`.
    pub fn named(name: &str) -> Type {
        Type::Struct(name.into())
    }

    /// The type parameter `name`.
    pub fn param(name: &str) -> Type {
        Type::Param(name.into())
    }

    /// `type(inner)`
    pub fn type_of(inner: Type) -> Type {
        Type::Type(Some(Arc::new(inner)))
    }

    /// The parameter of an `optional_type`.
    pub fn optional_value(&self) -> Option<&Type> {
        match self {
            Type::Opaque(name, parameters) if name.as_ref() == OPTIONAL => parameters.first(),
            _ => None,
        }
    }

    /// The name of the type without its parameters, as `type(x)` shows it at run time.
    pub fn runtime_name(&self) -> &str {
        match self {
            Type::Dyn => "dyn",
            Type::Error => "*error*",
            Type::Null => "null_type",
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Uint => "uint",
            Type::Double => "double",
            Type::String => "string",
            Type::Bytes => "bytes",
            Type::Timestamp => "google.protobuf.Timestamp",
            Type::Duration => "google.protobuf.Duration",
            Type::Any => "google.protobuf.Any",
            Type::Wrapper(inner) => inner.runtime_name(),
            Type::List(_) => "list",
            Type::Map(..) => "map",
            Type::Struct(name) | Type::Opaque(name, _) | Type::Param(name) => name,
            Type::Type(_) => "type",
        }
    }
}

/// The name of the type of optional values.
pub(crate) const OPTIONAL: &str = "optional_type";

/// The form that error messages show: `map(string, list(dyn))`.
impl Display for Type {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Type::Error => formatter.write_str("!error!"),
            Type::Null => formatter.write_str("null"),
            Type::Timestamp => formatter.write_str("timestamp"),
            Type::Duration => formatter.write_str("duration"),
            Type::Any => formatter.write_str("any"),
            Type::Wrapper(inner) => write!(formatter, "wrapper({inner})"),
            Type::List(element) => write!(formatter, "list({element})"),
            Type::Map(key, value) => write!(formatter, "map({key}, {value})"),
            Type::Opaque(name, parameters) if !parameters.is_empty() => {
                write!(formatter, "{name}(")?;
                for (index, parameter) in parameters.iter().enumerate() {
                    let separator = if index > 0 { ", " } else { "" };
                    write!(formatter, "{separator}{parameter}")?;
                }
                formatter.write_str(")")
            }
            Type::Type(Some(inner)) => write!(formatter, "type({inner})"),
            other => formatter.write_str(other.runtime_name()),
        }
    }
}
