//! A request's way through the server, in two steps around mutating admission.

use pratique_json::Value;
use pratique_types::{Operation, Status};

use crate::managed_fields::{self, FieldSet};
use crate::metadata::{check_name, fill, fill_namespace, reduce_owner_references, wipe};
use crate::object;
use crate::refusal::{self, Refusal};
use crate::request::{Attributes, Request, Verb};
use crate::scheme::{Scheme, Store};
use crate::strategies;
use crate::strategy::{Context, Endpoint, Strategy};
use crate::{Placeholders, connected, patch, scale};

/// What a server does with requests, besides admission and validation.
///
/// [`receive`](Self::receive) gives what mutating admission sees; once that changed the object,
/// [`mutated`](Self::mutated) defaults it again, and [`prepare`](Self::prepare) gives what validating admission sees and
/// what is stored.
pub struct Registry<'r> {
    /// How objects are decoded and defaulted.
    pub scheme: &'r dyn Scheme,
    /// The objects that exist.
    pub store: &'r dyn Store,
    /// What stands for what a server makes up.
    pub placeholders: &'r Placeholders,
    /// The release of the server, which decides of which versions it warns; of an unknown one all are told of.
    pub release: Option<(u32, u32)>,
}

/// A request before mutating admission.
#[derive(Clone, Debug)]
pub struct Received<'r> {
    /// What mutating admission sees.
    pub attributes: Attributes,
    /// What the answer is accompanied by so far.
    pub warnings: Vec<String>,
    pub(crate) request: Request<'r>,
    pub(crate) step: Step,
    /// Whether the object has its labels from defaulting, and was not decoded since.
    pub(crate) defaulted_labels: bool,
    /// `managedFields` before mutating admission.
    pub(crate) managed: Option<Value<'static>>,
}

/// A request before validating admission.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// What validating admission sees.
    pub attributes: Attributes,
    /// The object that is stored and answered; null where none is.
    pub stored: Value<'static>,
    /// What the answer is accompanied by.
    pub warnings: Vec<String>,
}

/// What is left to do with a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Stores a new object.
    Create(Strategy),
    /// Stores a changed object.
    Update(Strategy, Option<Endpoint>),
    /// Stores an object with the number of replicas that a scale says.
    Scale(Strategy),
    /// Answers a question about an object, or acts on it.
    Connected,
    /// Deletes an object.
    Delete,
}

impl<'r> Registry<'r> {
    /// Decodes a request: what mutating admission sees.
    ///
    /// # Errors
    /// The server refuses it before admission.
    pub fn receive<'q>(&self, request: Request<'q>) -> Result<Received<'q>, Refusal> {
        match request.verb {
            Verb::Delete => Ok(crate::delete::receive(self, request)?),
            Verb::Create => self.receive_new(request),
            _ => self.receive_change(request),
        }
    }

    /// Takes an object that a step of mutating admission changed: it is decoded again and defaulted again.
    ///
    /// # Errors
    /// It cannot be converted any more.
    pub fn mutated(&self, received: &mut Received<'_>, object: Value<'static>) -> Result<(), Refusal> {
        received.attributes.object = object;
        received.defaulted_labels = false;
        let attributes = &mut received.attributes;
        let defaulted = self
            .scheme
            .default_again(&attributes.kind, &mut attributes.object);
        defaulted.map_err(|status| Refusal {
            status,
            warnings: received.warnings.clone(),
        })
    }

    /// Prepares a request for validating admission and for storage.
    ///
    /// # Errors
    /// The server refuses it after mutating admission.
    pub fn prepare(&self, received: Received<'_>) -> Result<Prepared, Refusal> {
        let mut received = received;
        let restored = restore_managed_fields(&mut received);
        received.warnings.extend(restored);
        if let Some(warning) = reduce_owner_references(&mut received.attributes.object, true) {
            received.warnings.push(warning);
        }
        let warnings = received.warnings.clone();
        let refused = |status| Refusal { status, warnings };
        match received.step {
            Step::Create(strategy) => self.prepare_new(received, &strategy).map_err(refused),
            Step::Update(strategy, endpoint) => self
                .prepare_change(received, &strategy, endpoint)
                .map_err(refused),
            Step::Scale(strategy) => scale::prepare(self, received, &strategy).map_err(refused),
            Step::Connected => Ok(connected::prepare(self, received)),
            Step::Delete => Ok(crate::delete::prepare(received)),
        }
    }

    // Upstream: apiserver/pkg/endpoints/handlers/create.go, createHandler
    fn receive_new<'q>(&self, request: Request<'q>) -> Result<Received<'q>, Refusal> {
        let target = &request.target;
        let validation = request.field_validation.unwrap_or_default();
        let decoded = self.scheme.decode(&target.kind, request.body, validation)?;
        let mut warnings = crate::deprecation::warning(&target.kind, self.release)
            .into_iter()
            .collect::<Vec<_>>();
        warnings.extend(decoded.warnings);
        let refused = |warnings: &[String], status| Refusal {
            status,
            warnings: warnings.to_vec(),
        };
        let mut object = decoded.object;
        wipe(&mut object);
        fill_namespace(&mut object, target).map_err(|status| refused(&warnings, status))?;
        warnings.extend(reduce_owner_references(&mut object, false));
        let strategy = self.strategy(&request);
        let step = match strategy {
            Some(strategy) if target.subresource.is_empty() => Step::Create(strategy),
            _ => Step::Connected,
        };
        let reset = match strategy {
            Some(strategy) if target.subresource.is_empty() => FieldSet::of_fields(strategy.reset),
            _ => FieldSet::default(),
        };
        let empty = self.scheme.empty(&target.kind);
        self.manage(&request, &reset, &empty, &mut object);
        let name = match target.name.is_empty() {
            true => object::text(&object, &["metadata", "name"]).to_owned(),
            false => target.name.clone(),
        };
        let namespace = match target.is_namespaces() {
            true => name.clone(),
            false => target.namespace.clone(),
        };
        let defaulted_labels = defaulted_labels(request.body);
        Ok(Received {
            managed: managed(&object),
            attributes: attributes(&request, Operation::Create, name, namespace, object, Value::Null),
            warnings,
            step,
            defaulted_labels,
            request,
        })
    }

    // Upstream: apiserver/pkg/endpoints/handlers/update.go, UpdateResource; patch.go, PatchResource
    fn receive_change<'q>(&self, request: Request<'q>) -> Result<Received<'q>, Refusal> {
        let target = &request.target;
        let mut warnings = crate::deprecation::warning(&target.kind, self.release)
            .into_iter()
            .collect::<Vec<_>>();
        let refused = |warnings: &[String], status| Refusal {
            status,
            warnings: warnings.to_vec(),
        };
        let not_found = || refusal::not_found(&target.resource, &target.name);
        let Some(strategy) = self.strategy(&request) else {
            return Err(not_found().into());
        };
        let endpoint = match target.subresource.as_str() {
            "" | "scale" => None,
            name => match strategy.endpoint(name) {
                Some(endpoint) => Some(endpoint),
                None => return Err(not_found().into()),
            },
        };
        let reset = FieldSet::of_fields(endpoint.map_or(strategy.reset, |endpoint| endpoint.reset));
        let given = match request.verb {
            Verb::Update => {
                let validation = request.field_validation.unwrap_or_default();
                let decoded = self.scheme.decode(&target.kind, request.body, validation)?;
                let mut object = decoded.object;
                warnings.extend(decoded.warnings);
                keep_reset(request.body, &mut object);
                let checked = fill_namespace(&mut object, target).and_then(|()| check_name(&object, target));
                checked.map_err(|status| refused(&warnings, status))?;
                warnings.extend(reduce_owner_references(&mut object, false));
                Some(object)
            }
            _ => None,
        };
        let stored = self.stored_object(&request)?;
        let is_scale = target.subresource == "scale" && target.custom_status.is_none();
        let old = match (&stored, is_scale) {
            (Some(stored), true) => Some(scale::managed(target, stored)),
            (Some(stored), false) => Some(stored.clone()),
            (None, _) => None,
        };
        let creates = target.subresource.is_empty()
            && match request.verb {
                Verb::Update => strategy.creates_on_update,
                Verb::Apply { .. } => true,
                _ => false,
            };
        if old.is_none() && !creates {
            return Err(refused(&warnings, not_found()));
        }
        let empty = self.scheme.empty(&target.kind);
        let live = old.as_ref().unwrap_or(&empty);
        let mut object = match given {
            Some(mut object) => {
                self.check_uid(&request, &object, old.as_ref())
                    .map_err(|status| refused(&warnings, status))?;
                self.manage(&request, &reset, live, &mut object);
                object
            }
            None => {
                let changed = patch::changed(self, &request, &reset, live, &empty);
                let (mut object, told) = changed.map_err(|status| refused(&warnings, status))?;
                warnings.extend(told);
                let checked = fill_namespace(&mut object, target).and_then(|()| check_name(&object, target));
                checked.map_err(|status| refused(&warnings, status))?;
                object
            }
        };
        let (operation, step) = match (&old, is_scale) {
            (None, _) => (Operation::Create, Step::Create(strategy)),
            (Some(_), true) => (Operation::Update, Step::Scale(strategy)),
            (Some(_), false) => (Operation::Update, Step::Update(strategy, endpoint)),
        };
        self.scheme.settle(&target.kind, &mut object);
        let (name, namespace) = (target.name.clone(), target.namespace.clone());
        let old = old.unwrap_or_default();
        Ok(Received {
            managed: managed(&object),
            attributes: attributes(&request, operation, name, namespace, object, old),
            warnings,
            step,
            defaulted_labels: false,
            request,
        })
    }

    /// The strategy of the kind that a request is about.
    fn strategy(&self, request: &Request<'_>) -> Option<Strategy> {
        let target = &request.target;
        match target.custom_status {
            Some(status) => Some(strategies::custom(status)),
            None => {
                let kind = target.parent()?;
                strategies::of(&kind.group, &kind.kind).copied()
            }
        }
    }

    /// The object that a request is about, in the version of the request.
    pub(crate) fn stored_object(&self, request: &Request<'_>) -> Result<Option<Value<'static>>, Box<Status>> {
        let target = &request.target;
        let Some(kind) = target.parent() else {
            return Ok(None);
        };
        let namespace = if target.namespaced {
            target.namespace.as_str()
        } else {
            ""
        };
        let resource = &target.resource;
        let stored = self
            .store
            .get(&resource.group, &resource.resource, namespace, &target.name);
        let converted = stored.and_then(|stored| self.scheme.convert(&kind, &stored));
        let Some(mut object) = converted else {
            return Ok(None);
        };
        self.scheme.default_again(&kind, &mut object)?;
        Ok(Some(object))
    }

    /// Writes `managedFields`.
    pub(crate) fn manage(
        &self,
        request: &Request<'_>,
        reset: &FieldSet,
        live: &Value<'static>,
        object: &mut Value<'static>,
    ) {
        managed_fields::update(self.management(request, reset), live, object);
    }

    /// What field management has to know of a request.
    pub(crate) fn management<'m>(
        &'m self,
        request: &'m Request<'_>,
        reset: &'m FieldSet,
    ) -> managed_fields::Request<'m> {
        let target = &request.target;
        managed_fields::Request {
            schema: self.scheme.merge_schema(&target.kind),
            kind: &target.kind,
            subresource: &target.subresource,
            manager: &request.field_manager,
            reset,
            now: &self.placeholders.time,
        }
    }

    /// Refuses an update of an object with another uid.
    // Upstream: apiserver/pkg/storage/interfaces.go, Preconditions.Check
    fn check_uid(
        &self,
        request: &Request<'_>,
        object: &Value<'static>,
        old: Option<&Value<'static>>,
    ) -> Result<(), Box<Status>> {
        let uid = object::text(object, &["metadata", "uid"]);
        let of_old = old
            .map(|old| object::text(old, &["metadata", "uid"]))
            .unwrap_or_default();
        if uid.is_empty() || uid == of_old {
            return Ok(());
        }
        let target = &request.target;
        let key = storage_key(request);
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition \
             failed: UID in precondition: {uid}, UID in object meta: {of_old}"
        );
        Err(refusal::conflict(&target.resource, &target.name, &why))
    }

    pub(crate) fn context<'c>(&'c self, received: &'c Received<'_>) -> Context<'c> {
        Context {
            kind: &received.attributes.kind,
            user: &received.request.user,
            placeholders: self.placeholders,
            dry_run: received.request.dry_run,
            defaulted_labels: received.defaulted_labels,
            ports: 0,
            warnings: Vec::new(),
        }
    }

    // Upstream: apiserver/pkg/registry/generic/registry/store.go, create; rest/create.go, BeforeCreate
    fn prepare_new(&self, received: Received<'_>, strategy: &Strategy) -> Result<Prepared, Box<Status>> {
        let mut object = received.attributes.object.clone();
        let mut context = self.context(&received);
        if received.request.verb != Verb::Create {
            wipe(&mut object);
        }
        fill(&mut object, self.placeholders);
        let target = &received.request.target;
        let name = object::text(&object, &["metadata", "name"]).to_owned();
        if !name.is_empty() && self.exists(&received, &name) {
            return Err(refusal::already_exists(&target.resource, &name));
        }
        if let Some((begin, _)) = strategy.begin {
            begin(&mut context, &mut object);
        }
        fill_namespace(&mut object, target)?;
        strategy.prepare_for_create(&mut context, &mut object);
        (strategy.canonicalize)(&mut object);
        let mut warnings = std::mem::take(&mut context.warnings);
        self.scheme.settle(&received.attributes.kind, &mut object);
        warnings.extend(crate::warnings::on_create(
            &received.attributes.kind,
            &object,
            self.placeholders,
        ));
        let name = object::text(&object, &["metadata", "name"]).to_owned();
        let attributes = Attributes {
            name,
            object,
            ..received.attributes
        };
        self.prepared(attributes, received.warnings, warnings)
    }

    fn exists(&self, received: &Received<'_>, name: &str) -> bool {
        let target = &received.request.target;
        let namespace = if target.namespaced {
            target.namespace.as_str()
        } else {
            ""
        };
        let resource = &target.resource;
        let found = self
            .store
            .get(&resource.group, &resource.resource, namespace, name);
        found.is_some()
    }

    // Upstream: apiserver/pkg/registry/generic/registry/store.go, Update; rest/update.go, BeforeUpdate
    fn prepare_change(
        &self,
        received: Received<'_>,
        strategy: &Strategy,
        endpoint: Option<Endpoint>,
    ) -> Result<Prepared, Box<Status>> {
        let mut object = received.attributes.object.clone();
        let old = received.attributes.old_object.clone();
        let target = &received.request.target;
        check_version(&mut object, &old, strategy, &received)?;
        let mut context = self.context(&received);
        if let Some((_, begin)) = strategy.begin.filter(|_| endpoint.is_none()) {
            begin(&mut context, &mut object, &old);
        }
        fill_namespace(&mut object, target)?;
        object::copy(&mut object, &old, &["metadata", "generation"]);
        match endpoint {
            Some(endpoint) => endpoint.prepare_for_update(&mut context, &mut object, &old),
            None => strategy.prepare_for_update(&mut context, &mut object, &old),
        }
        keep_system_fields(&mut object, &old);
        (strategy.canonicalize)(&mut object);
        let mut warnings = std::mem::take(&mut context.warnings);
        self.scheme.settle(&received.attributes.kind, &mut object);
        if endpoint.is_none() {
            warnings.extend(crate::warnings::on_update(
                &received.attributes.kind,
                &object,
                &old,
            ));
        }
        let attributes = Attributes {
            object,
            ..received.attributes
        };
        self.prepared(attributes, received.warnings, warnings)
    }

    /// The outcome of a request whose object is stored.
    fn prepared(
        &self,
        attributes: Attributes,
        before: Vec<String>,
        after: Vec<String>,
    ) -> Result<Prepared, Box<Status>> {
        let mut stored = self.scheme.through_storage(&attributes.kind, &attributes.object);
        self.scheme.default_again(&attributes.kind, &mut stored)?;
        let mut warnings = before;
        for warning in after {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        Ok(Prepared {
            attributes,
            stored,
            warnings,
        })
    }
}

/// Takes `managedFields` back that mutating admission made unreadable. The warning says why they are.
// Upstream: apiserver/pkg/endpoints/handlers/fieldmanager/admission.go, Admit
fn restore_managed_fields(received: &mut Received<'_>) -> Option<String> {
    let object = &mut received.attributes.object;
    let path: object::Path<'_> = &["metadata", "managedFields"];
    let fault = managed_fields::fault(object.at(path))?;
    object::remove(object, path);
    if let Some(managed) = received.managed.take() {
        object::set(object, path, managed);
    }
    Some(format!(
        ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating \
         admission controller; please fix your requests: {fault}"
    ))
}

/// The `managedFields` of an object.
pub(crate) fn managed(object: &Value<'static>) -> Option<Value<'static>> {
    object.at(&["metadata", "managedFields"]).cloned()
}

/// Fills in the version of the stored object, or refuses another one.
pub(crate) fn check_version(
    object: &mut Value<'static>,
    old: &Value<'static>,
    strategy: &Strategy,
    received: &Received<'_>,
) -> Result<(), Box<Status>> {
    let target = &received.request.target;
    let path: object::Path<'_> = &["metadata", "resourceVersion"];
    let given = object::text(object, path);
    let name = &target.name;
    if matches!(given, "" | "0") {
        if !strategy.unconditional {
            let resource = &target.resource;
            let message = "Invalid value: 0: must be specified for an update";
            let (group, kind) = (&resource.group, &resource.resource);
            return Err(refusal::invalid(
                group,
                kind,
                name,
                "metadata.resourceVersion",
                message,
            ));
        }
        object::copy(object, old, path);
    } else if !object::same(object, old, path) {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        return Err(refusal::conflict(&target.resource, name, why));
    }
    Ok(())
}

/// Metadata that an update cannot change.
fn keep_system_fields(object: &mut Value<'static>, old: &Value<'static>) {
    if object::text(object, &["metadata", "uid"]).is_empty() {
        object::copy(object, old, &["metadata", "uid"]);
    }
    for field in ["creationTimestamp", "deletionTimestamp"] {
        if object::has(old, &["metadata", field]) {
            object::copy(object, old, &["metadata", field]);
        }
    }
    let grace: object::Path<'_> = &["metadata", "deletionGracePeriodSeconds"];
    if object::has(old, grace) && !object::has(object, grace) {
        object::copy(object, old, grace);
    }
}

/// Where an object is stored.
fn storage_key(request: &Request<'_>) -> String {
    let target = &request.target;
    let group = match target.custom_status {
        Some(_) => format!("{}/", target.resource.group),
        None => String::new(),
    };
    let namespace = match target.namespaced {
        true => format!("{}/", target.namespace),
        false => String::new(),
    };
    format!(
        "/registry/{group}{}/{namespace}{}",
        target.resource.resource, target.name
    )
}

fn attributes(
    request: &Request<'_>,
    operation: Operation,
    name: String,
    namespace: String,
    object: Value<'static>,
    old_object: Value<'static>,
) -> Attributes {
    Attributes {
        kind: request.target.kind.clone(),
        resource: request.target.resource.clone(),
        subresource: request.target.subresource.clone(),
        options: request.options(operation),
        dry_run: request.dry_run,
        operation,
        name,
        namespace,
        object,
        old_object,
    }
}

/// Puts empty `managedFields` of a body back, which ask for all entries to be dropped and are not written otherwise.
pub(crate) fn keep_reset(body: &[u8], object: &mut Value<'static>) {
    let path: object::Path<'_> = &["metadata", "managedFields"];
    let Ok(given) = pratique_json::parse(body) else {
        return;
    };
    if given
        .at(path)
        .and_then(Value::as_array)
        .is_some_and(<[_]>::is_empty)
    {
        object::set(object, path, Vec::new());
    }
}

/// Whether a body leaves the labels of its object to defaulting.
fn defaulted_labels(body: &[u8]) -> bool {
    match pratique_json::parse(body) {
        Ok(object) => object.at(&["metadata", "labels"]).is_none_or(Value::is_empty),
        Err(_) => false,
    }
}
