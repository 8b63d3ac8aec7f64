//! The second step of a request: the object that validating admission sees and that is stored.

use std::collections::HashSet;

use pratique_json::Value;
use pratique_types::{GroupVersionKind, Status, status, warnings};

use crate::edited_object::EditedObject;
use crate::kind_strategy::KindStrategy;
use crate::managed_fields;
use crate::metadata::{fill, fill_namespace, reduce_owner_references, wipe};
use crate::object::{self, MANAGED_FIELDS};
use crate::refusal::{self, Refusal};
use crate::registry::{Prepared, Received, Registry, RemainingStep, check_version};
use crate::request::{Attributes, Verb};
use crate::{answered_requests, scale};

impl Registry<'_> {
    /// Prepares a request for validating admission and for storage.
    ///
    /// # Errors
    /// The server refuses it after mutating admission.
    pub fn prepare<'v>(&self, received: Received<'_, 'v>) -> Result<Prepared<'v>, Refusal> {
        self.prepare_valid(received, &|_| Ok(()))
    }

    /// As [`prepare`](Self::prepare), of an object that is created, updated or answered only if `validate` has nothing against it as it is to
    /// be stored.
    ///
    /// # Errors
    /// The server refuses it after mutating admission, or it is invalid.
    pub fn prepare_valid<'v>(
        &self,
        received: Received<'_, 'v>,
        validate: &dyn Fn(&Prepared<'v>) -> Result<(), Box<Status>>,
    ) -> Result<Prepared<'v>, Refusal> {
        let mut received = received;
        if let Some(kind) = received.stated_kind.take() {
            object::set(&mut received.attributes.object, &["kind"], kind);
        }
        let restored = restore_managed_fields(&mut received);
        received.warnings.extend(restored);
        if let Some(warning) = reduce_owner_references(&mut received.attributes.object, true) {
            received.warnings.push(warning);
        }
        let warnings = received.warnings.clone();
        // A scale is validated while its controller is prepared.
        let is_validated = !matches!(received.step, RemainingStep::Delete | RemainingStep::Scale);
        let strategy = self.strategy(&received.request);
        let prepared = match (received.step, strategy) {
            (RemainingStep::Connected, _) => answered_requests::prepare(self, received),
            (RemainingStep::Delete, _) => Ok(crate::delete::prepare(self, received)),
            (RemainingStep::Create, Some(strategy)) => self.prepare_new(received, strategy),
            (RemainingStep::Update, Some(strategy)) => self.prepare_change(received, strategy),
            (RemainingStep::Scale, Some(strategy)) => scale::prepare(self, received, strategy, validate),
            (_, None) => {
                // It was there when the request was received.
                let target = &received.request.target;
                Err(Box::new(status::not_found(&target.resource, &target.name)))
            }
        };
        let prepared = prepared.map_err(|status| Refusal { status, warnings })?;
        if is_validated {
            // The kind is warned of only after that.
            validate(&prepared).map_err(|status| Refusal {
                status,
                warnings: prepared.first_warnings().to_vec(),
            })?;
        }
        Ok(prepared)
    }

    // Upstream: apiserver/pkg/registry/generic/registry/store.go, create; rest/create.go, BeforeCreate
    fn prepare_new<'v>(
        &self,
        received: Received<'_, 'v>,
        strategy: KindStrategy<'_>,
    ) -> Result<Prepared<'v>, Box<Status>> {
        let mut received = received;
        let object = std::mem::take(&mut received.attributes.object);
        let mut object = EditedObject::new(object, received.form);
        let mut context = self.context(&received);
        if received.request.verb != Verb::Create {
            wipe(&mut object);
        }
        fill(&mut object, self.placeholders);
        let target = &received.request.target;
        let name = object::text(&object, &["metadata", "name"]).to_owned();
        let exists = !name.is_empty() && self.stored(target, &name).is_some();
        let exists = exists.then(|| Box::new(status::already_exists(&target.resource, &name)));
        strategy.begin_create(&mut context, &mut object);
        fill_namespace(&mut object, target)?;
        strategy.prepare_for_create(&mut context, &mut object);
        strategy.canonicalize(&mut object);
        let (first, dropped) = (context.warnings, context.dropper.dropped);
        let kind = &received.attributes.kind;
        let object = self.settled(kind, object);
        let release = self.scheme.gates().release();
        let last = strategy.validate_create(kind, &object, self.placeholders, release)?;
        let name = object::text(&object, &["metadata", "name"]).to_owned();
        if name.is_empty() && !received.request.without_name {
            return Err(refusal::no_name(kind));
        }
        let attributes = Attributes {
            name,
            object,
            ..received.attributes
        };
        let without_stored = received.request.without_stored;
        let prepared = self.prepared(without_stored, attributes, [received.warnings, first, last])?;
        Ok(Prepared {
            refused: exists,
            dropped,
            ..prepared
        })
    }

    // Upstream: apiserver/pkg/registry/generic/registry/store.go, Update; rest/update.go, BeforeUpdate
    fn prepare_change<'v>(
        &self,
        received: Received<'_, 'v>,
        strategy: KindStrategy<'_>,
    ) -> Result<Prepared<'v>, Box<Status>> {
        let mut received = received;
        let object = std::mem::take(&mut received.attributes.object);
        let mut object = EditedObject::new(object, received.form);
        let old = &received.attributes.old_object;
        let target = &received.request.target;
        let is_unconditional = strategy.is_unconditional(&received.attributes.kind.version);
        check_version(&mut object, old, is_unconditional, &received)?;
        let mut context = self.context(&received);
        strategy.begin_update(&mut context, &mut object, old);
        fill_namespace(&mut object, target)?;
        object::copy(&mut object, old, &["metadata", "generation"]);
        strategy.prepare_for_update(&mut context, &mut object, old);
        keep_system_fields(&mut object, old);
        strategy.canonicalize(&mut object);
        let (first, dropped) = (context.warnings, context.dropper.dropped);
        let kind = &received.attributes.kind;
        let object = self.settled(kind, object);
        let release = self.scheme.gates().release();
        let mut last = strategy.validate_update(kind, &object, old, release)?;
        if target.subresource == "status" {
            last.extend(crate::warnings::on_status_update(kind, &object, release));
        }
        let attributes = Attributes {
            object,
            ..received.attributes
        };
        let without_stored = received.request.without_stored;
        let prepared = self.prepared(without_stored, attributes, [received.warnings, first, last])?;
        Ok(Prepared { dropped, ..prepared })
    }

    /// A prepared object in the form of its kind.
    fn settled<'v>(&self, kind: &GroupVersionKind, object: EditedObject<'v>) -> Value<'v> {
        let (mut object, is_edited) = object.into_parts();
        self.scheme.settle_edited(kind, &mut object, &is_edited);
        #[cfg(debug_assertions)]
        {
            let mut whole = object.borrowed();
            self.scheme.settle(kind, &mut whole);
            debug_assert_eq!(whole, object, "parts that are not edited have their form");
        }
        object
    }

    /// The outcome of a request whose object is stored. It was warned of before it was prepared, while it was, and of its kind.
    fn prepared<'v>(
        &self,
        without_stored: bool,
        attributes: Attributes<'v>,
        warnings: [Vec<String>; 3],
    ) -> Result<Prepared<'v>, Box<Status>> {
        let stored = if without_stored {
            Value::Null
        } else {
            self.scheme
                .through_storage(&attributes.kind, &attributes.object)?
        };
        let (warnings, first_warnings) = join_warnings(warnings);
        Ok(Prepared {
            attributes,
            stored,
            warnings,
            refused: None,
            dropped: Vec::new(),
            first_warnings,
        })
    }
}

impl Prepared<'_> {
    /// The warnings that the answer has whether or not the object is valid.
    fn first_warnings(&self) -> &[String] {
        self.warnings.get(..self.first_warnings).unwrap_or(&self.warnings)
    }
}

/// The warnings of before an object was prepared, of while it was, and of its kind, each once; and how many are not of its kind.
fn join_warnings([earlier, first, last]: [Vec<String>; 3]) -> (Vec<String>, usize) {
    let mut known: HashSet<String> = earlier.iter().cloned().collect();
    let mut warnings = earlier;
    warnings.extend(first.into_iter().filter(|warning| known.insert(warning.clone())));
    // Each part on its own: what is left out of one does not move where the next begins.
    let mut warnings = warnings::bounded(warnings);
    let first_warnings = warnings.len();
    let last: Vec<String> = last
        .into_iter()
        .filter(|warning| known.insert(warning.clone()))
        .collect();
    warnings.extend(warnings::bounded(last));
    (warnings, first_warnings)
}

/// Restores `managedFields` that mutating admission made unreadable. The warning says why they are.
// Upstream: apiserver/pkg/endpoints/handlers/fieldmanager/admission.go, Admit
fn restore_managed_fields(received: &mut Received<'_, '_>) -> Option<String> {
    let object = &mut received.attributes.object;
    let fault = managed_fields::fault(object.at(MANAGED_FIELDS))?;
    object::put(object, MANAGED_FIELDS, received.managed.take());
    Some(format!(
        ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating \
         admission controller; please fix your requests: {fault}"
    ))
}

/// Metadata that an update cannot change.
fn keep_system_fields<'v>(object: &mut EditedObject<'v>, old: &Value<'v>) {
    if object::text(object, &["metadata", "uid"]).is_empty() {
        object::copy(object, old, &["metadata", "uid"]);
    }
    for field in ["creationTimestamp", "deletionTimestamp"] {
        if object::has(old, &["metadata", field]) {
            object::copy(object, old, &["metadata", field]);
        }
    }
    let grace: object::FieldPath<'_> = &["metadata", "deletionGracePeriodSeconds"];
    if object::has(old, grace) && !object::has(object, grace) {
        object::copy(object, old, grace);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_of_the_kind_come_after_all_others() {
        let texts = |texts: &[&str]| -> Vec<String> { texts.iter().map(ToString::to_string).collect() };
        let usual = [texts(&["a", "b"]), texts(&["b", "c"]), texts(&["c", "d", "d"])];
        assert_eq!(join_warnings(usual), (texts(&["a", "b", "c", "d"]), 3));
        // Of so many, some are left out.
        let many: Vec<String> = (0..20_000).map(|number| format!("{number:0200}")).collect();
        let (warnings, first) = join_warnings([many.clone(), Vec::new(), texts(&["d"])]);
        assert!(first < many.len());
        assert_eq!(warnings.get(first..), Some(&texts(&["d"])[..]));
    }
}
