//! Deletions.

use std::sync::Arc;

use pratique_json::{Object, Value};
use pratique_types::{ObjectForm, Operation, Status, status};

use crate::object;
use crate::receive::attributes;
use crate::registry::{Prepared, Received, Registry, RemainingStep};
use crate::request::{Attributes, Request};

// Upstream: apiserver/pkg/endpoints/handlers/delete.go, DeleteResource
pub(crate) fn receive<'q>(
    registry: &Registry<'_>,
    request: Request<'q>,
) -> Result<Received<'q, 'static>, Box<Status>> {
    let target = &request.target;
    let Some(mut old) = registry.stored_object(&request)? else {
        return Err(Box::new(status::not_found(&target.resource, &target.name)));
    };
    let mut options = options(&request)?;
    if target.kind.is_core("Pod") {
        terminate(registry, &mut old, &mut options);
    }
    Ok(Received {
        attributes: Attributes {
            options,
            ..attributes(
                &request,
                Operation::Delete,
                target.name.clone(),
                target.namespace.clone(),
                Value::Null,
                old,
            )
        },
        warnings: registry.deprecation(&request),
        step: RemainingStep::Delete,
        form: ObjectForm::Written,
        defaulted_labels: false,
        managed: None,
        controller: None,
        stated_kind: None,
        with_empty: None,
        request: Arc::new(request),
    })
}

pub(crate) fn prepare<'v>(registry: &Registry<'_>, received: Received<'_, 'v>) -> Prepared<'v> {
    Prepared {
        stored: answer(registry, &received),
        attributes: received.attributes,
        warnings: received.warnings,
        refused: None,
        dropped: Vec::new(),
        first_warnings: usize::MAX,
    }
}

/// The resources whose deletion is answered with the object that was deleted. Those of the core group are listed, of the other
/// groups all are.
// Upstream: genericregistry.Store.ReturnDeletedObject in pkg/registry
const ANSWERED_WITH_OBJECT: [(&str, &[&str]); 3] = [
    (
        "",
        &[
            "namespaces",
            "persistentvolumeclaims",
            "persistentvolumes",
            "pods",
            "podtemplates",
            "resourcequotas",
            "serviceaccounts",
            "services",
        ],
    ),
    ("resource.k8s.io", &[]),
    (
        "storage.k8s.io",
        &[
            "csidrivers",
            "csinodes",
            "storageclasses",
            "volumeattachments",
            "volumeattributesclasses",
        ],
    ),
];

/// The answer: the object, if it still has finalizers or is answered in any case, else a `Status` of success.
// Upstream: apiserver/pkg/registry/generic/registry/store.go, Delete; apiserver/pkg/endpoints/handlers/delete.go, DeleteResource
fn answer<'v>(registry: &Registry<'_>, received: &Received<'_, 'v>) -> Value<'v> {
    let Attributes {
        resource,
        old_object: old,
        ..
    } = &received.attributes;
    if !object::list(old, &["metadata", "finalizers"]).is_empty() {
        let mut object = old.clone();
        if !object::has(old, &["metadata", "deletionTimestamp"]) {
            mark_deleted(registry, &mut object, 0);
        }
        return object;
    }
    let is_answered = ANSWERED_WITH_OBJECT.iter().any(|(group, resources)| {
        *group == resource.group && (resources.is_empty() || resources.contains(&resource.resource.as_str()))
    });
    if is_answered {
        return old.clone();
    }
    let mut status = Value::Object(Object::new());
    for (path, text) in [
        (&["kind"] as object::FieldPath<'_>, "Status"),
        (&["apiVersion"], "v1"),
        (&["status"], "Success"),
        (&["details", "name"], &received.attributes.name),
        (&["details", "group"], &resource.group),
        (&["details", "kind"], &resource.resource),
        (&["details", "uid"], object::text(old, &["metadata", "uid"])),
    ] {
        if !text.is_empty() {
            object::set(&mut status, path, text.to_owned());
        }
    }
    object::set(&mut status, &["metadata"], Object::new());
    status
}

/// Records when an object was deleted.
// Upstream: apiserver/pkg/registry/rest/delete.go, BeforeDelete; generic/registry/store.go, markAsDeleting
fn mark_deleted(registry: &Registry<'_>, object: &mut Value<'_>, period: i64) {
    let now = registry.placeholders.time.clone();
    object::set(object, &["metadata", "deletionTimestamp"], now);
    object::set(object, &["metadata", "deletionGracePeriodSeconds"], period);
    let generation = object::number(object, &["metadata", "generation"]);
    if generation > 0 {
        object::set(object, &["metadata", "generation"], generation.saturating_add(1));
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
    let body = pratique_json::parse(request.body)
        .map_err(|error| Box::new(status::bad_request(error.to_string())))?;
    let mut options = match body.into_owned() {
        Value::Object(options) => options,
        _ => Object::new(),
    };
    options.insert("kind", "DeleteOptions");
    options.insert("apiVersion", "meta.k8s.io/v1");
    Ok(options.into())
}

/// Deletes a pod at once that does not run yet or no more; any other has a grace period.
// Upstream: pkg/registry/core/pod/strategy.go, CheckGracefulDelete; apiserver/pkg/registry/rest/delete.go, BeforeDelete
fn terminate(registry: &Registry<'_>, pod: &mut Value<'_>, options: &mut Value<'_>) {
    let requested = options.get("gracePeriodSeconds").and_then(Value::as_int);
    let of_pod = pod
        .at(&["spec", "terminationGracePeriodSeconds"])
        .and_then(Value::as_int);
    let ended = matches!(object::text(pod, &["status", "phase"]), "Failed" | "Succeeded");
    let period = match requested.or(of_pod).unwrap_or_default() {
        _ if ended || object::text(pod, &["spec", "nodeName"]).is_empty() => 0,
        negative if negative < 0 => 1,
        period => period,
    };
    object::set(options, &["gracePeriodSeconds"], period);
    if period > 0 || object::has(pod, &["metadata", "deletionTimestamp"]) {
        // Admission sees the pod before it is marked.
        return;
    }
    mark_deleted(registry, pod, period);
}
