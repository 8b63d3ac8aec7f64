//! The fields of an answer, with what Go says of one that has the wrong type.
//!
//! Reading goes on after a fault, and that counts which is the first in the document. Null is nothing, as everywhere in Go's JSON.

use std::collections::BTreeMap;

use pratique_gotext::json::UnmarshalTypeError;
use pratique_json::{Object, Value, base64};
use pratique_types::{ListMeta, Status, StatusCause, StatusDetails};

use crate::order::first_in;

/// Reads fields.
#[derive(Debug)]
pub(crate) struct Fields {
    /// What Go calls the package of reviews.
    package: &'static str,
    faults: Vec<Fault>,
}

/// Something that is wrong with a field.
#[derive(Debug)]
struct Fault {
    path: String,
    message: String,
}

impl Fields {
    /// For reviews of a version.
    pub(crate) fn new(package: &'static str) -> Self {
        Fields {
            package,
            faults: Vec::new(),
        }
    }

    /// The first fault of a document, if there was any. `text` is the document, as JSON.
    ///
    /// # Errors
    /// The fault, in the reference's words.
    pub(crate) fn fault(self, text: &[u8]) -> Result<(), String> {
        let mut faults = self.faults;
        let first = match faults.len() {
            0 => return Ok(()),
            1 => 0,
            _ => {
                let paths: Vec<&str> = faults.iter().map(|fault| fault.path.as_str()).collect();
                first_in(text, &paths).unwrap_or_default()
            }
        };
        Err(faults.swap_remove(first).message)
    }

    /// The object that the last step of a path names; `of` is the type of what has it, `go` its own, of the same
    /// package.
    pub(crate) fn structure<'v>(
        &mut self,
        value: &'v Value<'v>,
        of: &str,
        path: &str,
        go: &str,
    ) -> Option<&'v Value<'v>> {
        let go = format!("{}.{go}", self.package);
        self.meta_structure(value, of, path, &go)
    }

    /// An object of a type of any package.
    pub(crate) fn meta_structure<'v>(
        &mut self,
        value: &'v Value<'v>,
        of: &str,
        path: &str,
        go: &str,
    ) -> Option<&'v Value<'v>> {
        let field = field(value, path)?;
        match field {
            Value::Object(_) => Some(field),
            other => self.mismatch(other, of, path, go),
        }
    }

    pub(crate) fn text(&mut self, value: &Value<'_>, of: &str, path: &str, go: &str) -> Option<String> {
        match field(value, path)? {
            Value::String(text) => Some(text.clone().into_owned()),
            other => self.mismatch(other, of, path, go),
        }
    }

    /// A text of a type of the same package.
    pub(crate) fn own_text(&mut self, value: &Value<'_>, of: &str, path: &str, go: &str) -> Option<String> {
        let go = format!("{}.{go}", self.package);
        self.text(value, of, path, &go)
    }

    pub(crate) fn bool(&mut self, value: &Value<'_>, of: &str, path: &str) -> bool {
        match field(value, path) {
            None => false,
            Some(Value::Bool(value)) => *value,
            Some(other) => self.mismatch(other, of, path, "bool").unwrap_or_default(),
        }
    }

    fn int32(&mut self, value: &Value<'_>, of: &str, path: &str) -> i32 {
        let number = match field(value, path) {
            None => return 0,
            Some(Value::Int(number)) => i32::try_from(*number).ok(),
            Some(_) => None,
        };
        let other = field(value, path).unwrap_or(&Value::Null);
        number
            .or_else(|| self.mismatch(other, of, path, "int32"))
            .unwrap_or_default()
    }

    fn int64(&mut self, value: &Value<'_>, of: &str, path: &str) -> Option<i64> {
        match field(value, path)? {
            Value::Int(number) => Some(*number),
            other => self.mismatch(other, of, path, "int64"),
        }
    }

    pub(crate) fn texts(&mut self, value: &Value<'_>, of: &str, path: &str) -> Vec<String> {
        match field(value, path) {
            None => Vec::new(),
            Some(Value::Array(elements)) => {
                let texts = elements.iter().map(|element| self.element(element, of, path));
                texts.collect()
            }
            Some(other) => self.mismatch(other, of, path, "[]string").unwrap_or_default(),
        }
    }

    pub(crate) fn texts_by_key(
        &mut self,
        value: &Value<'_>,
        of: &str,
        path: &str,
    ) -> BTreeMap<String, String> {
        match field(value, path) {
            None => BTreeMap::new(),
            Some(Value::Object(members)) => {
                let texts = members
                    .iter()
                    .map(|(key, value)| (key.to_owned(), self.element(value, of, path)));
                texts.collect()
            }
            Some(other) => self
                .mismatch(other, of, path, "map[string]string")
                .unwrap_or_default(),
        }
    }

    /// Looks at lists of texts by key; `go` is the type of such a list.
    pub(crate) fn lists_by_key(&mut self, value: &Value<'_>, of: &str, path: &str, go: &str) {
        let members = match field(value, path) {
            None => return,
            Some(Value::Object(members)) => members,
            Some(other) => {
                let go = format!("map[string]{go}");
                return self.mismatch(other, of, path, &go).unwrap_or_default();
            }
        };
        for (_, list) in members.iter() {
            match list {
                Value::Null => {}
                Value::Array(elements) => elements
                    .iter()
                    .for_each(|element| drop(self.element(element, of, path))),
                other => self.mismatch(other, of, path, go).unwrap_or_default(),
            }
        }
    }

    pub(crate) fn bytes(&mut self, value: &Value<'_>, of: &str, path: &str) -> Vec<u8> {
        match field(value, path) {
            None => Vec::new(),
            Some(Value::String(text)) => match base64::decode(text) {
                Ok(bytes) => bytes,
                Err(at) => {
                    self.say(path, format!("illegal base64 data at input byte {at}"));
                    Vec::new()
                }
            },
            Some(Value::Array(elements)) => {
                let byte = |element: &Value<'_>| match element {
                    Value::Null => 0,
                    Value::Int(number) if u8::try_from(*number).is_ok() => *number as u8,
                    other => self.mismatch(other, of, path, "uint8").unwrap_or_default(),
                };
                elements.iter().map(byte).collect()
            }
            Some(other) => self.mismatch(other, of, path, "[]uint8").unwrap_or_default(),
        }
    }

    /// The status at a path, which is empty where it is the whole.
    pub(crate) fn status(&mut self, value: &Value<'_>, path: &str) -> Status {
        const OF: &str = "Status";
        let at = |name: &str| match path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        for embedded in ["TypeMeta.kind", "TypeMeta.apiVersion"] {
            self.text(value, OF, &at(embedded), "string");
        }
        let mut text = |name: &str, go: &str| self.text(value, OF, &at(name), go).unwrap_or_default();
        Status {
            status: text("status", "string"),
            message: text("message", "string"),
            reason: text("reason", "v1.StatusReason"),
            metadata: self
                .meta_structure(value, OF, &at("metadata"), "v1.ListMeta")
                .map(|metadata| self.metadata(metadata, &at("metadata")))
                .unwrap_or_default(),
            details: self
                .meta_structure(value, OF, &at("details"), "v1.StatusDetails")
                .map(|details| self.details(details, &at("details"))),
            code: self.int32(value, OF, &at("code")),
        }
    }

    fn metadata(&mut self, value: &Value<'_>, path: &str) -> ListMeta {
        const OF: &str = "ListMeta";
        let at = |name: &str| format!("{path}.{name}");
        let mut text = |name: &str| self.text(value, OF, &at(name), "string").unwrap_or_default();
        ListMeta {
            self_link: text("selfLink"),
            resource_version: text("resourceVersion"),
            r#continue: text("continue"),
            remaining_item_count: self.int64(value, OF, &at("remainingItemCount")),
        }
    }

    fn details(&mut self, value: &Value<'_>, path: &str) -> StatusDetails {
        const OF: &str = "StatusDetails";
        let at = |name: &str| format!("{path}.{name}");
        let mut text = |name: &str, go: &str| self.text(value, OF, &at(name), go).unwrap_or_default();
        StatusDetails {
            name: text("name", "string"),
            group: text("group", "string"),
            kind: text("kind", "string"),
            uid: text("uid", "types.UID"),
            causes: self.causes(value, &at("causes")),
            retry_after_seconds: self.int32(value, OF, &at("retryAfterSeconds")),
        }
    }

    fn causes(&mut self, value: &Value<'_>, path: &str) -> Vec<StatusCause> {
        let elements = match field(value, path) {
            None => return Vec::new(),
            Some(Value::Array(elements)) => elements,
            Some(other) => {
                return self
                    .mismatch(other, "StatusDetails", path, "[]v1.StatusCause")
                    .unwrap_or_default();
            }
        };
        elements.iter().map(|cause| self.cause(cause, path)).collect()
    }

    fn cause(&mut self, value: &Value<'_>, path: &str) -> StatusCause {
        if !matches!(value, Value::Object(_) | Value::Null) {
            return self
                .mismatch(value, "StatusDetails", path, "v1.StatusCause")
                .unwrap_or_default();
        }
        let mut text = |name: &str, go: &str| {
            let path = format!("{path}.{name}");
            self.text(value, "StatusCause", &path, go).unwrap_or_default()
        };
        StatusCause {
            reason: text("reason", "v1.CauseType"),
            message: text("message", "string"),
            field: text("field", "string"),
        }
    }

    fn element(&mut self, element: &Value<'_>, of: &str, path: &str) -> String {
        match element {
            Value::Null => String::new(),
            Value::String(text) => text.clone().into_owned(),
            other => self.mismatch(other, of, path, "string").unwrap_or_default(),
        }
    }

    fn mismatch<T>(&mut self, value: &Value<'_>, of: &str, path: &str, go: &str) -> Option<T> {
        let what = value.kind_for(go);
        self.say(
            path,
            UnmarshalTypeError::of_field(&what, of, path, go).to_string(),
        );
        None
    }

    /// One for each path is enough: of those at one, the first is found first.
    fn say(&mut self, path: &str, message: String) {
        // The fields of a type that Go embeds are those of what embeds it.
        let path = path.replace("TypeMeta.", "");
        if !self.faults.iter().any(|fault| fault.path == path) {
            self.faults.push(Fault { path, message });
        }
    }
}

/// The value that the last step of a path names, unless it is null.
fn field<'v>(value: &'v Value<'v>, path: &str) -> Option<&'v Value<'v>> {
    let name = path.rsplit_once('.').map_or(path, |(_, name)| name);
    let members: Option<&Object<'_>> = value.as_object();
    members?.get(name).filter(|value| !value.is_null())
}
