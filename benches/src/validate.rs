//! Our side of the rows of validation of `cargo xtask bench`, and `pratique-benches count-validate TIMES SETUP`, for profilers.
//!
//! A setup has an object as a person writes it, and the work: `validate` decodes, defaults and validates it, `request` does what a
//! server does besides admission, so that it also completes and prepares it, and asks for warnings.

use std::cell::Cell;
use std::hint::black_box;

use pratique::types::{GroupVersion, GroupVersionKind, Status};
use pratique_benches::BenchError;
use pratique_benches::contest::{ContestOrder, ContestSide, TurnSample};
use pratique_objects::{FieldValidation, MediaType, ObjectCodec};
use pratique_registry::{
    Attributes, CustomResources, Kinds, Placeholders, Prepared, Received, Refusal, Registry, Request, Store,
    Target,
};
use pratique_schema::Release;
use pratique_validation::{Candidate, Rejection, Validator};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::counted_run;

/// An object that is validated again and again.
pub(crate) struct ValidatedObject {
    objects: ObjectCodec,
    custom: CustomResources,
    placeholders: Placeholders,
    validator: Validator,
    kind: GroupVersionKind,
    target: Target,
    text: String,
    work: ValidationWork,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ValidationWork {
    Validate,
    Request,
}

#[derive(Deserialize)]
struct ValidationSetup {
    object: Value,
    work: ValidationWork,
}

/// Why an object is not taken to be valid.
#[derive(Debug)]
enum ValidationRefusal {
    Decoding(String),
    Invalid(Box<Status>),
    /// It is unknown: what would be measured is something else.
    NotValidated(String),
}

/// Nothing exists.
struct NoObjects;

impl Store for NoObjects {
    fn get(&self, _: &str, _: &str, _: &str, _: &str) -> Option<pratique_json::Value<'static>> {
        None
    }
}

impl ValidatedObject {
    pub(crate) fn new(setup: Value) -> Result<Self, BenchError> {
        let ValidationSetup { object, work } = serde_json::from_value(setup)?;
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let kind = GroupVersion::parse(text("/apiVersion"))?.with_kind(text("/kind"));
        let placeholders = Placeholders::default();
        let validated = ValidatedObject {
            objects: ObjectCodec::with_placeholder(placeholders.time.clone()),
            custom: CustomResources::default(),
            placeholders,
            validator: Validator::new(),
            target: Target::collection(&kind, text("/metadata/namespace"))
                .ok_or_else(|| format!("{kind} is not served"))?,
            kind,
            text: object.to_string(),
            work,
        };
        match validated.run() {
            Err(ValidationRefusal::NotValidated(what)) => Err(what.into()),
            Ok(()) | Err(ValidationRefusal::Decoding(_) | ValidationRefusal::Invalid(_)) => Ok(validated),
        }
    }

    fn run(&self) -> Result<(), ValidationRefusal> {
        match self.work {
            ValidationWork::Validate => self.validate(),
            ValidationWork::Request => self.request(),
        }
    }

    fn validate(&self) -> Result<(), ValidationRefusal> {
        let (json, strict) = (MediaType::Json, FieldValidation::Strict);
        let received = self
            .objects
            .receive(self.text.as_bytes(), json, &self.kind, strict);
        let received = received.map_err(|error| ValidationRefusal::Decoding(error.to_string()))?;
        let candidate = Candidate::new(&self.kind, &received.value);
        self.validator.create(&candidate).map_err(ValidationRefusal::from)
    }

    fn request(&self) -> Result<(), ValidationRefusal> {
        let (json, strict) = (MediaType::Json, FieldValidation::Strict);
        let decoded = self
            .objects
            .decode(self.text.as_bytes(), json, &self.kind, strict);
        let decoded = decoded.map_err(|error| ValidationRefusal::Decoding(error.to_string()))?;
        let kinds = Kinds {
            builtin: &self.objects,
            custom: &self.custom,
        };
        let registry = Registry {
            scheme: &kinds,
            store: &NoObjects,
            placeholders: &self.placeholders,
            release: Some(Release::latest().version()),
        };
        let request = Request {
            target: self.target.clone(),
            without_managed_fields: true,
            without_stored: true,
            without_name: true,
            ..Request::default()
        };
        let (received, object) = registry.receive_decoded(request, (decoded.value, decoded.form))?;
        // Between its steps, a server has the same object, and no copy.
        let mut received: Received<'_, '_> = received;
        received.replace_object(object, decoded.form);
        let unknown = Cell::new(None);
        let validate = |prepared: &Prepared| {
            let Attributes { kind, object, .. } = &prepared.attributes;
            let candidate = Candidate::new(kind, object);
            match self.validator.create(&candidate) {
                Err(Rejection::Invalid(status)) => Err(status),
                Err(rejection) => {
                    unknown.set(Some(rejection));
                    Ok(())
                }
                Ok(()) => Ok(()),
            }
        };
        black_box(registry.prepare_valid(received, &validate)?);
        unknown.take().map_or(Ok(()), |rejection| Err(rejection.into()))
    }

    /// Does the work a number of times. A function of its own, so that tools that count instructions find it.
    #[inline(never)]
    fn run_counted(&self, times: usize) {
        for _ in 0..times {
            let _ = black_box(self.run());
        }
    }
}

impl From<Refusal> for ValidationRefusal {
    fn from(refusal: Refusal) -> Self {
        ValidationRefusal::Invalid(refusal.status)
    }
}

impl From<Rejection> for ValidationRefusal {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Invalid(status) => ValidationRefusal::Invalid(status),
            unknown @ (Rejection::NotValidated(_) | Rejection::Open(_)) => {
                ValidationRefusal::NotValidated(unknown.to_string())
            }
        }
    }
}

impl ContestSide for ValidatedObject {
    /// The message of a refusal; empty where there is none.
    fn facts(&self) -> Result<Value, BenchError> {
        let message = match self.run() {
            Ok(()) => String::new(),
            Err(ValidationRefusal::Decoding(message)) => message,
            Err(ValidationRefusal::Invalid(status)) => status.message,
            Err(ValidationRefusal::NotValidated(what)) => return Err(what.into()),
        };
        Ok(json!({"message": message}))
    }

    fn measure(&self, order: &ContestOrder) -> Result<TurnSample, BenchError> {
        Ok(order.time(|| self.run().is_ok()))
    }
}

/// Does the work a number of times, for profilers.
pub(crate) fn count(arguments: &[String]) -> Result<(), BenchError> {
    counted_run::count(arguments, ValidatedObject::new, |object, times| {
        object.run_counted(times);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What has no rules here would be fast, and look valid.
    #[test]
    fn what_is_not_validated_is_not_measured() {
        let policy = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": "a"}, "spec": {"validations": [{"expression": "true"}]}
        });
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}});
        for work in ["validate", "request"] {
            let start = |object: &Value| ValidatedObject::new(json!({"object": object, "work": work}));
            let error = start(&policy).err().map(|error| error.to_string());
            assert!(
                error
                    .as_ref()
                    .is_some_and(|error| error.contains("is not validated")),
                "{work}: {error:?}"
            );
            assert!(start(&map).is_ok(), "{work}");
        }
    }
}
