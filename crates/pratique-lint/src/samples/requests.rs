//! Requests for objects of a kind.

use k8s_openapi::api::admissionregistration::v1::MatchResources;
use pratique_json::Value;
use pratique_objects::Objects;
use pratique_schema::Schema;
use pratique_types::builtin::ServedResource;
use pratique_types::{AdmissionRequest, Operation, UserInfo};

use super::build::{Fill, ObjectSpec, SelectedMetadata, build};
use super::interest::Interest;
use super::unfilled::unfilled;
use crate::subject::{Policy, matched_operations};

/// A request over which expressions are evaluated.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) request: AdmissionRequest<'static>,
    /// Whether the authorizer allows every check.
    pub(crate) allows: bool,
    /// Which of the fields that expressions name its objects have.
    pub(crate) extent: Extent,
}

/// Which of the fields that expressions name an object has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
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

/// Up to `most` requests that a policy matches, for a resource whose kind has a schema; the most informative first.
pub(crate) fn samples(
    policy: &Policy<'_>,
    served: &ServedResource,
    interest: &Interest,
    most: usize,
) -> Vec<Sample> {
    let operations = matched_operations(policy.rules.iter().filter(|rule| rule.matches(served)));
    let mut samples = Vec::new();
    let objects = objects(policy, served, interest, most.min(MOST_OBJECTS));
    let whole = objects
        .first()
        .map(|(object, _)| object.clone())
        .unwrap_or_default();
    for (index, (object, extent)) in objects.iter().enumerate() {
        let allows = index % 2 == 1;
        for operation in &operations {
            let pairs: Vec<(&Value<'static>, &Value<'static>)> = match operation {
                Operation::Delete => vec![(&Value::Null, object)],
                Operation::Update if interest.reads_old => {
                    vec![(object, &whole), (&whole, object), (object, object)]
                }
                Operation::Update => vec![(object, &whole)],
                Operation::Create | Operation::Connect | Operation::None => vec![(object, &Value::Null)],
            };
            for (object, old) in pairs {
                if samples.len() < most {
                    let request = request(served, *operation, object, old);
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
fn objects(
    policy: &Policy<'_>,
    served: &ServedResource,
    interest: &Interest,
    most: usize,
) -> Vec<(Value<'static>, Extent)> {
    let Some(id) = Schema::builtin().kind(&served.kind) else {
        return Vec::new();
    };
    let selected = selected(policy, served);
    let api_version = served.kind.api_version();
    let completed = Objects::with_placeholder(TIME);
    let generate = |fill: Fill<'_>, without: Option<&[String]>, round: usize| {
        let spec = ObjectSpec {
            interest,
            fill,
            without,
            round,
            selected: &selected,
            namespaced: served.namespaced,
        };
        let (mut object, paths) = build(id, &api_version, &served.kind.kind, &spec);
        // Policies see objects as the server defaults them; one that it cannot convert stays as it is.
        drop(completed.default(&served.kind, &mut object));
        (object, paths)
    };
    let mut objects = Vec::new();
    for round in 0..=interest.most_values().max(1) {
        let (whole, paths) = generate(Fill::Named, None, round);
        let unfilled = match round {
            0 => unfilled(&completed, &served.kind, id, &whole, interest),
            _ => Vec::new(),
        };
        objects.push((whole, Extent::Whole));
        objects.extend(unfilled.into_iter().map(|found| {
            let name = found.name.to_owned();
            let extent = match found.condition {
                Some(condition) => Extent::Unfilled { name, condition },
                None => Extent::Without(name),
            };
            (found.object, extent)
        }));
        objects.push((generate(Fill::Towards(&[]), None, round).0, Extent::Least));
        for path in &paths {
            for fill in [Fill::Named, Fill::Towards(path)] {
                let extent = Extent::Without(path.last().cloned().unwrap_or_default());
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

fn request(
    served: &ServedResource,
    operation: Operation,
    object: &Value<'static>,
    old: &Value<'static>,
) -> AdmissionRequest<'static> {
    let present = if object.is_null() { old } else { object };
    let name = present
        .at(&["metadata", "name"])
        .and_then(Value::as_str)
        .unwrap_or_default();
    AdmissionRequest {
        uid: "01234567-89ab-cdef-0123-456789abcdef".to_owned(),
        kind: served.kind.clone(),
        resource: served.resource.clone(),
        sub_resource: served.subresource.clone(),
        name: name.to_owned(),
        namespace: if served.namespaced { "default" } else { "" }.to_owned(),
        operation,
        user_info: UserInfo {
            username: "example".to_owned(),
            groups: vec!["system:authenticated".to_owned()],
            ..UserInfo::default()
        },
        object: object.clone(),
        old_object: old.clone(),
        ..AdmissionRequest::default()
    }
}

/// What the policy's rules and selectors require of the objects of a resource.
fn selected(policy: &Policy<'_>, served: &ServedResource) -> SelectedMetadata {
    let mut selected = SelectedMetadata::default();
    let mut rules = policy.rules.iter().filter(|rule| rule.matches(served));
    if let Some(first) = rules.next()
        && rules.next().is_none()
    {
        selected.name = first.names.first().cloned();
    }
    if served.kind.group.is_empty() && served.kind.kind == "Namespace" {
        let label = ("kubernetes.io/metadata.name".to_owned(), "example".to_owned());
        selected.labels.push(label);
    }
    let constraints =
        std::iter::once(policy.constraints).chain(policy.bindings.iter().map(|binding| binding.resources));
    // With several bindings, any of them may have matched the object.
    let most = if policy.bindings.len() > 1 { 1 } else { 2 };
    for constraints in constraints.take(most).flatten() {
        select(constraints, &mut selected);
    }
    selected
}

fn select(constraints: &MatchResources, selected: &mut SelectedMetadata) {
    let Some(selector) = &constraints.object_selector else {
        return;
    };
    for (key, value) in selector.match_labels.iter().flatten() {
        selected.labels.push((key.clone(), value.clone()));
    }
    for expression in selector.match_expressions.iter().flatten() {
        let first = expression.values.iter().flatten().next().cloned();
        match expression.operator.as_str() {
            "In" => selected
                .labels
                .push((expression.key.clone(), first.unwrap_or_default())),
            "Exists" => selected
                .labels
                .push((expression.key.clone(), "example".to_owned())),
            _ => selected.unlabelled.push(expression.key.clone()),
        }
    }
}
