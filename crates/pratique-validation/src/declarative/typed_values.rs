//! Values as the JSON of the API's types, whose members have an order.

use pratique_json::{Value, escape_html};
use pratique_schema::{Field, Release};
use pratique_types::field::BadValue;

use super::table::{MemberOrder, RuleTable};

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
        Value::Object(members) if !table.order(type_name).is_empty() => {
            text.push('{');
            let order = table.order(type_name).iter();
            let given = order.filter_map(|member| Some((member, members.get(member.name)?)));
            let mut separator = "";
            let of_type = release
                .schema()
                .named(type_name)
                .map(|id| release.schema().get(id));
            let is_always = |name: &str| {
                let field = of_type.and_then(|of_type| of_type.field(name));
                field.is_some_and(Field::is_always)
            };
            let given = given.filter(|(member, value)| is_always(member.name) || !is_left_out(member, value));
            for (member, value) in given {
                text.push_str(separator);
                separator = ",";
                text.push_str(&Value::from(member.name).to_string());
                text.push(':');
                write_value(types, member.type_name.unwrap_or_default(), value, text);
            }
            text.push('}');
        }
        other => text.push_str(&other.to_string()),
    }
}

/// Whether JSON of the API leaves out a member that it may leave out: a list or a map without elements.
fn is_left_out(member: &MemberOrder, value: &Value<'_>) -> bool {
    let is_map = member.type_name.is_some_and(|name| name.starts_with("{}"));
    value.is_empty() && (is_map || matches!(value, Value::Array(_)))
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
