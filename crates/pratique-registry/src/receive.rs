//! The first step of a request: the object that mutating admission sees.

use std::sync::Arc;

use pratique_json::Value;
use pratique_types::{ObjectForm, Operation, Status, status};

use crate::managed_fields::FieldSet;
use crate::metadata::{check_name, fill_namespace, reduce_owner_references, wipe};
use crate::object;
use crate::refusal::{Refusal, refuse_name};
use crate::registry::{Received, Registry, RemainingStep, keep_reset, managed};
use crate::request::{Attributes, Request, Verb};
use crate::scheme::SchemeObject;
use crate::target::Target;
use crate::{patch, scale};

impl Registry<'_> {
    /// Decodes a request for mutating admission.
    ///
    /// # Errors
    /// The server refuses it before admission.
    pub fn receive<'q>(&self, request: Request<'q>) -> Result<Received<'q, 'static>, Refusal> {
        match request.verb {
            Verb::Delete => Ok(crate::delete::receive(self, request)?),
            Verb::Create => {
                let target = &request.target;
                if target.custom.is_some() && !target.subresource.is_empty() {
                    let status = Box::new(status::method_not_supported(&target.resource, "create"));
                    let warnings = self.deprecation(&request);
                    return Err(Refusal { status, warnings });
                }
                let validation = request.field_validation.unwrap_or_default();
                let decoded = self.scheme.decode(&target.kind, request.body, validation);
                let decoded = decoded.map_err(|undecoded| undecoded.after(&self.deprecation(&request)))?;
                let has_no_labels = defaulted_labels(request.body);
                self.receive_new(request, decoded, has_no_labels)
            }
            _ => self.receive_change(request, None),
        }
    }

    /// The same for an object that is created or updated and was decoded already, but not defaulted: it comes with what is known about
    /// its form. The body is not read.
    /// The object is returned beside the request, which does not contain it.
    ///
    /// # Errors
    /// The server refuses it before admission.
    pub fn receive_decoded<'q, 'a>(
        &self,
        request: Request<'q>,
        (object, form): (Value<'a>, ObjectForm),
    ) -> Result<(Received<'q, 'static>, Value<'a>), Refusal> {
        let mut object = object;
        let defaulted_labels = has_no_labels(&object);
        let kind = &request.target.kind;
        let has_empty = self.scheme.default_keeping_empty(kind, &mut object, form)?;
        let with_empty = has_empty.then(|| {
            let with_empty = object.owned_within(self.scheme.field_names());
            self.scheme.settle(kind, &mut object);
            Box::new(with_empty)
        });
        // Nothing keeps a part of the object, so it need not be owned.
        if request.verb == Verb::Create && request.without_managed_fields {
            let mut received = self.created(request, &mut object, Vec::new(), defaulted_labels)?;
            received.stated_kind = show_kind(&received.request.target, &mut object);
            received.with_empty = with_empty;
            return Ok((received, object));
        }
        let decoded = SchemeObject {
            object: object.owned_within(self.scheme.field_names()),
            warnings: Vec::new(),
        };
        let mut received = match request.verb {
            Verb::Create => self.receive_new(request, decoded, defaulted_labels),
            _ => self.receive_change(request, Some(decoded)),
        }?;
        received.with_empty = with_empty;
        let object = std::mem::take(&mut received.attributes.object);
        Ok((received, object))
    }

    // Upstream: apiserver/pkg/endpoints/handlers/create.go, createHandler
    fn receive_new<'q>(
        &self,
        request: Request<'q>,
        decoded: SchemeObject,
        defaulted_labels: bool,
    ) -> Result<Received<'q, 'static>, Refusal> {
        let SchemeObject { mut object, warnings } = decoded;
        let mut received = self.created(request, &mut object, warnings, defaulted_labels)?;
        let request = &received.request;
        if !request.without_managed_fields {
            let strategy = self
                .strategy(request)
                .filter(|_| received.step == RemainingStep::Create);
            let reset = strategy.map_or_else(FieldSet::default, |strategy| {
                FieldSet::of_fields(strategy.reset())
            });
            let empty = self.scheme.empty(&request.target.kind);
            self.manage(request, &reset, &empty, &mut object);
            received.managed = managed(&object);
        }
        received.stated_kind = show_kind(&received.request.target, &mut object);
        received.attributes.object = object;
        Ok(received)
    }

    /// Prepares a new object for admission, as a server does, but for `managedFields`. The returned request
    /// does not contain the object.
    fn created<'q>(
        &self,
        request: Request<'q>,
        object: &mut Value<'_>,
        decoded: Vec<String>,
        defaulted_labels: bool,
    ) -> Result<Received<'q, 'static>, Refusal> {
        let target = &request.target;
        let mut warnings = self.deprecation(&request);
        warnings.extend(decoded);
        if !keeps_identity(target) {
            wipe(object);
        }
        if let Err(status) = fill_namespace(object, target) {
            return Err(Refusal { status, warnings });
        }
        warnings.extend(reduce_owner_references(object, false));
        let strategy = self.strategy(&request).filter(|_| target.subresource.is_empty());
        let step = match &strategy {
            Some(_) => RemainingStep::Create,
            None => RemainingStep::Connected,
        };
        let name = if target.name.is_empty() {
            object::text(object, &["metadata", "name"]).to_owned()
        } else {
            target.name.clone()
        };
        let namespace = if target.is_namespaces() {
            name.clone()
        } else {
            target.namespace.clone()
        };
        Ok(Received {
            managed: managed(object),
            attributes: attributes(
                &request,
                Operation::Create,
                name,
                namespace,
                Value::Null,
                Value::Null,
            ),
            warnings,
            step,
            form: ObjectForm::Written,
            defaulted_labels,
            stated_kind: None,
            with_empty: None,
            controller: None,
            request: Arc::new(request),
        })
    }

    // Upstream: apiserver/pkg/endpoints/handlers/update.go, UpdateResource; patch.go, PatchResource
    fn receive_change<'q>(
        &self,
        request: Request<'q>,
        decoded: Option<SchemeObject>,
    ) -> Result<Received<'q, 'static>, Refusal> {
        let target = &request.target;
        let mut warnings = self.deprecation(&request);
        let refused = |warnings: &[String], status| Refusal {
            status,
            warnings: warnings.to_vec(),
        };
        let not_found = || Box::new(status::not_found(&target.resource, &target.name));
        let Some(strategy) = self.strategy(&request) else {
            return Err(refused(&warnings, not_found()));
        };
        if target.custom.is_some() && request.verb == Verb::StrategicMergePatch {
            return Err(refused(
                &warnings,
                Box::new(status::unsupported_media_type(&patch::OF_CUSTOM_RESOURCES)),
            ));
        }
        let is_scale = target.subresource == "scale";
        let reset = if is_scale && target.custom.is_some() {
            FieldSet::default()
        } else {
            FieldSet::of_fields(strategy.reset())
        };
        let replacement = match request.verb {
            Verb::Update => {
                let validation = request.field_validation.unwrap_or_default();
                let decoded = match decoded {
                    Some(decoded) => decoded,
                    None => {
                        let decoded = self.scheme.decode(&target.kind, request.body, validation);
                        decoded.map_err(|undecoded| undecoded.after(&warnings))?
                    }
                };
                let mut object = decoded.object;
                warnings.extend(decoded.warnings);
                if target.custom.is_none() {
                    // The metadata of custom resources is decoded apart, and loses it.
                    keep_reset(request.body, &mut object);
                }
                let checked = fill_namespace(&mut object, target).and_then(|()| check_name(&object, target));
                checked.map_err(|status| refused(&warnings, status))?;
                warnings.extend(reduce_owner_references(&mut object, false));
                Some(object)
            }
            _ => None,
        };
        if let Some(refusal) = refuse_name(&target.name) {
            return Err(refused(&warnings, Box::new(refusal)));
        }
        let stored = self.stored_object(&request)?;
        // What has this version is taken to be absent.
        // Upstream: apiserver/pkg/registry/generic/registry/store.go, Update
        let is_there =
            |stored: &Value<'static>| object::text(stored, &["metadata", "resourceVersion"]) != "0";
        let stored = stored.filter(is_there);
        let (old, controller) = match (stored, is_scale) {
            (Some(stored), true) if scale::is_scale(&stored, target) => (Some(stored), None),
            (Some(stored), true) => {
                let fields = scale::ScaleFields::new(strategy);
                (Some(fields.managed(target, &stored)), Some(stored))
            }
            (stored, _) => (stored, None),
        };
        let creates = target.subresource.is_empty()
            && match request.verb {
                Verb::Update => strategy.creates_on_update(),
                Verb::Apply { .. } => true,
                _ => false,
            };
        if old.is_none() && !creates {
            return Err(refused(&warnings, not_found()));
        }
        let empty = self.scheme.empty(&target.kind);
        let live = old.as_ref().unwrap_or(&empty);
        let mut object = match replacement {
            Some(mut object) => {
                self.check_uid(&request, &object, old.as_ref())
                    .map_err(|status| refused(&warnings, status))?;
                self.manage(&request, &reset, live, &mut object);
                object
            }
            None => {
                let changed = patch::changed(self, &request, &reset, live, &empty);
                let (mut object, reported) = changed.map_err(|status| refused(&warnings, status))?;
                warnings.extend(reported);
                let checked = fill_namespace(&mut object, target).and_then(|()| check_name(&object, target));
                checked.map_err(|status| refused(&warnings, status))?;
                object
            }
        };
        let (operation, step) = match (&old, is_scale) {
            (None, _) => (Operation::Create, RemainingStep::Create),
            (Some(_), true) => (Operation::Update, RemainingStep::Scale),
            (Some(_), false) => (Operation::Update, RemainingStep::Update),
        };
        self.scheme.settle(&target.kind, &mut object);
        let (name, namespace) = (target.name.clone(), target.namespace.clone());
        let old = old.unwrap_or_default();
        let stated_kind = show_kind(target, &mut object);
        Ok(Received {
            managed: managed(&object),
            attributes: attributes(&request, operation, name, namespace, object, old),
            warnings,
            step,
            form: ObjectForm::Written,
            defaulted_labels: false,
            stated_kind,
            with_empty: None,
            controller,
            request: Arc::new(request),
        })
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
        Err(Box::new(status::conflict(&target.resource, &target.name, &why)))
    }
}

/// Whether an object says by its identity which one it is about.
// Upstream: apiserver/pkg/registry/rest/rest.go, SubresourceObjectMetaPreserver
fn keeps_identity(target: &Target) -> bool {
    matches!(
        (target.kind.kind.as_str(), target.subresource.as_str()),
        ("Binding", "binding") | ("TokenRequest", "token")
    )
}

/// The key of an object in storage.
fn storage_key(request: &Request<'_>) -> String {
    let target = &request.target;
    let group = match target.custom {
        Some(_) => format!("/{}", target.resource.group),
        None => "/registry".to_owned(),
    };
    let namespace = match target.storage_namespace() {
        "" => String::new(),
        namespace => format!("{namespace}/"),
    };
    format!("{group}/{}/{namespace}{}", target.resource.resource, target.name)
}

pub(crate) fn attributes(
    request: &Request<'_>,
    operation: Operation,
    name: String,
    namespace: String,
    object: Value<'static>,
    old_object: Value<'static>,
) -> Attributes<'static> {
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

/// Gives a custom resource the kind that admission sees; returns the kind that the object states, where it is
/// another.
// Upstream: apiserver/pkg/admission/plugin/webhook/generic/conversion.go, ConvertToGVK
fn show_kind(target: &Target, object: &mut Value<'_>) -> Option<String> {
    let kind = target.custom.as_ref().filter(|_| target.subresource != "scale")?;
    let stated = object::text(object, &["kind"]);
    if stated == kind.kind {
        return None;
    }
    let stated = stated.to_owned();
    object::set(object, &["kind"], kind.kind.clone());
    Some(stated)
}

/// Whether a body leaves the labels of its object to defaulting.
fn defaulted_labels(body: &[u8]) -> bool {
    match pratique_json::parse(body) {
        Ok(object) => has_no_labels(&object),
        Err(_) => false,
    }
}

fn has_no_labels(object: &Value<'_>) -> bool {
    object.at(&["metadata", "labels"]).is_none_or(Value::is_empty)
}
