//! The interface: objects are decoded and defaulted.

use pratique_gotext::time::Timestamp;
use pratique_json::{Object, Progress, Value};
use pratique_schema::{FeatureGates, Release, TypeId};
use pratique_typed::{SettledObject, settle_again, settle_edited, settle_keeping_empty};
use pratique_types::{GroupVersionKind, ObjectForm};

use crate::decode::{self, ReadObject};
use crate::defaults::DefaultContext;
use crate::encode;
use crate::error::{DecodeError, StrictError};
use crate::json_schema;
use crate::release::ObjectTables;

/// Decodes and defaults objects as an API server of a release does at a time.
#[derive(Clone, Debug)]
pub struct ObjectCodec {
    now: String,
    gates: FeatureGates,
    tables: &'static ObjectTables,
    keeps_empty: bool,
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
    pub fn check_faults(self, faults: &[String]) -> Result<Vec<String>, StrictError> {
        match self {
            FieldValidation::Strict if !faults.is_empty() => Err(StrictError(faults.to_vec())),
            FieldValidation::Ignore => Ok(Vec::new()),
            FieldValidation::Strict | FieldValidation::Warn => Ok(decode::warnings(faults)),
        }
    }
}

/// An object that was decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedObject<'a> {
    /// The object in the form of its kind: without unknown fields, quantities and times in their canonical form.
    pub value: Value<'a>,
    /// Whether it has this form and no empty lists and maps, which goes on with it: what it is passed to need not look.
    pub form: ObjectForm,
    /// The texts of the server's Warning headers.
    pub warnings: Vec<String>,
}

/// A text is no time of requests.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no timestamp, such as \"2024-01-01T00:00:00Z\"")]
pub struct InvalidTime(String);

/// Whether objects of a kind can be decoded and defaulted by the newest release.
pub fn is_builtin(kind: &GroupVersionKind) -> bool {
    let tables = ObjectTables::find(Release::latest());
    tables.kinds().internal(kind).is_some()
}

impl ObjectCodec {
    /// Takes the time of requests as a timestamp is written, `2024-01-01T00:00:00Z`: a few defaults are the current time.
    ///
    /// # Errors
    /// It is no timestamp.
    pub fn at(now: &str) -> Result<Self, InvalidTime> {
        match Timestamp::parse(now) {
            Ok(_) => Ok(ObjectCodec::with_placeholder(now)),
            Err(_) => Err(InvalidTime(now.to_owned())),
        }
    }

    /// Takes a text that stands for the time of requests, which is not looked at: for programs that replace or ignore it.
    ///
    /// The server is of the newest release, with its gates as by default.
    pub fn with_placeholder(now: impl Into<String>) -> Self {
        ObjectCodec {
            now: now.into(),
            gates: FeatureGates::default(),
            tables: ObjectTables::find(Release::latest()),
            keeps_empty: false,
        }
    }

    /// Takes the release of the server, and its feature gates.
    ///
    /// ```
    /// use pratique_objects::ObjectCodec;
    /// use pratique_schema::{FeatureGates, Release};
    /// use pratique_types::GroupVersionKind;
    ///
    /// let gates = FeatureGates::parse(Release::latest(), "MaxUnavailableStatefulSet=false")?;
    /// let objects = ObjectCodec::at("2024-01-01T00:00:00Z")?.with_gates(gates);
    /// let mut set = pratique_json::parse(br#"{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}"#)?;
    /// objects.set_defaults(&GroupVersionKind::new("apps", "v1", "StatefulSet"), &mut set);
    /// assert!(set.at(&["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"]).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_gates(self, gates: FeatureGates) -> Self {
        ObjectCodec {
            tables: ObjectTables::find(gates.release()),
            gates,
            ..self
        }
    }

    /// The same with empty lists and maps kept that are left out where an object is written: a server has them until then,
    /// and its validation tells them from none.
    #[must_use]
    pub fn keeping_empty(self) -> Self {
        ObjectCodec {
            keeps_empty: true,
            ..self
        }
    }

    /// The feature gates of the server.
    pub fn gates(&self) -> FeatureGates {
        self.gates
    }

    /// Whether objects of a kind can be decoded and defaulted.
    pub fn has_kind(&self, kind: &GroupVersionKind) -> bool {
        self.tables.kinds().internal(kind).is_some()
    }

    /// The text in which the names of fields of decoded objects lie, so that [copies](Value::owned_within) need not own
    /// them.
    pub fn field_names(&self) -> &'static str {
        self.tables.field_names()
    }

    /// Writes an object of a kind as an API server does; it has the form of its kind. Objects of other kinds are written by
    /// name.
    pub fn encode(&self, kind: &GroupVersionKind, object: &Value<'_>) -> String {
        encode::encode(self.tables, kind, object)
    }

    fn settle_members(&self, id: TypeId, members: &mut Object<'_>) {
        if self.keeps_empty {
            settle_keeping_empty(self.tables.schema(), id, members, &Progress::unwatched());
        } else {
            settle_again(self.tables.schema(), id, members, &Progress::unwatched());
        }
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
    ) -> Result<DecodedObject<'a>, DecodeError> {
        let mut read = decode::decode(self.tables, bytes, media_type, endpoint, validation)?;
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
    ) -> Result<DecodedObject<'a>, DecodeError> {
        let mut read = decode::decode(self.tables, bytes, media_type, endpoint, validation)?;
        self.complete(endpoint, &mut read)?;
        self.prune(endpoint, &mut read);
        Ok(read.into())
    }

    /// Gives an object the form of its kind, defaults it, and brings it into the internal version of its kind and back, as
    /// an API server does after each change. Objects of kinds that are not built in stay as they are. What does not fit
    /// its type stays as it is, too: decoding reports that.
    ///
    /// # Errors
    /// That of an API server that cannot convert the object, which is as it was but for its form and defaults then.
    pub fn default(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), DecodeError> {
        self.default_with(kind, object, ObjectForm::Written, |read| self.prune(kind, read))
    }

    /// As [`default`](Self::default), of an object that may be known to have its form, with the empty lists and maps kept that
    /// [`settle`](Self::settle) leaves out; whether there are any.
    ///
    /// # Errors
    /// As [`default`](Self::default).
    pub fn default_keeping_empty(
        &self,
        kind: &GroupVersionKind,
        object: &mut Value<'_>,
        form: ObjectForm,
    ) -> Result<bool, DecodeError> {
        self.default_with(kind, object, form, |read| read.settled != SettledObject::Whole)
    }

    /// Defaults an object, and looks at what became of it. There is nothing to see in one of a kind that is not built in.
    fn default_with<T: Default>(
        &self,
        kind: &GroupVersionKind,
        object: &mut Value<'_>,
        form: ObjectForm,
        look: impl FnOnce(&mut ReadObject<'_>) -> T,
    ) -> Result<T, DecodeError> {
        let (Some(id), Value::Object(members)) = (self.tables.type_of(kind), &mut *object) else {
            return Ok(T::default());
        };
        // Rows `chain-*` and `validate-all` of `benches/`: to look at what was decoded just now takes two thirds of defaulting it.
        let settled = match form {
            ObjectForm::Settled => SettledObject::Whole,
            ObjectForm::Written | ObjectForm::Unstructured => {
                settle_keeping_empty(self.tables.schema(), id, members, &Progress::unwatched())
            }
        };
        json_schema::settle(self.tables, kind, members);
        let mut read = ReadObject {
            value: std::mem::replace(object, Value::Null),
            warnings: Vec::new(),
            settled,
        };
        let completed = self.complete(kind, &mut read);
        let seen = look(&mut read);
        *object = read.value;
        completed.map(|()| seen)
    }

    /// Gives an object the form of its kind, as after fields were set or removed: empty fields are left out,
    /// and those that are always written are there. It is not defaulted. Objects of kinds that are not built in
    /// stay as they are.
    pub fn settle(&self, kind: &GroupVersionKind, object: &mut Value<'_>) {
        if let (Some(id), Value::Object(members)) = (self.tables.type_of(kind), object) {
            self.settle_members(id, members);
        }
    }

    /// The same for an object that has this form, where no member but those that `is_edited` tells of was changed.
    pub fn settle_edited(
        &self,
        kind: &GroupVersionKind,
        object: &mut Value<'_>,
        is_edited: &dyn Fn(&str) -> bool,
    ) {
        let (Some(id), Value::Object(members)) = (self.tables.type_of(kind), object) else {
            return;
        };
        if self.keeps_empty {
            self.settle_members(id, members);
        } else {
            settle_edited(
                self.tables.schema(),
                id,
                members,
                is_edited,
                &Progress::unwatched(),
            );
        }
    }

    /// Gives an object the form of its kind and defaults it, without bringing it into the internal version, as an API
    /// server does after each mutation of admission. Values that do not fit their type stay as they are.
    // Upstream: apimachinery/pkg/runtime/scheme.go, Scheme.Default
    pub fn set_defaults(&self, kind: &GroupVersionKind, object: &mut Value<'_>) {
        let (Some(id), Value::Object(members)) = (self.tables.type_of(kind), object) else {
            return;
        };
        let settled = settle_keeping_empty(self.tables.schema(), id, members, &Progress::unwatched());
        json_schema::settle(self.tables, kind, members);
        self.tables.defaults().run(kind, members, &self.context());
        if settled != SettledObject::Whole {
            self.settle_members(id, members);
        }
    }

    /// Brings an object into the internal version of its kind and back, as an API server does between admission plugins.
    ///
    /// # Errors
    /// It cannot be converted.
    pub fn convert(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), DecodeError> {
        let (Some(id), Value::Object(members)) = (self.tables.type_of(kind), object) else {
            return Ok(());
        };
        let context = self.context();
        self.tables.conversions().run(kind, members, &context);
        self.settle_members(id, members);
        context.outcome(kind)
    }

    fn context(&self) -> DefaultContext<'_> {
        DefaultContext::new(&self.now, self.gates, self.tables.schema())
    }

    fn complete(&self, kind: &GroupVersionKind, read: &mut ReadObject<'_>) -> Result<(), DecodeError> {
        let context = self.context();
        if let Value::Object(object) = &mut read.value {
            self.tables.defaults().run(kind, object, &context);
            self.tables.conversions().run(kind, object, &context);
        }
        context.outcome(kind)
    }

    /// Removes empty lists and maps that are not written, unless they are kept. Defaulting adds none.
    fn prune(&self, kind: &GroupVersionKind, read: &mut ReadObject<'_>) {
        if read.settled != SettledObject::Whole {
            self.settle(kind, &mut read.value);
            if !self.keeps_empty {
                read.settled = SettledObject::Whole;
            }
        }
    }
}

impl<'a> From<ReadObject<'a>> for DecodedObject<'a> {
    fn from(read: ReadObject<'a>) -> Self {
        DecodedObject {
            value: read.value,
            form: match read.settled {
                SettledObject::Whole => ObjectForm::Settled,
                SettledObject::WithEmpty | SettledObject::Refused => ObjectForm::Written,
            },
            warnings: read.warnings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_requests_is_one() {
        assert!(ObjectCodec::at("2024-01-01T00:00:00.5+01:00").is_ok());
        for text in ["garbage", "", "2024-01-01", "2024-13-01T00:00:00Z"] {
            let error = ObjectCodec::at(text).map(drop).unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with(&format!("{text:?} is no timestamp"))
            );
        }
    }

    #[test]
    fn defaulting_and_conversion_are_two_steps() {
        let objects = ObjectCodec::at("2024-01-01T00:00:00Z").unwrap();
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
    fn empty_maps_and_lists_may_be_kept() {
        let objects = ObjectCodec::with_placeholder("2024-01-01T00:00:00Z");
        let kind = GroupVersionKind::new("", "v1", "ConfigMap");
        let text = br#"{"metadata":{"name":"a","labels":{},"finalizers":[]},"data":{}}"#;
        let receive = |objects: &ObjectCodec| {
            let received = objects.receive(text, MediaType::Json, &kind, FieldValidation::Ignore);
            received.unwrap()
        };
        let written = receive(&objects);
        assert_eq!(written.form, ObjectForm::Settled);
        let written = written.value;
        assert!(written.get("data").is_none());
        assert!(written.at(&["metadata", "labels"]).is_none());
        let kept = receive(&objects.keeping_empty());
        assert_eq!(kept.form, ObjectForm::Written);
        let kept = kept.value;
        assert!(kept.get("data").is_some_and(Value::is_empty));
        assert!(kept.at(&["metadata", "labels"]).is_some_and(Value::is_empty));
    }

    #[test]
    fn what_cannot_be_converted_is_told() {
        let objects = ObjectCodec::at("2024-01-01T00:00:00Z").unwrap();
        let kind = GroupVersionKind::new("apps", "v1", "DaemonSet");
        let text = br#"{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"x"}}}"#;
        let mut set = pratique_json::parse(text).unwrap();
        let Err(DecodeError::Undecodable { cause, .. }) = objects.convert(&kind, &mut set) else {
            panic!("converted: {set}");
        };
        assert_eq!(cause, "strconv.ParseInt: parsing \"x\": invalid syntax");
    }
}
