//! How the reference names the Go types of values in its messages about mutations.

use crate::value::{List, Map, Value};

/// The type of the operations of a JSON patch (RFC 6902).
pub(super) const JSON_PATCH: &str = "JSONPatch";

/// The name of the Go type of the native value behind a value, which some messages of the reference show.
pub(super) fn native_type(value: &Value<'_>) -> &'static str {
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
        Value::List(List::Typed(_) | List::Texts(_)) => "[]string",
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
