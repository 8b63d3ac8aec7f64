//! Complete objects of built-in kinds, and requests about them.
//!
//! A sample has the fields that every object of its kind has when policies see it, and the optional fields that
//! expressions name. Variants leave one of those out, or are filled towards one only; strings and numbers are those that
//! expressions compare with.

mod always_present;
mod build;
mod input;
mod matching_text;
mod memory;
mod named_fields;
mod objects;
mod required_constants;
mod settled_ingress;
mod settled_job;
mod settled_service;
mod text_conversion;
mod unfilled_object;
mod variants;

use pratique_json::{Object, Value};
use pratique_schema::Release;
use pratique_types::builtin::ServedResource;
use pratique_types::{AdmissionRequest, ObjectForm, Operation};

use crate::footprint::ReadFootprint;
use crate::request::build_request;

pub use build::SelectedMetadata;
pub use input::SampleInput;
pub(crate) use input::has_nameless;
pub use memory::SampleMemory;
pub use named_fields::NamedFields;
pub use objects::SampleObjects;
pub use required_constants::RequiredConstants;
pub(crate) use settled_job::remove_generated;
pub use text_conversion::{ConvertedText, TextConversion};

/// What complete samples are made for.
#[derive(Clone, Copy, Debug)]
pub struct SampleSpec<'s> {
    /// The release of the server, whose kinds and defaults these are.
    pub release: &'static Release,
    /// The resource, whose kind has to be built in.
    pub served: &'s ServedResource,
    /// The operations.
    pub operations: &'s [Operation],
    /// What expressions name.
    pub interest: &'s NamedFields,
    /// What rules and selectors require.
    pub selected: &'s SelectedMetadata,
    /// What match conditions require.
    pub required: &'s RequiredConstants,
    /// What is read of the objects: nothing else is left out of some of them. Without any, everything is.
    pub footprints: &'s [ReadFootprint],
    /// Whether they are for the mutating phase, in which objects with `generateName` have no name yet.
    pub is_mutating: bool,
    /// The most samples.
    pub most: usize,
}

impl SampleSpec<'_> {
    /// Whether something may read a field or key at a path.
    fn reads(&self, path: &[String]) -> bool {
        self.footprints.is_empty() || self.footprints.iter().any(|footprint| footprint.reads(path))
    }
}

/// A request over which expressions are evaluated.
#[derive(Debug)]
pub struct Sample {
    /// The request.
    pub request: AdmissionRequest<'static>,
    /// Whether the authorizer allows every check.
    pub allows: bool,
    /// Which of the fields that expressions name its objects have.
    pub extent: SampleExtent,
}

/// Which of the fields that expressions name an object has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SampleExtent {
    /// All of them.
    Whole,
    /// All of them, and quantities are fractions.
    Fractional,
    /// No optional one.
    Least,
    /// All of them, but no name: of an object whose name is yet to be generated, or of the request to delete one of a
    /// collection.
    Nameless,
    /// Not the field or key of this name.
    Without(String),
    /// Not the field of this name, which defaults fill in other objects; with the condition under which they do not.
    Unfilled {
        /// The field.
        name: String,
        /// Such as `type is Recreate`; may be empty.
        condition: String,
    },
}

/// The time that stands for that of requests.
pub(crate) const TIME: &str = "2025-01-01T00:00:00Z";

/// Requests about complete objects of a kind, the most informative first.
pub fn complete_samples(spec: &SampleSpec<'_>) -> Vec<Sample> {
    let objects = SampleObjects::new(spec);
    let inputs = objects.inputs(spec).into_iter();
    inputs.map(|input| input.into_sample(spec)).collect()
}

pub(crate) fn sample_request<'v>(
    spec: &SampleSpec<'_>,
    operation: Operation,
    object: Value<'v>,
    old_object: Value<'v>,
) -> AdmissionRequest<'v> {
    let mut request = AdmissionRequest {
        // They are complete: nothing is to be added that would hide what is missing.
        form: ObjectForm::Unstructured,
        options: make_options(operation),
        ..build_request(spec.served, operation, object, old_object)
    };
    if let Some(user) = spec.required.of_request(&["userInfo", "username"]) {
        request.user_info.username = user.to_owned();
    }
    if let Some(group) = spec.required.of_request(&["userInfo", "groups"]) {
        request.user_info.groups.push(group.to_owned());
    }
    request
}

/// The options that a server gives policies where a client sets none.
fn make_options(operation: Operation) -> Value<'static> {
    let kind = match operation {
        Operation::Create => "CreateOptions",
        Operation::Update => "UpdateOptions",
        Operation::Delete => "DeleteOptions",
        Operation::Connect | Operation::None => return Value::Null,
    };
    let mut options = Object::new();
    options.insert("kind", kind);
    options.insert("apiVersion", "meta.k8s.io/v1");
    options.into()
}

/// Gives an object the name and the namespace that conditions require of the request.
pub(crate) fn require_names(
    required: &RequiredConstants,
    served: &ServedResource,
    object: &mut Value<'static>,
) {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else {
        return;
    };
    for field in ["name", "namespace"] {
        let is_there = field == "name" || served.namespaced;
        if let Some(text) = required.of_request(&[field]).filter(|_| is_there) {
            metadata.insert(field, Value::from(text.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pratique_cel::{Environment, Type};

    /// Requests about Pods for an expression.
    fn samples(expression: &str) -> Vec<Sample> {
        let environment = Environment::standard().with_variable("object", Type::Dyn);
        let ast = environment.parse(expression).unwrap();
        complete_samples(&SampleSpec {
            release: Release::latest(),
            served: Release::latest().resources().named("pods").unwrap(),
            operations: &[Operation::Create],
            interest: &NamedFields::new([(None, &ast)]),
            selected: &SelectedMetadata::default(),
            required: &RequiredConstants::default(),
            footprints: &[],
            is_mutating: false,
            most: 400,
        })
    }

    fn count(expression: &str) -> usize {
        samples(expression).len()
    }

    #[test]
    fn values_of_no_field_make_no_more_objects() {
        let kinds = "object.kind in ['Deployment', 'Job', 'Pod', 'StatefulSet'] && object.spec.hostPID";
        assert_eq!(count(kinds), count("object.kind == 'Pod' && object.spec.hostPID"));
        let of_a_field = "object.spec.nodeName in ['a', 'b', 'c', 'd'] && object.spec.hostPID";
        assert!(count(of_a_field) > count("object.spec.nodeName == 'a' && object.spec.hostPID"));
    }

    /// An object that has all fields has one of the alternatives only; the values of others are those of objects without that one.
    #[test]
    fn values_of_each_alternative_are_tried() {
        let samples = samples(
            "object.spec.containers.all(c, has(c.livenessProbe.exec) || c.livenessProbe.httpGet.scheme in ['HTTP', 'HTTPS'])",
        );
        let has = |text: &str| {
            samples
                .iter()
                .any(|sample| sample.request.object.to_string().contains(text))
        };
        assert!(has("\"scheme\":\"HTTP\"") && has("\"scheme\":\"HTTPS\""));
    }
}
