//! Requests that are answered and not stored: reviews, tokens, bindings, evictions.

use pratique_gotext::strconv::quote;
use pratique_json::{Object, Value};
use pratique_types::{GroupResource, GroupVersionResource, Status, UserInfo, status};

use crate::object;
use crate::refusal::refuse_name;
use crate::registry::{Prepared, Received, Registry};
use crate::request::Attributes;
use crate::target::Target;
use crate::token_request;

/// The request as validating admission sees it, and the answer as far as it is known.
///
/// # Errors
/// The object is about another one than the path.
// Upstream: pkg/registry/core/serviceaccount/storage/token.go, Create; pkg/registry/core/pod/storage/{storage,eviction}.go
pub(crate) fn prepare<'v>(
    registry: &Registry<'_>,
    received: Received<'_, 'v>,
) -> Result<Prepared<'v>, Box<Status>> {
    let mut attributes = received.attributes;
    let is_carried_out = matches!(attributes.kind.kind.as_str(), "Binding" | "Eviction");
    if is_carried_out {
        check_name(&received.request.target.name, &attributes)?;
    }
    let asks_for_token = attributes.subresource == "token";
    if asks_for_token {
        token_request::complete(registry, &received.request.target, &mut attributes)?;
    }
    registry.scheme.settle(&attributes.kind, &mut attributes.object);
    let mut stored = match attributes.kind.kind.as_str() {
        _ if is_carried_out => success(),
        "SelfSubjectReview" => user_review(registry, &attributes.object, &received.request.user),
        _ => attributes.object.clone(),
    };
    if asks_for_token {
        object::set(
            &mut stored,
            &["status", "token"],
            registry.placeholders.token.clone(),
        );
        let expires: object::FieldPath<'_> = &["status", "expirationTimestamp"];
        object::set(&mut stored, expires, registry.placeholders.time.clone());
    }
    if asks_for_administrator(&attributes, &received.request.user) {
        object::set(&mut stored, &["status", "allowed"], true);
    }
    if attributes.kind.kind == "TokenReview" {
        review_token(registry, &mut stored);
    }
    let refused = if is_carried_out {
        refuse_pod(registry, &received.request.target, &attributes)
    } else if asks_for_token {
        token_request::refuse_reference(registry, &received.request.target, &attributes.object)
    } else {
        None
    };
    Ok(Prepared {
        stored,
        attributes,
        warnings: received.warnings,
        refused: refused.map(Box::new),
        dropped: Vec::new(),
        first_warnings: usize::MAX,
    })
}

/// What a server says of the Pod that a valid binding or eviction is about: it has to have a name, and to be the one that an
/// eviction expects. A Pod that is not known may be any.
// Upstream: apiserver/pkg/registry/rest/delete.go, BeforeDelete; pkg/registry/core/pod/storage/storage.go, assignPod
fn refuse_pod(registry: &Registry<'_>, target: &Target, attributes: &Attributes<'_>) -> Option<Status> {
    let name = object::text(&attributes.object, &["metadata", "name"]);
    if let Some(refusal) = refuse_name(name) {
        return Some(refusal);
    }
    // A Binding may be sent to a resource of its own.
    let Some(pod) = registry.store.get("", "pods", target.storage_namespace(), name) else {
        let pods = GroupVersionResource::new("", "v1", "pods");
        return registry
            .store
            .has_everything()
            .then(|| status::not_found(&pods, name));
    };
    if attributes.kind.kind == "Binding" {
        return refuse_assignment(&attributes.object, &pod);
    }
    let expected = |field| object::text(&attributes.object, &["deleteOptions", "preconditions", field]);
    let differs = |field| {
        let (expected, actual) = (expected(field), object::text(&pod, &["metadata", field]));
        (!expected.is_empty() && expected != actual).then(|| (expected.to_owned(), actual.to_owned()))
    };
    let why = if let Some((expected, actual)) = differs("uid") {
        format!(
            "the UID in the precondition ({expected}) does not match the UID in record ({actual}). The object might have been \
             deleted and then recreated"
        )
    } else if let Some((expected, actual)) = differs("resourceVersion") {
        format!(
            "the ResourceVersion in the precondition ({expected}) does not match the ResourceVersion in record ({actual}). The \
             object might have been modified"
        )
    } else {
        return None;
    };
    // The server names the kind where the resource belongs.
    let called = GroupResource::new("", "Pod");
    Some(status::conflict(called, name, &why))
}

/// What a server says of a Pod that is to be assigned to a node: it has to be the one that the Binding expects, and without a node.
// Upstream: pkg/registry/core/pod/storage/storage.go, setPodNodeAndMetadata
fn refuse_assignment(binding: &Value<'_>, pod: &Value<'_>) -> Option<Status> {
    fn metadata_text<'v>(object: &'v Value<'_>, field: &str) -> &'v str {
        object::text(object, &["metadata", field])
    }
    let (namespace, name) = (metadata_text(pod, "namespace"), metadata_text(pod, "name"));
    let differs = |(field, called): &(&'static str, &'static str)| {
        let expected = metadata_text(binding, field);
        let is_other = !expected.is_empty() && expected != metadata_text(pod, field);
        is_other.then(|| (*called, expected.to_owned(), metadata_text(pod, field).to_owned()))
    };
    let preconditions = [("uid", "UID"), ("resourceVersion", "ResourceVersion")];
    if let Some((called, expected, actual)) = preconditions.iter().find_map(differs) {
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: /registry/pods/{namespace}/{name}, ResourceVersion: 0, AdditionalErrorMsg: \
             Precondition failed: {called} in precondition: {expected}, {called} in object meta: {actual}"
        );
        return Some(status::conflict(GroupResource::new("", "pods"), name, &why));
    }
    let node = object::text(pod, &["spec", "nodeName"]);
    let why = if object::has(pod, &["metadata", "deletionTimestamp"]) {
        format!("pod {name} is being deleted, cannot be assigned to a host")
    } else if !node.is_empty() {
        format!("pod {name} is already assigned to node {}", quote(node))
    } else if !object::list(pod, &["spec", "schedulingGates"]).is_empty() {
        format!("pod {name} has non-empty .spec.schedulingGates")
    } else {
        return None;
    };
    Some(status::conflict(
        GroupResource::new("", "pods/binding"),
        name,
        &why,
    ))
}

/// Whether a review asks for the permissions of someone who may do everything, whatever the roles are.
// Upstream: pkg/kubeapiserver/authorizer/config.go, which puts an authorizer of privileged groups first
fn asks_for_administrator(attributes: &Attributes<'_>, user: &UserInfo) -> bool {
    const PRIVILEGED: &str = "system:masters";
    match attributes.kind.kind.as_str() {
        "SelfSubjectAccessReview" => user.groups.iter().any(|group| group == PRIVILEGED),
        "LocalSubjectAccessReview" | "SubjectAccessReview" => {
            let groups = object::list(&attributes.object, &["spec", "groups"]);
            groups.iter().any(|group| group.as_str() == Some(PRIVILEGED))
        }
        _ => false,
    }
}

/// What the server answers to a question for the user of the request, whatever else was asked.
// Upstream: pkg/registry/authentication/selfsubjectreview/rest.go, Create
fn user_review(registry: &Registry<'_>, review: &Value<'_>, user: &UserInfo) -> Value<'static> {
    let texts = |texts: &[String]| Value::from(texts.iter().cloned().map(Value::from).collect::<Vec<_>>());
    let mut answer = Value::from(Object::new());
    for field in ["kind", "apiVersion"] {
        object::set(&mut answer, &[field], object::text(review, &[field]).to_owned());
    }
    let time = registry.placeholders.time.clone();
    object::set(&mut answer, &["metadata", "creationTimestamp"], time);
    let mut info = Object::new();
    for (field, text) in [("username", &user.username), ("uid", &user.uid)] {
        if !text.is_empty() {
            info.insert(field, text.clone());
        }
    }
    if !user.groups.is_empty() {
        info.insert("groups", texts(&user.groups));
    }
    if !user.extra.is_empty() {
        let extra = user.extra.iter();
        let extra: Object<'static> = extra
            .map(|(key, values)| (key.clone().into(), texts(values)))
            .collect();
        info.insert("extra", extra);
    }
    object::set(&mut answer, &["status", "userInfo"], info);
    answer
}

/// A binding and an eviction have the name of their Pod.
// Upstream: pkg/registry/core/pod/storage/storage.go, BindingREST.Create; eviction.go, EvictionREST.Create
fn check_name(name: &str, attributes: &Attributes<'_>) -> Result<(), Box<Status>> {
    // A Binding can be created without a Pod in its path.
    if name.is_empty() || object::text(&attributes.object, &["metadata", "name"]) == name {
        return Ok(());
    }
    let kind = &attributes.kind.kind;
    let message = format!("name in URL does not match name in {kind} object");
    Err(Box::new(status::bad_request(message)))
}

/// The answer to a binding or an eviction: the server carries it out, and has no object to answer with.
// Upstream: apiserver/pkg/endpoints/handlers/create.go, createHandler, which sets the code
fn success() -> Value<'static> {
    let mut status = Object::new();
    status.insert("kind", Value::from("Status"));
    status.insert("apiVersion", Value::from("v1"));
    status.insert("metadata", Value::from(Object::new()));
    status.insert("status", Value::from("Success"));
    status.insert("code", Value::Int(201));
    Value::Object(status)
}

/// Refuses every token but the placeholder, about which the answer stays empty.
// Upstream: pkg/registry/authentication/tokenreview/storage.go, Create
fn review_token(registry: &Registry<'_>, review: &mut Value<'_>) {
    let token = object::text(review, &["spec", "token"]);
    if !token.is_empty() && token != registry.placeholders.token {
        object::set(review, &["status", "error"], "invalid bearer token");
    }
}
