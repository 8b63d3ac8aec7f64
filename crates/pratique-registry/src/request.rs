//! Requests, and their attributes for admission.

use pratique_json::{Object, Value};
use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, Operation, UserInfo};

use crate::FieldValidation;
use crate::target::Target;

/// A request to the server.
#[derive(Clone, Debug, Default)]
pub struct Request<'r> {
    /// What it does.
    pub verb: Verb,
    /// The resource or object that it is about.
    pub target: Target,
    /// The object, the patch, or the options of a deletion.
    pub body: &'r [u8],
    /// The user who makes it.
    pub user: UserInfo,
    /// The manager of the fields that it sets, as the client names it.
    pub field_manager: String,
    /// Whether nothing is stored.
    pub dry_run: bool,
    /// Whether `managedFields` are not written, as where nothing looks at them.
    pub without_managed_fields: bool,
    /// Whether the object is not wanted as it is stored and answered, as where nothing looks at it.
    pub without_stored: bool,
    /// Whether an object without a name goes on, as where its validation says so together with all else.
    pub without_name: bool,
    /// How unknown and duplicate fields are handled, if the request says so.
    pub field_validation: Option<FieldValidation>,
}

/// What a request does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verb {
    /// Creates an object.
    #[default]
    Create,
    /// Replaces an object.
    Update,
    /// Changes an object by an RFC 6902 patch.
    JsonPatch,
    /// Changes an object by an RFC 7386 patch.
    MergePatch,
    /// Changes an object by a strategic merge patch.
    StrategicMergePatch,
    /// Applies a configuration.
    Apply {
        /// Whether fields of others are taken over.
        force: bool,
    },
    /// Deletes an object.
    Delete,
}

/// A request as admission sees it in one of its phases.
#[derive(Clone, Debug, PartialEq)]
pub struct Attributes<'v> {
    /// The operation on the object.
    pub operation: Operation,
    /// The kind of the object.
    pub kind: GroupVersionKind,
    /// The resource.
    pub resource: GroupVersionResource,
    /// The part of the resource; empty for the resource itself.
    pub subresource: String,
    /// The name; empty where it is still to be generated.
    pub name: String,
    /// The namespace.
    pub namespace: String,
    /// The object; null of a deletion.
    pub object: Value<'v>,
    /// The object as it was; null where there is none.
    pub old_object: Value<'v>,
    /// The options of the operation.
    pub options: Value<'static>,
    /// Whether nothing is stored.
    pub dry_run: bool,
}

impl<'v> Attributes<'v> {
    /// The request of a user as admission plugins receive it.
    pub fn request(&self, user: &UserInfo) -> AdmissionRequest<'v> {
        AdmissionRequest {
            kind: self.kind.clone(),
            resource: self.resource.clone(),
            sub_resource: self.subresource.clone(),
            name: self.name.clone(),
            namespace: self.namespace.clone(),
            operation: self.operation,
            user_info: user.clone(),
            object: self.object.clone(),
            old_object: self.old_object.clone(),
            options: self.options.clone(),
            dry_run: Some(self.dry_run),
            ..AdmissionRequest::default()
        }
    }
}

impl Request<'_> {
    /// The options of an operation, as admission sees them.
    pub(crate) fn options(&self, operation: Operation) -> Value<'static> {
        let kind = match operation {
            Operation::Create => "CreateOptions",
            Operation::Delete => "DeleteOptions",
            _ => "UpdateOptions",
        };
        let mut options = Object::new();
        options.insert("kind", kind);
        options.insert("apiVersion", "meta.k8s.io/v1");
        if self.dry_run {
            options.insert("dryRun", vec!["All".into()]);
        }
        if !self.field_manager.is_empty() {
            options.insert("fieldManager", self.field_manager.clone());
        }
        if let Some(validation) = self.field_validation {
            options.insert("fieldValidation", validation.as_str());
        }
        options.into()
    }
}
