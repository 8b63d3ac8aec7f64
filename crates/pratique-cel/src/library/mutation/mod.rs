//! The types of mutations: `Object` with all types below it (`Object.spec.template` …), and `JSONPatch`.
//!
//! The types of `Object` have any field, of any type: that a literal fits its place is left to the merge, but for
//! the [names of types](check_type_names). What a mutation gives becomes JSON by [`to_json`].

mod json;
mod object;
mod patch;

use std::sync::Arc;

pub use self::json::{NotJson, to_json};
pub use self::object::check_type_names;
use super::Library;
use crate::context::Context;
use crate::declared::TypeProvider;
use crate::error::Fault;
use crate::types::Type;
use crate::value::{Evaluation, Value};

/// The types of mutations, which only mutating policies have.
pub fn library() -> Library {
    Library {
        types: vec![Arc::new(MutationTypes)],
        ..Library::default()
    }
}

/// The type of apply configurations, and the beginning of the names of the types below it.
const OBJECT: &str = "Object";

/// The type of the operations of a JSON patch (RFC 6902).
const JSON_PATCH: &str = "JSONPatch";

/// All the types of mutations.
#[derive(Debug)]
struct MutationTypes;

impl TypeProvider for MutationTypes {
    fn has_type(&self, name: &str) -> bool {
        name == JSON_PATCH || is_object(name)
    }

    fn has_namespace(&self, prefix: &str) -> bool {
        is_object(prefix)
    }

    fn field(&self, type_name: &str, field: &str) -> Option<Type> {
        if is_object(type_name) {
            return Some(Type::Dyn);
        }
        (type_name == JSON_PATCH).then(|| match field {
            "op" | "path" | "from" => Type::String,
            "value" => Type::Dyn,
            // The reference says of any field that there is one, but of others not what type it has.
            _ => Type::named(""),
        })
    }

    fn construct<'a>(
        &self,
        context: &Context<'a>,
        type_name: &str,
        fields: &[(&'a str, Value<'a>)],
    ) -> Evaluation<'a> {
        match type_name {
            JSON_PATCH => patch::construct(context, fields),
            name if is_object(name) => Ok(object::construct(context, name, fields)),
            name => Err(Fault::error(format!("unknown type '{name}'"))),
        }
    }
}

fn is_object(name: &str) -> bool {
    name.strip_prefix(OBJECT)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The name of the reference's own type for what a value holds, which some of its messages show.
fn native_type(value: &Value<'_>) -> &'static str {
    use crate::value::{List, Map};
    match value {
        Value::Null => "structpb.NullValue",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Uint(_) => "uint64",
        Value::Double(_) => "float64",
        Value::String(_) | Value::Type(_) => "string",
        Value::Bytes(_) => "[]uint8",
        Value::Timestamp(_) => "time.Time",
        Value::Duration(_) => "time.Duration",
        Value::List(List::Json(_)) => "[]interface {}",
        Value::List(List::Typed(_)) => "[]string",
        Value::List(_) => "[]ref.Val",
        Value::Map(Map::Json(_)) => "map[string]interface {}",
        Value::Map(Map::Typed(_)) => "map[string]string",
        Value::Map(_) => "map[ref.Val]ref.Val",
        Value::Struct(value) if value.type_name() == JSON_PATCH => "*mutation.JSONPatchVal",
        Value::Struct(_) => "map[string]interface {}",
        Value::Optional(Some(value)) => native_type(value),
        Value::Optional(None) => "<nil>",
        Value::Opaque(value) => match value.type_name() {
            "kubernetes.Quantity" => "*resource.Quantity",
            "net.IP" => "netip.Addr",
            "net.CIDR" => "netip.Prefix",
            "kubernetes.URL" => "*url.URL",
            "kubernetes.Semver" => "semver.Version",
            "kubernetes.NamedFormat" => "cel.Format",
            _ => "*types.Err",
        },
    }
}

#[cfg(test)]
mod tests;
