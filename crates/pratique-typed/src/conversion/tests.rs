//! All pairs of versions: those that differ are known, and each converts as an API server does.

use std::collections::BTreeSet;
use std::path::Path;

use pratique_json::parse;
use pratique_schema::{Release, Shape, TypeId};

use super::*;
use crate::form::named;

/// All pairs of kinds that are versions of one.
fn pairs() -> Vec<(GroupVersionKind, GroupVersionKind)> {
    let kinds: Vec<_> = Release::latest().schema().kinds().cloned().collect();
    let pairs = kinds.iter().flat_map(|one| {
        let others = kinds
            .iter()
            .filter(move |other| *other != one && are_versions(one, other));
        others.map(move |other| (one.clone(), other.clone()))
    });
    pairs.collect()
}

fn type_id(kind: &GroupVersionKind) -> TypeId {
    Release::latest().schema().kind(kind).unwrap()
}

/// The fields that one of two types has and the other does not, or that hold something else in it.
fn differences(one: TypeId, other: TypeId) -> BTreeSet<String> {
    let schema = Release::latest().schema();
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![(String::new(), one, other)];
    while let Some((path, one, other)) = open.pop() {
        if one == other || !seen.insert(format!("{one:?} {other:?}")) {
            continue;
        }
        let (one, other) = (schema.get(one), schema.get(other));
        let names = one
            .fields
            .iter()
            .chain(other.fields.iter())
            .map(|field| field.name);
        for name in names.collect::<BTreeSet<_>>() {
            let path = format!("{path}.{name}");
            let (Some(left), Some(right)) = (one.field(name), other.field(name)) else {
                found.insert(path);
                continue;
            };
            let (mut left, mut right) = (&left.shape, &right.shape);
            while let (Shape::List(one), Shape::List(other)) | (Shape::Map(one), Shape::Map(other)) =
                (left, right)
            {
                (left, right) = (one, other);
            }
            match (left, right) {
                (Shape::Struct(left), Shape::Struct(right)) => open.push((path, *left, *right)),
                (left, right) if left == right => {}
                _ => drop(found.insert(path)),
            }
        }
    }
    found
}

#[test]
fn every_pair_of_versions_with_other_fields_is_converted() {
    let pairs = pairs();
    assert!(pairs.len() > 150, "{}", pairs.len());
    let mut differ = BTreeSet::new();
    let mut forgotten = Vec::new();
    for (one, other) in pairs {
        let found = differences(type_id(&one), type_id(&other));
        if !found.is_empty() {
            if matches!(relation(&one, &other), VersionRelation::Same) {
                forgotten.push(format!("{one} to {other}: {found:?}"));
            }
            differ.insert(one.kind);
        }
    }
    assert!(forgotten.is_empty(), "{}", forgotten.join("\n"));
    for kind in [
        "Event",
        "HorizontalPodAutoscaler",
        "ResourceClaim",
        "ResourceSlice",
    ] {
        assert!(differ.contains(kind), "{kind}");
    }
}

/// The cases that an API server's own code answered; `tools/go/objects/conversions` makes them.
fn cases() -> Vec<String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/conversions");
    let files = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
    texts
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

#[test]
fn objects_are_what_an_api_server_makes_of_them() {
    let mut faults = Vec::new();
    let mut covered = BTreeSet::new();
    for line in cases() {
        let case = parse(line.as_bytes()).unwrap();
        let text = |field| case.get(field).and_then(Value::as_str).unwrap();
        let kind = |version| {
            GroupVersion::parse(text(version))
                .unwrap()
                .with_kind(text("kind"))
        };
        let (from, to) = (kind("from"), kind("to"));
        covered.insert((from.clone(), to.clone()));
        let object = case.get("object").unwrap();
        let actual = converted(Release::latest(), &to, object, &Progress::unwatched()).map(|converted| {
            let object = converted.as_ref().unwrap_or(object);
            let formed = typed(Release::latest(), &to, object, &Progress::unwatched()).unwrap();
            let formed = formed.as_ref().unwrap_or(object);
            let named = named(&to, formed, &Progress::unwatched()).unwrap();
            named.unwrap_or_else(|| formed.clone()).to_string()
        });
        let actual = actual.map_err(|error| error.to_string());
        let as_expected = match (
            &actual,
            case.get("expect"),
            case.get("error").and_then(Value::as_str),
        ) {
            (Ok(actual), Some(expected), None) => *actual == formed(&to, expected),
            // The errors of a selector have more text there.
            (Err(actual), None, Some(error)) => !actual.is_empty() && error.starts_with(actual.as_str()),
            _ => false,
        };
        if !as_expected {
            let expected = case.get("expect").or(case.get("error")).unwrap();
            faults.push(format!(
                "{from} to {to}\n  object   {object}\n  expected {expected}\n  actual   {actual:?}"
            ));
        }
    }
    assert!(
        faults.is_empty(),
        "{} differ\n{}",
        faults.len(),
        faults.join("\n")
    );
    for (from, to) in pairs() {
        // Versions that were added or removed in another release are not in the recorded one.
        let is_known = |kind: &GroupVersionKind| covered.iter().any(|(from, _)| from == kind);
        if is_known(&from) && is_known(&to) {
            assert!(covered.contains(&(from.clone(), to.clone())), "{from} to {to}");
        }
    }
}

/// An expected object with the fields that a later release adds to all objects, and without losing any.
fn formed(kind: &GroupVersionKind, object: &Value<'_>) -> String {
    let formed = typed(Release::latest(), kind, object, &Progress::unwatched()).unwrap();
    let formed = formed.unwrap_or_else(|| object.borrowed());
    assert!(has(&formed, object), "{object}");
    formed.to_string()
}

/// Whether a value has all that another one has.
fn has(value: &Value<'_>, other: &Value<'_>) -> bool {
    match (value, other) {
        (Value::Object(value), Value::Object(other)) => {
            let mut members = other.iter();
            members.all(|(name, other)| value.get(name).is_some_and(|value| has(value, other)))
        }
        (Value::Array(value), Value::Array(other)) => {
            value.len() == other.len() && value.iter().zip(other).all(|(value, other)| has(value, other))
        }
        _ => value.to_string() == other.to_string(),
    }
}

#[test]
fn objects_of_no_other_version_stay() {
    let check = |kind: &GroupVersionKind, text: &str| {
        let object = parse(text.as_bytes()).unwrap();
        assert_eq!(
            converted(Release::latest(), kind, &object, &Progress::unwatched()),
            Ok(None),
            "{text}"
        );
    };
    let event = GroupVersionKind::new("events.k8s.io", "v1", "Event");
    check(
        &event,
        r#"{"apiVersion":"events.k8s.io/v1","kind":"Event","note":"n"}"#,
    );
    check(&event, r#"{"note":"n"}"#);
    check(&event, r#"{"kind":"Event"}"#);
    check(&event, "null");
    let custom = GroupVersionKind::new("example.com", "v2", "Event");
    check(&custom, r#"{"apiVersion":"example.com/v1","kind":"Event"}"#);
    check(&custom, r#"{"apiVersion":"example.com/v2","kind":"Other"}"#);
}

#[test]
fn what_is_of_another_kind_is_not_converted() {
    let check = |kind: &GroupVersionKind, text: &str, expected: &str| {
        let object = parse(text.as_bytes()).unwrap();
        for (version, line) in [("1.34", 110), ("1.35", 111), ("1.37", 111), ("1.38", 110)] {
            let release = Release::by_version(version).unwrap();
            let error = converted(release, kind, &object, &Progress::unwatched()).unwrap_err();
            let expected = expected.replace("scheme.go:111", &format!("scheme.go:{line}"));
            assert_eq!(error.to_string(), expected, "{version}: {text}");
        }
    };
    let config_map = GroupVersionKind::new("", "v1", "ConfigMap");
    let unknown = "converting (*v1.Pod) to (*v1.ConfigMap): unknown conversion";
    check(&config_map, r#"{"apiVersion":"v1","kind":"Pod"}"#, unknown);
    check(&config_map, r#"{"kind":"Pod"}"#, unknown);
    let unregistered = |kind: &str, version: &str| {
        format!(
            "no kind \"{kind}\" is registered for version \"{version}\" in scheme \"pkg/runtime/scheme.go:111\""
        )
    };
    check(
        &config_map,
        r#"{"apiVersion":"example.com/v1","kind":"Foo"}"#,
        &unregistered("Foo", "example.com/v1"),
    );
    check(
        &config_map,
        r#"{"apiVersion":"v9"}"#,
        &unregistered("ConfigMap", "v9"),
    );
    check(
        &config_map,
        r#"{"apiVersion":"a/b/c","kind":"ConfigMap"}"#,
        &unregistered("ConfigMap", "a/b/c"),
    );
    let custom = GroupVersionKind::new("example.com", "v1", "Foo");
    check(
        &custom,
        r#"{"apiVersion":"v1","kind":"ConfigMap"}"#,
        "request to convert CR from an invalid group/version: v1",
    );
}

/// The object, by its kind and version, after a change was made to it in another version.
#[track_caller]
fn check_changed(object: &str, version: &str, change: impl FnOnce(&mut Object<'_>), expected: &str) {
    let object = parse(object.as_bytes()).unwrap();
    let stated = GroupVersion::parse(object.get("apiVersion").unwrap().as_str().unwrap()).unwrap();
    let stated = stated.with_kind(object.get("kind").unwrap().as_str().unwrap());
    let other = GroupVersion::parse(version).unwrap().with_kind(&stated.kind);
    let progress = Progress::unwatched();
    let before = converted(Release::latest(), &other, &object, &progress)
        .unwrap()
        .unwrap();
    let before = typed(Release::latest(), &other, &before, &progress)
        .unwrap()
        .unwrap_or(before.clone());
    let before = named(&other, &before, &progress).unwrap().unwrap();
    let mut after = before.clone();
    if let Value::Object(after) = &mut after {
        change(after);
    }
    let changed = changed_back(Release::latest(), &stated, &object, (&before, &after), &progress);
    let changed = changed.unwrap().unwrap();
    assert_eq!(
        changed.to_string(),
        parse(expected.as_bytes()).unwrap().to_string()
    );
}

#[test]
fn what_is_not_changed_stays_as_it_was() {
    let autoscaler = |labels: &str, target: u8| {
        format!(
            r#"{{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{{{labels}"name":"h"}},
                "spec":{{"maxReplicas":3,"metrics":[
                  {{"resource":{{"name":"cpu","target":{{"averageUtilization":{target},"type":"Utilization"}}}},"type":"Resource"}},
                  {{"resource":{{"name":"memory","target":{{"averageValue":"1","type":"AverageValue"}}}},"type":"Resource"}}]}}}}"#
        )
    };
    // The first version would put processors last.
    check_changed(
        &autoscaler("", 50),
        "autoscaling/v1",
        |object| drop(part(object, "metadata").unwrap().insert("labels", Object::new())),
        &autoscaler("", 50),
    );
    check_changed(
        &autoscaler("", 50),
        "autoscaling/v1",
        |object| {
            let labels = Object::from_iter([("a".into(), Value::from("b"))]);
            part(object, "metadata").unwrap().insert("labels", labels);
            part(object, "spec").unwrap().insert("maxReplicas", Value::Int(9));
        },
        &autoscaler(r#""labels":{"a":"b"},"#, 50).replace(r#""maxReplicas":3"#, r#""maxReplicas":9"#),
    );
    // A field that is removed in one version is removed in the other.
    check_changed(
        r#"{"apiVersion":"v1","kind":"Event","involvedObject":{"name":"p"},"message":"m","count":3}"#,
        "events.k8s.io/v1",
        |object| {
            object.remove("note");
            object.insert("deprecatedCount", Value::Int(4));
        },
        r#"{"apiVersion":"v1","kind":"Event","involvedObject":{"name":"p"},"count":4}"#,
    );
}

#[test]
fn what_has_no_way_is_refused() {
    let text = br#"{"apiVersion":"apps/v1","kind":"Deployment"}"#;
    let object = parse(text).unwrap();
    let kind = GroupVersionKind::new("apps", "v1beta1", "StatefulSet");
    let refused = converted(Release::latest(), &kind, &object, &Progress::unwatched())
        .unwrap_err()
        .to_string();
    assert_eq!(
        refused,
        "converting (*v1.Deployment) to (*v1beta1.StatefulSet): unknown conversion"
    );
}
