//! Generates objects of built-in kinds that an API server would accept.
//!
//! Objects have the required fields, and some of those that expressions read. Enumerations have a valid value, elements
//! of keyed lists have distinct keys, selectors match their templates, unions have one member, and fields that a server
//! removes or rejects on creation are absent. API servers validate more than the schema tables express, so an object is
//! likely, but not certain, to be valid.

mod unions;

use pratique_json::{Object, Value};
use pratique_schema::{Release, Scalar, Shape, StructType};
use pratique_types::Operation;
use pratique_types::builtin::ServedResource;

use crate::random::RandomNumbers;
use crate::reads::ReadTree;
use crate::scalar::{self, ScalarField};
use unions::UNIONS;

/// The specification of generated objects.
#[derive(Clone, Copy, Debug)]
pub struct ObjectSpec<'r> {
    /// The release of the server, whose kinds these are.
    pub release: &'static Release,
    /// The resource of the request.
    pub served: &'r ServedResource,
    /// The operation of the request.
    pub operation: Operation,
    /// The fields that expressions read.
    pub reads: &'r ReadTree,
    /// The percentage of optional fields to include, of those that are read.
    pub density: u8,
}

/// The maximum depth; built-in types can be recursive.
const DEEPEST: usize = 24;

/// Generates an object, the same for the same seed; `None` for a kind that is not built in.
pub fn generate(spec: &ObjectSpec<'_>, seed: u64) -> Option<Value<'static>> {
    let schema = spec.release.schema();
    let kind = &spec.served.kind;
    let of = schema.get(schema.kind(kind)?);
    let mut generator = ObjectGenerator {
        spec,
        random: RandomNumbers::new(seed),
    };
    let mut object = generator.structure(of, Some(spec.reads), 0);
    object.insert("apiVersion", kind.api_version());
    object.insert("kind", kind.kind.clone());
    generator.name(&mut object);
    let mut object = Value::Object(object);
    align_selectors(spec, &mut object);
    Some(object)
}

struct ObjectGenerator<'m> {
    spec: &'m ObjectSpec<'m>,
    random: RandomNumbers,
}

impl ObjectGenerator<'_> {
    fn structure(&mut self, of: &StructType, reads: Option<&ReadTree>, depth: usize) -> Object<'static> {
        let mut object = Object::default();
        let constraints = self.spec.release.constraints().for_type(of.name);
        for field in of.fields.iter() {
            let read = reads.and_then(|reads| reads.fields.get(field.name));
            let required = constraints.is_required(field.name) || is_needed(of.name, field.name);
            let wanted = read.is_some() && self.random.chance(self.spec.density);
            if depth > DEEPEST || !(required || wanted) || self.is_not_given(of.name, field.name, depth) {
                continue;
            }
            let place = ScalarField {
                name: field.name,
                values: constraints.values(field.name),
            };
            let mut value = self.value(&field.shape, place, read, depth + 1);
            if let (Some(keys), Value::Array(elements)) = (constraints.keys(field.name), &mut value) {
                make_distinct(elements, keys);
            }
            object.insert(field.name, value);
        }
        self.choose(of.name, &mut object);
        object
    }

    fn value(
        &mut self,
        shape: &Shape,
        place: ScalarField<'_>,
        reads: Option<&ReadTree>,
        depth: usize,
    ) -> Value<'static> {
        match shape {
            Shape::Scalar(scalar) => scalar::generate(*scalar, place, reads, &mut self.random),
            Shape::Struct(id) => {
                Value::Object(self.structure(self.spec.release.schema().get(*id), reads, depth))
            }
            Shape::List(element) => {
                let item = reads.and_then(|reads| reads.item.as_deref());
                let count = if item.is_some() {
                    1 + self.random.below(3)
                } else {
                    1
                };
                let first = self.value(element, place, item, depth);
                // Loops continue while elements are alike, and end where one of them differs.
                let alike = self.random.chance(60);
                let mut elements = vec![first.clone()];
                for _ in 1..count {
                    let next = if alike {
                        first.clone()
                    } else {
                        self.value(element, place, item, depth)
                    };
                    elements.push(next);
                }
                Value::Array(elements)
            }
            Shape::Map(of) => Value::Object(self.map(of, place, reads, depth)),
        }
    }

    fn map(
        &mut self,
        of: &Shape,
        place: ScalarField<'_>,
        reads: Option<&ReadTree>,
        depth: usize,
    ) -> Object<'static> {
        let mut map = Object::default();
        let Some(reads) = reads else { return map };
        for (key, read) in &reads.fields {
            if self.random.chance(self.spec.density) {
                let value = self.value(of, place, Some(read), depth);
                map.insert(key.to_string(), value);
            }
        }
        if let Some(item) = reads.item.as_deref() {
            for at in 0..1 + self.random.below(2) {
                let value = self.value(of, place, Some(item), depth);
                map.insert(format!("k{at}"), value);
            }
        }
        map
    }

    /// Whether a server sets, removes or rejects a field in such requests.
    fn is_not_given(&self, of: &str, field: &str, depth: usize) -> bool {
        let part = self.spec.served.subresource.as_str();
        match (of, field) {
            (_, "apiVersion" | "kind") => depth == 0,
            (_, "status") => depth == 0 && part != "status" && self.spec.operation != Operation::Delete,
            (_, "ephemeralContainers") => {
                let is_update =
                    self.spec.operation != Operation::Create && self.spec.served.kind.kind == "Pod";
                part != "ephemeralcontainers" && !is_update
            }
            (
                "meta/v1.ObjectMeta",
                "name"
                | "namespace"
                | "generateName"
                | "deletionTimestamp"
                | "deletionGracePeriodSeconds"
                | "managedFields"
                | "resourceVersion"
                | "selfLink"
                | "generation",
            ) => true,
            _ => false,
        }
    }

    /// Sets name and namespace, to values that they are compared with if possible.
    fn name(&mut self, object: &mut Object<'static>) {
        let mut metadata = match object.remove("metadata") {
            Some(Value::Object(metadata)) => metadata,
            _ => Object::default(),
        };
        let reads = self.spec.reads.fields.get("metadata");
        let namespace = self.spec.served.namespaced.then_some(("namespace", NAMESPACE));
        for (name, plain) in [("name", OBJECT_NAME)].into_iter().chain(namespace) {
            let read = reads.and_then(|reads| reads.fields.get(name));
            let place = ScalarField { name, values: &[] };
            let made = scalar::generate(Scalar::String, place, read, &mut self.random);
            let fits = made
                .as_str()
                .is_some_and(|text| !text.contains([':', '/']) && text != OBJECT_NAME);
            metadata.insert(name, if fits { made } else { plain.into() });
        }
        object.insert("metadata", Value::Object(metadata));
    }

    /// Keeps one member of a union.
    fn choose(&mut self, of: &str, object: &mut Object<'static>) {
        let Some(union) = UNIONS.iter().find(|union| union.of == of) else {
            return;
        };
        let names = object.iter().map(|(name, _)| name);
        let members: Vec<String> = names
            .filter(|name| !union.besides.contains(name))
            .map(str::to_owned)
            .collect();
        let kept = self.random.pick(&members).cloned();
        for name in members.iter().filter(|name| Some(*name) != kept.as_ref()) {
            object.remove(name);
        }
        if let (None, Some((name, text))) = (kept, union.otherwise)
            && let Ok(value) = pratique_json::parse(text.as_bytes())
        {
            object.insert(name, value.into_owned());
        }
    }
}

/// Whether API servers require a field that the schema does not mark as required.
fn is_needed(of: &str, field: &str) -> bool {
    matches!(
        (of, field),
        (_, "metadata")
            | ("core/v1.Container" | "core/v1.EphemeralContainer", "image")
            | ("core/v1.Pod", "spec")
            | ("core/v1.Service", "spec")
            | ("core/v1.ServiceSpec", "ports")
            | ("core/v1.PersistentVolumeClaimSpec", "accessModes" | "resources")
            | (
                "apps/v1.Deployment" | "apps/v1.StatefulSet" | "apps/v1.DaemonSet" | "apps/v1.ReplicaSet",
                "spec"
            )
            | ("apps/v1.ReplicaSetSpec", "template")
            | (
                "batch/v1.Job" | "batch/v1.CronJob" | "batch/v1.JobTemplateSpec",
                "spec"
            )
            | (
                "core/v1.PodTemplateSpec" | "core/v1.ReplicationController",
                "spec"
            )
            | ("core/v1.ReplicationControllerSpec", "template")
    )
}

/// Makes the keys of a keyed list, or the elements of a set, distinct.
pub(crate) fn make_distinct(elements: &mut [Value<'static>], keys: &[&str]) {
    let mut identities: Vec<String> = Vec::new();
    for at in 0..elements.len() {
        let Some(element) = elements.get_mut(at) else {
            return;
        };
        let mut identity = identity(element, keys);
        if identities.contains(&identity) {
            number(element, keys, at);
            identity = self::identity(element, keys);
        }
        identities.push(identity);
    }
}

fn identity(element: &Value<'_>, keys: &[&str]) -> String {
    match keys {
        [] => element.to_string(),
        keys => keys
            .iter()
            .map(|key| element.get(key).map_or_else(String::new, Value::to_string) + ",")
            .collect(),
    }
}

/// Adds a number to the key of an element.
pub(crate) fn number(element: &mut Value<'static>, keys: &[&str], at: usize) {
    if keys.is_empty() {
        numbered(element, at);
        return;
    }
    // One distinct key is enough; enumerations such as protocol cannot be changed.
    let is_enumerated =
        |key: &str| matches!(key, "protocol" | "type" | "effect" | "topologyKey" | "operator");
    let key = keys.iter().find(|key| !is_enumerated(key)).or(keys.first());
    if let (Some(key), Value::Object(object)) = (key, element) {
        match object.get_mut(key) {
            Some(value) => numbered(value, at),
            None => {
                object.insert((*key).to_owned(), format!("n{at}"));
            }
        }
    }
}

fn numbered(value: &mut Value<'static>, at: usize) {
    match value {
        Value::String(text) => {
            let made = match text.parse::<std::net::Ipv4Addr>() {
                Ok(address) => {
                    let next = u32::from(address).wrapping_add(u32::try_from(at).unwrap_or_default());
                    std::net::Ipv4Addr::from(next).to_string()
                }
                Err(_) => format!("{text}{at}"),
            };
            *text = made.into();
        }
        Value::Int(number) => {
            let at = i64::try_from(at).unwrap_or_default();
            *number = number.saturating_add(at);
        }
        _ => {}
    }
}

/// The default name of objects.
pub(crate) const OBJECT_NAME: &str = "a";
/// The default namespace of objects.
pub(crate) const NAMESPACE: &str = "default";

/// Makes the selector of a workload match the labels of its template.
fn align_selectors(spec: &ObjectSpec<'_>, object: &mut Value<'static>) {
    let kind = spec.served.kind.kind.as_str();
    let mut label = Object::default();
    label.insert("app", "a");
    let selector = match kind {
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" => {
            let mut selector = Object::default();
            selector.insert("matchLabels", Value::Object(label.clone()));
            Value::Object(selector)
        }
        "ReplicationController" => Value::Object(label.clone()),
        "Job" | "CronJob" => return adjust_job(kind, object),
        _ => return,
    };
    let Some(Value::Object(spec)) = object.get_mut("spec") else {
        return;
    };
    spec.insert("selector", selector);
    let Some(Value::Object(template)) = spec.get_mut("template") else {
        return;
    };
    let mut metadata = match template.remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Object::default(),
    };
    let mut labels = match metadata.remove("labels") {
        Some(Value::Object(labels)) => labels,
        _ => Object::default(),
    };
    labels.insert("app", "a");
    metadata.insert("labels", Value::Object(labels));
    template.insert("metadata", Value::Object(metadata));
}

/// Jobs need a restart policy, and their selector is set by the controller.
fn adjust_job(kind: &str, object: &mut Value<'static>) {
    let path: &[&str] = match kind {
        "Job" => &["spec"],
        _ => &["spec", "jobTemplate", "spec"],
    };
    let spec = path.iter().try_fold(object, |at, name| at.get_mut(name));
    let Some(Value::Object(spec)) = spec else { return };
    spec.remove("selector");
    if let Some(Value::Object(pod)) = spec
        .get_mut("template")
        .and_then(|template| template.get_mut("spec"))
    {
        pod.insert("restartPolicy", "Never");
    }
}

#[cfg(test)]
mod tests;
