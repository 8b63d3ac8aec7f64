//! The shape of every kind that a manifest can be: fields, their types, and how an absent or empty one is written.

mod admission;
mod config;
mod kubeconfig;
mod meta;

pub(crate) use admission::{kind_type, list_type};
pub(crate) use config::{
    ADMISSION_CONFIGURATION, POLICY_CONFIGURATION_MAP, POLICY_CONFIGURATION_VAP, WEBHOOK_ADMISSION,
};
pub(crate) use kubeconfig::KUBE_CONFIG;
pub(crate) use meta::{LIST, TYPE_META_ONLY, WATCH_EVENT};

/// A type of the API as the server has it; its name shows in messages.
#[derive(Debug)]
pub(crate) enum Type {
    /// A string; enumerations are strings that validation looks at.
    Text(&'static str),
    Bool,
    Int32,
    Int64,
    /// Base64.
    Bytes,
    /// An RFC 3339 time.
    Time,
    /// Any JSON, kept as it is.
    Raw,
    /// Anything, which is not kept: it is decoded by itself.
    Any,
    Struct(&'static Struct),
    List(&'static Type),
    /// Strings by string.
    Map,
    /// Lists of strings by string.
    TextLists,
}

/// A struct of the API.
#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) name: &'static str,
    pub(crate) package: Package,
    pub(crate) fields: &'static [Field],
}

/// The package whose name precedes a type's in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Package {
    /// The API group's own, named by its version.
    Api,
    /// That of the types which all groups share.
    Meta,
}

/// A field of a struct.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Type,
    pub(crate) empty: Empty,
    /// The structs that the field is embedded by, which messages name on the way to it.
    pub(crate) within: &'static [&'static str],
}

/// What becomes of a field without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Empty {
    /// Absent, and the same as empty: left out.
    Omitted,
    /// Absent and empty are two: left out only when it is absent or null.
    Optional,
    /// Always there.
    Written,
}

impl Type {
    /// The type's name in messages; `version` names the API's own package.
    pub(crate) fn name(&self, version: &str) -> String {
        match self {
            Self::Text("string") => "string".to_owned(),
            Self::Text(name) if name.contains('.') => (*name).to_owned(),
            Self::Text(name) => format!("{version}.{name}"),
            Self::Bool => "bool".to_owned(),
            Self::Int32 => "int32".to_owned(),
            Self::Int64 => "int64".to_owned(),
            Self::Bytes => "[]uint8".to_owned(),
            Self::Time => "v1.Time".to_owned(),
            Self::Raw | Self::Any => "runtime.RawExtension".to_owned(),
            Self::Struct(of) => match of.package {
                Package::Api => format!("{version}.{}", of.name),
                Package::Meta => format!("v1.{}", of.name),
            },
            Self::List(item) => format!("[]{}", item.name(version)),
            Self::Map => "map[string]string".to_owned(),
            Self::TextLists => "map[string][]string".to_owned(),
        }
    }
}

impl Struct {
    pub(crate) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

const fn omitted(name: &'static str, kind: Type) -> Field {
    Field {
        name,
        kind,
        empty: Empty::Omitted,
        within: &[],
    }
}

const fn optional(name: &'static str, kind: Type) -> Field {
    Field {
        name,
        kind,
        empty: Empty::Optional,
        within: &[],
    }
}

const fn written(name: &'static str, kind: Type) -> Field {
    Field {
        name,
        kind,
        empty: Empty::Written,
        within: &[],
    }
}

const fn within(field: Field, within: &'static [&'static str]) -> Field {
    Field { within, ..field }
}

const TEXT: Type = Type::Text("string");
