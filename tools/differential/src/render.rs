//! Our values in the form that the reference's program gives its own.

use pratique_cel::library::mutation;
use pratique_cel::value::{Map, Struct};
use pratique_cel::{Arena, Context, Value};
use pratique_json::{self as json, Progress, base64};
use serde_json::{Value as Json, json};

/// A value: the name of its type and its distinguishing content.
pub(super) fn render(value: &Value<'_>) -> Json {
    match value {
        Value::Null => json!({"null": null}),
        Value::Bool(value) => json!({"bool": value}),
        Value::Int(number) => json!({"int": number.to_string()}),
        Value::Uint(number) => json!({"uint": number.to_string()}),
        Value::Double(number) => json!({"double": double(*number)}),
        Value::String(text) => json!({"string": text}),
        Value::Bytes(bytes) => json!({"bytes": base64::encode(bytes)}),
        Value::Timestamp(timestamp) if !timestamp.is_in_range() => json!({"timestamp": null}),
        Value::Timestamp(timestamp) => json!({"timestamp": timestamp.to_proto_json()}),
        Value::Duration(duration) => json!({"duration": duration.to_proto_json()}),
        Value::List(list) => {
            let values: Vec<Json> = list.iter().map(|element| render(&element)).collect();
            json!({"list": values})
        }
        Value::Map(map) => json!({"map": entries(map)}),
        Value::Optional(None) => json!({"optional": null}),
        Value::Optional(Some(value)) => json!({"optional": render(value)}),
        Value::Type(name) => json!({"type": name}),
        Value::Opaque(value) => json!({value.type_name(): value.to_text()}),
        Value::Struct(of) if of.type_name() == "kubernetes.variables" => json!({"variables": null}),
        Value::Struct(of) if of.type_name() == "JSONPatch" => json!({"patch": patch(*of)}),
        // The JSON form is that of the latest release, before 1.38, and so are the names that are looked at.
        Value::Struct(of) => match mutation::check_type_names(value, false, &Progress::unwatched()) {
            Ok(()) => json!({"object": of.type_name(), "data": form(mutation::to_json(value))}),
            Err(_) => json!({"object": of.type_name(), "misnamed": true}),
        },
    }
}

fn entries(map: &Map<'_>) -> Vec<Json> {
    let entries = map.iter().map(|(key, value)| match key {
        // Nothing finds what is not equal to itself.
        Value::Double(number) if number.is_nan() => json!([render(&key), null]),
        _ => json!([render(&key), render(&value)]),
    });
    let mut entries: Vec<Json> = entries.collect();
    entries.sort_by_key(Json::to_string);
    entries
}

/// The bits, as texts of floats differ.
fn double(number: f64) -> String {
    match number {
        nan if nan.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        finite => format!("{:x}", finite.to_bits()),
    }
}

/// The members of an operation.
fn patch(patch: &dyn Struct) -> Json {
    let arena = Arena::new();
    let context = Context::new(&arena, u64::MAX);
    let fields = patch.fields(&context).unwrap_or_default();
    let members = fields.iter().map(|(name, value)| {
        let member = match (*name, value) {
            ("value", value) => render(value),
            (_, Value::String(text)) => json!(text),
            (_, other) => render(other),
        };
        ((*name).to_owned(), member)
    });
    Json::Object(members.collect())
}

/// The result of a mutation as JSON.
fn form(converted: Result<json::Value<'static>, mutation::NotJson>) -> Json {
    match converted {
        Ok(value) => plain(&value),
        Err(mutation::NotJson::NoForm(_) | mutation::NotJson::Key(_)) => json!({"unfit": true}),
        Err(error) => json!({"error": error.to_string()}),
    }
}

fn plain(value: &json::Value<'_>) -> Json {
    match value {
        json::Value::Null | json::Value::NilArray => Json::Null,
        json::Value::Bool(value) => json!(value),
        json::Value::Int(number) => json!(number),
        json::Value::Float(number) => json!(double(*number)),
        json::Value::String(text) => json!(text),
        json::Value::Array(elements) => elements.iter().map(plain).collect(),
        json::Value::Object(object) => {
            let members = object.iter().map(|(name, value)| (name.to_owned(), plain(value)));
            Json::Object(members.collect())
        }
    }
}
