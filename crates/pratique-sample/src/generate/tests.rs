//! Generated objects are valid, and have what expressions read.

use pratique_cel::Environment;
use pratique_json::Progress;
use pratique_schema::Release;

use super::*;
use crate::reads::PolicyReads;

fn reads(expressions: &[&str]) -> ReadTree {
    let environment = Environment::kubernetes();
    let asts: Vec<_> = expressions
        .iter()
        .map(|text| environment.parse(text).unwrap())
        .collect();
    PolicyReads::new(asts.iter().map(|ast| (None, ast))).object
}

fn made(resource: &str, operation: Operation, expressions: &[&str], seed: u64) -> Value<'static> {
    let spec = ObjectSpec {
        release: Release::latest(),
        served: Release::latest().resources().named(resource).unwrap(),
        operation,
        reads: &reads(expressions),
        density: 100,
    };
    generate(&spec, seed).unwrap()
}

/// Checks that required fields are present and keys are distinct, in all structs of a value.
fn check(of: &StructType, value: &Value<'_>) {
    let Value::Object(object) = value else {
        panic!("{value} is no {}", of.name)
    };
    let constraints = Release::latest().constraints().for_type(of.name);
    for field in of.fields.iter() {
        let given = object.get(field.name);
        let required = constraints.is_required(field.name);
        assert!(!required || given.is_some(), "{} without {}", of.name, field.name);
        let Some(given) = given else { continue };
        if let (Some(text), values @ [_, ..]) = (given.as_str(), constraints.values(field.name)) {
            assert!(values.contains(&text), "{}.{}: {text}", of.name, field.name);
        }
        if let (Some(elements), Some(keys)) = (given.as_array(), constraints.keys(field.name)) {
            let mut all: Vec<String> = elements.iter().map(|element| identity(element, keys)).collect();
            all.sort();
            all.dedup();
            assert_eq!(all.len(), elements.len(), "{}.{}: {given}", of.name, field.name);
        }
        match (&field.shape, given) {
            (Shape::Struct(id), _) => check(Release::latest().schema().get(*id), given),
            (Shape::List(inner), Value::Array(elements)) => {
                if let Shape::Struct(id) = &**inner {
                    elements
                        .iter()
                        .for_each(|element| check(Release::latest().schema().get(*id), element));
                }
            }
            _ => {}
        }
    }
}

#[test]
fn objects_of_all_kinds_have_what_is_required() {
    let reads = reads(&[
        "object.spec.template.spec.containers.all(c, c.env.all(e, e.name != 'A' && c.imagePullPolicy == 'Never'))",
        "object.spec.containers.all(c, c.ports.all(p, p.hostPort == 80) && c.livenessProbe.httpGet.path == '/')",
        "object.spec.volumes.all(v, has(v.hostPath) || has(v.secret) || has(v.configMap))",
        "object.metadata.labels['app'] == 'x' && object.metadata.finalizers.all(f, f != '')",
    ]);
    for served in Release::latest()
        .resources()
        .served()
        .iter()
        .filter(|served| served.subresource.is_empty())
    {
        let Some(id) = Release::latest().schema().kind(&served.kind) else {
            continue;
        };
        for seed in 0..12 {
            let spec = ObjectSpec {
                release: Release::latest(),
                served,
                operation: Operation::Create,
                reads: &reads,
                density: 60,
            };
            let mut object = generate(&spec, seed).unwrap();
            assert_eq!(
                generate(&spec, seed).as_ref(),
                Some(&object),
                "it is always the same"
            );
            check(Release::latest().schema().get(id), &object);
            let taken = pratique_typed::convert_object(
                Release::latest(),
                &served.kind,
                &mut object,
                &Progress::unwatched(),
            );
            assert_eq!(taken, Ok(()), "{}", served.kind);
        }
    }
}

#[test]
fn what_is_read_is_there() {
    let pod = made(
        "pods",
        Operation::Create,
        &["object.spec.initContainers.all(c, c.command[0] == 'sh')"],
        1,
    );
    let first = &pod.at(&["spec", "initContainers"]).unwrap().as_array().unwrap()[0];
    assert!(first.get("command").is_some(), "{pod}");
    assert!(
        pod.at(&["spec", "volumes"]).is_none() && pod.at(&["metadata", "labels"]).is_none(),
        "{pod}"
    );
}

#[test]
fn names_are_those_that_are_compared() {
    let named = |seed| {
        let read = ["object.metadata.name in ['b', 'No name', 'c:d']"];
        let pod = made("pods", Operation::Create, &read, seed);
        assert_eq!(pod.at(&["metadata", "namespace"]), Some(&NAMESPACE.into()));
        pod.at(&["metadata", "name"])
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let names: Vec<_> = (0..20).filter_map(named).collect();
    assert!(names.iter().all(|name| name == "a" || name == "b"), "{names:?}");
    assert!(names.iter().any(|name| name == "b"), "{names:?}");
}

#[test]
fn what_servers_refuse_is_not_there() {
    let read = ["has(object.spec.ephemeralContainers) && has(object.status.phase)"];
    let pod = made("pods", Operation::Create, &read, 1);
    assert!(
        pod.at(&["spec", "ephemeralContainers"]).is_none() && pod.get("status").is_none(),
        "{pod}"
    );
    let pod = made("pods", Operation::Update, &read, 1);
    assert!(pod.at(&["spec", "ephemeralContainers"]).is_some(), "{pod}");
}

#[test]
fn selectors_select_what_templates_make() {
    let read =
        ["object.spec.template.metadata.labels['tier'] == 'x' && has(object.spec.selector.matchLabels)"];
    let deployment = made("deployments", Operation::Create, &read, 1);
    let selected = deployment.at(&["spec", "selector", "matchLabels"]).unwrap();
    assert_eq!(selected.to_string(), r#"{"app":"a"}"#);
    let labels = deployment
        .at(&["spec", "template", "metadata", "labels"])
        .unwrap();
    assert!(
        labels.get("app").is_some() && labels.get("tier").is_some(),
        "{labels}"
    );
}

#[test]
fn one_source_is_given() {
    let read = ["object.spec.volumes.all(v, has(v.secret) || has(v.hostPath) || has(v.emptyDir))"];
    for seed in 0..20 {
        let pod = made("pods", Operation::Create, &read, seed);
        for volume in pod.at(&["spec", "volumes"]).unwrap().as_array().unwrap() {
            assert!(volume.as_object().unwrap().len() <= 2, "{volume}");
        }
    }
}
