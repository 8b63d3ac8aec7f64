//! Custom resources, by their kinds.

use std::collections::HashMap;
use std::sync::Arc;

use pratique_apiextensions::{CustomResource, DefinitionError, FieldError, Version};
use pratique_json::Value;
use pratique_types::{GroupVersionKind, Reason, Status, StatusCause, StatusDetails};

/// Custom resources whose definitions are known.
#[derive(Clone, Debug, Default)]
pub(super) struct CustomResources(HashMap<GroupVersionKind, Custom>);

/// A version of a custom resource.
#[derive(Clone, Debug)]
pub(super) struct Custom {
    resource: Arc<CustomResource>,
    version: String,
}

impl CustomResources {
    pub(super) fn define(&mut self, definition: &Value<'_>) -> Result<(), DefinitionError> {
        let (resource, _) = CustomResource::stored(definition)?;
        let resource = Arc::new(resource);
        for version in resource.versions() {
            let kind = GroupVersionKind::new(version.group(), version.name(), version.kind());
            let custom = Custom {
                resource: resource.clone(),
                version: version.name().to_owned(),
            };
            self.0.insert(kind, custom);
        }
        Ok(())
    }

    pub(super) fn find(&self, kind: &GroupVersionKind) -> Option<&Custom> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(kind)
    }
}

impl Custom {
    pub(super) fn version(&self) -> Option<&Version> {
        self.resource.version(&self.version)
    }
}

/// The answer to an object that a definition does not allow.
// Upstream: apimachinery/pkg/api/errors/errors.go, NewInvalid
pub(super) fn invalid(version: &Version, object: &Value<'_>, errors: &[FieldError]) -> Status {
    let name = object.at(&["metadata", "name"]).and_then(Value::as_str);
    let cause = |error: &FieldError| StatusCause {
        reason: error.cause.reason().to_owned(),
        message: error.message.clone(),
        field: error.field.clone(),
    };
    Status {
        details: Some(StatusDetails {
            name: name.unwrap_or_default().to_owned(),
            group: version.group().to_owned(),
            kind: version.kind().to_owned(),
            causes: errors.iter().map(cause).collect(),
            ..StatusDetails::default()
        }),
        ..Status::failure(Reason::Invalid, version.message(object, errors))
    }
}
