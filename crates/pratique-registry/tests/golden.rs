//! Requests of `testdata/registry`, and what admission sees of them. `BLESS=1` writes what comes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails may stop"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pratique_json::Value;
use pratique_objects::ObjectCodec;
use pratique_registry::{
    CustomResources, FieldValidation, Kinds, Placeholders, Refusal, Registry, Request, Store, Target, Verb,
};
use pratique_types::{GroupVersion, Operation, UserInfo};
use serde_json::{Value as Json, json};

/// Objects by resource, namespace and name.
#[derive(Default)]
struct Stored(BTreeMap<[String; 4], Value<'static>>);

impl Store for Stored {
    fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<Value<'static>> {
        self.0
            .get(&[group, resource, namespace, name].map(str::to_owned))
            .cloned()
    }
}

fn parse(value: &Json) -> Value<'static> {
    pratique_json::parse(value.to_string().as_bytes())
        .unwrap()
        .into_owned()
}

fn verb(name: &str) -> Verb {
    match name {
        "create" => Verb::Create,
        "update" => Verb::Update,
        "json-patch" => Verb::JsonPatch,
        "merge-patch" => Verb::MergePatch,
        "strategic-merge-patch" => Verb::StrategicMergePatch,
        "apply" => Verb::Apply { force: false },
        "apply-force" => Verb::Apply { force: true },
        "delete" => Verb::Delete,
        other => panic!("{other}"),
    }
}

fn read(area: &str) -> Vec<Json> {
    serde_json::from_slice(&fs::read(path(area)).unwrap()).unwrap()
}

fn path(area: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../testdata/registry/{area}.json"))
}

fn run(case: &Json, custom: &CustomResources) -> Json {
    let placeholders = Placeholders::default();
    let builtin = ObjectCodec::with_placeholder(placeholders.time.clone());
    let scheme = Kinds {
        builtin: &builtin,
        custom,
    };
    let user = UserInfo {
        username: "ada".to_owned(),
        groups: vec!["system:authenticated".to_owned()],
        ..UserInfo::default()
    };
    let mut stored = Stored::default();
    for object in case["before"].as_array().into_iter().flatten() {
        let version = GroupVersion::parse(object["apiVersion"].as_str().unwrap()).unwrap();
        let kind = version.with_kind(object["kind"].as_str().unwrap());
        let target = Target::collection(&kind, "web").or_else(|| custom.collection(&kind, "web"));
        let target = target.unwrap();
        let registry = Registry {
            scheme: &scheme,
            store: &stored,
            placeholders: &placeholders,
            release: Some((1, 37)),
        };
        let body = object.to_string();
        let request = Request {
            target: target.clone(),
            body: body.as_bytes(),
            user: user.clone(),
            field_manager: "earlier".to_owned(),
            ..Request::default()
        };
        let prepared = registry.prepare(registry.receive(request).unwrap()).unwrap();
        let mut object = Json::from(prepared.stored);
        object["metadata"]["resourceVersion"] = json!("7");
        let namespace = if target.namespaced { "web" } else { "" };
        let resource = target.resource;
        let key = [
            resource.group,
            resource.resource,
            namespace.to_owned(),
            prepared.attributes.name,
        ];
        stored.0.insert(key, parse(&object));
    }
    let registry = Registry {
        scheme: &scheme,
        store: &stored,
        placeholders: &placeholders,
        release: Some((1, 37)),
    };
    let body = match case["text"].as_str() {
        Some(text) => text.to_owned(),
        None if case["body"].is_null() => String::new(),
        None => case["body"].to_string(),
    };
    let path = case["path"].as_str().unwrap();
    let request = Request {
        verb: verb(case["verb"].as_str().unwrap()),
        target: Target::parse(path).or_else(|| custom.target(path)).unwrap(),
        body: body.as_bytes(),
        user,
        field_manager: "kubectl".to_owned(),
        dry_run: true,
        field_validation: match case["fieldValidation"].as_str() {
            Some("Warn") => Some(FieldValidation::Warn),
            _ if case["strict"] == true => Some(FieldValidation::Strict),
            Some("Strict") => Some(FieldValidation::Strict),
            _ => None,
        },
        without_managed_fields: false,
        without_stored: false,
        without_name: false,
    };
    match registry.receive(request).and_then(|mut received| {
        let sees = Json::from(received.attributes.object.clone());
        if let Some(mutated) = case.get("mutated") {
            registry.mutated(&mut received, parse(mutated))?;
        }
        let operation = received.attributes.operation;
        registry
            .prepare(received)
            .map(|prepared| (operation, sees, prepared))
    }) {
        Ok((operation, mutating, prepared)) => {
            let attributes = prepared.attributes;
            let validating = Json::from(attributes.object);
            let stored = Json::from(prepared.stored);
            let mut seen = json!({
                "operation": operation.as_str(),
                "name": attributes.name,
                "mutating": mutating,
                "validating": differing(&mutating, validating.clone()),
                "stored": differing(&validating, stored),
                "old": operation != Operation::Create,
                "warnings": prepared.warnings,
            });
            if let Some(status) = prepared.refused {
                seen["refused"] = status.message.into();
            }
            seen
        }
        Err(Refusal { status, warnings }) => json!({
            "code": status.code, "reason": status.reason, "message": status.message, "warnings": warnings,
        }),
    }
}

/// A value, unless it is the same as the one before.
fn differing(before: &Json, value: Json) -> Json {
    if *before == value { json!("same") } else { value }
}

#[track_caller]
fn check(area: &str) {
    let mut custom = CustomResources::default();
    for definition in read("definitions") {
        assert_eq!(custom.serve(&parse(&definition)), Ok(Vec::new()));
    }
    let mut cases = read(area);
    assert!(!cases.is_empty());
    let bless = std::env::var_os("BLESS").is_some();
    for case in &mut cases {
        let actual = run(case, &custom);
        if bless {
            case["expect"] = actual;
        } else {
            assert_eq!(case["expect"], actual, "{}", case["name"]);
        }
    }
    if bless {
        let cases: Vec<String> = cases.iter().map(Json::to_string).collect();
        fs::write(path(area), format!("[\n{}\n]\n", cases.join(",\n"))).unwrap();
    }
}

#[test]
fn new_objects() {
    check("create");
}

#[test]
fn changed_objects() {
    check("update");
}

#[test]
fn patches_and_configurations() {
    check("patch");
}

#[test]
fn custom_resources() {
    check("custom");
}

#[test]
fn parts_and_deletions() {
    check("parts");
}
