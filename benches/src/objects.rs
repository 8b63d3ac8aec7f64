//! Our side of `cargo xtask bench objects`: objects are decoded and defaulted, as an API server does before admission.

use std::collections::BTreeMap;

use pratique::json::{self, Value};
use pratique::types::{GroupVersion, GroupVersionKind};
use pratique_benches::BenchError;
use pratique_benches::contest::{ContestOrder, ContestSide, TurnSample};
use pratique_objects::{FieldValidation, MediaType, ObjectCodec};
use serde::Deserialize;

/// The objects by name.
pub(crate) struct ReceivedObjects {
    objects: ObjectCodec,
    subjects: BTreeMap<String, WrittenObject>,
}

/// An object as a person writes it.
struct WrittenObject {
    kind: GroupVersionKind,
    text: String,
    decoded: Value<'static>,
}

#[derive(Deserialize)]
struct ObjectSetup {
    objects: BTreeMap<String, serde_json::Value>,
}

impl ReceivedObjects {
    pub(crate) fn new(setup: serde_json::Value) -> Result<Self, BenchError> {
        let setup: ObjectSetup = serde_json::from_value(setup)?;
        let objects = ObjectCodec::with_placeholder("2026-01-02T03:04:05Z");
        let subject =
            |(name, object): (String, serde_json::Value)| Ok((name, WrittenObject::new(&objects, &object)?));
        let subjects = setup
            .objects
            .into_iter()
            .map(subject)
            .collect::<Result<_, BenchError>>()?;
        Ok(ReceivedObjects { objects, subjects })
    }
}

impl WrittenObject {
    fn new(objects: &ObjectCodec, object: &serde_json::Value) -> Result<Self, BenchError> {
        let member = |name: &str| object[name].as_str().unwrap_or_default();
        let version = GroupVersion::parse(member("apiVersion"))?;
        let kind = version.with_kind(member("kind"));
        let text = object.to_string();
        let decoded = objects.decode(text.as_bytes(), MediaType::Json, &kind, FieldValidation::Strict);
        let decoded = decoded?.value.into_owned();
        Ok(WrittenObject { kind, text, decoded })
    }
}

impl ContestSide for ReceivedObjects {
    fn facts(&self) -> Result<serde_json::Value, BenchError> {
        let seen = self.subjects.iter().map(|(name, subject)| {
            let text = subject.text.as_bytes();
            let received =
                self.objects
                    .receive(text, MediaType::Json, &subject.kind, FieldValidation::Strict);
            let received = received?;
            Ok((name.clone(), serde_json::Value::from(received.value)))
        });
        let seen = seen.collect::<Result<serde_json::Map<_, _>, BenchError>>()?;
        Ok(serde_json::json!({"objects": seen}))
    }

    fn measure(&self, order: &ContestOrder) -> Result<TurnSample, BenchError> {
        let Some(WrittenObject { kind, text, decoded }) = self.subjects.get(&order.case) else {
            return Err(format!("no object is named {:?}", order.case).into());
        };
        let (objects, text) = (&self.objects, text.as_bytes());
        let (json, strict) = (MediaType::Json, FieldValidation::Strict);
        Ok(match order.measure.as_str() {
            "parse" => order.time(|| json::parse(text)),
            "decode" => order.time(|| objects.decode(text, json, kind, strict)),
            "receive" => order.time(|| objects.receive(text, json, kind, strict)),
            "default" => order.time(|| {
                let mut copy = decoded.clone();
                objects.set_defaults(kind, &mut copy);
                copy
            }),
            "copy" => order.time(|| decoded.clone()),
            other => return Err(format!("no measure is named {other:?}").into()),
        })
    }
}
