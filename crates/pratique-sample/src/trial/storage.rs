//! What a server stores of the result of a policy: a kind has fields that the server sets back, such as the status of an
//! object that is created.

use pratique_json::Value;
use pratique_objects::{Objects, changed_paths};
use pratique_registry::{Placeholders, Registry, Request, Store, Target, Verb};
use pratique_types::{AdmissionRequest, Operation};

/// The first field that a policy changes, where nothing of what it changes is stored.
pub(super) fn dropped_field(
    objects: &Objects,
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
    let prepare = |mutated: Option<&Value<'static>>| {
        let (verb, path) = match request.operation {
            Operation::Create => (Verb::Create, collection_path(request)),
            Operation::Update => (
                Verb::Update,
                format!("{}/{}", collection_path(request), request.name),
            ),
            _ => return None,
        };
        let request = Request {
            verb,
            target: Target::parse(&path)?,
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

fn collection_path(request: &AdmissionRequest<'_>) -> String {
    let resource = &request.resource;
    let root = if resource.group.is_empty() {
        format!("/api/{}", resource.version)
    } else {
        format!("/apis/{}/{}", resource.group, resource.version)
    };
    match request.namespace.as_str() {
        "" => format!("{root}/{}", resource.resource),
        _ if resource.resource == "namespaces" => format!("{root}/namespaces"),
        namespace => format!("{root}/namespaces/{namespace}/{}", resource.resource),
    }
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
        let objects = Objects::with_placeholder(TIME);
        let dropped = |changed: &str| {
            let request = creation(&pod("Pending", "n"));
            let mutated = pratique_json::parse(changed.as_bytes()).unwrap().into_owned();
            dropped_field(&objects, &request, &request.object, &mutated)
        };
        assert_eq!(dropped(&pod("Running", "n")).as_deref(), Some("status.phase"));
        assert_eq!(dropped(&pod("Running", "m")), None);
    }
}
