//! The processing of an object between the steps of admission.

use std::borrow::Cow;

use pratique_expression::MissingDependency;
use pratique_json::Value;
use pratique_types::{AdmissionRequest, GroupVersionKind, ObjectForm, Status};

use crate::cluster::Cluster;

/// The processing of an object between the steps of admission: a server defaults it again after each change, and
/// prepares it for storage between the two phases.
///
/// Without an object model, objects stay as policies and webhooks leave them.
pub trait ObjectModel: Sync {
    /// Fills in the defaults of an object of a kind that a policy or a webhook just changed. Values that do not fit
    /// their types stay as they are.
    // Upstream: pkg/admission/interfaces.go, ObjectInterfaces.GetObjectDefaulter
    fn set_defaults(&self, kind: &GroupVersionKind, object: &mut Value<'_>, mutator: ObjectMutator<'_>);

    /// Brings an object that an admission plugin changed into the internal version of its kind and back.
    ///
    /// # Errors
    /// It cannot be converted.
    // Upstream: pkg/admission/interfaces.go, ObjectInterfaces.GetObjectConvertor
    fn convert(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), ConversionError> {
        let _ = (kind, object);
        Ok(())
    }

    /// Prepares the object of a request, as mutating admission left it, for validating admission and for storage: in place where it
    /// is given away, and otherwise a copy. It comes with what is known about its form. Some rules look at its namespace in the cluster.
    ///
    /// # Errors
    /// The server refuses the request between the phases. An object that was given away may be gone then.
    fn prepare<'v>(
        &self,
        request: &AdmissionRequest<'_>,
        (object, form): (&mut Cow<'_, Value<'v>>, ObjectForm),
        cluster: &dyn Cluster,
    ) -> Result<PreparedObject, RefusedRequest> {
        let _ = (request, object, form, cluster);
        Ok(PreparedObject::default())
    }
}

/// The plugin that changed an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectMutator<'a> {
    /// A mutating policy, by its name.
    Policy(&'a str),
    /// A mutating webhook, by its name.
    Webhook(&'a str),
}

/// What became of an object that was prepared for validating admission. By default it is as it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreparedObject {
    /// Whether anything changed it.
    pub is_changed: bool,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// What is missing to know whether the server refuses the request here.
    pub undecided: Option<Box<MissingDependency>>,
}

/// A request that the server refuses between the phases of admission.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .status.message)]
pub struct RefusedRequest {
    /// The answer.
    pub status: Box<Status>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// An object cannot be converted. The text is an API server's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConversionError(pub String);
