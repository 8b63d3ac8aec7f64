//! Complete objects of built-in kinds, and requests about them.
//!
//! A sample has the fields that every object of its kind has when policies see it, and the optional fields that
//! expressions name. Variants leave one of those out, or are filled towards one only; strings and numbers are those that
//! expressions compare with.

mod always_present;
mod build;
mod named_fields;
mod portless_service;
mod required_constants;
mod unfilled_object;
mod variants;

use std::collections::HashSet;

use pratique_json::Value;
use pratique_objects::ObjectCodec;
use pratique_schema::{FeatureGates, Release};
use pratique_types::builtin::ServedResource;
use pratique_types::{AdmissionRequest, ObjectForm, Operation};

use crate::request::build_request;
use portless_service::settle_ports;
use unfilled_object::unfilled;
use variants::VariantBuilder;

pub use build::SelectedMetadata;
pub use named_fields::NamedFields;
pub use required_constants::RequiredConstants;

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
    /// Whether they are for the mutating phase, in which objects with `generateName` have no name yet.
    pub is_mutating: bool,
    /// The most samples.
    pub most: usize,
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

/// The maximum number of objects of a kind.
const MOST_OBJECTS: usize = 400;

/// The time that stands for that of requests.
pub(crate) const TIME: &str = "2025-01-01T00:00:00Z";

/// Requests about complete objects of a kind, the most informative first.
pub fn complete_samples(spec: &SampleSpec<'_>) -> Vec<Sample> {
    let interest = spec.interest;
    let mut samples = Vec::new();
    let objects = complete_objects(spec, spec.most.min(MOST_OBJECTS));
    let reads_name = interest.names("name");
    let whole = objects
        .first()
        .map(|(object, _)| object.clone())
        .unwrap_or_default();
    for (index, (object, extent)) in objects.iter().enumerate() {
        let allows = index % 2 == 1;
        for operation in spec.operations {
            let pairs: Vec<(&Value<'static>, &Value<'static>)> = match operation {
                Operation::Delete => vec![(&Value::Null, object)],
                Operation::Update if interest.reads_old => {
                    vec![(object, &whole), (&whole, object), (object, object)]
                }
                Operation::Update => vec![(object, &whole)],
                Operation::Create | Operation::Connect | Operation::None => vec![(object, &Value::Null)],
            };
            for (object, old) in pairs {
                if samples.len() < spec.most {
                    samples.push(Sample {
                        request: sample_request(spec, *operation, object.clone(), old.clone()),
                        allows,
                        extent: extent.clone(),
                    });
                }
            }
            if *extent == SampleExtent::Whole && samples.len() < spec.most && reads_name {
                samples.extend(nameless_request(spec, *operation, object).map(|request| Sample {
                    request,
                    allows,
                    extent: SampleExtent::Nameless,
                }));
            }
        }
    }
    samples
}

pub(crate) fn sample_request(
    spec: &SampleSpec<'_>,
    operation: Operation,
    object: Value<'static>,
    old_object: Value<'static>,
) -> AdmissionRequest<'static> {
    let mut request = AdmissionRequest {
        // They are complete: nothing is to be added that would hide what is missing.
        form: ObjectForm::Unstructured,
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

/// A request in which the object has no name, if there are such.
pub(crate) fn nameless_request(
    spec: &SampleSpec<'_>,
    operation: Operation,
    object: &Value<'static>,
) -> Option<AdmissionRequest<'static>> {
    let SampleSpec { served, .. } = *spec;
    // A rule that names objects matches none without a name.
    if spec.selected.name.is_some() || !served.subresource.is_empty() {
        return None;
    }
    let mut request = match operation {
        // Namespaces are not deleted as a collection.
        Operation::Delete if served.resource.resource == "namespaces" => return None,
        Operation::Delete => sample_request(spec, operation, Value::Null, object.clone()),
        // Upstream: pkg/registry/rest/create.go, BeforeCreate: the name is generated before validating admission.
        Operation::Create if spec.is_mutating => {
            let mut object = object.clone();
            if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
                metadata.remove("name");
                metadata.insert("generateName", Value::from("example-"));
            }
            sample_request(spec, operation, object, Value::Null)
        }
        _ => return None,
    };
    request.name.clear();
    Some(request)
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

/// Objects of a kind, with the defaults that the server sets in them: first one with all fields that expressions name, then
/// objects without one of the fields, and minimal ones; and again with each of the values that expressions compare with.
fn complete_objects(spec: &SampleSpec<'_>, most: usize) -> Vec<(Value<'static>, SampleExtent)> {
    let SampleSpec {
        release,
        served,
        interest,
        ..
    } = *spec;
    let Some(id) = release.schema().kind(&served.kind) else {
        return Vec::new();
    };
    let completed = ObjectCodec::with_placeholder(TIME).with_gates(FeatureGates::new(release));
    let mut variants = VariantBuilder::new(spec, id, &completed);
    let mut objects = Vec::new();
    let mut known = HashSet::new();
    for round in 0..=interest.most_values().max(1) {
        let mut of_round = Vec::new();
        let optional = variants.begin(round);
        if let Some(whole) = variants.whole() {
            let unfilled = match round {
                0 => unfilled(&completed, &served.kind, id, &whole, interest),
                _ => Vec::new(),
            };
            let fractional = (round == 0).then(|| variants.fractional());
            let fractional = fractional.filter(|fractional| *fractional != whole);
            of_round.push((whole, SampleExtent::Whole));
            of_round.extend(fractional.map(|object| (object, SampleExtent::Fractional)));
            of_round.extend(unfilled.into_iter().map(|unfilled| {
                let name = unfilled.name.to_owned();
                let extent = match unfilled.condition {
                    Some(condition) => SampleExtent::Unfilled { name, condition },
                    None => SampleExtent::Without(name),
                };
                (unfilled.object, extent)
            }));
        }
        of_round.extend(variants.least().map(|object| (object, SampleExtent::Least)));
        for field in &*optional {
            let extent = SampleExtent::Without(field.path.last().cloned().unwrap_or_default());
            let without = [variants.without(field), variants.towards(field)];
            of_round.extend(
                without
                    .into_iter()
                    .flatten()
                    .map(|object| (object, extent.clone())),
            );
        }
        // The values that are compared may be of no field of this kind: `object.kind` of several. The authorizer answers the
        // objects of the first two rounds in different ways.
        let is_asked = round < 2 && interest.reads_authorizer;
        of_round.retain(|(object, extent)| known.insert((object.to_string(), extent.clone())) || is_asked);
        objects.extend(of_round);
        if objects.len() > most {
            break;
        }
    }
    objects.retain_mut(|(object, _)| settle_ports(&served.kind, object));
    objects.truncate(most);
    objects
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
