//! Path elements of field sets, as `fieldsV1` writes them.

use pratique_gotext::strconv::quote;
use pratique_json::{Object, Value, escape_html};
use pratique_schema::merge::{ListMerging, ListType};

/// The element of a field.
pub(crate) fn field(name: &str) -> String {
    format!("f:{name}")
}

/// The name of a field's element; `None` for other elements.
pub(crate) fn field_name(element: &str) -> Option<&str> {
    element.strip_prefix("f:")
}

/// The element that identifies an item of a list that is merged by element; `None` for an item without identity.
// Upstream: structured-merge-diff/typed/helpers.go, listItemToPathElement
pub(crate) fn of_item(list: &ListType, item: &Value<'_>) -> Option<String> {
    match &list.merging {
        ListMerging::Atomic => None,
        ListMerging::Set => match item {
            Value::Object(_) | Value::Array(_) | Value::Null => None,
            scalar => Some(format!("v:{}", escape_html(&scalar.to_string()))),
        },
        ListMerging::Keyed(keys) => {
            let members = item.as_object()?;
            let mut identity = Object::new();
            for key in keys {
                let value = members.get(&key.name).or(key.default.as_ref());
                if let Some(value) = value {
                    identity.insert(key.name.as_str(), value.borrowed());
                }
            }
            (!identity.is_empty()).then(|| format!("k:{}", escape_html(&Value::Object(identity).to_string())))
        }
    }
}

/// An element in the form that [`of_item`] gives; `None` if it has none.
// Upstream: structured-merge-diff/fieldpath/serialize-pe.go, DeserializePathElement
pub(crate) fn normalized(element: &str) -> Option<String> {
    let (kind, rest) = element.split_once(':')?;
    match kind {
        "f" => Some(element.to_owned()),
        "i" => rest.parse::<i64>().ok().map(|index| format!("i:{index}")),
        "k" | "v" => {
            let value = pratique_json::parse(rest.as_bytes()).ok()?;
            let fits = kind == "v" || value.as_object().is_some();
            fits.then(|| format!("{kind}:{}", escape_html(&value.to_string())))
        }
        _ => None,
    }
}

/// An element as messages show it: `.name`, `[name="a"]`, `[="a"]` or `[0]`.
pub(crate) fn show_element(element: &str) -> String {
    let (kind, rest) = element.split_once(':').unwrap_or(("f", element));
    let scalar = |value: &Value<'_>| match value {
        Value::String(text) => quote(text),
        other => other.to_string(),
    };
    match kind {
        "k" | "v" => match pratique_json::parse(rest.as_bytes()) {
            Ok(Value::Object(keys)) => {
                let keys: Vec<String> = keys
                    .iter()
                    .map(|(name, value)| format!("{name}={}", scalar(value)))
                    .collect();
                format!("[{}]", keys.join(","))
            }
            Ok(value) => format!("[={}]", scalar(&value)),
            Err(_) => format!("[={rest}]"),
        },
        "i" => format!("[{rest}]"),
        _ => format!(".{rest}"),
    }
}
