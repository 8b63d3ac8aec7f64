//! A request whose object stays as it is.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use pratique_json::Value;
use pratique_policy::Cluster;
use pratique_policy::object_model::{ObjectModel, ObjectMutator, PreparedObject, RefusedRequest};
use pratique_registry::{is_stored, no_name};
use pratique_types::{AdmissionRequest, GroupVersionKind, ObjectForm, Operation};

/// A request whose object is complete, or is to stay as a person wrote it: nothing is defaulted and nothing prepared. What has
/// no name after the policies is refused nevertheless, as no server stores it.
#[derive(Debug)]
pub struct GivenRequest {
    needs_name: bool,
    is_refused: AtomicBool,
}

impl GivenRequest {
    /// For a request.
    pub fn new(request: &AdmissionRequest<'_>) -> Self {
        GivenRequest {
            needs_name: request.operation == Operation::Create
                && request.sub_resource.is_empty()
                && is_stored(&request.kind),
            is_refused: AtomicBool::new(false),
        }
    }

    /// Whether the server itself refused the request between the phases of admission.
    pub fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Relaxed)
    }
}

impl ObjectModel for GivenRequest {
    fn set_defaults(&self, _: &GroupVersionKind, _: &mut Value<'_>, _: ObjectMutator<'_>) {}

    // Upstream: apiserver/pkg/registry/rest/create.go, BeforeCreate
    fn prepare<'v>(
        &self,
        request: &AdmissionRequest<'_>,
        (object, _): (&mut Cow<'_, Value<'v>>, ObjectForm),
        _: &dyn Cluster,
    ) -> Result<PreparedObject, RefusedRequest> {
        let is_unnamed = self.needs_name && !is_named(object);
        self.is_refused.store(is_unnamed, Ordering::Relaxed);
        if !is_unnamed {
            return Ok(PreparedObject::default());
        }
        Err(RefusedRequest {
            status: no_name(&request.kind),
            warnings: Vec::new(),
        })
    }
}

/// Whether an object has a name, or the start of one that a server generates.
pub(super) fn is_named(object: &Value<'_>) -> bool {
    let has = |field| {
        let text = object.at(&["metadata", field]).and_then(Value::as_str);
        text.is_some_and(|text| !text.is_empty())
    };
    has("name") || has("generateName")
}
