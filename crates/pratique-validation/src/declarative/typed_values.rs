//! Values as the JSON of the API's types, whose members have an order.

use pratique_json::{Value, escape_html};
use pratique_schema::{Field, Release, Shape};
use pratique_types::field::BadValue;

use super::table::RuleTable;

/// A value of a type of a release as a message shows it.
pub(super) fn typed_json<'a>(release: &'static Release, type_name: &str, value: &Value<'_>) -> BadValue<'a> {
    let mut text = String::new();
    write_value(
        (release, RuleTable::of_release(release)),
        type_name,
        value,
        &mut text,
    );
    BadValue::Prepared(escape_html(&text).into_owned().into())
}

/// Recursion follows the nesting of the types.
fn write_value(types: (&'static Release, &RuleTable), type_name: &str, value: &Value<'_>, text: &mut String) {
    let (release, table) = types;
    match value {
        Value::Array(elements) => {
            text.push('[');
            for (at, element) in elements.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                write_value(types, type_name, element, text);
            }
            text.push(']');
        }
        Value::Object(members) if type_name.starts_with("{}") => {
            let of = type_name.trim_start_matches("{}");
            text.push('{');
            for (at, (key, value)) in members.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                text.push_str(&Value::from(key).to_string());
                text.push(':');
                write_value(types, of, value, text);
            }
            text.push('}');
        }
        Value::Object(members) => {
            let schema = release.schema();
            let of_type = schema.named(type_name).map(|id| schema.get(id));
            let field = |name: &str| of_type.and_then(|of_type| of_type.field(name));
            let order = table.order(type_name);
            let given: Vec<(&str, &str, &Value<'_>)> = if order.is_empty() {
                // A type whose members are in the order of their names.
                members.iter().map(|(name, value)| (name, "", value)).collect()
            } else {
                let ordered = order.iter().filter_map(|member| {
                    let value = members.get(member.name)?;
                    Some((member.name, member.type_name.unwrap_or_default(), value))
                });
                ordered.collect()
            };
            text.push('{');
            let mut separator = "";
            for (name, type_name, value) in given {
                if value.is_empty() && field(name).is_some_and(is_left_out) {
                    continue;
                }
                text.push_str(separator);
                separator = ",";
                text.push_str(&Value::from(name).to_string());
                text.push(':');
                write_value(types, type_name, value, text);
            }
            text.push('}');
        }
        other => text.push_str(&other.to_string()),
    }
}

/// Whether JSON of the API leaves out a field where it has no elements.
fn is_left_out(field: &Field) -> bool {
    !field.is_always() && matches!(field.shape, Shape::List(_) | Shape::Map(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_lists_are_left_out() {
        let text = br#"{"exactly": {"selectors": [], "count": 1}, "name": "a"}"#;
        let value = pratique_json::parse(text).unwrap();
        let shown = typed_json(Release::latest(), "resource/v1.DeviceRequest", &value);
        let BadValue::Prepared(shown) = shown else {
            panic!("{shown:?}");
        };
        assert_eq!(shown, r#"{"name":"a","exactly":{"count":1}}"#);
    }

    #[test]
    fn empty_maps_of_types_with_one_member_are_left_out() {
        let value = pratique_json::parse(br#"{"capacity": {"requests": {}}, "name": "a"}"#).unwrap();
        let shown = typed_json(Release::latest(), "resource/v1.DeviceSubRequest", &value);
        let BadValue::Prepared(shown) = shown else {
            panic!("{shown:?}");
        };
        assert_eq!(shown, r#"{"name":"a","capacity":{}}"#);
    }

    /// Those of some types are always written.
    #[test]
    fn empty_lists_may_stay() {
        let text =
            br#"{"driver": "d", "pool": "p", "device": "x", "conditions": [], "networkData": {"ips": []}}"#;
        let value = pratique_json::parse(text).unwrap();
        let shown = typed_json(Release::latest(), "resource/v1.AllocatedDeviceStatus", &value);
        let BadValue::Prepared(shown) = shown else {
            panic!("{shown:?}");
        };
        assert_eq!(
            shown,
            r#"{"driver":"d","pool":"p","device":"x","conditions":[],"networkData":{}}"#
        );
    }

    #[test]
    fn keys_of_maps_are_no_members() {
        let value = pratique_json::parse(br#"{"counters": {"a": {"value": "1"}}, "name": "c"}"#).unwrap();
        let shown = typed_json(Release::latest(), "resource/v1.CounterSet", &value);
        let BadValue::Prepared(shown) = shown else {
            panic!("{shown:?}");
        };
        assert_eq!(shown, r#"{"name":"c","counters":{"a":{"value":"1"}}}"#);
    }

    #[test]
    fn members_have_the_order_of_their_type() {
        let text = br#"{"exactly": {"count": 1, "allocationMode": "<"}, "name": "a"}"#;
        let value = pratique_json::parse(text).unwrap();
        let shown = typed_json(Release::latest(), "resource/v1.DeviceRequest", &value);
        let BadValue::Prepared(shown) = shown else {
            panic!("{shown:?}");
        };
        assert_eq!(
            shown,
            r#"{"name":"a","exactly":{"allocationMode":"\u003c","count":1}}"#
        );
    }
}
