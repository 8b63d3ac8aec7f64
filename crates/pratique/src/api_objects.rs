//! Objects as an API server sees them in each phase: decoded, defaulted again after each mutation, prepared for storage.
//!
//! [`ApiObjects`] knows the built-in kinds, and custom resources whose definitions it was given. As an [`ObjectModel`] it
//! defaults objects after each mutation: that is for requests that an API server sent, which decoded and defaulted their
//! objects. A request that is made of an object as a person wrote it is [received](ApiObjects::receive) first, and the
//! [`ReceivedRequest`] is its model, which prepares the object between the phases as well:
//!
//! ```
//! use std::sync::Arc;
//!
//! use pratique::authorization::NoAuthorizer;
//! use pratique::{Admission, AdmissionRequest, EvalContext, Objects, api_objects::ApiObjects};
//!
//! let mut request: AdmissionRequest<'_> = serde_json::from_str(r#"{
//!     "kind": {"group": "apps", "version": "v1", "kind": "Deployment"}, "name": "web", "namespace": "shop",
//!     "resource": {"group": "apps", "version": "v1", "resource": "deployments"}, "operation": "CREATE",
//!     "object": {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {}}
//! }"#)?;
//! let objects = ApiObjects::default();
//! let received = objects.receive(&mut request)?;
//! let at = |path: &[&str]| request.object.at(path).map(ToString::to_string);
//! assert_eq!(at(&["spec", "strategy", "type"]).as_deref(), Some("\"RollingUpdate\""));
//! assert_eq!(at(&["metadata", "uid"]), None);
//!
//! let cluster = Objects::new();
//! let context = EvalContext::new(&cluster, Arc::new(NoAuthorizer)).with_object_model(Some(&received));
//! let outcome = Admission::builder().build()?.admit_policies(&request, context, &mut ())?;
//! let prepared = outcome.prepared.ok_or("not prepared")?;
//! assert_eq!(prepared.at(&["metadata", "generation"]).map(ToString::to_string).as_deref(), Some("1"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`GivenRequest`] is the model of one whose object stays as it is, and still needs a name. [`ObjectDefaults`] is less: the
//! defaults of a cluster's kinds, for a server that is asked by an API server.
//!
//! A server's own validation is part of it: always for custom resources, and for built-in kinds where the
//! [options](ReceiveOptions::validator) give a validator.

mod assumed_fields;
mod given_request;
mod known_services;
mod object_defaults;
mod old_object;
mod server_request;
mod server_validation;

use std::sync::Arc;

use pratique_json::Value;
use pratique_objects::DecodeError;
use pratique_policy::object_model::{ConversionError, ObjectModel, ObjectMutator};
use pratique_registry::{CustomResources, Kinds};
pub use pratique_registry::{GatedDrop, Placeholders, UnservedError};
use pratique_schema::FeatureGates;
use pratique_types::GroupVersionKind;
use pratique_types::builtin::ServedResource;

pub use given_request::GivenRequest;
pub use known_services::RequestedService;
pub use object_defaults::{ObjectDefaults, OverlaidDefaults};
pub use pratique_apiextensions::CustomDefaults;
pub use server_request::{DefaultedBy, Defaults, ReceiveOptions, ReceivedRequest};
pub use server_validation::InvalidObject;

/// An API server's processing of objects of built-in kinds, and of custom resources with known definitions. Cloning is
/// cheap.
#[derive(Clone, Debug)]
pub struct ApiObjects {
    builtin: pratique_objects::ObjectCodec,
    placeholders: Arc<Placeholders>,
    custom: CustomResources,
    writes_managed_fields: bool,
}

impl Default for ApiObjects {
    fn default() -> Self {
        ApiObjects::new(Placeholders::default())
    }
}

impl ApiObjects {
    /// With the built-in kinds. The placeholders stand for values that a server generates, such as times.
    pub fn new(placeholders: Placeholders) -> Self {
        ApiObjects {
            builtin: pratique_objects::ObjectCodec::with_placeholder(placeholders.time.clone()),
            placeholders: Arc::new(placeholders),
            custom: CustomResources::default(),
            writes_managed_fields: false,
        }
    }

    /// As a server of a release with its feature gates; without them it is of the newest release. Definitions that were added before
    /// are still those of the release before.
    #[must_use]
    pub fn with_gates(self, gates: FeatureGates) -> Self {
        ApiObjects {
            builtin: self.builtin.with_gates(gates),
            custom: self.custom.with_release(gates.release()),
            ..self
        }
    }

    /// The feature gates of the server.
    pub fn gates(&self) -> FeatureGates {
        self.builtin.gates()
    }

    /// Whether requests that are received get `managedFields`, as a server writes them before admission. They take longer than
    /// all else, so they are written only if something reads them.
    #[must_use]
    pub fn with_managed_fields(self, writes_managed_fields: bool) -> Self {
        ApiObjects {
            writes_managed_fields,
            ..self
        }
    }

    /// Adds the custom resources of a CustomResourceDefinition, in place of those of the same kind; gives the resources in the
    /// versions that are served.
    ///
    /// # Errors
    /// A server refuses it, or serves a built-in resource instead. It defines nothing then.
    pub fn define(&mut self, definition: &Value<'_>) -> Result<Vec<ServedResource>, UnservedError> {
        self.custom.create(definition)?;
        Ok(self.custom.resources(definition))
    }

    /// The same for a definition that a server has stored, perhaps another version of it. Rules that do not compile fail where
    /// they are evaluated.
    ///
    /// # Errors
    /// A schema cannot be followed, or Kubernetes itself serves the resource.
    pub fn define_stored(&mut self, definition: &Value<'_>) -> Result<Vec<ServedResource>, UnservedError> {
        self.custom.serve(definition)?;
        Ok(self.custom.resources(definition))
    }

    /// Whether objects of a kind are known.
    pub fn knows(&self, kind: &GroupVersionKind) -> bool {
        self.builtin.has_kind(kind) || self.custom.version(kind).is_some()
    }

    /// Completes an object with defaults, as a server does when it reads it.
    ///
    /// # Errors
    /// It cannot be converted.
    pub fn complete(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), ConversionError> {
        self.read(kind, object)
            .map_err(|error| ConversionError(error.to_string()))
    }

    fn read(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), DecodeError> {
        match self.custom.version(kind) {
            Some(version) => {
                version.default(object);
                Ok(())
            }
            None => self.builtin.default(kind, object),
        }
    }

    /// All kinds, as the registry works on objects that may have [empty fields](pratique_registry::Received::has_empty_fields).
    fn kinds_with_empty<'k>(&'k self, builtin: &'k pratique_objects::ObjectCodec) -> Kinds<'k> {
        Kinds {
            builtin,
            custom: &self.custom,
        }
    }

    /// All kinds, as the registry works on them.
    fn kinds(&self) -> Kinds<'_> {
        self.kinds_with_empty(&self.builtin)
    }
}

/// For objects that an API server decoded and defaulted before: they are defaulted after each mutation, and not prepared.
impl ObjectModel for ApiObjects {
    fn set_defaults(&self, kind: &GroupVersionKind, object: &mut Value<'_>, _: ObjectMutator<'_>) {
        match self.custom.version(kind) {
            Some(version) => {
                version.default(object);
            }
            None => self.builtin.set_defaults(kind, object),
        }
    }

    fn convert(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), ConversionError> {
        self.builtin.convert(kind, object).map_err(|error| match error {
            DecodeError::Undecodable { cause, .. } => ConversionError(cause),
            error => ConversionError(error.to_string()),
        })
    }
}
