//! The values of `request` and `authorizer`.

use std::borrow::Cow;
use std::sync::Arc;

use pratique_cel::Arena;
use pratique_cel::library::authz::{self, Authorizer, NoAuthorizer, ResourceCheck, User};
use pratique_json::{Object, Value};
use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, UserInfo};

/// The request as expressions see it, matched as `resource` with its objects in `kind`.
///
/// Empty members are absent, as an API server prints a request; but `dryRun` is always present, and so are `object`,
/// `oldObject` and `options`, of which only the last can have a value.
pub fn request_value<'a>(
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
        Some(member("options", request.options.borrowed())),
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

/// The values of `authorizer` and of `authorizer.requestResource`.
#[derive(Clone, Copy, Debug)]
pub struct Authorizers<'a> {
    /// `authorizer`
    pub authorizer: pratique_cel::Value<'a>,
    /// `authorizer.requestResource`
    pub request_resource: pratique_cel::Value<'a>,
}

impl<'a> Authorizers<'a> {
    /// Checks what the user of a request may do; `name` is that of its object, `host` answers.
    pub fn new(
        arena: &'a Arena,
        request: &AdmissionRequest<'_>,
        name: &str,
        host: &Arc<dyn Authorizer>,
    ) -> Self {
        let user = Arc::new(User {
            name: request.user_info.username.clone(),
            uid: request.user_info.uid.clone(),
            groups: request.user_info.groups.clone(),
            extra: request.user_info.extra.clone(),
        });
        let resource = ResourceCheck {
            group: request.resource.group.clone(),
            resource: request.resource.resource.clone(),
            subresource: request.sub_resource.clone(),
            namespace: request.namespace.clone(),
            name: name.to_owned(),
            ..ResourceCheck::default()
        };
        // Of a resource that was only assumed, no answer is the right one.
        let unanswered = || -> Arc<dyn Authorizer> { Arc::new(NoAuthorizer) };
        // Nor is there one for a user whose groups are not known.
        let host = if request.lacks_details {
            unanswered()
        } else {
            host.clone()
        };
        let of_resource = if request.assumes_resource {
            unanswered()
        } else {
            host.clone()
        };
        Authorizers {
            authorizer: authz::authorizer(arena, user.clone(), host),
            request_resource: authz::request_resource(arena, user, of_resource, resource),
        }
    }
}

type RequestMember<'a> = (Cow<'a, str>, Value<'a>);

fn member<'a>(key: &'a str, value: Value<'a>) -> RequestMember<'a> {
    (Cow::Borrowed(key), value)
}

fn optional<'a>(key: &'a str, text: &'a str) -> Option<RequestMember<'a>> {
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
        let value = request_value(&request, "p", &request.resource, &request.kind);
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
