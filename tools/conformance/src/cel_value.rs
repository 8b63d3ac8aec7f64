//! CEL values in the canonical JSON form of `cel.expr.Value`.

use pratique_cel::Value;
use pratique_cel::library::mutation;
use pratique_cel::value::Map;
use pratique_json::base64;
use serde_json::{Value as Json, json};

/// The canonical form; entries of maps are sorted, as their order is free.
pub(super) fn canonical(value: &Value<'_>) -> Json {
    match value {
        Value::Null => json!({"nullValue": null}),
        Value::Bool(value) => json!({"boolValue": value}),
        Value::Int(number) => json!({"int64Value": number.to_string()}),
        Value::Uint(number) => json!({"uint64Value": number.to_string()}),
        Value::Double(number) => json!({"doubleValue": double(*number)}),
        Value::String(text) => json!({"stringValue": text}),
        Value::Bytes(bytes) => json!({"bytesValue": base64::encode(bytes)}),
        Value::Timestamp(timestamp) => well_known("Timestamp", timestamp.to_proto_json()),
        Value::Duration(duration) => well_known("Duration", duration.to_proto_json()),
        Value::List(list) => {
            let values: Vec<Json> = list.iter().map(|element| canonical(&element)).collect();
            json!({"listValue": {"values": values}})
        }
        Value::Map(map) => json!({"mapValue": {"entries": entries(map)}}),
        Value::Optional(None) => json!({"opaque": "optional_type"}),
        Value::Optional(Some(value)) => json!({"opaque": "optional_type", "value": canonical(value)}),
        Value::Type(name) => json!({"typeValue": name}),
        Value::Opaque(value) => json!({"opaque": value.type_name(), "text": value.to_text()}),
        Value::Struct(of) => {
            let text = mutation::to_json(value)
                .map_or_else(|error| format!("error: {error}"), |json| json.to_string());
            json!({"opaque": of.type_name(), "text": text})
        }
    }
}

/// Sorts the entries of maps, so that forms of equal maps are equal.
pub(super) fn normalize(form: &mut Json) {
    match form {
        Json::Array(elements) => elements.iter_mut().for_each(normalize),
        Json::Object(members) => {
            members.values_mut().for_each(normalize);
            if let Some(Json::Array(entries)) = members.get_mut("entries") {
                entries.sort_by_key(Json::to_string);
            }
            // 1 and 1.0 are one double in JSON.
            if let Some(number) = members.get_mut("doubleValue")
                && let Some(double) = number.as_f64()
            {
                *number = json!(double);
            }
        }
        _ => {}
    }
}

fn entries(map: &Map<'_>) -> Vec<Json> {
    let entries = map
        .iter()
        .map(|(key, value)| json!({"key": canonical(&key), "value": canonical(&value)}));
    entries.collect()
}

fn double(number: f64) -> Json {
    match number {
        nan if nan.is_nan() => "NaN".into(),
        f64::INFINITY => "Infinity".into(),
        f64::NEG_INFINITY => "-Infinity".into(),
        finite => finite.into(),
    }
}

fn well_known(name: &str, text: String) -> Json {
    json!({"objectValue": {"@type": format!("type.googleapis.com/google.protobuf.{name}"), "value": text}})
}
