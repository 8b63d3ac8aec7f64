//! Objects of `v1beta1` in the form of the newest version, which rules by hand validate and whose paths they tell.
// Upstream: pkg/apis/resource/v1beta1/conversion.go

use pratique_json::{Object, Value};

use crate::node::Node;
use crate::rules::Request;

/// Gives a rule the request with its objects in the newest form.
pub(super) fn with_newest_form(request: &Request<'_>, mut rule: impl FnMut(&Request<'_>)) {
    if request.kind.version != "v1beta1" {
        rule(request);
        return;
    }
    let (object, old) = (
        newest_form(request.object.value()),
        newest_form(request.old.value()),
    );
    rule(&Request {
        object: Node::root(&object),
        old: Node::root(&old),
        ..*request
    });
}

fn newest_form(object: &Value<'_>) -> Value<'static> {
    let mut object = object.owned_within("");
    let path = if object.at(&["spec", "spec"]).is_some() {
        &["spec", "spec", "devices", "requests"][..]
    } else {
        &["spec", "devices", "requests"]
    };
    elements_mut(&mut object, path).for_each(nest_request);
    elements_mut(&mut object, &["spec", "devices"]).for_each(flatten_device);
    object
}

fn elements_mut<'o>(
    object: &'o mut Value<'static>,
    path: &[&str],
) -> impl Iterator<Item = &'o mut Object<'static>> + use<'o> {
    let list = path.iter().try_fold(object, |value, name| value.get_mut(name));
    let elements = match list {
        Some(Value::Array(elements)) => elements.as_mut_slice(),
        _ => &mut [],
    };
    elements.iter_mut().filter_map(|element| match element {
        Value::Object(members) => Some(members),
        _ => None,
    })
}

/// What a request says of its devices moves into a member of its own.
fn nest_request(request: &mut Object<'static>) {
    let mut exactly = Object::default();
    request.retain(|name, value| {
        let stays = matches!(name, "name" | "firstAvailable");
        if !stays {
            exactly.insert(name.to_owned(), std::mem::take(value));
        }
        stays
    });
    let is_set = |(name, value): (&str, &Value<'_>)| match name {
        "deviceClassName" | "allocationMode" => !value.is_empty(),
        "count" => value.as_int() != Some(0),
        _ => !value.is_null(),
    };
    if exactly.iter().any(is_set) {
        request.insert("exactly", Value::Object(exactly));
    }
}

/// What a device has in a member of its own becomes part of it.
fn flatten_device(device: &mut Object<'static>) {
    if let Some(Value::Object(basic)) = device.remove("basic") {
        for (name, value) in basic.iter() {
            device.insert(name.to_owned(), value.owned_within(""));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(object: &str, expected: &str) {
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        assert_eq!(
            newest_form(&object),
            pratique_json::parse(expected.as_bytes()).unwrap()
        );
    }

    #[test]
    fn members_move() {
        check(
            r#"{"spec": {"devices": {"requests": [{"name": "a", "deviceClassName": "c", "count": 1}, {"name": "b"}]}}}"#,
            r#"{"spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "c", "count": 1}}, {"name": "b"}]}}}"#,
        );
        check(
            r#"{"spec": {"devices": [{"name": "a", "basic": {"allNodes": true}}, {"name": "b"}]}}"#,
            r#"{"spec": {"devices": [{"name": "a", "allNodes": true}, {"name": "b"}]}}"#,
        );
    }
}
