//! Requests for tokens of service accounts.
// Upstream: pkg/registry/core/serviceaccount/storage/token.go, Create

use pratique_json::Value;
use pratique_types::field::Error;
use pratique_types::{GroupResource, GroupVersion, GroupVersionResource, Status, status};

use crate::object;
use crate::refusal::refuse_name;
use crate::registry::Registry;
use crate::request::Attributes;
use crate::target::Target;

/// Completes a request: it has the name and the identity of the account, and the audience of the server if it names none.
///
/// # Errors
/// It is about another account than its path, or that one does not exist.
pub(crate) fn complete(
    registry: &Registry<'_>,
    target: &Target,
    attributes: &mut Attributes<'_>,
) -> Result<(), Box<Status>> {
    let object = &mut attributes.object;
    let name = &target.name;
    let stated = object::text(object, &["metadata", "name"]);
    if !stated.is_empty() && stated != name {
        let detail = "must match the service account name if specified";
        let error = Error::invalid("metadata.name", stated, detail);
        return Err(Box::new(status::invalid(
            attributes.kind.group_kind(),
            name,
            [error],
        )));
    }
    let account = registry.stored(target, name);
    if account.is_none() && registry.store.has_everything() {
        return Err(Box::new(status::not_found(&target.resource, name)));
    }
    let uid = account
        .as_ref()
        .map(|account| object::text(account, &["metadata", "uid"]));
    let stated = object::text(object, &["metadata", "uid"]);
    match uid {
        Some(uid) if !stated.is_empty() && stated != uid => {
            let called = GroupResource::new(&attributes.kind.group, &attributes.kind.kind);
            let why = format!(
                "the UID in the token request ({stated}) does not match the UID of the service account ({uid})"
            );
            return Err(Box::new(status::conflict(called, name, &why)));
        }
        _ if !stated.is_empty() => {}
        uid => {
            let uid = uid
                .filter(|uid| !uid.is_empty())
                .unwrap_or(&registry.placeholders.uid);
            object::set(object, &["metadata", "uid"], uid.to_owned());
        }
    }
    let time = registry.placeholders.time.clone();
    object::set(object, &["metadata", "creationTimestamp"], time);
    object::set(object, &["metadata", "name"], name.clone());
    if object::list(object, &["spec", "audiences"]).is_empty() {
        let audience = registry.placeholders.audience.clone();
        object::set(object, &["spec", "audiences"], vec![audience.into()]);
    }
    Ok(())
}

/// The gate of tokens that are bound to configurations of webhooks.
const OF_WEBHOOKS: &str = "APIServerWebhookAuthenticationToken";

fn is_of_webhook(version: &GroupVersion, kind: &str) -> bool {
    const KINDS: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];
    version.group == "admissionregistration.k8s.io" && version.version == "v1" && KINDS.contains(&kind)
}

/// What a server says of the object that a valid token is to be bound to. One that is not known may be any.
pub(crate) fn refuse_reference(
    registry: &Registry<'_>,
    target: &Target,
    request: &Value<'_>,
) -> Option<Status> {
    let reference = request
        .at(&["spec", "boundObjectRef"])
        .filter(|reference| !reference.is_null())?;
    let text = |field| object::text(reference, &[field]);
    let (kind, name) = (text("kind"), text("name"));
    let version = GroupVersion::parse(text("apiVersion")).unwrap_or_default();
    let gates = registry.scheme.gates();
    let (resource, namespace) = match (version.group.as_str(), kind) {
        ("", "Pod") => ("pods", target.namespace.as_str()),
        ("", "Secret") => ("secrets", target.namespace.as_str()),
        ("", "Node") => ("nodes", ""),
        _ if is_of_webhook(&version, kind) && gates.is_on(OF_WEBHOOKS) => {
            // What the webhook is, and who may attest it, is not known here.
            return None;
        }
        (group, kind) => {
            let named = format!("{group}/{}, Kind={kind}", version.version);
            // Upstream: pkg/registry/core/serviceaccount/storage/token.go, Create: since 1.37, tokens are of webhooks, too.
            let why = if is_of_webhook(&version, kind) && gates.release().at_least(1, 37) {
                format!(" (feature gate {OF_WEBHOOKS} is disabled)")
            } else {
                String::new()
            };
            return Some(status::bad_request(format!(
                "cannot bind token to object of type {named}{why}"
            )));
        }
    };
    if let Some(refusal) = refuse_name(name) {
        return Some(refusal);
    }
    let bound = registry.store.get("", resource, namespace, name);
    let Some(bound) = bound.filter(|bound| object::text(bound, &["kind"]) == kind) else {
        let resource = GroupVersionResource::new("", "v1", resource);
        return registry
            .store
            .has_everything()
            .then(|| status::not_found(&resource, name));
    };
    let account = &target.name;
    if kind == "Pod" && object::text(&bound, &["spec", "serviceAccountName"]) != account {
        let account = pratique_gotext::strconv::quote(account);
        return Some(status::bad_request(format!(
            "cannot bind token for serviceaccount {account} to pod running with different serviceaccount name."
        )));
    }
    let uid = text("uid");
    if uid.is_empty() || uid == object::text(&bound, &["metadata", "uid"]) {
        return None;
    }
    let why = format!(
        "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been deleted and \
         then recreated"
    );
    Some(status::conflict(GroupResource::new("", kind), name, &why))
}
