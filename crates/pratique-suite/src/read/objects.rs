//! Reads objects, inline or from files.

use pratique_json::Value;
use pratique_manifest::{NodeId, Rule, path_text};

use super::Reader;
use super::fields::Fields;
use crate::files;

impl<'a> Reader<'a> {
    /// Reads an object, inline or from a file.
    pub(super) fn object(&mut self, fields: &Fields<'a>, name: &str) -> Option<Value<'static>> {
        let id = fields.node(name)?;
        let Some(reference) = self.fields(id).as_text() else {
            return Some(self.fields(id).value_of());
        };
        let (path, wanted) = match reference.rsplit_once('#') {
            Some((path, name)) => (path, Some(name)),
            None => (reference.as_str(), None),
        };
        let mut objects = self.file(path, id)?;
        if let Some(wanted) = wanted {
            objects.retain(|object| object.at(&["metadata", "name"]).and_then(Value::as_str) == Some(wanted));
        }
        let count = objects.len();
        match (objects.pop(), count) {
            (Some(object), 1) => Some(object),
            (_, 0) => {
                self.fault(Rule::InvalidField, format!("{reference} has no such object"), id);
                None
            }
            _ => {
                let message = format!("{path} has {count} objects: name one of them as {path}#NAME");
                self.fault(Rule::InvalidField, message, id);
                None
            }
        }
    }

    /// The objects of a file.
    pub(super) fn file(&mut self, path: &str, at: NodeId) -> Option<Vec<Value<'static>>> {
        let full = self.directory.join(path);
        if self.budget.is_spent() {
            return None;
        }
        if let Err(outside) = self.roots.permit(&full) {
            self.outside(&full, &outside, at);
            return None;
        }
        self.files.push(full.clone());
        match files::read(&full).map(|file| files::objects(&file)) {
            Ok(Ok(objects)) => Some(objects),
            Ok(Err(problems)) => {
                self.problems.extend(problems);
                None
            }
            Err(error) => {
                let message = format!("{}: {}", path_text(&full), files::plain(&error));
                self.fault(Rule::Unreadable, message, at);
                None
            }
        }
    }
}
