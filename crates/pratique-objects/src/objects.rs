//! The interface: objects are decoded and defaulted.

use pratique_gotext::time::Timestamp;
use pratique_json::{Progress, Value};
use pratique_typed::{Settled, settle_in, settle_keeping_empty};
use pratique_types::GroupVersionKind;

use crate::decode::{self, Read};
use crate::defaults::Context;
use crate::error::{DecodeError, StrictError};
use crate::json_schema;
use crate::release::{conversions, kinds, plans, schema, type_of};

/// Decodes and defaults objects as an API server does at a time.
#[derive(Clone, Debug)]
pub struct Objects {
    now: String,
}

/// In which format an object is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MediaType {
    /// `application/json`
    #[default]
    Json,
    /// `application/yaml`
    Yaml,
}

/// How a server handles unknown and duplicate fields: the parameter
/// `fieldValidation` of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// It refuses the object.
    Strict,
    /// It warns.
    #[default]
    Warn,
    /// It ignores them.
    Ignore,
}

impl FieldValidation {
    /// The validation as a request writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            FieldValidation::Strict => "Strict",
            FieldValidation::Warn => "Warn",
            FieldValidation::Ignore => "Ignore",
        }
    }

    /// The warnings about the faults that strict decoding found.
    ///
    /// # Errors
    /// There are faults, and validation is strict.
    pub fn check(self, faults: &[String]) -> Result<Vec<String>, StrictError> {
        match self {
            FieldValidation::Strict if !faults.is_empty() => Err(StrictError(faults.to_vec())),
            FieldValidation::Ignore => Ok(Vec::new()),
            FieldValidation::Strict | FieldValidation::Warn => Ok(decode::warnings(faults)),
        }
    }
}

/// An object that was decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded<'a> {
    /// The object in the form of its kind: without unknown fields, quantities and times in their canonical form.
    pub value: Value<'a>,
    /// The texts of the server's Warning headers.
    pub warnings: Vec<String>,
}

/// A text is no time of requests.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no timestamp, such as \"2024-01-01T00:00:00Z\"")]
pub struct InvalidTime(String);

/// Whether objects of a kind can be decoded and defaulted.
pub fn is_builtin(kind: &GroupVersionKind) -> bool {
    kinds().internal(kind).is_some()
}

impl Objects {
    /// Takes the time of requests as a timestamp is written, `2024-01-01T00:00:00Z`: a few defaults are the current time.
    ///
    /// # Errors
    /// It is no timestamp.
    pub fn at(now: &str) -> Result<Self, InvalidTime> {
        match Timestamp::parse(now) {
            Ok(_) => Ok(Objects::with_placeholder(now)),
            Err(_) => Err(InvalidTime(now.to_owned())),
        }
    }

    /// Takes a text that stands for the time of requests, which is not looked at: for programs that replace or ignore it.
    pub fn with_placeholder(now: impl Into<String>) -> Self {
        Objects { now: now.into() }
    }

    /// Decodes an object that is sent to the endpoint of a kind. It is not defaulted.
    ///
    /// # Errors
    /// That of an API server that refuses the object.
    pub fn decode<'a>(
        &self,
        bytes: &'a [u8],
        media_type: MediaType,
        endpoint: &GroupVersionKind,
        validation: FieldValidation,
    ) -> Result<Decoded<'a>, DecodeError> {
        let mut read = decode::decode(bytes, media_type, endpoint, validation)?;
        self.prune(endpoint, &mut read);
        Ok(read.into())
    }

    /// Decodes an object that is sent to the endpoint of a kind, defaults it, and brings it into the internal version of
    /// its kind and back, as admission sees it.
    ///
    /// # Errors
    /// That of an API server that refuses the object.
    pub fn receive<'a>(
        &self,
        bytes: &'a [u8],
        media_type: MediaType,
        endpoint: &GroupVersionKind,
        validation: FieldValidation,
    ) -> Result<Decoded<'a>, DecodeError> {
        let mut read = decode::decode(bytes, media_type, endpoint, validation)?;
        self.complete(endpoint, &mut read)?;
        Ok(read.into())
    }

    /// Gives an object the form of its kind, defaults it, and brings it into the internal version of its kind and back, as
    /// an API server does after each change. Objects of kinds that are not built in stay as they are. What does not fit
    /// its type stays as it is, too: decoding reports that.
    ///
    /// # Errors
    /// That of an API server that cannot convert the object, which is as it was but for its form and defaults then.
    pub fn default(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), DecodeError> {
        let (Some(id), Value::Object(members)) = (type_of(kind), &mut *object) else {
            return Ok(());
        };
        let settled = settle_keeping_empty(schema(), id, members, &Progress::unwatched());
        json_schema::settle(kind, members);
        let mut read = Read {
            value: std::mem::replace(object, Value::Null),
            warnings: Vec::new(),
            settled,
        };
        let completed = self.complete(kind, &mut read);
        *object = read.value;
        completed
    }

    /// Gives an object the form of its kind, as after fields were set or removed: empty fields are left out,
    /// and those that are always written are there. It is not defaulted. Objects of kinds that are not built in
    /// stay as they are.
    pub fn settle(&self, kind: &GroupVersionKind, object: &mut Value<'_>) {
        if let (Some(id), Value::Object(members)) = (type_of(kind), object) {
            settle_in(schema(), id, members, &Progress::unwatched());
        }
    }

    /// Gives an object the form of its kind and defaults it, without bringing it into the internal version, as an API
    /// server does after each mutation of admission. Values that do not fit their type stay as they are.
    // Upstream: apimachinery/pkg/runtime/scheme.go, Scheme.Default
    pub fn set_defaults(&self, kind: &GroupVersionKind, object: &mut Value<'_>) {
        let (Some(id), Value::Object(members)) = (type_of(kind), object) else {
            return;
        };
        let settled = settle_keeping_empty(schema(), id, members, &Progress::unwatched());
        json_schema::settle(kind, members);
        plans().run(kind, members, &Context::new(&self.now));
        if settled != Settled::Whole {
            settle_in(schema(), id, members, &Progress::unwatched());
        }
    }

    /// Brings an object into the internal version of its kind and back, as an API server does between admission plugins.
    ///
    /// # Errors
    /// It cannot be converted.
    pub fn convert(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), DecodeError> {
        let (Some(id), Value::Object(members)) = (type_of(kind), object) else {
            return Ok(());
        };
        let context = Context::new(&self.now);
        conversions().run(kind, members, &context);
        settle_in(schema(), id, members, &Progress::unwatched());
        context.outcome(kind)
    }

    fn complete(&self, kind: &GroupVersionKind, read: &mut Read<'_>) -> Result<(), DecodeError> {
        let context = Context::new(&self.now);
        if let Value::Object(object) = &mut read.value {
            plans().run(kind, object, &context);
            conversions().run(kind, object, &context);
        }
        self.prune(kind, read);
        context.outcome(kind)
    }

    /// Removes empty lists and maps that are not written. Defaulting adds none.
    fn prune(&self, kind: &GroupVersionKind, read: &mut Read<'_>) {
        if read.settled != Settled::Whole {
            self.settle(kind, &mut read.value);
        }
    }
}

impl<'a> From<Read<'a>> for Decoded<'a> {
    fn from(read: Read<'a>) -> Self {
        Decoded {
            value: read.value,
            warnings: read.warnings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_requests_is_one() {
        assert!(Objects::at("2024-01-01T00:00:00.5+01:00").is_ok());
        for text in ["garbage", "", "2024-01-01", "2024-13-01T00:00:00Z"] {
            let error = Objects::at(text).map(drop).unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with(&format!("{text:?} is no timestamp"))
            );
        }
    }

    #[test]
    fn defaulting_and_conversion_are_two_steps() {
        let objects = Objects::at("2024-01-01T00:00:00Z").unwrap();
        let kind = GroupVersionKind::new("", "v1", "Secret");
        let text = br#"{"apiVersion":"v1","kind":"Secret","metadata":{"labels":{}},"stringData":{"a":"b"}}"#;
        let mut secret = pratique_json::parse(text).unwrap();
        objects.set_defaults(&kind, &mut secret);
        assert_eq!(
            secret.to_string(),
            r#"{"apiVersion":"v1","kind":"Secret","metadata":{},"stringData":{"a":"b"},"type":"Opaque"}"#
        );
        objects.convert(&kind, &mut secret).unwrap();
        assert_eq!(
            secret.to_string(),
            r#"{"apiVersion":"v1","data":{"a":"Yg=="},"kind":"Secret","metadata":{},"type":"Opaque"}"#
        );
    }

    #[test]
    fn what_cannot_be_converted_is_told() {
        let objects = Objects::at("2024-01-01T00:00:00Z").unwrap();
        let kind = GroupVersionKind::new("apps", "v1", "DaemonSet");
        let text = br#"{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"x"}}}"#;
        let mut set = pratique_json::parse(text).unwrap();
        let Err(DecodeError::Undecodable { cause, .. }) = objects.convert(&kind, &mut set) else {
            panic!("converted: {set}");
        };
        assert_eq!(cause, "strconv.ParseInt: parsing \"x\": invalid syntax");
    }
}
