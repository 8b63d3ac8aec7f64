//! The scale of a workload, of which the workload may not be known.
#![allow(clippy::unwrap_used, reason = "a test that fails may stop")]

use pratique_json::Value;
use pratique_objects::ObjectCodec;
use pratique_registry::{Placeholders, Prepared, Refusal, Registry, Request, Store, Target, Verb};
use pratique_types::{Reason, Status};

/// What is stored under any name.
struct Stored(&'static str);

impl Store for Stored {
    fn get(&self, _: &str, _: &str, _: &str, _: &str) -> Option<Value<'static>> {
        Some(pratique_json::parse(self.0.as_bytes()).unwrap())
    }
}

const SCALE: &str = r#"{"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a", "namespace": "web", "resourceVersion": "7"},
    "spec": {"replicas": 1}, "status": {"replicas": 1, "selector": "a=b"}}"#;

const DEPLOYMENT: &str = r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "web", "resourceVersion": "7"},
    "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}}, "status": {"replicas": 1}}"#;

/// Prepares a scale; `invalid` is the kind that validation refuses.
fn prepare(stored: &'static str, version: &str, invalid: &str) -> Result<Prepared<'static>, Refusal> {
    let placeholders = Placeholders::default();
    let objects = ObjectCodec::with_placeholder(placeholders.time.clone());
    let stored = Stored(stored);
    let registry = Registry {
        scheme: &objects,
        store: &stored,
        placeholders: &placeholders,
        release: Some((1, 37)),
    };
    let body = SCALE
        .replace(r#""spec": {"replicas": 1}"#, r#""spec": {"replicas": 3}"#)
        .replace(
            r#""resourceVersion": "7""#,
            &format!(r#""resourceVersion": "{version}""#),
        );
    let request = Request {
        verb: Verb::Update,
        target: Target::parse("/apis/apps/v1/namespaces/web/deployments/a/scale").unwrap(),
        body: body.as_bytes(),
        without_managed_fields: true,
        without_stored: true,
        ..Request::default()
    };
    let validate = |prepared: &Prepared<'_>| {
        if prepared.attributes.kind.kind == invalid {
            Err(Box::new(Status::failure(Reason::Invalid, invalid.to_owned())))
        } else {
            Ok(())
        }
    };
    registry.prepare_valid(registry.receive(request)?, &validate)
}

#[test]
fn a_scale_is_that_of_the_stored_workload_or_scale() {
    for stored in [SCALE, DEPLOYMENT] {
        let attributes = prepare(stored, "7", "").unwrap().attributes;
        let at = |object: &Value<'_>, path: &[&str]| object.at(path).map(ToString::to_string);
        let (object, old) = (&attributes.object, &attributes.old_object);
        assert_eq!(
            at(object, &["spec", "replicas"]).as_deref(),
            Some("3"),
            "{stored}"
        );
        assert_eq!(at(old, &["spec", "replicas"]).as_deref(), Some("1"), "{stored}");
        assert_eq!(
            at(object, &["status", "selector"]).as_deref(),
            Some("\"a=b\""),
            "{stored}"
        );
    }
}

#[test]
fn a_scale_is_validated_before_its_version_and_its_workload_after_it() {
    let refused = |version, invalid| prepare(DEPLOYMENT, version, invalid).unwrap_err().status.message;
    assert_eq!(refused("6", "Scale"), "Scale");
    assert!(refused("6", "Deployment").contains("the object has been modified"));
    assert_eq!(refused("7", "Deployment"), "Deployment");
}
