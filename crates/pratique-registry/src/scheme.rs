//! How objects are decoded and defaulted, which callers provide.

use pratique_json::{Progress, Value};
use pratique_schema::merge::MergeSchema;
use pratique_types::{GroupVersionKind, Status};

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
    ) -> Result<Decoded, Box<Status>>;

    /// Decodes an object again, leniently, and completes it with defaults, as after a mutation.
    ///
    /// # Errors
    /// The answer where the object cannot be converted.
    fn default_again(&self, kind: &GroupVersionKind, object: &mut Value<'static>) -> Result<(), Box<Status>>;

    /// An object of a kind with no field set: what is always written has its zero value.
    fn empty(&self, kind: &GroupVersionKind) -> Value<'static> {
        let mut empty = Value::Object(pratique_json::Object::new());
        self.settle(kind, &mut empty);
        empty
    }

    /// Gives an object, some fields of which were set or removed, the form of its kind.
    fn settle(&self, kind: &GroupVersionKind, object: &mut Value<'static>) {
        pratique_typed::settle_object(kind, object, &Progress::unwatched());
    }

    /// An object in another version of its kind; `None` where it has none.
    fn convert(&self, kind: &GroupVersionKind, object: &Value<'static>) -> Option<Value<'static>> {
        let converted = pratique_typed::converted(kind, object, &Progress::unwatched()).ok()?;
        Some(converted.map_or_else(|| object.clone(), Value::into_owned))
    }

    /// The text of an object, with the keys in the server's order where that is known.
    fn encode(&self, _kind: &GroupVersionKind, object: &Value<'static>) -> String {
        object.to_string()
    }

    /// How objects of a kind are merged.
    fn merge_schema(&self, _kind: &GroupVersionKind) -> &MergeSchema {
        MergeSchema::builtin()
    }

    /// The object as it is once it was stored and read again, before defaulting.
    fn through_storage(&self, kind: &GroupVersionKind, object: &Value<'static>) -> Value<'static> {
        crate::storage::read_back(kind, object)
    }
}

/// An object that was decoded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// The object, with defaults.
    pub object: Value<'static>,
    /// What is told about unknown and duplicate fields.
    pub warnings: Vec<String>,
}

/// What happens with unknown and duplicate fields of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// They are dropped without a word.
    Ignore,
    /// They are dropped with a warning.
    #[default]
    Warn,
    /// They are refused.
    Strict,
}

impl FieldValidation {
    /// The validation as a request writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            FieldValidation::Ignore => "Ignore",
            FieldValidation::Warn => "Warn",
            FieldValidation::Strict => "Strict",
        }
    }
}

/// The objects that exist.
pub trait Store {
    /// An object as it is stored, in any version of its kind.
    fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<Value<'static>>;
}
