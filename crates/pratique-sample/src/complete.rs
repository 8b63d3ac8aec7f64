//! Complete objects of built-in kinds, and requests about them.
//!
//! A sample has the fields that every object of its kind has when policies see it, and the optional fields that
//! expressions name. Variants leave one of those out, or are filled towards one only; strings and numbers are those that
//! expressions compare with.

mod always_present;
mod build;
mod named_fields;
mod unfilled_object;

use pratique_json::Value;
use pratique_objects::Objects;
use pratique_schema::Schema;
use pratique_types::builtin::ServedResource;
use pratique_types::{AdmissionRequest, ObjectForm, Operation};

use crate::request::build_request;
use build::{CompleteSpec, OptionalFill, build};
use unfilled_object::unfilled;

pub use build::SelectedMetadata;
pub use named_fields::NamedFields;

/// What complete samples are made for.
#[derive(Clone, Copy, Debug)]
pub struct SampleSpec<'s> {
    /// The resource, whose kind has to be built in.
    pub served: &'s ServedResource,
    /// The operations.
    pub operations: &'s [Operation],
    /// What expressions name.
    pub interest: &'s NamedFields,
    /// What rules and selectors require.
    pub selected: &'s SelectedMetadata,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SampleExtent {
    /// All of them.
    Whole,
    /// No optional one.
    Least,
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
const TIME: &str = "2025-01-01T00:00:00Z";

/// Requests about complete objects of a kind, the most informative first.
pub fn complete_samples(spec: &SampleSpec<'_>) -> Vec<Sample> {
    let SampleSpec { served, interest, .. } = *spec;
    let mut samples = Vec::new();
    let objects = complete_objects(spec, spec.most.min(MOST_OBJECTS));
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
                    let request = AdmissionRequest {
                        // They are complete: nothing is to be added that would hide what is missing.
                        form: ObjectForm::Unstructured,
                        ..build_request(served, *operation, object.clone(), old.clone())
                    };
                    samples.push(Sample {
                        request,
                        allows,
                        extent: extent.clone(),
                    });
                }
            }
        }
    }
    samples
}

/// Objects of a kind, with the defaults that the server sets in them: first one with all fields that expressions name, then
/// objects without one of the fields, and minimal ones; and again with each of the values that expressions compare with.
fn complete_objects(spec: &SampleSpec<'_>, most: usize) -> Vec<(Value<'static>, SampleExtent)> {
    let SampleSpec {
        served,
        interest,
        selected,
        ..
    } = *spec;
    let Some(id) = Schema::builtin().kind(&served.kind) else {
        return Vec::new();
    };
    let api_version = served.kind.api_version();
    let completed = Objects::with_placeholder(TIME);
    let generate = |fill: OptionalFill<'_>, without: Option<&[String]>, round: usize| {
        let spec = CompleteSpec {
            interest,
            fill,
            without,
            round,
            selected,
            namespaced: served.namespaced,
        };
        let (mut object, paths) = build(id, &api_version, &served.kind.kind, &spec);
        // Policies see objects as the server defaults them; one that it cannot convert stays as it is.
        drop(completed.default(&served.kind, &mut object));
        (object, paths)
    };
    let mut objects = Vec::new();
    for round in 0..=interest.most_values().max(1) {
        let (whole, paths) = generate(OptionalFill::Named, None, round);
        let unfilled = match round {
            0 => unfilled(&completed, &served.kind, id, &whole, interest),
            _ => Vec::new(),
        };
        objects.push((whole, SampleExtent::Whole));
        objects.extend(unfilled.into_iter().map(|unfilled| {
            let name = unfilled.name.to_owned();
            let extent = match unfilled.condition {
                Some(condition) => SampleExtent::Unfilled { name, condition },
                None => SampleExtent::Without(name),
            };
            (unfilled.object, extent)
        }));
        objects.push((
            generate(OptionalFill::Towards(&[]), None, round).0,
            SampleExtent::Least,
        ));
        for path in &paths {
            for fill in [OptionalFill::Named, OptionalFill::Towards(path)] {
                let extent = SampleExtent::Without(path.last().cloned().unwrap_or_default());
                objects.push((generate(fill, Some(path), round).0, extent));
            }
        }
        if objects.len() > most {
            break;
        }
    }
    objects.truncate(most);
    objects
}
