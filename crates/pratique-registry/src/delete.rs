//! Deletions.

use pratique_json::{Object, Value};
use pratique_types::{Operation, Status};

use crate::object;
use crate::refusal;
use crate::registry::{Prepared, Received, Registry, Step};
use crate::request::{Attributes, Request};

// Upstream: apiserver/pkg/endpoints/handlers/delete.go, DeleteResource
pub(crate) fn receive<'q>(
    registry: &Registry<'_>,
    request: Request<'q>,
) -> Result<Received<'q>, Box<Status>> {
    let target = &request.target;
    let Some(mut old) = registry.stored_object(&request)? else {
        return Err(refusal::not_found(&target.resource, &target.name));
    };
    let mut options = options(&request)?;
    if target.kind.group.is_empty() && target.kind.kind == "Pod" {
        terminate(registry, &mut old, &mut options);
    }
    Ok(Received {
        attributes: Attributes {
            operation: Operation::Delete,
            kind: target.kind.clone(),
            resource: target.resource.clone(),
            subresource: target.subresource.clone(),
            name: target.name.clone(),
            namespace: target.namespace.clone(),
            object: Value::Null,
            old_object: old,
            options,
            dry_run: request.dry_run,
        },
        warnings: registry.deprecation(&request),
        step: Step::Delete,
        defaulted_labels: false,
        managed: None,
        controller: None,
        request,
    })
}

pub(crate) fn prepare(received: Received<'_>) -> Prepared {
    Prepared {
        stored: received.attributes.old_object.clone(),
        attributes: received.attributes,
        warnings: received.warnings,
    }
}

/// The options of the body, or else of the request.
fn options(request: &Request<'_>) -> Result<Value<'static>, Box<Status>> {
    if request.body.is_empty() {
        let mut options = request.options(Operation::Delete);
        for field in ["fieldManager", "fieldValidation"] {
            object::remove(&mut options, &[field]);
        }
        return Ok(options);
    }
    let body = pratique_json::parse(request.body).map_err(|error| refusal::bad_request(error.to_string()))?;
    let mut options = match body.into_owned() {
        Value::Object(options) => options,
        _ => Object::new(),
    };
    options.insert("kind", "DeleteOptions");
    options.insert("apiVersion", "meta.k8s.io/v1");
    Ok(options.into())
}

/// A pod that does not run yet or no more is deleted at once; another one is told when it has to end.
// Upstream: pkg/registry/core/pod/strategy.go, CheckGracefulDelete; apiserver/pkg/registry/rest/delete.go, BeforeDelete
fn terminate(registry: &Registry<'_>, pod: &mut Value<'static>, options: &mut Value<'static>) {
    let given = options.get("gracePeriodSeconds").and_then(Value::as_int);
    let of_pod = pod
        .at(&["spec", "terminationGracePeriodSeconds"])
        .and_then(Value::as_int);
    let ended = matches!(object::text(pod, &["status", "phase"]), "Failed" | "Succeeded");
    let period = match given.or(of_pod).unwrap_or_default() {
        _ if ended || object::text(pod, &["spec", "nodeName"]).is_empty() => 0,
        negative if negative < 0 => 1,
        period => period,
    };
    object::set(options, &["gracePeriodSeconds"], period);
    if period > 0 || object::has(pod, &["metadata", "deletionTimestamp"]) {
        // Admission sees it before it is told.
        return;
    }
    object::set(
        pod,
        &["metadata", "deletionTimestamp"],
        registry.placeholders.time.clone(),
    );
    object::set(pod, &["metadata", "deletionGracePeriodSeconds"], period);
    let generation = object::number(pod, &["metadata", "generation"]);
    if generation > 0 {
        object::set(pod, &["metadata", "generation"], generation.saturating_add(1));
    }
}
