//! Reads objects, inline or from files and directories.

use std::collections::BTreeMap;

use pratique_json::Value;
use pratique_manifest::{NodeId, Rule};
use pratique_request::DEFAULT_NAMESPACE;

use super::Fields;
use super::SuiteDecoder;
use crate::files;
use crate::select::{ObjectSelector, object_label};
use crate::suite::ExpectedResult;

/// An object of a test that has several, with its own expectation if it has one.
pub(super) struct TestObject {
    pub(super) object: Value<'static>,
    pub(super) label: String,
    pub(super) expected: Option<(NodeId, Option<ExpectedResult>)>,
}

impl<'a> SuiteDecoder<'a> {
    /// Reads an object, inline or from a file.
    pub(super) fn object(&mut self, fields: &Fields<'a>, name: &str) -> Option<Value<'static>> {
        let id = fields.node(name)?;
        let Some(reference) = self.fields(id).as_text() else {
            return self.inline_object(id);
        };
        let namespace = namespace_of(fields);
        let mut objects = self.chosen(&reference, &namespace, id)?;
        let count = objects.len();
        match (objects.pop(), count) {
            (Some(object), 1) => Some(object),
            _ => {
                let message = if reference.contains('#') {
                    format!("{reference} fits {count} objects: name one of them as FILE#KIND/NAMESPACE/NAME")
                } else {
                    format!("{reference} has {count} objects: name one of them as {reference}#NAME")
                };
                self.fault(Rule::InvalidField, message, id);
                None
            }
        }
    }

    /// The object of a mapping, which may be a list of one.
    fn inline_object(&mut self, id: NodeId) -> Option<Value<'static>> {
        let mut objects = self.fields(id).objects_of();
        if objects.len() > 1 {
            let message = format!(
                "it is a list of {} objects: write them as `objects`",
                objects.len()
            );
            self.fault(Rule::InvalidField, message, id);
            return None;
        }
        let object = objects.pop();
        if object.is_none() {
            self.fault(Rule::InvalidField, "it is a list without objects".to_owned(), id);
        }
        object
    }

    /// The objects that a reference names, `PATH` or `PATH#CHOICE`; there is at least one.
    fn chosen(&mut self, reference: &str, namespace: &str, at: NodeId) -> Option<Vec<Value<'static>>> {
        let (path, wanted) = match reference.rsplit_once('#') {
            Some((path, wanted)) => (path, Some(wanted)),
            None => (reference, None),
        };
        let mut objects = self.file(path, at)?;
        if let Some(wanted) = wanted {
            let Some(selector) = ObjectSelector::parse(wanted) else {
                let message = format!("`{wanted}` is no NAME, KIND/NAME or KIND/NAMESPACE/NAME");
                self.fault(Rule::InvalidField, message, at);
                return None;
            };
            objects.retain(|object| selector.fits(object, namespace));
        }
        if objects.is_empty() {
            self.fault(Rule::InvalidField, format!("{reference} has no such object"), at);
            return None;
        }
        Some(objects)
    }

    /// Reads the objects of a test that has several, with their expectations.
    pub(super) fn objects(&mut self, fields: &Fields<'a>) -> Vec<TestObject> {
        let namespace = namespace_of(fields);
        let mut objects = Vec::new();
        for id in fields.list("objects") {
            match self.fields(id).as_text() {
                Some(reference) => {
                    let chosen = self.chosen(&reference, &namespace, id).unwrap_or_default();
                    let had = !self.budget.is_spent();
                    if !self.budget.take_objects(&chosen) {
                        if had {
                            self.fault(Rule::InvalidField, super::budget::SPENT.to_owned(), id);
                        }
                        return Vec::new();
                    }
                    objects.extend(chosen);
                }
                None => objects.extend(self.fields(id).objects_of()),
            }
        }
        let mut expectations = self.object_expectations(fields);
        let mut labels: BTreeMap<String, usize> = BTreeMap::new();
        let mut all = Vec::with_capacity(objects.len());
        for object in objects {
            let expected = self.expectation_of(&object, &namespace, &mut expectations);
            let plain = object_label(&object);
            let number = labels.entry(plain.clone()).or_default();
            *number += 1;
            let label = match *number {
                1 => plain,
                number => format!("{plain} ({number})"),
            };
            all.push(TestObject {
                object,
                label,
                expected,
            });
        }
        for unused in expectations.into_iter().filter(|expectation| !expectation.used) {
            let message = format!("none of `objects` is {}", unused.text);
            self.fault_at(Rule::InvalidField, message, unused.location);
        }
        all
    }

    fn object_expectations(&mut self, fields: &Fields<'a>) -> Vec<ObjectExpectation> {
        let mut all = Vec::new();
        for entry in fields.entries("expectObjects") {
            let location = self.source.document().location(entry.key_span);
            match ObjectSelector::parse(&entry.key) {
                Some(selector) => all.push(ObjectExpectation {
                    selector,
                    text: entry.key.to_string(),
                    location,
                    node: entry.value,
                    used: false,
                }),
                None => {
                    let message = format!("`{}` is no NAME, KIND/NAME or KIND/NAMESPACE/NAME", entry.key);
                    self.fault_at(Rule::InvalidField, message, location);
                }
            }
        }
        all
    }

    /// The expectation of one of several objects, if it has one of its own.
    fn expectation_of(
        &mut self,
        object: &Value<'static>,
        namespace: &str,
        expectations: &mut [ObjectExpectation],
    ) -> Option<(NodeId, Option<ExpectedResult>)> {
        let mut node = None;
        let mut first = String::new();
        for expectation in expectations {
            if !expectation.selector.fits(object, namespace) {
                continue;
            }
            expectation.used = true;
            if node.is_some() {
                let message = format!(
                    "{} is {} as well as {first}",
                    object_label(object),
                    expectation.text
                );
                self.fault_at(Rule::InvalidField, message, expectation.location.clone());
                continue;
            }
            node = Some(expectation.node);
            first.clone_from(&expectation.text);
        }
        let node = node?;
        Some((node, self.expected(node)))
    }

    /// The objects of a file, or of all files below a directory.
    pub(super) fn file(&mut self, path: &str, at: NodeId) -> Option<Vec<Value<'static>>> {
        let full = self.directory.join(path);
        if self.budget.is_spent() {
            return None;
        }
        let listed = match self.roots.files(&full, files::below) {
            Ok(listed) => listed,
            Err(error) => {
                self.unopened(&full, &error, at);
                return None;
            }
        };
        let mut objects = Vec::new();
        for file in listed {
            match self
                .roots
                .open(&file)
                .map(|content| pratique_manifest::convert::objects(&content))
            {
                Ok(Ok(file_objects)) => objects.extend(file_objects),
                Ok(Err(problems)) => {
                    self.problems.extend(problems);
                    return None;
                }
                Err(error) => {
                    self.unopened(&file, &error, at);
                    return None;
                }
            }
            self.files.push(file);
        }
        Some(objects)
    }
}

/// The expectation of some of a test's objects.
struct ObjectExpectation {
    selector: ObjectSelector,
    text: String,
    location: pratique_manifest::Location,
    node: NodeId,
    used: bool,
}

/// The namespace of objects that name none.
fn namespace_of(fields: &Fields<'_>) -> String {
    fields
        .read_text("namespace")
        .unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned())
}
