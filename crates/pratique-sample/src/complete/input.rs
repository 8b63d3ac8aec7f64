//! Requests about objects that are kept elsewhere.

use std::borrow::Cow;

use pratique_json::Value;
use pratique_types::{AdmissionRequest, Operation};

use super::{Sample, SampleExtent, SampleSpec, sample_request};

/// A request about objects that are kept elsewhere: many requests are about one object.
#[derive(Clone, Debug)]
pub struct SampleInput<'s> {
    /// Its operation.
    pub operation: Operation,
    /// Whether the authorizer allows every check.
    pub allows: bool,
    /// Which of the fields that expressions name its objects have.
    pub extent: Cow<'s, SampleExtent>,
    object: Cow<'s, Value<'static>>,
    old_object: Cow<'s, Value<'static>>,
}

impl<'s> SampleInput<'s> {
    pub(super) fn new(
        operation: Operation,
        (object, old_object): (&'s Value<'static>, Cow<'s, Value<'static>>),
        allows: bool,
        extent: &'s SampleExtent,
    ) -> Self {
        SampleInput {
            operation,
            allows,
            extent: Cow::Borrowed(extent),
            object: Cow::Borrowed(object),
            old_object,
        }
    }

    /// One in which the object has no name, of an [operation that has such](has_nameless).
    pub(crate) fn nameless(operation: Operation, object: &'s Value<'static>, allows: bool) -> Self {
        let null = Cow::Owned(Value::Null);
        let (object, old_object) = match operation {
            Operation::Delete => (null, Cow::Borrowed(object)),
            _ => (Cow::Owned(without_name(object)), null),
        };
        SampleInput {
            operation,
            allows,
            extent: Cow::Owned(SampleExtent::Nameless),
            object,
            old_object,
        }
    }

    /// The object.
    pub fn object(&self) -> &Value<'static> {
        &self.object
    }

    /// The old object.
    pub fn old_object(&self) -> &Value<'static> {
        &self.old_object
    }

    /// Whether it has no name.
    pub(crate) fn is_nameless(&self) -> bool {
        *self.extent == SampleExtent::Nameless
    }

    /// The request, which shares the texts of the objects.
    pub fn request(&self, spec: &SampleSpec<'_>) -> AdmissionRequest<'_> {
        let objects = (self.object.borrowed(), self.old_object.borrowed());
        self.request_about(spec, objects)
    }

    /// The same by itself.
    pub fn into_sample(self, spec: &SampleSpec<'_>) -> Sample {
        let objects = (
            self.object.clone().into_owned(),
            self.old_object.clone().into_owned(),
        );
        Sample {
            request: self.request_about(spec, objects),
            allows: self.allows,
            extent: self.extent.into_owned(),
        }
    }

    fn request_about<'v>(
        &self,
        spec: &SampleSpec<'_>,
        (object, old_object): (Value<'v>, Value<'v>),
    ) -> AdmissionRequest<'v> {
        let mut request = sample_request(spec, self.operation, object, old_object);
        if self.is_nameless() {
            request.name.clear();
        }
        request
    }
}

impl Sample {
    /// The same about the objects of this one.
    pub fn input(&self) -> SampleInput<'_> {
        let objects = (&self.request.object, Cow::Borrowed(&self.request.old_object));
        SampleInput::new(self.request.operation, objects, self.allows, &self.extent)
    }
}

/// Whether there are requests for an operation in which the object has no name.
pub(crate) fn has_nameless(spec: &SampleSpec<'_>, operation: Operation) -> bool {
    // A rule that names objects matches none without a name.
    if spec.selected.name.is_some() || !spec.served.subresource.is_empty() {
        return false;
    }
    match operation {
        // Namespaces are not deleted as a collection.
        Operation::Delete => spec.served.resource.resource != "namespaces",
        // Upstream: pkg/registry/rest/create.go, BeforeCreate: the name is generated before validating admission.
        Operation::Create => spec.is_mutating,
        _ => false,
    }
}

/// An object whose name is yet to be generated.
fn without_name(object: &Value<'static>) -> Value<'static> {
    let mut object = object.clone();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("name");
        metadata.insert("generateName", Value::from("example-"));
    }
    object
}
