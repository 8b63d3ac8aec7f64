//! Values and types of the specification's cases as the engine has them.

use std::sync::Arc;

use pratique_cel::time::{Duration, Timestamp};
use pratique_cel::{Constant, Type};

use super::textproto::{ProtoField, ProtoMessage};

/// A feature of a case that the engine lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum UnsupportedFeature {
    #[error("protocol buffer messages")]
    Messages,
    #[error("protocol buffer enums")]
    Enums,
    #[error("partial evaluation")]
    PartialEvaluation,
    #[error("values of the kind {0}")]
    ValueKind(String),
    #[error("types of the kind {0}")]
    TypeKind(String),
    #[error("the type {0}")]
    Type(String),
    #[error("the number {0}")]
    Number(String),
    #[error("strings that are not UTF-8")]
    Encoding,
    /// An extension, or a function that only optimizers use.
    #[error("{0}")]
    Extension(&'static str),
}

/// A `cel.expr.Value`.
pub(super) fn value(of: &ProtoMessage) -> Result<Constant, UnsupportedFeature> {
    let Some((kind, field)) = of.fields.first() else {
        return Ok(Constant::Null);
    };
    Ok(match (kind.as_str(), field) {
        ("null_value", _) => Constant::Null,
        ("bool_value", ProtoField::Word(word)) => Constant::Bool(word == "true"),
        ("int64_value", ProtoField::Word(word)) => Constant::Int(integer(word)?),
        ("uint64_value", ProtoField::Word(word)) => Constant::Uint(integer(word)?),
        ("double_value", ProtoField::Word(word)) => Constant::Double(double(word)?),
        ("string_value", ProtoField::Text(text)) => Constant::String(utf8(text)?),
        ("bytes_value", ProtoField::Text(text)) => Constant::Bytes(text.as_slice().into()),
        ("type_value", ProtoField::Text(text)) => Constant::Type(utf8(text)?),
        ("list_value", ProtoField::Message(list)) => {
            let elements = list.messages("values").map(value);
            Constant::List(elements.collect::<Result<_, _>>()?)
        }
        ("map_value", ProtoField::Message(map)) => {
            let entries = map.messages("entries").map(entry);
            Constant::Map(entries.collect::<Result<_, _>>()?)
        }
        ("object_value", ProtoField::Message(object)) => well_known(object)?,
        ("enum_value", _) => return Err(UnsupportedFeature::Enums),
        _ => return Err(UnsupportedFeature::ValueKind(kind.clone())),
    })
}

fn entry(of: &ProtoMessage) -> Result<(Constant, Constant), UnsupportedFeature> {
    let side = |name: &str| of.message(name).map_or(Ok(Constant::Null), value);
    Ok((side("key")?, side("value")?))
}

/// The message within an `Any`, where it is one that CEL has a value for.
fn well_known(any: &ProtoMessage) -> Result<Constant, UnsupportedFeature> {
    let Some((name, ProtoField::Message(message))) = any.fields.first() else {
        return Err(UnsupportedFeature::Messages);
    };
    let Some(name) = name.strip_prefix("type.googleapis.com/google.protobuf.") else {
        return Err(UnsupportedFeature::Messages);
    };
    let number = |name: &str| match message.get(name) {
        Some(ProtoField::Word(word)) => integer::<i64>(word),
        _ => Ok(0),
    };
    let missing = || UnsupportedFeature::Messages;
    Ok(match name {
        "Duration" => {
            let nanos = i128::from(number("seconds")?) * 1_000_000_000 + i128::from(number("nanos")?);
            let text = format!("{nanos}ns");
            Constant::Duration(Duration::parse(&text).map_err(|_| missing())?)
        }
        "Timestamp" => {
            let seconds = Timestamp::from_seconds(number("seconds")?).map_err(|_| missing())?;
            let nanos = Duration::parse(&format!("{}ns", number("nanos")?)).map_err(|_| missing())?;
            Constant::Timestamp(seconds.checked_add(nanos).map_err(|_| missing())?)
        }
        "Value" => dynamic(message)?,
        "Struct" => fields(message)?,
        "ListValue" => elements(message)?,
        "BoolValue" => Constant::Bool(message.flag("value")),
        "BytesValue" => Constant::Bytes(message.read_text("value").as_bytes().into()),
        "DoubleValue" | "FloatValue" => Constant::Double(match message.read_text("value").as_str() {
            "" => 0.0,
            word => double(word)?,
        }),
        "Int32Value" | "Int64Value" => Constant::Int(number("value")?),
        "UInt32Value" | "UInt64Value" => Constant::Uint(match message.read_text("value").as_str() {
            "" => 0,
            word => integer(word)?,
        }),
        "StringValue" => Constant::String(message.read_text("value").into()),
        _ => return Err(UnsupportedFeature::Messages),
    })
}

/// A `google.protobuf.Value`.
fn dynamic(of: &ProtoMessage) -> Result<Constant, UnsupportedFeature> {
    let Some((kind, field)) = of.fields.first() else {
        return Ok(Constant::Null);
    };
    Ok(match (kind.as_str(), field) {
        ("null_value", _) => Constant::Null,
        ("bool_value", ProtoField::Word(word)) => Constant::Bool(word == "true"),
        ("number_value", ProtoField::Word(word)) => Constant::Double(double(word)?),
        ("string_value", ProtoField::Text(text)) => Constant::String(utf8(text)?),
        ("struct_value", ProtoField::Message(message)) => fields(message)?,
        ("list_value", ProtoField::Message(message)) => elements(message)?,
        _ => return Err(UnsupportedFeature::ValueKind(kind.clone())),
    })
}

/// A `google.protobuf.Struct`.
fn fields(of: &ProtoMessage) -> Result<Constant, UnsupportedFeature> {
    let entry = |entry: &ProtoMessage| {
        let value = entry.message("value").map_or(Ok(Constant::Null), dynamic)?;
        Ok((Constant::String(entry.read_text("key").into()), value))
    };
    let entries = of.messages("fields").map(entry);
    Ok(Constant::Map(entries.collect::<Result<_, UnsupportedFeature>>()?))
}

/// A `google.protobuf.ListValue`.
fn elements(of: &ProtoMessage) -> Result<Constant, UnsupportedFeature> {
    let elements = of.messages("values").map(dynamic);
    Ok(Constant::List(elements.collect::<Result<_, _>>()?))
}

/// A `cel.expr.Type`.
pub(super) fn type_of(of: &ProtoMessage) -> Result<Type, UnsupportedFeature> {
    let Some((kind, field)) = of.fields.first() else {
        return Ok(Type::Dyn);
    };
    Ok(match (kind.as_str(), field) {
        ("dyn", _) => Type::Dyn,
        ("null", _) => Type::Null,
        ("primitive", ProtoField::Word(name)) => primitive(name)?,
        ("wrapper", ProtoField::Word(name)) => Type::wrapper(primitive(name)?),
        ("well_known", ProtoField::Word(name)) => match name.as_str() {
            "ANY" => Type::Any,
            "TIMESTAMP" => Type::Timestamp,
            "DURATION" => Type::Duration,
            other => return Err(UnsupportedFeature::Type(other.to_owned())),
        },
        ("list_type", ProtoField::Message(list)) => Type::list(part(list, "elem_type")?),
        ("map_type", ProtoField::Message(map)) => Type::map(part(map, "key_type")?, part(map, "value_type")?),
        ("message_type", ProtoField::Text(name)) => match Type::named(&utf8(name)?) {
            Type::Struct(_) => return Err(UnsupportedFeature::Messages),
            known => known,
        },
        ("type_param", ProtoField::Text(name)) => Type::param(&utf8(name)?),
        ("type", ProtoField::Message(inner)) => {
            if inner.fields.is_empty() {
                Type::Type(None)
            } else {
                Type::type_of(type_of(inner)?)
            }
        }
        ("abstract_type", ProtoField::Message(inner)) => {
            let parameters = inner.messages("parameter_types").map(type_of);
            let parameters: Vec<Type> = parameters.collect::<Result<_, _>>()?;
            Type::Opaque(inner.read_text("name").into(), parameters.into())
        }
        _ => return Err(UnsupportedFeature::TypeKind(kind.clone())),
    })
}

fn part(of: &ProtoMessage, name: &str) -> Result<Type, UnsupportedFeature> {
    of.message(name).map_or(Ok(Type::Dyn), type_of)
}

fn primitive(name: &str) -> Result<Type, UnsupportedFeature> {
    Ok(match name {
        "BOOL" => Type::Bool,
        "INT64" => Type::Int,
        "UINT64" => Type::Uint,
        "DOUBLE" => Type::Double,
        "STRING" => Type::String,
        "BYTES" => Type::Bytes,
        other => return Err(UnsupportedFeature::Type(other.to_owned())),
    })
}

/// Whether a value is the one that is expected: of the same types, maps in any order, NaN like NaN.
pub(super) fn same(expected: &Constant, actual: &Constant) -> bool {
    match (expected, actual) {
        (Constant::Double(one), Constant::Double(other)) => one == other || (one.is_nan() && other.is_nan()),
        (Constant::List(one), Constant::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Constant::Map(one), Constant::Map(other)) => {
            let holds = |(key, value): &(Constant, Constant)| {
                let mut entries = other.iter();
                entries.any(|(others, of_others)| same(key, others) && same(value, of_others))
            };
            one.len() == other.len() && one.iter().all(holds)
        }
        (one, other) => one == other,
    }
}

fn integer<T: TryFrom<i128>>(word: &str) -> Result<T, UnsupportedFeature> {
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, word),
    };
    let number = match digits.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    let number = number.ok().and_then(|number| T::try_from(sign * number).ok());
    number.ok_or_else(|| UnsupportedFeature::Number(word.to_owned()))
}

fn double(word: &str) -> Result<f64, UnsupportedFeature> {
    word.parse()
        .map_err(|_| UnsupportedFeature::Number(word.to_owned()))
}

fn utf8(bytes: &[u8]) -> Result<Arc<str>, UnsupportedFeature> {
    std::str::from_utf8(bytes)
        .map(Arc::from)
        .map_err(|_| UnsupportedFeature::Encoding)
}
