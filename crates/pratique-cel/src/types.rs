//! The types of the CEL type system.

use std::fmt::{self, Display, Formatter, Write};
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
    /// A type parameter of an overload.
    Param(Arc<str>),
    /// A type that the checker has yet to find out; none is left in a checked expression.
    Free(u32),
}

impl Type {
    /// Whether it is the placeholder type of fields without a type.
    pub(crate) fn is_unnamed(&self) -> bool {
        matches!(self, Type::Struct(name) if name.is_empty())
    }

    /// Whether it is the type of reading such a field, perhaps within an optional.
    pub(crate) fn is_untyped(&self) -> bool {
        self.is_unnamed() || self.optional_value().is_some_and(Type::is_unnamed)
    }

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

    /// The structured type `name`; protobuf's well-known types by such a name are the types that CEL has for them.
    pub fn named(name: &str) -> Type {
        well_known(name).unwrap_or_else(|| Type::Struct(name.into()))
    }

    /// `wrapper(inner)`
    pub fn wrapper(inner: Type) -> Type {
        Type::Wrapper(Arc::new(inner))
    }

    /// The wrapped type; the type itself if it is no wrapper.
    pub(crate) fn unwrapped(&self) -> &Type {
        match self {
            Type::Wrapper(inner) => inner,
            other => other,
        }
    }

    /// The type parameter `name`.
    pub fn param(name: &str) -> Type {
        Type::Param(name.into())
    }

    /// `type(inner)`
    pub fn type_of(inner: Type) -> Type {
        Type::Type(Some(Arc::new(inner)))
    }

    /// The name of the message that a literal of the type makes; `None` where it is none.
    pub(crate) fn message_name(&self) -> Option<&str> {
        match self {
            Type::Struct(name) => Some(name),
            of => WELL_KNOWN
                .iter()
                .find(|(_, known)| known() == *of)
                .map(|(name, _)| *name),
        }
    }

    /// The parameter of an `optional_type`.
    pub fn optional_value(&self) -> Option<&Type> {
        match self {
            Type::Opaque(name, parameters) if name.as_ref() == OPTIONAL => parameters.first(),
            _ => None,
        }
    }

    /// The type as it names itself, which is not quite how messages of the checker show it: `null_type`,
    /// `list(google.protobuf.Timestamp)`.
    pub fn declared_name(&self) -> String {
        let parameters: Vec<&Type> = match self {
            Type::List(element) => vec![element],
            Type::Map(key, value) => vec![key, value],
            Type::Opaque(_, parameters) => parameters.iter().collect(),
            Type::Type(Some(inner)) => vec![inner],
            Type::Wrapper(inner) => return format!("wrapper({})", inner.runtime_name()),
            _ => Vec::new(),
        };
        let name = self.runtime_name();
        if parameters.is_empty() {
            return name.to_owned();
        }
        let parameters: Vec<String> = parameters.into_iter().map(Type::declared_name).collect();
        format!("{name}({})", parameters.join(", "))
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
            Type::Free(_) => "dyn",
        }
    }

    /// The full form, in which well-known types go by their protobuf names: `list(google.protobuf.Timestamp)`.
    pub fn full_name(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = write(&mut text, self, Type::runtime_name);
        text
    }
}

/// The name of the type of optional values.
pub(crate) const OPTIONAL: &str = "optional_type";

/// The form that error messages show: `map(string, list(dyn))`.
impl Display for Type {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write(formatter, self, message_name)
    }
}

/// How messages call a type that has no parameters.
fn message_name(of: &Type) -> &str {
    match of {
        Type::Error => "!error!",
        Type::Null => "null",
        Type::Timestamp => "timestamp",
        Type::Duration => "duration",
        Type::Any => "any",
        other => other.runtime_name(),
    }
}

/// Writes a type with its parameters; `leaf` names the types that have none.
fn write(out: &mut dyn Write, of: &Type, leaf: fn(&Type) -> &str) -> fmt::Result {
    let parameters: [&Type; 2];
    let parameters = match of {
        Type::Free(number) => return write!(out, "_var{number}"),
        Type::Wrapper(inner) => {
            out.write_str("wrapper(")?;
            write(out, inner, leaf)?;
            return out.write_str(")");
        }
        Type::List(only) | Type::Type(Some(only)) => &[&**only][..],
        Type::Map(key, value) => {
            parameters = [key, value];
            &parameters
        }
        Type::Opaque(_, parameters) if !parameters.is_empty() => &parameters.iter().collect::<Vec<_>>(),
        other => return out.write_str(leaf(other)),
    };
    out.write_str(of.runtime_name())?;
    for (index, parameter) in parameters.iter().enumerate() {
        out.write_str(if index == 0 { "(" } else { ", " })?;
        write(out, parameter, leaf)?;
    }
    out.write_str(")")
}

/// The message types of protocol buffers that have types of their own. Of those with the same type, the first is the one
/// that its literals make.
const WELL_KNOWN: [WellKnown; 16] = [
    ("google.protobuf.BoolValue", || Type::wrapper(Type::Bool)),
    ("google.protobuf.BytesValue", || Type::wrapper(Type::Bytes)),
    ("google.protobuf.DoubleValue", || Type::wrapper(Type::Double)),
    ("google.protobuf.FloatValue", || Type::wrapper(Type::Double)),
    ("google.protobuf.Int64Value", || Type::wrapper(Type::Int)),
    ("google.protobuf.Int32Value", || Type::wrapper(Type::Int)),
    ("google.protobuf.UInt64Value", || Type::wrapper(Type::Uint)),
    ("google.protobuf.UInt32Value", || Type::wrapper(Type::Uint)),
    ("google.protobuf.StringValue", || Type::wrapper(Type::String)),
    ("google.protobuf.Any", || Type::Any),
    ("google.protobuf.Duration", || Type::Duration),
    ("google.protobuf.Timestamp", || Type::Timestamp),
    ("google.protobuf.ListValue", || Type::list(Type::Dyn)),
    ("google.protobuf.NullValue", || Type::Null),
    ("google.protobuf.Struct", || Type::map(Type::String, Type::Dyn)),
    ("google.protobuf.Value", || Type::Dyn),
];

/// The name of a message type, and its type.
type WellKnown = (&'static str, fn() -> Type);

fn well_known(name: &str) -> Option<Type> {
    let entry = WELL_KNOWN.iter().find(|(known, _)| *known == name);
    entry.map(|(_, of)| of())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_a_short_and_a_full_form() {
        let check = |of: Type, short: &str, full: &str| {
            assert_eq!(
                (of.to_string(), of.full_name()),
                (short.to_owned(), full.to_owned())
            );
        };
        let pair = |of: &Type| Type::map(Type::String, of.clone());
        check(
            Type::list(Type::Timestamp),
            "list(timestamp)",
            "list(google.protobuf.Timestamp)",
        );
        check(pair(&Type::Null), "map(string, null)", "map(string, null_type)");
        check(Type::type_of(Type::Int), "type(int)", "type(int)");
        check(Type::Type(None), "type", "type");
        check(
            Type::optional(Type::Free(3)),
            "optional_type(_var3)",
            "optional_type(_var3)",
        );
        check(
            Type::named("google.protobuf.Int32Value"),
            "wrapper(int)",
            "wrapper(int)",
        );
        check(
            Type::named("kubernetes.Namespace"),
            "kubernetes.Namespace",
            "kubernetes.Namespace",
        );
    }
}
