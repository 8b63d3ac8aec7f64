//! How objects are decoded and defaulted, which callers provide.

use pratique_apiextensions::Version;
use pratique_json::{Progress, Value};
use pratique_objects::{DecodeError, FieldValidation};
use pratique_schema::FeatureGates;
use pratique_schema::merge::MergeSchema;
use pratique_types::{GroupVersionKind, ObjectForm, Status, status};

use crate::refusal::Refusal;

/// How a server decodes objects, completes them with defaults, and converts them.
pub trait Scheme {
    /// Decodes the body of a request into an object of a kind, with defaults.
    ///
    /// # Errors
    /// The answer to a body that cannot be decoded or, validated strictly, has unknown or duplicate fields.
    fn decode(
        &self,
        kind: &GroupVersionKind,
        body: &[u8],
        validation: FieldValidation,
    ) -> Result<SchemeObject, UndecodedBody>;

    /// Decodes an object again, leniently, and completes it with defaults, as after a mutation.
    ///
    /// # Errors
    /// The answer where the object cannot be converted.
    fn default_again(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), Box<Status>>;

    /// As [`default_again`](Self::default_again), of an object that may be known to have its form, with the empty lists and maps kept that
    /// [`settle`](Self::settle) leaves out; whether there are any.
    ///
    /// # Errors
    /// As [`default_again`](Self::default_again).
    fn default_keeping_empty(
        &self,
        kind: &GroupVersionKind,
        object: &mut Value<'_>,
        form: ObjectForm,
    ) -> Result<bool, Box<Status>> {
        let _ = form;
        self.default_again(kind, object).map(|()| false)
    }

    /// The release of the server, and its feature gates.
    fn gates(&self) -> FeatureGates {
        FeatureGates::default()
    }

    /// A text in which the names of fields of decoded objects lie, so that copies need not own them.
    fn field_names(&self) -> &'static str {
        ""
    }

    /// An object of a kind with no field set: fields that are always written have their zero value.
    fn empty(&self, kind: &GroupVersionKind) -> Value<'static> {
        let mut empty = Value::Object(pratique_json::Object::new());
        self.settle(kind, &mut empty);
        empty
    }

    /// Gives an object, some fields of which were set or removed, the form of its kind.
    fn settle(&self, kind: &GroupVersionKind, object: &mut Value<'_>) {
        pratique_typed::settle_object(self.gates().release(), kind, object, &Progress::unwatched());
    }

    /// The same for an object that has this form, where no member but those that `is_edited` tells of was changed.
    fn settle_edited(
        &self,
        kind: &GroupVersionKind,
        object: &mut Value<'_>,
        is_edited: &dyn Fn(&str) -> bool,
    ) {
        let _ = is_edited;
        self.settle(kind, object);
    }

    /// An object in another version of its kind; `None` where it has none.
    fn convert(&self, kind: &GroupVersionKind, object: &Value<'static>) -> Option<Value<'static>> {
        let converted =
            pratique_typed::converted(self.gates().release(), kind, object, &Progress::unwatched()).ok()?;
        Some(converted.map_or_else(|| object.clone(), Value::into_owned))
    }

    /// The text of an object, with the keys in the server's order where that is known.
    fn encode(&self, _kind: &GroupVersionKind, object: &Value<'static>) -> String {
        object.to_string()
    }

    /// How objects of a kind are merged.
    fn merge_schema(&self, _kind: &GroupVersionKind) -> &MergeSchema {
        self.gates().release().merge_schema()
    }

    /// An object as it is read from storage: in the version of a kind, with defaults.
    ///
    /// # Errors
    /// The answer where the object cannot be converted.
    fn read_stored(
        &self,
        kind: &GroupVersionKind,
        stored: Value<'static>,
    ) -> Result<Value<'static>, Box<Status>> {
        let Some(mut object) = self.convert(kind, &stored) else {
            return Err(Box::new(status::internal_error(&format!(
                "the stored object has no form as {kind}"
            ))));
        };
        self.default_again(kind, &mut object)?;
        Ok(object)
    }

    /// The object as it is once it was stored and read again, with defaults.
    ///
    /// # Errors
    /// The answer where the object cannot be converted.
    fn through_storage(
        &self,
        kind: &GroupVersionKind,
        object: &Value<'_>,
    ) -> Result<Value<'static>, Box<Status>> {
        let mut object = crate::storage::read_back(self.gates().release().schema(), kind, object);
        self.default_again(kind, &mut object)?;
        Ok(object)
    }

    /// The version of a kind, where it is one of a custom resource.
    fn custom(&self, _kind: &GroupVersionKind) -> Option<&Version> {
        None
    }
}

/// An object that was decoded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SchemeObject {
    /// The object, with defaults.
    pub object: Value<'static>,
    /// The warnings about unknown and duplicate fields.
    pub warnings: Vec<String>,
}

/// A body that is not decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct UndecodedBody {
    /// The answer.
    pub status: Box<Status>,
    /// The error without the part of the message that names the object.
    pub cause: String,
    /// The warnings with the answer.
    pub warnings: Vec<String>,
}

impl UndecodedBody {
    /// The refusal, with the warnings before it.
    pub(crate) fn after(self, warnings: &[String]) -> Refusal {
        Refusal {
            status: self.status,
            warnings: [warnings, &self.warnings].concat(),
        }
    }
}

impl From<DecodeError> for UndecodedBody {
    fn from(error: DecodeError) -> Self {
        let status = Box::new(status::bad_request(error.to_string()));
        let cause = match error {
            DecodeError::Unrecognized { cause, .. } | DecodeError::Undecodable { cause, .. } => cause,
            other => other.to_string(),
        };
        UndecodedBody {
            status,
            cause,
            warnings: Vec::new(),
        }
    }
}

impl From<UndecodedBody> for Refusal {
    fn from(undecoded: UndecodedBody) -> Self {
        Refusal {
            status: undecoded.status,
            warnings: undecoded.warnings,
        }
    }
}

/// The objects that exist.
pub trait Store {
    /// An object as it is stored, in any version of its kind.
    fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<Value<'static>>;

    /// Whether what it does not have does not exist. Otherwise a request may be about an object that is not known.
    fn has_everything(&self) -> bool {
        false
    }
}
