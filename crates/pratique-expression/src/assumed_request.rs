//! The value of `request` where the resource was only assumed from the kind of the object.

use pratique_json::{Object, Value};
use pratique_types::AdmissionRequest;

use crate::partly_known::{Member, PartlyKnown};
use crate::types::REQUEST_TYPE;

/// The members of a request that it need not have.
const OPTIONAL: [&str; 3] = ["name", "requestSubResource", "subResource"];

/// The value of a request, of which the names of the resource are not known, nor the namespace where none is given: the kind
/// may be namespaced.
pub fn assumed_request(request: &AdmissionRequest<'_>, value: &Value<'_>) -> PartlyKnown {
    let members = value.as_object().map(Object::iter).into_iter().flatten();
    let mut known: Vec<(&'static str, Member)> = Vec::new();
    for (name, value) in members {
        let Some(name) = NAMES.iter().find(|known| **known == name) else {
            continue;
        };
        known.push((*name, Member::Json(value.clone().into_owned())));
    }
    for name in OPTIONAL {
        if !known.iter().any(|(known, _)| *known == name) {
            known.push((name, Member::Absent));
        }
    }
    for (name, path) in [("resource", RESOURCE), ("requestResource", REQUEST_RESOURCE)] {
        let text = |text: &str| Member::Text(text.into());
        let members = vec![
            ("group", text(&request.resource.group)),
            ("version", text(&request.resource.version)),
        ];
        known.push((name, Member::Part(PartlyKnown::new("map", path, members))));
    }
    PartlyKnown::new(REQUEST_TYPE, REQUEST, known)
}

/// Whether a path of something unknown is in such a request.
pub(crate) fn is_of_assumed_request(path: &str) -> bool {
    let rest = path.strip_prefix(REQUEST);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

const REQUEST: &str = "request";
const RESOURCE: &str = "request.resource";
const REQUEST_RESOURCE: &str = "request.requestResource";

/// The members that are known as they are.
const NAMES: [&str; 13] = [
    "dryRun",
    "kind",
    "name",
    "namespace",
    "object",
    "oldObject",
    "operation",
    "options",
    "requestKind",
    "requestSubResource",
    "subResource",
    "uid",
    "userInfo",
];

#[cfg(test)]
mod tests {
    use pratique_cel::{Arena, Context, Fault, Unknown};
    use pratique_types::{GroupVersionKind, GroupVersionResource, Operation};

    use super::*;
    use crate::{Cache, Composition, Declarations, Use, request_value, slots};

    fn evaluate(text: &str, namespace: &str) -> Result<String, Fault> {
        let cache = Cache::new();
        let expression = Composition::new(&cache)
            .compile(text, Use::Variable, Declarations::default())
            .unwrap();
        let request = AdmissionRequest {
            kind: GroupVersionKind::new("example.com", "v1", "Gateway"),
            resource: GroupVersionResource::new("example.com", "v1", "gatewaies"),
            operation: Operation::Create,
            namespace: namespace.to_owned(),
            assumes_resource: true,
            ..AdmissionRequest::default()
        };
        let value = request_value(&request, "g", &request.resource, &request.kind);
        let assumed = assumed_request(&request, &value);
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
            let unknown = Fault::unknown(Unknown::Attribute(path.into()));
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
}
