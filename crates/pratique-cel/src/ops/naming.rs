//! How messages show values and their types.

use pratique_gotext::strconv::general_form;

use super::error_values::native_name;
use super::order::has_order;
use crate::cost::CostNeed;
use crate::error::Fault;
use crate::meter::{UnmeteredWork, WorkMeter};
use crate::value::{List, Map, Value};

/// A value as messages show it: `%v` of the reference's value.
pub fn format_value(value: &Value<'_>) -> String {
    // Without a meter it cannot fail.
    format_metered(&UnmeteredWork, value).unwrap_or_default()
}

/// A value as messages of an evaluation show it. As values may share parts, it can be much larger than they are.
///
/// # Errors
/// The evaluation was stopped.
pub(crate) fn format_metered<M: WorkMeter>(meter: &M, value: &Value<'_>) -> Result<String, Fault> {
    let mut output = String::new();
    show(meter, value, &mut output)?;
    Ok(output)
}

fn show<M: WorkMeter>(meter: &M, value: &Value<'_>, output: &mut String) -> Result<(), Fault> {
    match value {
        Value::Null => output.push('0'),
        Value::Bool(value) => output.push_str(if *value { "true" } else { "false" }),
        Value::Int(number) => output.push_str(&number.to_string()),
        Value::Uint(number) => output.push_str(&number.to_string()),
        Value::Double(number) => output.push_str(&general_form(*number)),
        Value::String(text) | Value::Type(text) => push(meter, output, text)?,
        Value::Bytes(bytes) => {
            output.push('[');
            for (at, byte) in bytes.iter().enumerate() {
                separate(meter, output, at, " ")?;
                output.push_str(&byte.to_string());
            }
            output.push(']');
        }
        Value::Timestamp(timestamp) => output.push_str(&timestamp.in_messages()),
        Value::Duration(duration) => output.push_str(&duration.in_messages()),
        Value::List(list) => {
            output.push('[');
            for (at, element) in list.iter().enumerate() {
                separate(meter, output, at, ", ")?;
                show(meter, &element, output)?;
            }
            output.push(']');
        }
        Value::Map(map) => {
            output.push('{');
            for (at, (key, value)) in map.iter().enumerate() {
                separate(meter, output, at, ", ")?;
                show(meter, &key, output)?;
                output.push_str(": ");
                show(meter, &value, output)?;
            }
            output.push('}');
        }
        Value::Struct(value) => output.push_str(value.type_name()),
        Value::Optional(Some(value)) => {
            output.push_str("optional(");
            show(meter, value, output)?;
            output.push(')');
        }
        Value::Optional(None) => output.push_str("optional.none()"),
        Value::Opaque(value) => push(meter, output, &value.to_text())?,
    }
    Ok(())
}

fn push<M: WorkMeter>(meter: &M, output: &mut String, text: &str) -> Result<(), Fault> {
    meter.work(text.len() as u64)?;
    meter.reserve(output.len().saturating_add(text.len()))?;
    output.push_str(text);
    Ok(())
}

/// Begins an element.
fn separate<M: WorkMeter>(meter: &M, output: &mut String, at: usize, separator: &str) -> Result<(), Fault> {
    /// The work of an element.
    const ELEMENT: u64 = 32;
    meter.work(ELEMENT)?;
    meter.reserve(output.len())?;
    if at > 0 {
        output.push_str(separator);
    }
    Ok(())
}

/// The name of the reference's Go type for a value, which some of its messages show.
pub fn go_type(value: &Value<'_>) -> &'static str {
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
        // Most are structs in Go. Its maps, such as labels, have another type, which cannot be told apart here.
        Value::Map(Map::Typed(_)) => "*common.reflectSchemalessTypedStruct",
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

/// The error of the reference's conversion of an argument to the type that a cost needs; an argument of `None` is an error.
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

/// Whether values of the type can be added: all that have an order but booleans.
fn has_addition(value: &Value<'_>) -> bool {
    has_order(value) && !matches!(value, Value::Bool(_))
}

/// The error of an operator that the type of the first operand does not have. For strings, timestamps and durations the
/// reference does not name the function.
#[cold]
pub(crate) fn unknown_operands(function: &str, first: &Value<'_>) -> Fault {
    match first {
        Value::String(_) | Value::Timestamp(_) | Value::Duration(_) => Fault::no_such_overload(),
        _ => Fault::error(format!("no such overload: {function}")),
    }
}
