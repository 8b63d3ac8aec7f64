//! What holds for all documents and patches.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may stop where it fails"
)]

use pratique_json::{Object, Progress, Value};
use pratique_merge::json_patch::{self, Operation, Text};
use pratique_merge::structured_merge::{self, Patch};
use pratique_schema::Release;
use pratique_schema::merge::{MergeSchema, MergeTypeId};
use pratique_types::GroupVersionKind;
use proptest::prelude::*;

type Document = Value<'static>;

fn object(members: Vec<(&'static str, Document)>) -> Document {
    let members = members.into_iter().map(|(key, value)| (key.into(), value));
    Value::Object(members.collect::<Object<'_>>())
}

/// Any JSON.
fn json() -> impl Strategy<Value = Document> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-3i64..4).prop_map(Value::Int),
        Just(Value::Float(1.5)),
        prop_oneof!["[a-c]", Just("a/b~c".to_owned()), Just(String::new())].prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec((prop_oneof!["[a-d]", Just("x/~y".to_owned())], inner), 0..5).prop_map(
                |members| {
                    let members = members.into_iter().map(|(key, value)| (key.into(), value));
                    Value::Object(members.collect())
                }
            ),
        ]
    })
}

fn text() -> impl Strategy<Value = Document> {
    prop_oneof![Just("a"), Just("b"), Just("c"), Just("")].prop_map(Value::from)
}

/// Some of the members, each of which may be left out.
macro_rules! members {
    ($($name:literal: $value:expr),+ $(,)?) => {
        ($(prop::option::of($value)),+).prop_map(|values| {
            #[allow(non_snake_case, reason = "one name for each")]
            let members = members!(@list values, $($name),+);
            object(members.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
        })
    };
    (@list $values:ident, $a:literal) => { vec![($a, $values)] };
    (@list $values:ident, $a:literal, $b:literal) => { vec![($a, $values.0), ($b, $values.1)] };
    (@list $values:ident, $a:literal, $b:literal, $c:literal) => {
        vec![($a, $values.0), ($b, $values.1), ($c, $values.2)]
    };
    (@list $values:ident, $a:literal, $b:literal, $c:literal, $d:literal) => {
        vec![($a, $values.0), ($b, $values.1), ($c, $values.2), ($d, $values.3)]
    };
}

fn list(element: impl Strategy<Value = Document>) -> impl Strategy<Value = Document> {
    prop::collection::vec(element, 0..5).prop_map(Value::Array)
}

/// The elements of a keyed list or set, each of which comes once.
fn distinct(
    element: impl Strategy<Value = Document>,
    keys: &'static [&'static str],
) -> impl Strategy<Value = Document> {
    prop::collection::vec(element, 0..5).prop_map(move |elements| {
        let identity = |element: &Document| match keys {
            [] => element.to_string(),
            keys => {
                let default = |key: &str| if key == "protocol" { "\"TCP\"" } else { "\"\"" }.to_owned();
                let part = |key: &&str| element.get(key).map_or_else(|| default(key), Value::to_string);
                keys.iter().map(part).collect::<Vec<_>>().join(",")
            }
        };
        let mut seen = std::collections::HashSet::new();
        let elements = elements.into_iter();
        Value::Array(
            elements
                .filter(|element| seen.insert(identity(element)))
                .collect(),
        )
    })
}

fn port() -> impl Strategy<Value = Document> {
    let protocol = prop_oneof![Just("TCP"), Just("UDP")].prop_map(Value::from);
    let port = prop_oneof![Just(80), Just(81)].prop_map(Value::Int);
    (port, prop::option::of(protocol), prop::option::of(text())).prop_map(|(port, protocol, name)| {
        let members = [
            ("containerPort", Some(port)),
            ("name", name),
            ("protocol", protocol),
        ];
        object(
            members
                .into_iter()
                .filter_map(|(key, value)| Some((key, value?)))
                .collect(),
        )
    })
}

fn labels() -> impl Strategy<Value = Document> {
    members! {"a": text(), "b": text(), "c": text()}
}

/// A pod, or a patch for one: what a patch may not set is left out, and lists are without repetitions.
fn patch() -> impl Strategy<Value = Document> {
    let container = members! {
        "env": distinct(members! {"name": text(), "value": text()}, &["name"]),
        "image": text(),
        "name": text(),
        "ports": distinct(port(), &["containerPort", "protocol"]),
    };
    members! {
        "metadata": members! {
            "annotations": labels(),
            "finalizers": distinct(text(), &[]),
            "labels": labels(),
            "name": text(),
        },
        "spec": members! {
            "containers": distinct(container, &["name"]),
            "nodeName": text(),
            "overhead": labels(),
            "securityContext": members! {"runAsUser": (0i64..3).prop_map(Value::Int), "runAsNonRoot": any::<bool>().prop_map(Value::Bool)},
        },
    }
}

/// A pod as it may be stored: its lists may have repetitions.
fn pod() -> impl Strategy<Value = Document> {
    let container = members! {
        "args": list(text()),
        "env": list(members! {"name": text(), "value": text()}),
        "name": text(),
        "ports": list(port()),
    };
    members! {
        "metadata": members! {"finalizers": list(text()), "labels": labels(), "name": text()},
        "spec": members! {"containers": list(container), "nodeName": text(), "tolerations": list(members! {"key": text(), "value": text()})},
    }
}

fn of(kind: &str) -> MergeTypeId {
    let kind = GroupVersionKind::new("", "v1", kind);
    Release::latest().merge_schema().kind(&kind).unwrap()
}

fn merge(object: &Document, patch: &Document) -> Document {
    let mut object = object.clone();
    structured_merge::apply(
        Release::latest().merge_schema(),
        of("Pod"),
        &mut object,
        Patch::from(patch.clone()),
        &Progress::unwatched(),
    )
    .unwrap();
    object
}

proptest! {
    #[test]
    fn merging_is_idempotent(pod in pod(), patch in patch()) {
        let once = merge(&pod, &patch);
        prop_assert_eq!(merge(&once, &patch), once);
    }

    #[test]
    fn an_empty_patch_changes_nothing(pod in pod()) {
        prop_assert_eq!(merge(&pod, &object(Vec::new())), pod);
    }

    #[test]
    fn what_a_patch_says_holds_afterwards(pod in pod(), patch in patch()) {
        let merged = merge(&pod, &patch);
        for path in [["spec", "nodeName"], ["metadata", "name"]] {
            let said = patch.at(&path).or(pod.at(&path));
            prop_assert_eq!(merged.at(&path), said);
        }
        let names = |of: &Document| -> Vec<Document> {
            let containers = of.at(&["spec", "containers"]).and_then(Value::as_array).unwrap_or_default();
            containers.iter().map(|container| container.get("name").cloned().unwrap_or(Value::from(""))).collect()
        };
        let merged = names(&merged);
        prop_assert!(names(&pod).iter().all(|name| merged.contains(name)), "nothing is removed");
        let wanted = names(&patch);
        let kept: Vec<Document> = merged.into_iter().filter(|name| wanted.contains(name)).collect();
        prop_assert_eq!(kept, wanted, "the patch's order counts");
    }

    #[test]
    fn anything_merges_or_is_refused(object in json(), patch in json()) {
        for kind in ["Pod", "Service", "PersistentVolume"] {
            let mut after = object.clone();
            let progress = Progress::unwatched();
            let patch = patch.clone().into();
            let result = structured_merge::apply(Release::latest().merge_schema(), of(kind), &mut after, patch, &progress);
            if result.is_err() {
                prop_assert_eq!(&after, &object);
            }
        }
    }

    #[test]
    fn a_schema_of_anything_is_read_or_refused(schema in json(), object in json(), patch in json()) {
        let mut versions = Object::new();
        versions.insert("schema", Value::Object([("openAPIV3Schema".into(), schema)].into_iter().collect()));
        versions.insert("name", "v1");
        let spec = Value::Object([("versions".into(), Value::Array(vec![versions.into()]))].into_iter().collect());
        let definition = Value::Object([("spec".into(), spec)].into_iter().collect());
        if let Ok(schema) = MergeSchema::custom(Release::latest(), &definition) {
            let of = schema.kind(&GroupVersionKind::new("", "v1", "")).unwrap();
            let mut object = object;
            let _ = structured_merge::apply(&schema, of, &mut object, patch.into(), &Progress::unwatched());
        }
    }

    #[test]
    fn a_difference_leads_there_and_back(from in json(), to in json()) {
        let wrap = |value| Value::Array(vec![value]);
        let (from, to) = (wrap(from), wrap(to));
        let there = json_patch::diff(&from, &to);
        prop_assert_eq!(&json_patch::apply(from.clone(), &there, &Progress::unwatched()).unwrap(), &to);
        let back = json_patch::diff(&to, &from);
        prop_assert_eq!(&json_patch::apply(to, &back, &Progress::unwatched()).unwrap(), &from);
    }

    #[test]
    fn nothing_differs_from_itself(document in json()) {
        prop_assert_eq!(json_patch::diff(&document, &document), Vec::new());
    }

    #[test]
    fn any_patch_applies_or_is_refused(document in json(), operations in prop::collection::vec(operation(), 0..5)) {
        let result = json_patch::apply(document, &operations, &Progress::unwatched());
        prop_assert!(!result.is_ok_and(|document| document.to_string().contains("NaN")));
    }
}

fn operation() -> impl Strategy<Value = Operation<'static>> {
    let op = prop_oneof![
        Just("add"),
        Just("remove"),
        Just("replace"),
        Just("move"),
        Just("copy"),
        Just("test")
    ];
    let token = prop_oneof![
        Just("/a"),
        Just("/b"),
        Just("/0"),
        Just("/-1"),
        Just("/-"),
        Just("/x~1~0y")
    ];
    let path = prop::collection::vec(token, 0..4).prop_map(|tokens| Text::from(tokens.concat()));
    (op, path.clone(), path, prop::option::of(json())).prop_map(|(op, path, from, value)| Operation {
        op: op.into(),
        path,
        from,
        value,
    })
}
