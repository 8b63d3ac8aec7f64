//! Requests about objects of custom resources.

use std::sync::Arc;

use pratique_gotext::validation::qualified_name;
use pratique_json::{Object, Value};
use pratique_types::Operation;

use super::{CustomKind, MOST_SAMPLES, most_copies};
use crate::complete::{
    Sample, SampleExtent, SampleInput, SampleSpec, has_nameless, require_names, sample_request,
};

/// The maps of an object's metadata, whose keys are those that expressions name.
const METADATA_MAPS: [&str; 2] = ["labels", "annotations"];

impl CustomKind {
    /// Requests for operations on its objects, `most` of them, but each operation on one object at least. The objects are those
    /// of [`samples`](CustomKind::samples) that a server takes, with what rules, selectors and match conditions require.
    pub fn requests(&self, spec: &SampleSpec<'_>) -> Vec<Sample> {
        let most = (spec.most / spec.operations.len().max(1)).clamp(1, MOST_SAMPLES);
        let reads_name = spec.interest.names("name");
        let mut requests = Vec::new();
        for (index, (object, extent)) in self.required_objects(spec, most).into_iter().enumerate() {
            let (object, errors) = self.receive(&object);
            if !errors.is_empty() {
                continue;
            }
            let allows = index % 2 == 1;
            for operation in spec.operations {
                let (new, old) = match operation {
                    Operation::Delete => (Value::Null, object.clone()),
                    Operation::Update => {
                        let old = spec.required.changed_old(&object, &object).into_owned();
                        (object.clone(), old)
                    }
                    _ => (object.clone(), Value::Null),
                };
                requests.push(Sample {
                    request: sample_request(spec, *operation, new, old),
                    allows,
                    extent: extent.clone(),
                });
                if reads_name && extent == SampleExtent::Whole && has_nameless(spec, *operation) {
                    requests.push(SampleInput::nameless(*operation, &object, allows).into_sample(spec));
                }
            }
        }
        requests
    }

    /// The first objects, `most` of them: the one with all fields, those without a part of its metadata, and those without a field.
    fn required_objects(&self, spec: &SampleSpec<'_>, most: usize) -> Vec<(Value<'static>, SampleExtent)> {
        let mut samples = self.first_samples(most).into_iter();
        let Some(whole) = samples.next() else {
            return Vec::new();
        };
        let most = most.min(most_copies(&whole.object));
        let first = complete(whole.object.clone(), spec, None);
        let without_metadata = left_out_metadata(spec).into_iter().map(|left_out| {
            let object = complete(whole.object.clone(), spec, Some(&left_out));
            (object, left_out.name().to_owned())
        });
        let without_field = samples.map(|sample| {
            let name = sample.without.last().cloned().unwrap_or_default();
            (complete(sample.object, spec, None), name)
        });
        let others = without_metadata.chain(without_field);
        // What is required is there, also where it was left out.
        let others = others.filter(|(object, _)| *object != first);
        let mut objects: Vec<_> = others
            .take(most.saturating_sub(1))
            .map(|(object, name)| (object, SampleExtent::Without(name)))
            .collect();
        objects.insert(0, (first, SampleExtent::Whole));
        objects
    }
}

/// A part of the metadata that an object lacks: labels or annotations, or one of them.
struct LeftOutMetadata {
    map: &'static str,
    key: Option<Arc<str>>,
}

impl LeftOutMetadata {
    fn name(&self) -> &str {
        self.key.as_deref().unwrap_or(self.map)
    }
}

/// What objects may lack of the metadata that expressions name.
fn left_out_metadata(spec: &SampleSpec<'_>) -> Vec<LeftOutMetadata> {
    let named = METADATA_MAPS.into_iter().filter(|map| spec.interest.names(map));
    let of_map = |map: &'static str| {
        let keys = named_keys(spec).map(Some);
        let keys = std::iter::once(None).chain(keys);
        keys.map(move |key| LeftOutMetadata { map, key })
    };
    named.flat_map(of_map).collect()
}

/// The keys of labels and annotations that expressions name.
fn named_keys<'s>(spec: &SampleSpec<'s>) -> impl Iterator<Item = Arc<str>> + use<'s> {
    let keys = spec.interest.keys.iter();
    keys.filter(|key| qualified_name(key).is_empty()).map(Arc::clone)
}

/// An object with the metadata and the constants that are required of it, apart from what is left out.
fn complete(
    mut object: Value<'static>,
    spec: &SampleSpec<'_>,
    left_out: Option<&LeftOutMetadata>,
) -> Value<'static> {
    for map in METADATA_MAPS {
        let members = metadata_members(spec, map, left_out.filter(|left_out| left_out.map == map));
        if let Some(Value::Object(metadata)) = object.get_mut("metadata")
            && !members.is_empty()
        {
            metadata.insert(map, Value::Object(members));
        }
    }
    spec.required.set_in(&mut object);
    require_names(spec.required, spec.served, &mut object);
    if let (Some(name), Some(Value::Object(metadata))) = (&spec.selected.name, object.get_mut("metadata")) {
        metadata.insert("name", Value::from(name.clone()));
    }
    object
}

/// The labels or annotations of an object, without those that are left out.
fn metadata_members(spec: &SampleSpec<'_>, map: &str, left_out: Option<&LeftOutMetadata>) -> Object<'static> {
    let mut members = Object::new();
    let is_left_out = left_out.is_some_and(|left_out| left_out.key.is_none());
    if spec.interest.names(map) && !is_left_out {
        members.insert("example", Value::from("example"));
        let left_out = left_out.and_then(|left_out| left_out.key.as_ref());
        for key in named_keys(spec).filter(|key| Some(key) != left_out) {
            members.insert(key.to_string(), Value::from("example"));
        }
    }
    if map == "labels" {
        for key in &spec.selected.unlabelled {
            members.remove(key);
        }
        for (key, value) in &spec.selected.labels {
            members.insert(key.clone(), Value::from(value.clone()));
        }
    }
    members
}

#[cfg(test)]
mod tests {
    use pratique_cel::ast::Ast;
    use pratique_cel::{Environment, Type};

    use super::*;
    use crate::complete::{NamedFields, RequiredConstants, SelectedMetadata};
    use crate::custom::CustomKinds;
    use pratique_schema::Release;

    /// The kind of a definition with integers as fields.
    fn kind_with(fields: usize) -> CustomKinds {
        let fields: Vec<String> = (0..fields)
            .map(|index| format!(r#""f{index}": {{"type": "integer"}}"#))
            .collect();
        let fields = fields.join(", ");
        let definition = format!(
            r#"{{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {{"name": "widgets.example.com"}},
                "spec": {{"group": "example.com", "scope": "Namespaced", "names": {{"kind": "Widget", "plural": "widgets",
                    "singular": "widget", "listKind": "WidgetList"}},
                    "versions": [{{"name": "v1", "served": true, "storage": true, "schema": {{"openAPIV3Schema":
                        {{"type": "object", "properties": {{"spec": {{"type": "object", "properties": {{{fields}}}}}}}}}}}}}]}}}}"#
        );
        CustomKinds::new(
            Release::latest(),
            &[pratique_json::parse(definition.as_bytes()).unwrap()],
        )
    }

    fn parse(text: &str) -> Ast {
        let environment = Environment::standard().with_variable("object", Type::Dyn);
        environment.parse(text).unwrap()
    }

    /// The requests that a policy with a condition and an expression is tried for.
    fn requests(fields: usize, most: usize, condition: &str, expression: &str) -> Vec<Sample> {
        let kinds = kind_with(fields);
        let kind = &kinds.definitions()[0].kinds()[0];
        let asts = [parse(condition), parse(expression)];
        kind.requests(&SampleSpec {
            release: Release::latest(),
            served: &kind.served,
            operations: &[Operation::Create, Operation::Update],
            interest: &NamedFields::new(asts.iter().map(|ast| (None, ast))),
            selected: &SelectedMetadata::default(),
            required: &RequiredConstants::new(&asts[..1]),
            footprints: &[],
            is_mutating: false,
            most,
        })
    }

    #[test]
    fn requests_are_no_more_than_asked() {
        for (most, expected) in [(0, 2), (12, 12), (120, 120), (1_000, 204)] {
            assert_eq!(requests(100, most, "true", "true").len(), expected, "{most}");
        }
    }

    #[test]
    fn objects_have_what_conditions_require() {
        let condition =
            "object.metadata.name == 'a' && object.spec.f0 == 7 && object.metadata.labels['team'] == 'b'";
        let requests = requests(2, 40, condition, "true");
        assert!(!requests.is_empty());
        for sample in requests {
            let object = &sample.request.object;
            let at = |path: &[&str]| object.at(path).cloned().unwrap_or_default();
            assert_eq!(at(&["metadata", "name"]), Value::from("a"), "{object}");
            assert_eq!(sample.request.name, "a");
            assert_eq!(at(&["spec", "f0"]), Value::from(7_i64), "{object}");
            assert_eq!(at(&["metadata", "labels", "team"]), Value::from("b"), "{object}");
        }
    }

    #[test]
    fn objects_lack_metadata_that_expressions_name() {
        let requests = requests(1, 400, "true", "object.metadata.labels['team'] == 'b'");
        let lacks = |path: &[&str], name: &str| {
            let mut lacking = requests
                .iter()
                .filter(|sample| sample.request.object.at(path).is_none());
            let extent = SampleExtent::Without(name.to_owned());
            lacking.any(|sample| sample.extent == extent)
        };
        assert!(lacks(&["metadata", "labels"], "labels"));
        assert!(lacks(&["metadata", "labels", "team"], "team"));
        let whole = requests
            .iter()
            .find(|sample| sample.extent == SampleExtent::Whole)
            .unwrap();
        let team = whole.request.object.at(&["metadata", "labels", "team"]);
        assert_eq!(team, Some(&Value::from("example")));
        // What no expression names no object has.
        assert!(
            requests
                .iter()
                .all(|sample| sample.request.object.at(&["metadata", "annotations"]).is_none())
        );
    }
}
