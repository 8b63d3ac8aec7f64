//! The variable `request`.

use std::borrow::Cow;

use pratique_json::{Object, Value};
use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, UserInfo};

/// The request as expressions see it, matched as `resource` with its objects in `kind`.
///
/// What is empty is absent, as an API server prints it; but `dryRun` is always there, and so are `object`, `oldObject`
/// and `options`, of which only the last can have a value.
pub(crate) fn value<'a>(
    request: &'a AdmissionRequest<'a>,
    name: &'a str,
    resource: &'a GroupVersionResource,
    kind: &'a GroupVersionKind,
) -> Value<'a> {
    let subresource = optional("subResource", &request.sub_resource);
    let request_subresource = optional("requestSubResource", &request.sub_resource);
    let members = [
        Some(member("dryRun", Value::Bool(request.dry_run.unwrap_or_default()))),
        Some(member("kind", kind_value(kind))),
        optional("name", name),
        optional("namespace", &request.namespace),
        Some(member("object", Value::Null)),
        Some(member("oldObject", Value::Null)),
        Some(member("operation", request.operation.as_str().into())),
        Some(member("options", borrow(&request.options))),
        Some(member("requestKind", kind_value(&request.kind))),
        Some(member("requestResource", resource_value(&request.resource))),
        request_subresource,
        Some(member("resource", resource_value(resource))),
        subresource,
        Some(member("uid", "".into())),
        Some(member("userInfo", user(&request.user_info))),
    ];
    Value::Object(members.into_iter().flatten().collect())
}

/// A copy of a value that shares its texts.
pub(crate) fn borrow<'a>(value: &'a Value<'a>) -> Value<'a> {
    match value {
        Value::String(text) => Value::String(Cow::Borrowed(text)),
        Value::Array(elements) => Value::Array(elements.iter().map(borrow).collect()),
        Value::Object(object) => {
            let members = object.iter().map(|(key, value)| member(key, borrow(value)));
            Value::Object(members.collect())
        }
        scalar => scalar.clone(),
    }
}

type Member<'a> = (Cow<'a, str>, Value<'a>);

fn member<'a>(key: &'a str, value: Value<'a>) -> Member<'a> {
    (Cow::Borrowed(key), value)
}

fn optional<'a>(key: &'a str, text: &'a str) -> Option<Member<'a>> {
    (!text.is_empty()).then(|| member(key, text.into()))
}

fn kind_value(kind: &GroupVersionKind) -> Value<'_> {
    let members = [
        member("group", kind.group.as_str().into()),
        member("kind", kind.kind.as_str().into()),
        member("version", kind.version.as_str().into()),
    ];
    Value::Object(members.into_iter().collect())
}

fn resource_value(resource: &GroupVersionResource) -> Value<'_> {
    let members = [
        member("group", resource.group.as_str().into()),
        member("resource", resource.resource.as_str().into()),
        member("version", resource.version.as_str().into()),
    ];
    Value::Object(members.into_iter().collect())
}

fn user(user: &UserInfo) -> Value<'_> {
    let extra = user.extra.iter().map(|(key, values)| member(key, texts(values)));
    let extra: Object<'_> = extra.collect();
    let members = [
        (!extra.is_empty()).then(|| member("extra", extra.into())),
        (!user.groups.is_empty()).then(|| member("groups", texts(&user.groups))),
        optional("uid", &user.uid),
        optional("username", &user.username),
    ];
    Value::Object(members.into_iter().flatten().collect())
}

fn texts(texts: &[String]) -> Value<'_> {
    Value::Array(texts.iter().map(|text| text.as_str().into()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_empty_is_absent() {
        let request: AdmissionRequest<'_> = serde_json::from_str(
            r#"{"uid":"u","kind":{"version":"v1","kind":"Pod"},"resource":{"version":"v1","resource":"pods"},
                "operation":"DELETE","userInfo":{"username":"ann","extra":{"k":["v"]}}}"#,
        )
        .unwrap();
        let value = value(&request, "p", &request.resource, &request.kind);
        let pods = r#"{"group":"","resource":"pods","version":"v1"}"#;
        let pod = r#"{"group":"","kind":"Pod","version":"v1"}"#;
        assert_eq!(
            value.to_string(),
            format!(
                r#"{{"dryRun":false,"kind":{pod},"name":"p","object":null,"oldObject":null,"operation":"DELETE","options":null,"requestKind":{pod},"requestResource":{pods},"resource":{pods},"uid":"","userInfo":{{"extra":{{"k":["v"]}},"username":"ann"}}}}"#
            )
        );
    }
}
