//! The processing of requests besides admission and validation, and a request in its two steps.

use std::sync::Arc;

use pratique_json::Value;
use pratique_types::field::Error;
use pratique_types::{GroupKind, ObjectForm, Reason, Status, status};

use crate::Placeholders;
use crate::edited_object::EditTarget;
use crate::empty_fields::restore_empty;
use crate::gated_fields::{FieldDropper, GatedDrop};
use crate::kind_strategy::KindStrategy;
use crate::managed_fields::{self, FieldSet};
use crate::object::{self, MANAGED_FIELDS};
use crate::refusal::Refusal;
use crate::request::{Attributes, Request};
use crate::scale;
use crate::scheme::{Scheme, Store};
use crate::strategies;
use crate::strategy::StrategyContext;
use crate::target::Target;

/// Processes requests as a server does, besides admission and validation.
///
/// [`receive`](Self::receive) returns the request that mutating admission sees; once that changed the object,
/// [`mutated`](Self::mutated) or [`replace_object`](Received::replace_object) takes it, and
/// [`prepare`](Self::prepare) returns the request that validating admission sees and the object that is stored.
pub struct Registry<'r> {
    /// How objects are decoded and defaulted.
    pub scheme: &'r dyn Scheme,
    /// The objects that exist.
    pub store: &'r dyn Store,
    /// The values in place of those that a server generates.
    pub placeholders: &'r Placeholders,
    /// The release of the server, which decides about which versions it warns: about all, where the release
    /// is unknown.
    pub release: Option<(u32, u32)>,
}

/// A request before mutating admission.
#[derive(Clone, Debug)]
pub struct Received<'r, 'v> {
    /// The request as mutating admission sees it.
    pub attributes: Attributes<'v>,
    /// The warnings so far.
    pub warnings: Vec<String>,
    /// Copies share it.
    pub(crate) request: Arc<Request<'r>>,
    pub(crate) step: RemainingStep,
    /// What is known about the form of the object.
    pub(crate) form: ObjectForm,
    /// Whether the object has its labels from defaulting, and was not decoded since.
    pub(crate) defaulted_labels: bool,
    /// The kind that the object states, where admission sees another.
    pub(crate) stated_kind: Option<String>,
    /// The object as it was received, where it had empty lists and maps that are left out where an object is written.
    pub(crate) with_empty: Option<Box<Value<'v>>>,
    /// The object whose scale it is about.
    pub(crate) controller: Option<Value<'v>>,
    /// `managedFields` before mutating admission.
    pub(crate) managed: Option<Value<'v>>,
}

/// A request before validating admission.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared<'v> {
    /// The request as validating admission sees it.
    pub attributes: Attributes<'v>,
    /// The object that is stored and answered, or the `Status` that answers a binding or an eviction; null where there is
    /// none, or where a request is [without](Request::without_stored) it.
    pub stored: Value<'v>,
    /// The warnings with the answer.
    pub warnings: Vec<String>,
    /// The answer once validating admission allowed the request, where the server does not store the object.
    pub refused: Option<Box<Status>>,
    /// The fields that were dropped as their features are off. The server says nothing about them.
    pub dropped: Vec<GatedDrop>,
    /// How many of the warnings were given before the object was validated.
    pub(crate) first_warnings: usize,
}

/// The remaining step of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemainingStep {
    /// Stores a new object.
    Create,
    /// Stores a changed object.
    Update,
    /// Stores an object with the number of replicas that a scale says.
    Scale,
    /// Answers a question about an object, or acts on it.
    Connected,
    /// Deletes an object.
    Delete,
}

impl<'r> Registry<'r> {
    /// Takes an object that a step of mutating admission changed: it is decoded again and defaulted again.
    ///
    /// # Errors
    /// It cannot be converted any more.
    pub fn mutated(&self, received: &mut Received<'_, '_>, object: Value<'static>) -> Result<(), Refusal> {
        received.attributes.object = object;
        received.form = ObjectForm::Written;
        received.defaulted_labels = false;
        received.stated_kind = None;
        let attributes = &mut received.attributes;
        let defaulted = self
            .scheme
            .default_again(&attributes.kind, &mut attributes.object);
        defaulted.map_err(|status| Refusal {
            status,
            warnings: received.warnings.clone(),
        })
    }

    /// The strategy for the target of a request; `None` where there is none.
    pub(crate) fn strategy(&self, request: &Request<'_>) -> Option<KindStrategy<'r>> {
        let target = &request.target;
        let kind = target.parent()?;
        match self.scheme.custom(&kind) {
            Some(version) => KindStrategy::custom(version, &target.subresource),
            None => KindStrategy::builtin(
                strategies::find_strategy(&kind.group, &kind.kind)?,
                &target.subresource,
            ),
        }
    }

    /// The warning to every request for a deprecated version.
    pub(crate) fn deprecation(&self, request: &Request<'_>) -> Vec<String> {
        let kind = &request.target.kind;
        let custom = request.target.custom.as_ref();
        let warning = match custom.and_then(|kind| self.scheme.custom(kind)) {
            Some(version) => version.deprecation().map(str::to_owned),
            None => crate::deprecation::warning(kind, self.scheme.gates().release(), self.release),
        };
        warning.into_iter().collect()
    }

    /// The object that a request is about, in the version of the request.
    pub(crate) fn stored_object(&self, request: &Request<'_>) -> Result<Option<Value<'static>>, Box<Status>> {
        let target = &request.target;
        let Some(kind) = target.parent() else {
            return Ok(None);
        };
        let stored = self.stored(target, &target.name);
        stored
            .map(|stored| {
                if target.subresource == "scale" && scale::is_scale(&stored, target) {
                    return Ok(stored);
                }
                let mut object = self.scheme.read_stored(&kind, stored)?;
                if kind.is_core("Service") {
                    crate::strategies::read_service(&mut object);
                }
                Ok(object)
            })
            .transpose()
    }

    /// An object of a resource as it is stored.
    pub(crate) fn stored(&self, target: &Target, name: &str) -> Option<Value<'static>> {
        let resource = &target.resource;
        let namespace = target.storage_namespace();
        self.store
            .get(&resource.group, &resource.resource, namespace, name)
    }

    /// Writes `managedFields`.
    pub(crate) fn manage(
        &self,
        request: &Request<'_>,
        reset: &FieldSet,
        live: &Value<'static>,
        object: &mut Value<'static>,
    ) {
        if request.without_managed_fields {
            return;
        }
        managed_fields::update(self.management(request, reset), live, object);
    }

    /// The request as field management needs it.
    pub(crate) fn management<'m>(
        &'m self,
        request: &'m Request<'_>,
        reset: &'m FieldSet,
    ) -> managed_fields::UpdateRequest<'m> {
        let target = &request.target;
        managed_fields::UpdateRequest {
            scheme: self.scheme,
            schema: self.scheme.merge_schema(&target.kind),
            kind: &target.kind,
            subresource: &target.subresource,
            is_scale_of_custom: target.custom.is_some() && target.subresource == "scale",
            manager: &request.field_manager,
            reset,
            now: &self.placeholders.time,
        }
    }

    pub(crate) fn context<'c>(&'c self, received: &'c Received<'_, '_>) -> StrategyContext<'c> {
        StrategyContext {
            kind: &received.attributes.kind,
            user: &received.request.user,
            placeholders: self.placeholders,
            dry_run: received.request.dry_run,
            defaulted_labels: received.defaulted_labels,
            ports: 0,
            warnings: Vec::new(),
            dropper: FieldDropper::new(self.scheme.gates()),
        }
    }
}

impl<'v> Received<'_, 'v> {
    /// Whether the object is known whose scale is changed, and not only its scale.
    pub fn has_scaled_object(&self) -> bool {
        self.controller.is_some()
    }

    /// Whether the object had empty lists and maps that are left out where it is written. A server has them until it writes the object,
    /// as it does for policies and webhooks.
    pub fn has_empty_fields(&self) -> bool {
        self.with_empty.is_some()
    }

    /// Gives the object its empty lists and maps again, as a server has it that did not write it; they stay if the scheme keeps them.
    pub fn restore_empty_fields(&mut self) {
        if let Some(with_empty) = &self.with_empty {
            self.form = ObjectForm::Written;
            restore_empty(with_empty, &mut self.attributes.object);
        }
    }

    /// Takes the object as it was received, with what is known about its form.
    pub fn return_object(&mut self, object: Value<'v>, form: ObjectForm) {
        self.attributes.object = object;
        self.form = form;
    }

    /// Takes the object as mutating admission left it, where that defaulted it after each change itself, with what is known about its
    /// form.
    pub fn replace_object(&mut self, object: Value<'v>, form: ObjectForm) {
        self.return_object(object, form);
        self.defaulted_labels = false;
    }
}

/// The `managedFields` of an object.
pub(crate) fn managed(object: &Value<'_>) -> Option<Value<'static>> {
    let managed = object.at(MANAGED_FIELDS)?;
    Some(managed.owned_within(""))
}

/// Fills in the version of the stored object, or refuses another one.
pub(crate) fn check_version<'v>(
    object: &mut impl EditTarget<'v>,
    old: &Value<'v>,
    is_unconditional: bool,
    received: &Received<'_, '_>,
) -> Result<(), Box<Status>> {
    let target = &received.request.target;
    let path: object::FieldPath<'_> = &["metadata", "resourceVersion"];
    let stored = parse_version(object::text(old, path))?;
    let version = parse_version(object::text(object.view(), path))?;
    let name = &target.name;
    if version == 0 {
        if !is_unconditional {
            let resource = &target.resource;
            let error = Error::invalid("metadata.resourceVersion", 0, "must be specified for an update");
            // The server names the resource where the kind belongs.
            let called = GroupKind::new(&resource.group, &resource.resource);
            return Err(Box::new(status::invalid(called, name, [error])));
        }
        object::copy(object, old, path);
    } else if version != stored {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        return Err(Box::new(status::conflict(&target.resource, name, why)));
    }
    Ok(())
}

/// A version as storage reads it; none is 0.
// Upstream: apiserver/pkg/storage/api_object_versioner.go, ObjectResourceVersion; strconv.ParseUint
fn parse_version(version: &str) -> Result<u64, Box<Status>> {
    if version.is_empty() {
        return Ok(0);
    }
    let is_number = version.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = version.parse().ok().filter(|_| is_number);
    parsed.ok_or_else(|| {
        let why = if is_number {
            "value out of range"
        } else {
            "invalid syntax"
        };
        let version = pratique_gotext::strconv::quote(version);
        // The error never becomes one of the API.
        Box::new(Status {
            reason: String::new(),
            ..Status::failure(
                Reason::InternalError,
                format!("strconv.ParseUint: parsing {version}: {why}"),
            )
        })
    })
}

/// Restores empty `managedFields` of a body, which ask to drop all entries, and which decoding leaves out.
pub(crate) fn keep_reset(body: &[u8], object: &mut Value<'static>) {
    let Ok(body) = pratique_json::parse(body) else {
        return;
    };
    let managed = body.at(MANAGED_FIELDS).and_then(Value::as_array);
    if managed.is_some_and(<[_]>::is_empty) {
        object::set(object, MANAGED_FIELDS, Vec::new());
    }
}
