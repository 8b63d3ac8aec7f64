//! The objects of a kind.

use std::borrow::Cow;
use std::collections::HashSet;

use pratique_json::Value;
use pratique_objects::ObjectCodec;
use pratique_schema::FeatureGates;
use pratique_types::Operation;

use super::build::OptionalField;
use super::input::{SampleInput, has_nameless};
use super::settled_ingress::settle_ingress;
use super::settled_job::settle_job;
use super::settled_service::{remove_address, settle_service};
use super::unfilled_object::unfilled;
use super::variants::VariantBuilder;
use super::{SampleExtent, SampleSpec, TIME};

/// The maximum number of objects of a kind.
const MOST_OBJECTS: usize = 400;

/// Complete objects of a built-in kind.
#[derive(Debug)]
pub struct SampleObjects {
    objects: Vec<(Value<'static>, SampleExtent)>,
}

impl SampleObjects {
    /// Those of a specification, the most informative first.
    pub fn new(spec: &SampleSpec<'_>) -> Self {
        SampleObjects {
            objects: complete_objects(spec, most_objects(spec)),
        }
    }

    /// Requests about them.
    pub fn inputs<'s>(&'s self, spec: &SampleSpec<'_>) -> Vec<SampleInput<'s>> {
        let interest = spec.interest;
        let mut inputs = Vec::new();
        let reads_name = interest.names("name");
        let Some((whole, _)) = self.objects.first() else {
            return inputs;
        };
        for (index, (object, extent)) in self.objects.iter().enumerate() {
            let allows = index % 2 == 1;
            for operation in spec.operations {
                let pairs: &[(&Value<'static>, &Value<'static>)] = match operation {
                    Operation::Delete => &[(&Value::Null, object)],
                    Operation::Update if interest.reads_old => {
                        &[(object, whole), (whole, object), (object, object)]
                    }
                    Operation::Update => &[(object, whole)],
                    Operation::Create | Operation::Connect | Operation::None => &[(object, &Value::Null)],
                };
                for (object, old) in pairs {
                    if inputs.len() < spec.most {
                        let old = match operation {
                            Operation::Update => spec.required.changed_old(object, old),
                            _ => Cow::Borrowed(*old),
                        };
                        inputs.push(SampleInput::new(*operation, (object, old), allows, extent));
                    }
                }
                let is_whole = *extent == SampleExtent::Whole;
                if is_whole && inputs.len() < spec.most && reads_name && has_nameless(spec, *operation) {
                    inputs.push(SampleInput::nameless(*operation, object, allows));
                }
            }
        }
        inputs
    }

    /// About how many bytes of memory they take.
    pub(super) fn owned_bytes(&self) -> usize {
        let objects = self.objects.iter();
        let each = objects.map(|(object, _)| object.owned_bytes() + size_of::<(Value<'_>, SampleExtent)>());
        each.sum()
    }
}

/// How many objects are made for a specification.
pub(super) fn most_objects(spec: &SampleSpec<'_>) -> usize {
    spec.most.min(MOST_OBJECTS)
}

/// Whether a field is read, and whether what has it is. Of objects that are alike to every expression one is enough.
fn is_read(spec: &SampleSpec<'_>, field: &OptionalField) -> (bool, bool) {
    let is_read = field.is_alternative || spec.reads(&field.path);
    let holder = field.path.split_last().map_or(&[][..], |(_, holder)| holder);
    (is_read, is_read || spec.reads(holder))
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
                0 => {
                    let mut unfilled = unfilled(&completed, &served.kind, id, &whole, interest);
                    unfilled.extend(remove_address(&served.kind, &whole, interest));
                    unfilled
                }
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
            let (is_read, is_holder_read) = is_read(spec, field);
            let without = [
                is_read.then(|| variants.without(field)).flatten(),
                is_holder_read.then(|| variants.towards(field)).flatten(),
            ];
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
    objects.retain_mut(|(object, _)| {
        settle_job(&served.kind, object);
        settle_ingress(&served.kind, object, interest);
        settle_service(&served.kind, object, spec.is_mutating)
    });
    objects.truncate(most);
    objects
}
