//! The chain: what comes after what, what a second round is for, and where a program's own steps come in.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::world::{NoDecider, append, configmap, mutating, run, trail, validating};
use pratique::policy::DenialCause;
use pratique::step::{StepOutcome, StepPlace, step};
use pratique::types::AdmissionRequest;
use pratique::{
    Admission, AdmissionBuilder, AdmissionContext, AdmissionStep, Attributes, Limits, Objects, Outcome,
};

fn admit(builder: AdmissionBuilder, request: &AdmissionRequest<'_>) -> Outcome {
    let admission = builder.build().unwrap();
    let objects = Objects::new();
    let context = AdmissionContext::new(&objects).with_decider(&NoDecider);
    run(admission.admit(request, context, &mut ())).unwrap()
}

/// A step that adds its name to the trail.
fn marker(name: &'static str) -> impl AdmissionStep + 'static {
    step(name, move |attributes| {
        StepOutcome::change(append(attributes.object, name))
    })
}

#[test]
fn places_are_in_order() {
    let builder = mutating(Admission::builder(), &[("m", "IfNeeded")])
        .step(StepPlace::Schema, marker("s"))
        .step(StepPlace::AfterMutatingWebhooks, marker("c"))
        .step(StepPlace::BeforeMutatingPolicies, marker("a"))
        .step(StepPlace::BeforeMutatingWebhooks, marker("b"));
    let outcome = admit(builder, &configmap(""));
    // The policy changed the object, so there is a second round; it wants it, for others changed it since.
    assert_eq!(trail(&outcome), "ambcambcs");
    assert_eq!(outcome.mutations.len(), 2);
    assert!(outcome.mutations[1].reinvoked);
}

#[test]
fn steps_alone_bring_no_second_round() {
    let builder = Admission::builder().step(StepPlace::BeforeMutatingPolicies, marker("a"));
    assert_eq!(trail(&admit(builder, &configmap(""))), "a");
}

#[test]
fn a_change_between_rounds_reinvokes_policies() {
    // The one that does not want a second turn has none; the other is due for what the step does before it.
    let builder = mutating(Admission::builder(), &[("m", "IfNeeded"), ("n", "Never")])
        .step(StepPlace::AfterMutatingWebhooks, marker("c"));
    assert_eq!(trail(&admit(builder, &configmap(""))), "mncmc");
}

#[test]
fn validation_sees_what_became_of_the_object() {
    let builder = validating(Admission::builder(), "object.data.trail == 'as'")
        .step(StepPlace::BeforeMutatingPolicies, marker("a"))
        .step(StepPlace::Schema, marker("s"));
    assert!(admit(builder, &configmap("")).allowed());
    let outcome = admit(
        validating(Admission::builder(), "object.data.trail == 'as'"),
        &configmap(""),
    );
    assert_eq!(outcome.status.unwrap().code, 422);
    assert!(outcome.object.is_none());
}

#[test]
fn a_refusal_ends_the_chain() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let builder = |refusing: StepPlace| {
        seen.lock().unwrap().clear();
        let mut builder = validating(Admission::builder(), "true");
        for place in [
            StepPlace::BeforeMutatingPolicies,
            StepPlace::BeforeMutatingWebhooks,
            StepPlace::AfterMutatingWebhooks,
            StepPlace::Schema,
            StepPlace::BeforeValidatingPolicies,
            StepPlace::BeforeValidatingWebhooks,
            StepPlace::AfterValidatingWebhooks,
        ] {
            let seen = seen.clone();
            builder = builder.step(
                place,
                step(format!("{place:?}"), move |_| {
                    seen.lock().unwrap().push(place);
                    if place == refusing {
                        StepOutcome::deny("no").warn("beware").annotate("k", "v")
                    } else {
                        StepOutcome::allow()
                    }
                }),
            );
        }
        builder
    };
    for (place, steps) in [
        (StepPlace::BeforeMutatingPolicies, 1),
        (StepPlace::Schema, 4),
        (StepPlace::AfterValidatingWebhooks, 7),
    ] {
        let outcome = admit(builder(place), &configmap(""));
        assert_eq!(outcome.cause, Some(DenialCause::Rule));
        let status = outcome.status.unwrap();
        assert_eq!((status.code, status.message.as_str()), (403, "no"));
        assert_eq!(outcome.warnings, ["beware"]);
        assert_eq!(outcome.audit_annotations["k"], "v");
        assert_eq!(seen.lock().unwrap().len(), steps, "{place:?}");
    }
}

#[test]
fn a_late_change_is_an_error() {
    let builder = Admission::builder().step(StepPlace::BeforeValidatingPolicies, marker("late"));
    let outcome = admit(builder, &configmap(""));
    assert_eq!(outcome.cause, Some(DenialCause::Failure));
    let status = outcome.status.unwrap();
    assert_eq!(status.code, 500);
    assert!(status.message.contains("\"late\""), "{}", status.message);
}

#[test]
fn the_first_annotation_stays() {
    let note = |value: &'static str| step(value, move |_| StepOutcome::allow().annotate("k", value));
    let builder = Admission::builder()
        .step(StepPlace::Schema, note("first"))
        .step(StepPlace::AfterValidatingWebhooks, note("second"));
    assert_eq!(admit(builder, &configmap("")).audit_annotations["k"], "first");
}

#[test]
fn what_comes_back_to_what_it_was_is_no_change() {
    let builder = Admission::builder()
        .step(StepPlace::BeforeMutatingPolicies, marker("a"))
        .step(
            StepPlace::Schema,
            step("undo", |attributes| {
                StepOutcome::change(attributes.request.object.clone().into_owned())
            }),
        );
    assert!(admit(builder, &configmap("x")).object.is_none());
}

#[test]
fn reserved_names_are_looked_at_after_mutation() {
    let name = "p.static.k8s.io";
    let mut request = configmap("");
    request.kind = pratique::types::GroupVersionKind::new(
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingAdmissionPolicy",
    );
    let named = move |attributes: Attributes<'_>| {
        let mut object = attributes.object.clone().into_owned();
        if let Some(pratique::json::Value::Object(metadata)) = object.get_mut("metadata") {
            metadata.insert("name", name);
        }
        StepOutcome::change(object)
    };
    let builder = Admission::builder()
        .registry_checks(true)
        .step(StepPlace::Schema, step("namer", named));
    assert_eq!(admit(builder, &request).status.unwrap().code, 422);
}

/// A step that waits longer than anybody does.
struct Slow;

impl AdmissionStep for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    async fn evaluate(&self, _: Attributes<'_>) -> StepOutcome {
        tokio::time::sleep(Duration::from_secs(600)).await;
        StepOutcome::allow()
    }
}

#[tokio::test]
async fn nobody_waits_past_the_deadline() {
    let admission = Admission::builder()
        .step(StepPlace::Schema, Slow)
        .build()
        .unwrap();
    let objects = Objects::new();
    let context = AdmissionContext::new(&objects)
        .with_decider(&NoDecider)
        .with_limits(Limits::from(
            std::time::Instant::now() + Duration::from_millis(20),
        ));
    let outcome = admission.admit(&configmap(""), context, &mut ()).await.unwrap();
    let status = outcome.status.unwrap();
    assert_eq!((status.code, status.reason.as_str()), (504, "Timeout"));
    assert_eq!(
        status.message,
        "Timeout: request did not complete within requested timeout"
    );
}
