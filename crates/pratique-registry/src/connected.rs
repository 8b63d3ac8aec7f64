//! Requests that are answered and not stored: reviews, tokens, bindings, evictions.

use pratique_json::Value;

use crate::metadata::fill;
use crate::object;
use crate::registry::{Prepared, Received, Registry};
use crate::request::Attributes;

/// The request as validating admission sees it, and the answer as far as it is known.
// Upstream: pkg/registry/core/serviceaccount/storage/token.go, Create; pkg/registry/core/pod/storage/{storage,eviction}.go
pub(crate) fn prepare(registry: &Registry<'_>, received: Received<'_>) -> Prepared {
    let mut attributes = received.attributes;
    if attributes.subresource == "token" {
        tokens(registry, &mut attributes);
    }
    registry.scheme.settle(&attributes.kind, &mut attributes.object);
    let mut stored = attributes.object.clone();
    if attributes.subresource == "token" {
        object::set(
            &mut stored,
            &["status", "token"],
            registry.placeholders.token.clone(),
        );
        let expires: object::Path<'_> = &["status", "expirationTimestamp"];
        object::set(&mut stored, expires, registry.placeholders.time.clone());
    }
    if attributes.kind.kind == "TokenReview" {
        review_token(registry, &mut stored);
    }
    Prepared {
        stored,
        attributes,
        warnings: received.warnings,
        refused: None,
    }
}

/// Refuses every token but the placeholder, about which the answer stays empty.
// Upstream: pkg/registry/authentication/tokenreview/storage.go, Create
fn review_token(registry: &Registry<'_>, review: &mut Value<'static>) {
    let token = object::text(review, &["spec", "token"]);
    if !token.is_empty() && token != registry.placeholders.token {
        object::set(review, &["status", "error"], "invalid bearer token");
    }
}

/// A request for a token is completed: it has the name of the account, and the audience of the server if it names none.
fn tokens(registry: &Registry<'_>, attributes: &mut Attributes) {
    let object = &mut attributes.object;
    fill(object, registry.placeholders);
    if object::text(object, &["metadata", "name"]).is_empty() {
        object::set(object, &["metadata", "name"], attributes.name.clone());
    }
    if object::list(object, &["spec", "audiences"]).is_empty() {
        let audience = registry.placeholders.audience.clone();
        object::set(object, &["spec", "audiences"], vec![audience.into()]);
    }
}
