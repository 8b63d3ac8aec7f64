//! A request as an API server received it.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use pratique_expression::MissingDependency;
use pratique_json::{Value, text_at};
use pratique_objects::changed_paths;
use pratique_policy::Cluster;
use pratique_policy::object_model::{
    ConversionError, ObjectModel, ObjectMutator, PreparedObject, RefusedRequest,
};
use pratique_registry::{
    GatedDrop, Kinds, Received, Refusal, Registry, Request, Target, Verb, no_name, take_managed_fields,
};
use pratique_schema::FeatureGates;
use pratique_types::{AdmissionRequest, GroupVersionKind, ObjectForm, ObjectRef, Operation, Status};
use pratique_validation::{ADMIN_ACCESS_LABEL, OpenQuestion, Validator};
use serde::Serialize;

use super::ApiObjects;
use super::given_request::is_named;
use super::known_services::RequestedService;
use super::old_object::OldObject;
use super::server_validation::InvalidObject;

/// An API server's processing of the object of a request, before admission and during it.
#[derive(Debug)]
pub struct ReceivedRequest<'m> {
    pub(super) model: &'m ApiObjects,
    /// The request as the registry received it, without its object; `None` for requests that are not prepared.
    received: Option<Received<'static, 'static>>,
    /// A server's messages about fields of a custom resource that its schema does not have.
    unknown_fields: Vec<String>,
    /// A server's warnings before admission.
    warnings: Vec<String>,
    /// Whether the server refused the request between the phases.
    is_refused: AtomicBool,
    /// Whether a policy or webhook changed the object, which is written for it, and read again.
    is_rewritten: AtomicBool,
    /// The defaulted fields, if they are recorded.
    defaults: Option<Mutex<Vec<Defaults>>>,
    pub(super) options: ReceiveOptions<'m>,
    /// The object that is invalid.
    pub(super) invalid: Mutex<Option<InvalidObject>>,
    /// What was left open of an object that has no errors.
    pub(super) left_open: Mutex<Option<OpenQuestion>>,
    /// The fields that were dropped, as their features are off.
    dropped: Mutex<Vec<GatedDrop>>,
    /// Whether a new object was taken from a cluster: the addresses and ports that it names are its own.
    pub(super) is_of_cluster: bool,
    /// The kind of a custom resource whose scale is changed while it is not known: whether its definition allows that is open.
    unknown_scaled: Option<GroupVersionKind>,
    /// The Service that is asked for.
    pub(super) service: Mutex<Option<RequestedService>>,
}

/// How a request is received.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReceiveOptions<'v> {
    /// Whether the defaulted fields are [recorded](ReceivedRequest::defaults).
    pub records_defaults: bool,
    /// What validates objects of built-in kinds between the phases of admission, as a server does. Nothing does by default.
    pub validator: Option<&'v Validator>,
    /// Whether the server's own plugins are left out, so that what is validated lacks what they set.
    pub has_no_plugins: bool,
    /// Whether the object of an update is a manifest that is applied: what it leaves out stays as it is stored.
    pub is_applied: bool,
    /// Whether an object that is [invalid](ReceivedRequest::invalid_object) is kept, to explain why.
    pub keeps_invalid: bool,
}

/// Fields that a server set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Defaults {
    /// When they were set.
    #[serde(flatten)]
    pub by: DefaultedBy,
    /// The outermost paths that were set, changed or removed: `spec.strategy`.
    #[serde(rename = "fields")]
    pub paths: Vec<String>,
}

/// When a server sets fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "by", content = "name")]
pub enum DefaultedBy {
    /// Before admission: defaults, and metadata.
    Server,
    /// Defaults after a mutating policy, of this name, changed the object.
    Policy(String),
    /// Defaults after a mutating webhook, of this name, changed the object.
    Webhook(String),
    /// Between the phases of admission.
    Preparation,
}

impl ApiObjects {
    /// Processes the objects of a request like an API server before admission. Its object was decoded, but not
    /// defaulted; its old object is as a person wrote it, and gets the fields that a stored object always has. Requests
    /// for unknown kinds stay as they are.
    ///
    /// # Errors
    /// A server refuses the request before admission.
    pub fn receive(&self, request: &mut AdmissionRequest<'_>) -> Result<ReceivedRequest<'_>, RefusedRequest> {
        self.receive_with(request, ReceiveOptions::default())
    }

    /// As [`receive`](Self::receive), with options.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub fn receive_with<'m>(
        &'m self,
        request: &mut AdmissionRequest<'_>,
        options: ReceiveOptions<'m>,
    ) -> Result<ReceivedRequest<'m>, RefusedRequest> {
        let mut received = ReceivedRequest {
            model: self,
            received: None,
            unknown_fields: Vec::new(),
            warnings: Vec::new(),
            is_refused: AtomicBool::new(false),
            is_rewritten: AtomicBool::new(false),
            defaults: options.records_defaults.then(Mutex::default),
            options,
            invalid: Mutex::default(),
            left_open: Mutex::default(),
            dropped: Mutex::default(),
            is_of_cluster: false,
            unknown_scaled: None,
            service: Mutex::default(),
        };
        if self.knows(&request.kind) {
            self.read_old(request);
            let changes = matches!(request.operation, Operation::Create | Operation::Update);
            if let Some(target) = self.target(request).filter(|_| changes) {
                received.receive(request, target)?;
            }
        }
        Ok(received)
    }

    /// The target of a request, if its object is prepared for storage.
    fn target(&self, request: &AdmissionRequest<'_>) -> Option<Target> {
        let custom = self.custom.collection(&request.kind, &request.namespace);
        let of_object = request.sub_resource.is_empty() || request.sub_resource == "status";
        let name = match request.operation {
            Operation::Create => String::new(),
            _ => request.name.clone(),
        };
        match custom {
            Some(target) if of_object => Some(Target {
                resource: request.resource.clone(),
                subresource: request.sub_resource.clone(),
                name,
                ..target
            }),
            Some(_) => None,
            None => {
                // Parts that are written as objects of their kind: `approval`, `finalize`.
                let is_part = || {
                    let part = Target::part(&request.resource, &request.sub_resource);
                    part.is_some_and(|part| part.kind == request.kind)
                };
                let target = Target::collection(&request.kind, &request.namespace)
                    .filter(|target| target.resource == request.resource && (of_object || is_part()));
                let Some(target) = target else {
                    return self.connected_target(request);
                };
                Some(Target {
                    subresource: request.sub_resource.clone(),
                    namespace: request.namespace.clone(),
                    name,
                    ..target
                })
            }
        }
    }

    /// The target of a request whose object is of another kind than the resource: one that is answered and not stored, such as that for a
    /// token, or the scale of a workload or of a custom resource.
    fn connected_target(&self, request: &AdmissionRequest<'_>) -> Option<Target> {
        let is_scale = request.sub_resource == "scale";
        let is_connected = match request.operation {
            Operation::Create => !request.sub_resource.is_empty(),
            Operation::Update => is_scale,
            _ => false,
        };
        if !is_connected {
            return None;
        }
        let of_custom = || self.custom.scale(&request.resource).filter(|_| is_scale);
        let target = Target::part(&request.resource, &request.sub_resource).or_else(of_custom);
        let target = target.filter(|target| target.kind == request.kind)?;
        Some(Target {
            namespace: request.namespace.clone(),
            name: request.name.clone(),
            ..target
        })
    }

    /// Adds the fields to the old object that a stored one always has.
    fn read_old(&self, request: &mut AdmissionRequest<'_>) {
        if request.old_object.is_null() {
            return;
        }
        let placeholders = &self.placeholders;
        if let Value::Object(members) = &mut request.old_object
            && let Some(Value::Object(metadata)) = members.get_mut("metadata")
        {
            let always = [
                ("creationTimestamp", placeholders.time.as_str()),
                ("resourceVersion", "1"),
                ("uid", placeholders.uid.as_str()),
            ];
            for (name, value) in always {
                if metadata.get(name).is_none_or(Value::is_empty) {
                    metadata.insert(name, value.to_owned());
                }
            }
        }
        // Beside a scale, the object may be given whose scale it is.
        let is_scale = request.sub_resource == "scale";
        let own = ObjectRef::new(&request.old_object).group_version_kind();
        let kind = own
            .ok()
            .filter(|_| is_scale)
            .unwrap_or_else(|| request.kind.clone());
        // An object that cannot be converted stays as it is.
        let _ = self.read(&kind, &mut request.old_object);
    }
}

impl ReceivedRequest<'_> {
    /// A server's messages about fields of a custom resource that its schema does not have, which are dropped:
    /// warnings, or errors of strict field validation. Those about built-in kinds are reported when an object is
    /// decoded.
    pub fn unknown_fields(&self) -> &[String] {
        &self.unknown_fields
    }

    /// Whether the server itself refused the request between the phases of admission.
    pub fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Relaxed)
    }

    /// The object that is invalid, if it is; none unless it is [kept](ReceiveOptions::keeps_invalid).
    pub fn invalid_object(&self) -> Option<InvalidObject> {
        self.invalid
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The fields that the server dropped between the phases of admission without a word, as their features are off.
    pub fn dropped_fields(&self) -> Vec<GatedDrop> {
        self.dropped
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The Service of the request as it asks for addresses and ports; `None` where it is for none.
    pub fn requested_service(&self) -> Option<RequestedService> {
        self.service
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The feature gates of the server.
    pub fn gates(&self) -> FeatureGates {
        self.model.gates()
    }

    /// The other warnings of a server before admission.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The fields that the server has set so far, in order; empty unless they are
    /// [recorded](ReceiveOptions::records_defaults).
    pub fn defaults(&self) -> Vec<Defaults> {
        match &self.defaults {
            Some(defaults) => defaults.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            None => Vec::new(),
        }
    }

    fn receive(&mut self, request: &mut AdmissionRequest<'_>, target: Target) -> Result<(), RefusedRequest> {
        let mut object = std::mem::take(&mut request.object);
        let has_uid = !text_at(&object, &["metadata", "uid"]).is_empty();
        self.is_of_cluster = has_uid && request.operation == Operation::Create;
        let sent_object = self.defaults.is_some().then(|| object.clone());
        self.prune(&request.kind, &mut object)?;
        let old = request.old_object.clone().into_owned();
        let verb = match request.operation {
            Operation::Update => Verb::Update,
            _ => Verb::Create,
        };
        if verb == Verb::Update {
            keep_identity(&mut object, &old);
        }
        if !self.model.writes_managed_fields {
            take_managed_fields(&old, &mut object, &target.subresource);
        }
        let is_custom = target.custom.is_some();
        let scaled = target.custom.clone().filter(|_| target.subresource == "scale");
        let store = OldObject(&old);
        let kinds = self.model.kinds();
        let received = self.registry(&kinds, &store).receive_decoded(
            Request {
                verb,
                target,
                user: request.user_info.clone(),
                field_manager: MANAGER.to_owned(),
                dry_run: request.dry_run == Some(true),
                without_managed_fields: !self.model.writes_managed_fields,
                // Custom resources may have no form in which they are stored.
                without_stored: !is_custom,
                without_name: self.is_validated(request),
                ..Request::default()
            },
            (object, request.form),
        );
        let (mut received, object) = received.map_err(refused)?;
        self.warnings.append(&mut received.warnings);
        request.object = object;
        if scaled.is_some() {
            // Admission sees the scale of what is stored.
            request.old_object = received.attributes.old_object.clone();
            self.unknown_scaled = scaled.filter(|_| !received.has_scaled_object());
        }
        self.received = Some(received);
        if let Some(sent_object) = sent_object {
            self.record(DefaultedBy::Server, &sent_object, &request.object);
        }
        Ok(())
    }

    /// Drops the fields of a custom resource that its schema does not know.
    fn prune(&mut self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), RefusedRequest> {
        let Some(version) = self.model.custom.version(kind) else {
            return Ok(());
        };
        match version.prune(object) {
            Ok(unknown) => {
                let unknown = unknown.iter().map(|path| format!("unknown field \"{path}\""));
                self.unknown_fields.extend(unknown);
                Ok(())
            }
            Err(error) => {
                let GroupVersionKind { kind, version, .. } = kind;
                let message = format!(
                    "{kind} in version {} cannot be handled as a {kind}: {error}",
                    pratique_gotext::strconv::quote(version)
                );
                let status = Status::failure(pratique_types::Reason::BadRequest, message);
                Err(RefusedRequest {
                    status: Box::new(status),
                    warnings: Vec::new(),
                })
            }
        }
    }

    fn registry<'r>(&'r self, kinds: &'r Kinds<'r>, store: &'r OldObject<'r>) -> Registry<'r> {
        Registry {
            scheme: kinds,
            store,
            placeholders: &self.model.placeholders,
            release: Some(self.model.builtin.gates().release().version()),
        }
    }

    fn record(&self, by: DefaultedBy, old_object: &Value<'_>, new_object: &Value<'_>) {
        let Some(defaults) = &self.defaults else {
            return;
        };
        let paths = changed_paths(old_object, new_object);
        let step = Defaults { by, paths };
        let mut defaults = defaults.lock().unwrap_or_else(PoisonError::into_inner);
        // An evaluation that waited for something is repeated.
        if !step.paths.is_empty() && !defaults.contains(&step) {
            defaults.push(step);
        }
    }
}

impl ObjectModel for ReceivedRequest<'_> {
    fn set_defaults(&self, kind: &GroupVersionKind, object: &mut Value<'_>, mutator: ObjectMutator<'_>) {
        self.is_rewritten.store(true, Ordering::Relaxed);
        if self.defaults.is_none() {
            return self.model.set_defaults(kind, object, mutator);
        }
        let old_object = object.clone();
        self.model.set_defaults(kind, object, mutator);
        let by = match mutator {
            ObjectMutator::Policy(name) => DefaultedBy::Policy(name.to_owned()),
            ObjectMutator::Webhook(name) => DefaultedBy::Webhook(name.to_owned()),
        };
        self.record(by, &old_object, object);
    }

    fn convert(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), ConversionError> {
        self.model.convert(kind, object)
    }

    // Upstream: apiserver/pkg/registry/generic/registry/store.go, Create, Update
    fn prepare<'v>(
        &self,
        request: &AdmissionRequest<'_>,
        (object, form): (&mut Cow<'_, Value<'v>>, ObjectForm),
        cluster: &dyn Cluster,
    ) -> Result<PreparedObject, RefusedRequest> {
        let Some(received) = &self.received else {
            return self.named(request, object).map(|()| PreparedObject::default());
        };
        let prepared = self.prepared(received, request, (object, form), cluster);
        self.is_refused.store(prepared.is_err(), Ordering::Relaxed);
        prepared
    }
}

impl ReceivedRequest<'_> {
    /// Refuses an object that is not prepared, if it has no name. One of a kind that is not known needs one, too.
    // Upstream: apiserver/pkg/registry/rest/create.go, BeforeCreate
    fn named(&self, request: &AdmissionRequest<'_>, object: &Value<'_>) -> Result<(), RefusedRequest> {
        let is_stored = request.operation == Operation::Create
            && request.sub_resource.is_empty()
            && !self.model.knows(&request.kind);
        if is_stored && !is_named(object) {
            self.is_refused.store(true, Ordering::Relaxed);
            return Err(RefusedRequest {
                status: no_name(&request.kind),
                warnings: Vec::new(),
            });
        }
        Ok(())
    }

    fn prepared<'v>(
        &self,
        received: &Received<'static, 'static>,
        request: &AdmissionRequest<'_>,
        (object, form): (&mut Cow<'_, Value<'v>>, ObjectForm),
        cluster: &dyn Cluster,
    ) -> Result<PreparedObject, RefusedRequest> {
        // On creation there is no stored object.
        let old = OldObject(&received.attributes.old_object);
        let mut received: Received<'static, 'v> = received.clone();
        let is_rewritten = self.is_rewritten.load(Ordering::Relaxed);
        let is_original = match object {
            Cow::Borrowed(object) => std::ptr::eq(*object, &request.object) || **object == request.object,
            // The request has it no more.
            Cow::Owned(_) => !is_rewritten,
        };
        let is_looked_at = self.defaults.is_some() || request.kind.is_core("Service");
        let sent = match object {
            Cow::Borrowed(object) => Some(Cow::Borrowed(*object)),
            Cow::Owned(object) => is_looked_at.then(|| Cow::Owned(object.clone())),
        };
        let object_to_prepare = std::mem::take(object).into_owned();
        if is_original {
            received.return_object(object_to_prepare, form);
        } else {
            received.replace_object(object_to_prepare, form);
        }
        let validate = |prepared: &pratique_registry::Prepared<'v>| {
            let mut dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
            dropped.clone_from(&prepared.dropped);
            let result = self.validate(&prepared.attributes, sent.as_deref(), cluster);
            if let Some(sent) = &sent {
                self.keep_service(&prepared.attributes, sent);
            }
            result
        };
        let has_empty = received.has_empty_fields() && !is_rewritten;
        let prepared = if has_empty {
            received.restore_empty_fields();
            let builtin = self.model.builtin.clone().keeping_empty();
            let kinds = self.model.kinds_with_empty(&builtin);
            self.registry(&kinds, &old).prepare_valid(received, &validate)
        } else {
            let kinds = self.model.kinds();
            self.registry(&kinds, &old).prepare_valid(received, &validate)
        };
        let prepared = prepared.map_err(refused)?;
        let (mut stored, warnings) = (prepared.attributes.object, prepared.warnings);
        if has_empty {
            self.model.builtin.settle(&request.kind, &mut stored);
        }
        if let Some(sent) = &sent {
            self.record(DefaultedBy::Preparation, sent, &stored);
        }
        *object = Cow::Owned(stored);
        let question = self.open_question();
        let undecided = question.map(|question| missing(question, &request.namespace));
        let scaled = self.unknown_scaled.as_ref();
        let undecided = undecided.or_else(|| scaled.map(|kind| scaled_object(kind, request)));
        let undecided = undecided.map(Box::new);
        Ok(PreparedObject {
            is_changed: true,
            warnings,
            undecided,
        })
    }
}

/// What is missing where validation leaves something open.
fn missing(question: OpenQuestion, namespace: &str) -> MissingDependency {
    match question {
        OpenQuestion::AdminAccess => MissingDependency::Namespace {
            name: namespace.to_owned(),
            path: format!("metadata.labels[{ADMIN_ACCESS_LABEL}]"),
        },
        OpenQuestion::Services => all_objects("Service"),
        OpenQuestion::ServiceNetworks => all_objects("ServiceCIDR.networking.k8s.io"),
        OpenQuestion::DeviceExpression | OpenQuestion::NodePorts | OpenQuestion::Signature => {
            MissingDependency::Validation {
                what: question.to_string(),
            }
        }
    }
}

/// The object whose scale is changed.
fn scaled_object(kind: &GroupVersionKind, request: &AdmissionRequest<'_>) -> MissingDependency {
    MissingDependency::Objects {
        kind: kind.group_kind().to_string(),
        namespace: request.namespace.clone(),
        name: Some(request.name.clone()),
    }
}

/// All objects of a kind.
fn all_objects(kind: &str) -> MissingDependency {
    MissingDependency::Objects {
        kind: kind.to_owned(),
        namespace: String::new(),
        name: None,
    }
}

/// The manager of fields of requests that are received.
const MANAGER: &str = "pratique";

/// Adds the identity and version of the stored object to an update, as a patch of it has them.
fn keep_identity(object: &mut Value<'_>, old: &Value<'static>) {
    for name in ["creationTimestamp", "generation", "resourceVersion", "uid"] {
        let Some(kept) = old.at(&["metadata", name]) else {
            continue;
        };
        if let Value::Object(members) = &mut *object
            && let Some(Value::Object(metadata)) = members.get_mut("metadata")
            && metadata.get(name).is_none_or(Value::is_empty)
        {
            metadata.insert(name, kept.clone());
        }
    }
}

fn refused(refusal: Refusal) -> RefusedRequest {
    RefusedRequest {
        status: refusal.status,
        warnings: refusal.warnings,
    }
}
