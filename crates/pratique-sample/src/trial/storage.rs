//! What a server stores of the result of a policy: a kind has fields that the server sets back, such as the status of an
//! object that is created.

use pratique_json::Value;
use pratique_objects::{ObjectCodec, changed_paths};
use pratique_registry::{Placeholders, Registry, Request, Store, Target, Verb};
use pratique_types::{AdmissionRequest, Operation};

/// The first field that a policy changes, where nothing of what it changes is stored.
pub(super) fn dropped_field(
    objects: &ObjectCodec,
    request: &AdmissionRequest<'_>,
    previous: &Value<'static>,
    mutated: &Value<'static>,
) -> Option<String> {
    if !request.sub_resource.is_empty() {
        return None;
    }
    let field = changed_paths(previous, mutated).into_iter().next()?;
    let placeholders = Placeholders::default();
    let store = StoredObject(previous);
    let registry = Registry {
        scheme: objects,
        store: &store,
        placeholders: &placeholders,
        release: None,
    };
    let body = previous.to_string();
    let (verb, target) = target_of(request)?;
    let prepare = |mutated: Option<&Value<'static>>| {
        let request = Request {
            verb,
            target: target.clone(),
            body: body.as_bytes(),
            without_managed_fields: true,
            ..Request::default()
        };
        let mut received = registry.receive(request).ok()?;
        if let Some(mutated) = mutated {
            registry.mutated(&mut received, mutated.clone()).ok()?;
        }
        Some(registry.prepare(received).ok()?.attributes.object)
    };
    (prepare(None)? == prepare(Some(mutated))?).then_some(field)
}

/// What a client asks of a server, so that it makes the request; `None` where no object is stored, or its kind is not built in.
fn target_of(request: &AdmissionRequest<'_>) -> Option<(Verb, Target)> {
    let (verb, name) = match request.operation {
        Operation::Create => (Verb::Create, ""),
        Operation::Update => (Verb::Update, request.name.as_str()),
        _ => return None,
    };
    let target = Target::part(&request.resource, "")?;
    let is_namespace = target.resource.group.is_empty() && target.resource.resource == "namespaces";
    // The namespace of a request about a namespace is that namespace.
    let namespace = if is_namespace {
        name
    } else {
        request.namespace.as_str()
    };
    Some((
        verb,
        Target {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..target
        },
    ))
}

/// A server that has one object.
struct StoredObject<'o>(&'o Value<'static>);

impl Store for StoredObject<'_> {
    fn get(&self, _: &str, _: &str, _: &str, _: &str) -> Option<Value<'static>> {
        Some(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complete::TIME;
    use crate::trial::tests::creation;

    #[test]
    fn fields_that_a_server_sets_back() {
        let pod = |status: &str, node: &str| {
            format!(
                r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"a","namespace":"default"}},
                    "spec":{{"containers":[{{"name":"a","image":"i"}}],"nodeName":"{node}"}},"status":{{"phase":"{status}"}}}}"#
            )
        };
        let objects = ObjectCodec::with_placeholder(TIME);
        let dropped = |changed: &str| {
            let request = creation(&pod("Pending", "n"));
            let mutated = pratique_json::parse(changed.as_bytes()).unwrap().into_owned();
            dropped_field(&objects, &request, &request.object, &mutated)
        };
        assert_eq!(dropped(&pod("Running", "n")).as_deref(), Some("status.phase"));
        assert_eq!(dropped(&pod("Running", "m")), None);
    }
}
