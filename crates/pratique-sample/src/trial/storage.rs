//! What a server stores of the result of a policy: a kind has fields that the server sets back, such as the status of an
//! object that is created.

use pratique_json::Value;
use pratique_objects::ObjectCodec;
use pratique_registry::{Placeholders, Registry, Request, Store, Target, Verb};
use pratique_types::{AdmissionRequest, Operation};

/// An object before and after the mutations of a policy, each as a server prepares it for validation and storage. Where no object is
/// stored, its kind is not built in, or the server refuses it before it is validated, they are as they were.
pub(super) struct PreparedChange {
    pub(super) previous: Value<'static>,
    pub(super) after: Value<'static>,
    is_prepared: bool,
}

impl PreparedChange {
    /// Prepares an object and what a policy made of it.
    pub(super) fn new(
        objects: &ObjectCodec,
        request: &AdmissionRequest<'_>,
        previous: &Value<'static>,
        mutated: &Value<'static>,
    ) -> Self {
        let prepared = prepare(objects, request, previous, mutated);
        let is_prepared = prepared.is_some();
        let (previous, after) = prepared.unwrap_or_else(|| (previous.clone(), mutated.clone()));
        PreparedChange {
            previous,
            after,
            is_prepared,
        }
    }

    /// Whether nothing of the change is stored.
    pub(super) fn is_dropped(&self) -> bool {
        self.is_prepared && self.previous == self.after
    }
}

fn prepare(
    objects: &ObjectCodec,
    request: &AdmissionRequest<'_>,
    previous: &Value<'static>,
    mutated: &Value<'static>,
) -> Option<(Value<'static>, Value<'static>)> {
    if !request.sub_resource.is_empty() {
        return None;
    }
    // A generated object has an identity, which the server would replace.
    let identity = previous.at(&["metadata", "uid"]).and_then(Value::as_str);
    let placeholders = Placeholders {
        uid: identity.unwrap_or_default().to_owned(),
        ..Placeholders::default()
    };
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
        Some(registry.prepare(received).ok()?.attributes.object.into_owned())
    };
    Some((prepare(None)?, prepare(Some(mutated))?))
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
            let change = PreparedChange::new(&objects, &request, &request.object, &mutated);
            assert!(change.is_prepared);
            change.is_dropped()
        };
        assert!(dropped(&pod("Running", "n")));
        assert!(!dropped(&pod("Running", "m")));
    }
}
