//! The value of `request` where the resource was only assumed from the kind of the object, or where the log that it comes from does
//! not have all of it.

use pratique_json::{Object, Value};
use pratique_types::AdmissionRequest;

use crate::partly_known::{KnownMember, PartlyKnown};
use crate::types::REQUEST_TYPE;

/// The members of a request that it need not have.
const OPTIONAL: [&str; 3] = ["name", "requestSubResource", "subResource"];

/// The value of a request that is not wholly known; `None` if it is.
///
/// Where the resource was only assumed, its names are not known, nor is the namespace where none is given: the kind may be
/// namespaced. Of a request that lacks details, no more is known of the user than the name, and none of the options.
pub fn partly_known_request(request: &AdmissionRequest<'_>, value: &Value<'_>) -> Option<PartlyKnown> {
    let AdmissionRequest {
        assumes_resource,
        lacks_details,
        ..
    } = *request;
    if !assumes_resource && !lacks_details {
        return None;
    }
    let is_unknown = |name: &str| {
        (assumes_resource && RESOURCES.contains(&name)) || (lacks_details && DETAILS.contains(&name))
    };
    let members = value.as_object().map(Object::iter).into_iter().flatten();
    let mut known: Vec<(&'static str, KnownMember)> = Vec::new();
    for (name, value) in members {
        if let Some(name) = NAMES.iter().find(|known| **known == name && !is_unknown(name)) {
            known.push((*name, KnownMember::Json(value.clone().into_owned())));
        }
    }
    let is_absent = |name: &&str| OPTIONAL.contains(name) || (**name == *NAMESPACE && !assumes_resource);
    for name in NAMES.into_iter().filter(is_absent) {
        if !known.iter().any(|(known, _)| *known == name) {
            known.push((name, KnownMember::Absent));
        }
    }
    let text = |text: &str| KnownMember::Text(text.into());
    if assumes_resource {
        for (name, path) in [("resource", RESOURCE), ("requestResource", REQUEST_RESOURCE)] {
            let members = vec![
                ("group", text(&request.resource.group)),
                ("version", text(&request.resource.version)),
            ];
            known.push((name, KnownMember::Part(PartlyKnown::new("map", path, members))));
        }
    }
    if lacks_details {
        let name = &request.user_info.username;
        let name = (!name.is_empty()).then(|| ("username", text(name)));
        let members = name.into_iter().collect();
        known.push((
            "userInfo",
            KnownMember::Part(PartlyKnown::new("map", USER, members)),
        ));
    }
    Some(PartlyKnown::new(REQUEST_TYPE, REQUEST, known))
}

/// Whether a path of something unknown is a detail that a request lacks.
pub(crate) fn is_detail(path: &str) -> bool {
    let name = path.strip_prefix(REQUEST).and_then(|rest| rest.strip_prefix('.'));
    let name = name.and_then(|name| name.split(['.', '[']).next());
    name.is_some_and(|name| DETAILS.contains(&name))
}

/// Whether a path of something unknown is in such a request.
pub(crate) fn is_of_assumed_request(path: &str) -> bool {
    let rest = path.strip_prefix(REQUEST);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

const REQUEST: &str = "request";
const RESOURCE: &str = "request.resource";
const REQUEST_RESOURCE: &str = "request.requestResource";

const USER: &str = "request.userInfo";
const NAMESPACE: &str = "namespace";

/// The members that are about the resource.
const RESOURCES: [&str; 2] = ["requestResource", "resource"];
/// The members that are details, which some logs leave out.
const DETAILS: [&str; 3] = ["dryRun", "options", "userInfo"];

/// All members.
const NAMES: [&str; 15] = [
    "dryRun",
    "kind",
    "name",
    "namespace",
    "object",
    "oldObject",
    "operation",
    "options",
    "requestKind",
    "requestResource",
    "requestSubResource",
    "resource",
    "subResource",
    "uid",
    "userInfo",
];

#[cfg(test)]
mod tests {
    use pratique_cel::{Arena, Context, Fault, UnknownValue};
    use pratique_types::{GroupVersionKind, GroupVersionResource, Operation};

    use super::*;
    use crate::{Cache, Composition, Declarations, ExpressionPurpose, request_value, slots};

    fn evaluate(text: &str, namespace: &str) -> Result<String, Fault> {
        evaluate_for(text, namespace, |request| request.assumes_resource = true)
    }

    fn evaluate_for(
        text: &str,
        namespace: &str,
        change: impl FnOnce(&mut AdmissionRequest<'_>),
    ) -> Result<String, Fault> {
        let cache = Cache::new();
        let expression = Composition::new(&cache)
            .compile(text, ExpressionPurpose::Variable, Declarations::default())
            .unwrap();
        let mut request = AdmissionRequest {
            kind: GroupVersionKind::new("example.com", "v1", "Gateway"),
            resource: GroupVersionResource::new("example.com", "v1", "gatewaies"),
            operation: Operation::Create,
            namespace: namespace.to_owned(),
            ..AdmissionRequest::default()
        };
        request.user_info.username = "ann".to_owned();
        change(&mut request);
        let value = request_value(&request, "g", &request.resource, &request.kind);
        let assumed = partly_known_request(&request, &value).unwrap();
        let (arena, mut activation) = (Arena::new(), slots().activation());
        activation.set(slots().request, pratique_cel::Value::Struct(&assumed));
        let value = expression
            .program()
            .evaluate(&Context::new(&arena, 1_000_000), &activation)?;
        Ok(format!("{value:?}"))
    }

    #[test]
    fn what_depends_on_the_resource_is_unknown() {
        for (text, path) in [
            (
                "request.resource.resource == 'gatewaies'",
                "request.resource.resource",
            ),
            (
                "request.requestResource.resource.startsWith('g') || true",
                "request.requestResource.resource",
            ),
            ("request.resource == request.requestResource", "request.resource"),
            ("request.namespace == 'a'", "request.namespace"),
            ("has(request.namespace)", "request.namespace"),
        ] {
            let unknown = Fault::unknown(UnknownValue::Attribute(path.into()));
            assert_eq!(evaluate(text, ""), Err(unknown), "{text}");
            assert!(is_of_assumed_request(path));
        }
    }

    #[test]
    fn all_else_is_known() {
        for text in [
            "request.operation == 'CREATE' && request.kind.kind == 'Gateway' && request.name == 'g'",
            "request.resource.group == 'example.com' && request.resource.version == 'v1'",
            "request.namespace == 'a' && !has(request.subResource) && request.dryRun == false",
        ] {
            assert_eq!(evaluate(text, "a"), Ok("Bool(true)".to_owned()), "{text}");
        }
        assert!(!is_of_assumed_request("requests") && !is_of_assumed_request("namespaceObject.request"));
    }

    #[test]
    fn details_that_a_log_leaves_out_are_unknown() {
        let lacks = |request: &mut AdmissionRequest<'_>| request.lacks_details = true;
        for (text, path) in [
            ("'admins' in request.userInfo.groups", "request.userInfo.groups"),
            ("has(request.userInfo.extra)", "request.userInfo.extra"),
            ("request.dryRun", "request.dryRun"),
            ("request.options.fieldManager == 'a'", "request.options"),
        ] {
            let unknown = Fault::unknown(UnknownValue::Attribute(path.into()));
            assert_eq!(evaluate_for(text, "", lacks), Err(unknown), "{text}");
            assert!(is_detail(path), "{path}");
        }
        for text in [
            "request.userInfo.username == 'ann' && request.operation == 'CREATE'",
            "request.resource.resource == 'gatewaies' && !has(request.namespace)",
        ] {
            assert_eq!(
                evaluate_for(text, "", lacks),
                Ok("Bool(true)".to_owned()),
                "{text}"
            );
        }
        assert!(!is_detail("request.resource.resource") && !is_detail("request"));
    }
}
