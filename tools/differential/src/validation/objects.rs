//! Random objects: of the types of their kinds, or changed ones of golden cases.
#![allow(clippy::indexing_slicing, reason = "values of JSON make what is indexed")]

use std::collections::BTreeMap;

use pratique_harness::RandomDice;
use pratique_schema::{Field, Release, Scalar, Shape, StructType};
use pratique_types::GroupVersionKind;
use serde_json::{Map, Value, json};

use super::kinds::ComparedKind;

/// Texts at which rules turn: of names, addresses, networks, numbers, times and enumerations.
const TEXTS: &[&str] = &[
    "",
    "a",
    "b",
    "A_b",
    "a b",
    "-x",
    "a/b",
    "a/b/c",
    "a.b",
    "example.com/a",
    "*",
    "a.b.",
    "..",
    "1",
    "-1",
    "0",
    "1Gi",
    "100m",
    "1.5",
    "50%",
    "101%",
    "10.1.2.3",
    "01.2.3.4",
    "::1",
    "fe80::1",
    "2001:DB8::1",
    "::ffff:1.2.3.4",
    "127.0.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "10.0.0.0/16",
    "10.0.0.1/16",
    "fd00::/64",
    "1.2.3",
    "0.0.0",
    "v1",
    "True",
    "False",
    "TCP",
    "default",
    "kube-system",
    "kubernetes.io/x",
    "2020-01-01T00:00:00Z",
    "YQ==",
    "/a",
    "/a/../b",
    "<&>",
    "é",
    "cpu",
    "memory",
    "storage",
    "hugepages-2Mi",
    "pods",
    "* * * * *",
    "system:masters",
    "orphan",
    "kubernetes",
];

/// Numbers at which rules turn.
const NUMBERS: &[i64] = &[
    -1,
    0,
    1,
    2,
    9,
    10,
    100,
    128,
    255,
    256,
    599,
    600,
    3600,
    65535,
    65536,
    1_000_000_000,
    1_000_000_001,
    2_147_483_647,
];

/// How deep generated objects are.
const MAX_DEPTH: usize = 8;

/// Objects to begin with, and the texts of their fields.
pub(super) struct RandomObjects {
    /// The release whose fields they have.
    release: &'static Release,
    seeds: Vec<Value>,
    texts: BTreeMap<String, Vec<String>>,
}

impl RandomObjects {
    /// From the golden cases.
    pub(super) fn new(release: &'static Release, cases: &[Value]) -> Self {
        let mut objects = RandomObjects {
            release,
            seeds: Vec::new(),
            texts: BTreeMap::new(),
        };
        for case in cases {
            for name in ["object", "oldObject"] {
                if let Some(object) = case.get(name) {
                    objects.collect_texts(object);
                    objects.seeds.push(object.clone());
                }
            }
        }
        objects
    }

    fn collect_texts(&mut self, value: &Value) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    let texts = member
                        .as_array()
                        .map_or(std::slice::from_ref(member), Vec::as_slice);
                    for text in texts.iter().filter_map(Value::as_str) {
                        self.texts.entry(name.clone()).or_default().push(text.to_owned());
                    }
                    self.collect_texts(member);
                }
            }
            Value::Array(elements) => elements.iter().for_each(|element| self.collect_texts(element)),
            _ => {}
        }
    }

    /// A new object of a kind.
    pub(super) fn random(&self, dice: &mut RandomDice, kind: &ComparedKind) -> Value {
        let is_of_kind = |seed: &&Value| seed["kind"] == kind.kind && seed["apiVersion"] == kind.api_version;
        let seeds: Vec<&Value> = self.seeds.iter().filter(is_of_kind).collect();
        let mut object = match dice.pick(&seeds).filter(|_| dice.chance(60)) {
            Some(seed) => self.changed(dice, kind, seed),
            None => self.complete(self.generated(dice, kind), kind),
        };
        // Most kinds lose it.
        if let Some(members) = object.as_object_mut().filter(|_| dice.chance(80)) {
            members.remove("status");
        }
        object
    }

    /// A stored object as one who writes a part of it sends it: that part is otherwise.
    pub(super) fn with_changed_part(
        &self,
        dice: &mut RandomDice,
        kind: &ComparedKind,
        (object, part): (&Value, &str),
    ) -> Value {
        let path = match part {
            "ephemeralcontainers" => "/spec/ephemeralContainers",
            "finalize" => "/spec/finalizers",
            "resize" => "/spec/containers",
            _ => "/status",
        };
        let mut changed = object.clone();
        let donor = self.generated(dice, kind);
        let donated = donor.pointer(path).cloned().unwrap_or_default();
        let (parent, name) = path.rsplit_once('/').unwrap_or_default();
        if let Some(Value::Object(members)) = changed.pointer_mut(parent) {
            let member = members.entry(name).or_insert(Value::Null);
            if dice.chance(30) {
                *member = donated.clone();
            }
            for _ in 0..1 + dice.below(3) {
                self.change(dice, member, &donated, name, 1);
            }
            if member.is_null() {
                members.remove(name);
            }
        }
        changed
    }

    /// An object with a few things in it otherwise.
    pub(super) fn changed(&self, dice: &mut RandomDice, kind: &ComparedKind, object: &Value) -> Value {
        let mut changed = object.clone();
        let donor = self.generated(dice, kind);
        for _ in 0..dice.below(4) {
            self.change(dice, &mut changed, &donor, "", 0);
        }
        self.complete(changed, kind)
    }

    /// What every object has, without what its server makes.
    fn complete(&self, mut object: Value, kind: &ComparedKind) -> Value {
        object["apiVersion"] = kind.api_version.into();
        object["kind"] = kind.kind.into();
        if !object["metadata"].is_object() {
            object["metadata"] = json!({"name": "a"});
        }
        if let Some(metadata) = object["metadata"].as_object_mut() {
            for name in [
                "managedFields",
                "generateName",
                "uid",
                "creationTimestamp",
                "deletionTimestamp",
                "selfLink",
            ] {
                metadata.remove(name);
            }
            metadata.remove("deletionGracePeriodSeconds");
            metadata.remove("resourceVersion");
            metadata.remove("namespace");
            if kind.is_namespaced {
                metadata.insert("namespace".to_owned(), "default".into());
            }
        }
        object
    }

    /// Changes one thing in a value, anywhere in it; recursion follows the value.
    fn change(&self, dice: &mut RandomDice, value: &mut Value, donor: &Value, name: &str, depth: usize) {
        let stays = depth > 0 && dice.chance(25);
        match value {
            Value::Object(members) if !members.is_empty() && !stays => {
                // Metadata have few rules, and all kinds have them.
                let names: Vec<String> = members
                    .keys()
                    .filter(|name| depth > 0 || (!["apiVersion", "kind"].contains(&name.as_str())))
                    .filter(|name| name.as_str() != "metadata" || dice.chance(20))
                    .cloned()
                    .collect();
                let donated = donor.as_object().into_iter().flatten();
                let donated: Vec<(&String, &Value)> = donated.collect();
                if let Some((name, member)) = dice.pick(&donated).filter(|_| dice.chance(25)) {
                    members.insert((*name).clone(), (*member).clone());
                } else if let Some(name) = dice.pick(&names) {
                    if depth > 0 && dice.chance(12) {
                        members.remove(name);
                    } else if let Some(member) = members.get_mut(name) {
                        self.change(dice, member, &donor[name.as_str()], name, depth + 1);
                    }
                }
            }
            Value::Array(elements) if !elements.is_empty() && !stays => {
                let at = dice.below(elements.len());
                if dice.chance(15) {
                    let element = elements.get(at).cloned().unwrap_or_default();
                    elements.push(element);
                } else if dice.chance(10) {
                    elements.remove(at);
                } else if let Some(element) = elements.get_mut(at) {
                    self.change(dice, element, &donor[0], name, depth + 1);
                }
            }
            Value::Object(members) => members.clear(),
            Value::Array(elements) => {
                elements.clear();
                if let Some(donated) = donor.as_array() {
                    elements.extend(donated.iter().cloned());
                }
            }
            Value::String(text) => *text = self.draw_text(dice, name, &[]),
            Value::Bool(is_so) => *is_so = !*is_so,
            Value::Number(_) => *value = number(dice),
            Value::Null => {
                if !donor.is_null() {
                    *value = donor.clone();
                }
            }
        }
    }

    fn draw_text(&self, dice: &mut RandomDice, name: &str, values: &[&'static str]) -> String {
        if let Some(value) = dice.pick(values).filter(|_| dice.chance(80)) {
            return (*value).to_owned();
        }
        let texts = self.texts.get(name).map(Vec::as_slice).unwrap_or_default();
        if let Some(text) = dice.pick(texts).filter(|_| dice.chance(60)) {
            return text.clone();
        }
        if dice.chance(4) {
            let length = *dice.pick(&[63, 64, 129, 253, 254, 1025]).unwrap_or(&64);
            return "y".repeat(length);
        }
        dice.pick(TEXTS).copied().unwrap_or_default().to_owned()
    }

    /// An object of the kind's type.
    fn generated(&self, dice: &mut RandomDice, kind: &ComparedKind) -> Value {
        let gvk = GroupVersionKind::new(kind.group(), kind.version(), kind.kind);
        let schema = self.release.schema();
        let mut object = schema
            .kind(&gvk)
            .map_or(json!({}), |id| self.structure(dice, schema.get(id), 0));
        if dice.chance(90) {
            object["metadata"]["name"] = "a".into();
        }
        object
    }

    fn structure(&self, dice: &mut RandomDice, of: &StructType, depth: usize) -> Value {
        let constraints = self.release.constraints().for_type(of.name);
        let mut members = Map::new();
        for field in of.fields.iter() {
            let is_often = field.is_always() || constraints.is_required(field.name);
            let percent = if is_often {
                90
            } else if of.fields.len() > 12 {
                8
            } else {
                30
            };
            if dice.chance(percent) || field.name == "spec" {
                let value = self.value(
                    dice,
                    &field.shape,
                    field,
                    constraints.values(field.name),
                    depth + 1,
                );
                members.insert(field.name.to_owned(), value);
            }
        }
        members.into()
    }

    /// Recursion follows the shapes of types, as deep as objects may be.
    fn value(
        &self,
        dice: &mut RandomDice,
        shape: &Shape,
        field: &Field,
        values: &[&'static str],
        depth: usize,
    ) -> Value {
        let is_deep = depth > MAX_DEPTH;
        match shape {
            Shape::Struct(_) if is_deep => json!({}),
            Shape::Struct(id) => self.structure(dice, self.release.schema().get(*id), depth),
            Shape::List(element) => {
                let count = if is_deep { 0 } else { dice.below(3) };
                (0..count)
                    .map(|_| self.value(dice, element, field, values, depth + 1))
                    .collect()
            }
            Shape::Map(element) => {
                let count = if is_deep { 0 } else { 1 + dice.below(2) };
                let entry = |dice: &mut RandomDice| {
                    (
                        self.draw_text(dice, "", &[]),
                        self.value(dice, element, field, values, depth + 1),
                    )
                };
                let entries: Map<String, Value> = (0..count).map(|_| entry(dice)).collect();
                entries.into()
            }
            Shape::Scalar(scalar) => self.scalar(dice, *scalar, field.name, values),
        }
    }

    fn scalar(&self, dice: &mut RandomDice, scalar: Scalar, name: &str, values: &[&'static str]) -> Value {
        let pick =
            |dice: &mut RandomDice, texts: &[&str]| json!(dice.pick(texts).copied().unwrap_or_default());
        match scalar {
            Scalar::Bool => dice.chance(50).into(),
            Scalar::Int32 | Scalar::Int64 => number(dice),
            Scalar::Float => json!(1.5),
            Scalar::String => self.draw_text(dice, name, values).into(),
            Scalar::Bytes => pick(dice, &["", "YQ==", "AAEC"]),
            Scalar::Quantity => pick(dice, &["0", "1", "-1", "1500m", "1Gi", "3Mi", "100m"]),
            Scalar::IntOrString if dice.chance(50) => number(dice),
            Scalar::IntOrString => pick(dice, &["", "a", "http", "50%", "101%", "-1%", "A_"]),
            Scalar::Time => pick(dice, &["2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"]),
            Scalar::MicroTime => pick(
                dice,
                &["2020-01-01T00:00:00.000000Z", "2021-01-01T00:00:00.000001Z"],
            ),
            Scalar::Duration => pick(dice, &["0s", "1m0s", "-1s"]),
            Scalar::Json => json!({}),
        }
    }
}

/// Removes lists without elements, as what is stored has none. Recursion follows the value.
pub(super) fn remove_empty_lists(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| member.as_array().is_none_or(|elements| !elements.is_empty()));
            members.values_mut().for_each(remove_empty_lists);
        }
        Value::Array(elements) => elements.iter_mut().for_each(remove_empty_lists),
        _ => {}
    }
}

fn number(dice: &mut RandomDice) -> Value {
    json!(dice.pick(NUMBERS).copied().unwrap_or_default())
}
