//! How messages show values and name what they are.

use pratique_gotext::strconv::general_form;

use super::failed::native_name;
use crate::error::Fault;
use crate::function::CostNeed;
use crate::value::{List, Map, Value};

/// A value as messages show it: `%v` of the reference's value.
pub fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Null => "0".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Double(number) => general_form(*number),
        Value::String(text) => (*text).to_owned(),
        Value::Bytes(bytes) => shown_bytes(bytes),
        Value::Timestamp(timestamp) => timestamp.in_messages(),
        Value::Duration(duration) => duration.in_messages(),
        Value::List(list) => shown_list(list),
        Value::Map(map) => shown_map(map),
        Value::Struct(value) => value.type_name().to_owned(),
        Value::Optional(Some(value)) => format!("optional({})", shown(value)),
        Value::Optional(None) => "optional.none()".to_owned(),
        Value::Type(name) => (*name).to_owned(),
        Value::Opaque(value) => value.text(),
    }
}

fn shown_bytes(bytes: &[u8]) -> String {
    let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
    format!("[{}]", numbers.join(" "))
}

fn shown_list(list: &List<'_>) -> String {
    let elements: Vec<String> = list.iter().map(|element| shown(&element)).collect();
    format!("[{}]", elements.join(", "))
}

fn shown_map(map: &Map<'_>) -> String {
    let entry = |(key, value): (Value<'_>, Value<'_>)| format!("{}: {}", shown(&key), shown(&value));
    let entries: Vec<String> = map.iter().map(entry).collect();
    format!("{{{}}}", entries.join(", "))
}

/// The name of the reference's own type for a value, which some of its messages show.
pub(crate) fn go_type(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "types.Null",
        Value::Bool(_) => "types.Bool",
        Value::Int(_) => "types.Int",
        Value::Uint(_) => "types.Uint",
        Value::Double(_) => "types.Double",
        Value::String(_) => "types.String",
        Value::Bytes(_) => "types.Bytes",
        Value::Timestamp(_) => "types.Timestamp",
        Value::Duration(_) => "types.Duration",
        Value::List(List::Typed(_)) => "*common.reflectSchemalessTypedList",
        Value::List(List::Joined(_)) => "*types.concatList",
        Value::List(_) => "*types.baseList",
        Value::Map(_) => "*types.baseMap",
        Value::Struct(value) if value.type_name() == "JSONPatch" => "*mutation.JSONPatchVal",
        Value::Struct(value) if value.type_name() == "kubernetes.variables" => "*lazy.MapValue",
        Value::Struct(_) => "*dynamic.ObjectVal",
        Value::Optional(_) => "*types.Optional",
        Value::Type(_) => "*types.Type",
        Value::Opaque(value) => match value.type_name() {
            "kubernetes.Quantity" => "cel.Quantity",
            "net.IP" => "cel.IP",
            "net.CIDR" => "cel.CIDR",
            "kubernetes.URL" => "cel.URL",
            "kubernetes.Semver" => "cel.Semver",
            "kubernetes.NamedFormat" => "cel.Format",
            "kubernetes.authorization.Authorizer" => "library.authorizerVal",
            "kubernetes.authorization.PathCheck" => "library.pathCheckVal",
            "kubernetes.authorization.GroupCheck" => "library.groupCheckVal",
            "kubernetes.authorization.ResourceCheck" => "library.resourceCheckVal",
            "kubernetes.authorization.Decision" => "library.decisionVal",
            _ => native_name(*value).unwrap_or("ref.Val"),
        },
    }
}

/// What the reference's cast of an argument to a type says when it is of another; `None` stands for an error.
pub(crate) fn unmet_need(need: CostNeed, argument: Option<&Value<'_>>) -> Option<Fault> {
    match (need, argument) {
        (CostNeed::List, argument) => missing_list_method(argument),
        (CostNeed::Int, Some(Value::Int(_))) => None,
        (CostNeed::Int, argument) => {
            let of = argument.map_or("*types.Err", go_type);
            let text = format!("interface conversion: ref.Val is {of}, not types.Int");
            Some(Fault::internal(text))
        }
    }
}

fn missing_list_method(argument: Option<&Value<'_>>) -> Option<Fault> {
    let (name, method) = match argument {
        Some(Value::List(_)) => return None,
        None => ("*types.Err", "Add"),
        Some(value) => (
            go_type(value),
            if has_addition(value) { "Contains" } else { "Add" },
        ),
    };
    let text = format!("interface conversion: {name} is not traits.Lister: missing method {method}");
    Some(Fault::internal(text))
}

fn has_addition(value: &Value<'_>) -> bool {
    matches!(
        value,
        Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::Timestamp(_)
            | Value::Duration(_)
    )
}

/// The error of an operator whose first operand has a type that does not know it: strings, timestamps and durations
/// go another way in the reference, which does not name the function.
#[cold]
pub(crate) fn unknown_operands(function: &str, first: &Value<'_>) -> Fault {
    match first {
        Value::String(_) | Value::Timestamp(_) | Value::Duration(_) => Fault::no_such_overload(),
        _ => Fault::error(format!("no such overload: {function}")),
    }
}
