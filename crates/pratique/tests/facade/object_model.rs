//! An object model: defaults after each change, conversion after each plugin, preparation between the phases.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use pratique::authorization::NoAuthorizer;
use pratique::object_model::{ConversionError, ObjectMutator, PreparedObject, RefusedRequest};
use pratique::policy::Cluster;
use pratique::types::{GroupVersionKind, ObjectForm, Reason, Status};
use pratique::{
    Admission, AdmissionBuilder, AdmissionContext, AdmissionRequest, EvalContext, ObjectModel, Objects,
    Outcome,
};
use pratique_json::Value;

use crate::world::{NoDecider, append, configmap, mutating, run, trail, validating};

/// Defaults add `d` to the trail, conversion adds `c`, and preparation `p`.
#[derive(Default)]
struct Trailing {
    mutators: Mutex<Vec<String>>,
    unconvertible: bool,
    refuses: bool,
}

impl ObjectModel for Trailing {
    fn set_defaults(&self, kind: &GroupVersionKind, object: &mut Value<'_>, mutator: ObjectMutator<'_>) {
        assert_eq!(kind.kind, "ConfigMap");
        self.mutators.lock().unwrap().push(format!("{mutator:?}"));
        *object = append(object, "d");
    }

    fn convert(&self, _: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), ConversionError> {
        if self.unconvertible {
            return Err(ConversionError("no".to_owned()));
        }
        *object = append(object, "c");
        Ok(())
    }

    fn prepare<'v>(
        &self,
        _: &AdmissionRequest<'_>,
        (object, _): (&mut Cow<'_, Value<'v>>, ObjectForm),
        _: &dyn Cluster,
    ) -> Result<PreparedObject, RefusedRequest> {
        let warnings = vec!["prepared".to_owned()];
        if self.refuses {
            let status = Box::new(Status::failure(Reason::Invalid, "invalid"));
            return Err(RefusedRequest { status, warnings });
        }
        *object = Cow::Owned(append(object, "p"));
        Ok(PreparedObject {
            is_changed: true,
            warnings,
            undecided: None,
        })
    }
}

/// The outcome of the whole chain, which that of policies alone equals.
fn admit(builder: AdmissionBuilder, model: &Trailing) -> Outcome {
    let admission = builder.build().unwrap();
    let (objects, request) = (Objects::new(), configmap(""));
    let context = AdmissionContext::new(&objects)
        .with_decider(&NoDecider)
        .with_object_model(model);
    let outcome = run(admission.admit(&request, context, &mut ())).unwrap();
    let told = std::mem::take(&mut *model.mutators.lock().unwrap());
    let context = EvalContext::new(&objects, Arc::new(NoAuthorizer)).with_object_model(Some(model));
    let of_policies = admission.admit_policies(&request, context, &mut ()).unwrap();
    assert_eq!(of_policies, outcome);
    assert_eq!(*model.mutators.lock().unwrap(), told);
    outcome
}

#[test]
fn objects_are_defaulted_after_each_change() {
    let model = Trailing::default();
    let builder = mutating(Admission::builder(), &[("m", "Never"), ("n", "Never")]);
    let outcome = admit(validating(builder, "object.data.trail == 'mdndcp'"), &model);
    // What goes on is as mutation left it, not as it was prepared.
    assert_eq!(trail(&outcome), "mdndc");
    let prepared = outcome.prepared.unwrap();
    assert_eq!(
        prepared.at(&["data", "trail"]).and_then(Value::as_str),
        Some("mdndcp")
    );
    assert_eq!(outcome.warnings, ["prepared"]);
    assert_eq!(
        *model.mutators.lock().unwrap(),
        [r#"Policy("m.static.k8s.io")"#, r#"Policy("n.static.k8s.io")"#]
    );
}

#[test]
fn what_nothing_changed_is_prepared_only() {
    let model = Trailing::default();
    let outcome = admit(
        validating(Admission::builder(), "object.data.trail == 'p'"),
        &model,
    );
    assert!(outcome.allowed());
    assert_eq!(outcome.object, None);
    assert!(model.mutators.lock().unwrap().is_empty());
}

#[test]
fn what_cannot_be_converted_is_an_internal_error() {
    let model = Trailing {
        unconvertible: true,
        ..Trailing::default()
    };
    let outcome = admit(mutating(Admission::builder(), &[("m", "Never")]), &model);
    let status = outcome.status.unwrap();
    assert_eq!(
        (status.code, status.message.as_str()),
        (500, "Internal error occurred: failed to convert object: no")
    );
}

#[test]
fn a_refusal_between_the_phases_ends_the_request() {
    let model = Trailing {
        refuses: true,
        ..Trailing::default()
    };
    let outcome = admit(validating(Admission::builder(), "false"), &model);
    assert_eq!(outcome.status.unwrap().message, "invalid");
    assert_eq!(outcome.warnings, ["prepared"]);
}

#[cfg(feature = "webhooks")]
#[tokio::test]
async fn patches_of_webhooks_are_defaulted() {
    use crate::webhooks::{MUTATING, Markers, webhooks};

    let model = Trailing::default();
    let builder = webhooks(Admission::builder(), MUTATING, &[("a", "Never"), ("b", "Never")]);
    let admission = builder.caller(Markers::default()).build().unwrap();
    let (objects, request) = (Objects::new(), configmap(""));
    let context = AdmissionContext::new(&objects)
        .with_decider(&NoDecider)
        .with_object_model(&model);
    let outcome = admission.admit(&request, context, &mut ()).await.unwrap();
    assert_eq!(trail(&outcome), "adbdc");
    let mutators = model.mutators.lock().unwrap();
    assert_eq!(
        *mutators,
        [r#"Webhook("a.example.com")"#, r#"Webhook("b.example.com")"#]
    );
}
