//! One table for the rules of the merge, one for its errors.

use pratique_json::{Interrupted, Progress, Value, parse};
use pratique_schema::Release;
use pratique_schema::merge::MergeSchema;
use pratique_types::GroupVersionKind;

use super::{Error, Patch, apply, apply_to_unique};

fn run(kind: &str, object: &str, patch: &str) -> String {
    let schema = Release::latest().merge_schema();
    let (version, kind) = kind.rsplit_once('/').unwrap();
    let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
    let of = schema.kind(&GroupVersionKind::new(group, version, kind)).unwrap();
    merged(schema, of, object, patch)
}

fn merged(
    schema: &MergeSchema,
    of: pratique_schema::merge::MergeTypeId,
    object: &str,
    patch: &str,
) -> String {
    let mut object = parse(object.as_bytes()).unwrap();
    let before = object.clone();
    let patch = evaluated(parse(patch.as_bytes()).unwrap().into());
    match apply(schema, of, &mut object, patch, &Progress::unwatched()) {
        Ok(()) => object.to_string(),
        Err(error) => {
            assert_eq!(object, before, "an error changes nothing");
            error.to_string()
        }
    }
}

/// A patch with its nulls as an expression gives them.
fn evaluated(patch: Patch<'_>) -> Patch<'_> {
    match patch {
        Patch::Null => Patch::NullValue,
        Patch::List(elements) => Patch::List(elements.into_iter().map(evaluated).collect()),
        Patch::Map(members) => Patch::Map(
            members
                .into_iter()
                .map(|(key, member)| (key, evaluated(member)))
                .collect(),
        ),
        other => other,
    }
}

/// Merges within the spec of a pod.
#[track_caller]
fn check(spec: &str, patch: &str, expected: &str) {
    let object = format!(r#"{{"spec":{spec}}}"#);
    let expected = if expected.starts_with(['{', '[']) {
        format!(r#"{{"spec":{expected}}}"#)
    } else {
        expected.to_owned()
    };
    assert_eq!(
        run("v1/Pod", &object, &format!(r#"{{"spec":{patch}}}"#)),
        expected
    );
}

#[test]
fn structs_and_maps_are_merged_by_member() {
    check(
        r#"{"nodeName":"a"}"#,
        r#"{"hostPID":true}"#,
        r#"{"hostPID":true,"nodeName":"a"}"#,
    );
    check(
        r#"{"nodeName":"a"}"#,
        r#"{"nodeName":"b"}"#,
        r#"{"nodeName":"b"}"#,
    );
    check(r#"{"nodeName":"a"}"#, "{}", r#"{"nodeName":"a"}"#);
    check("null", r#"{"nodeName":"a"}"#, r#"{"nodeName":"a"}"#);
    check("null", "{}", "{}");
    check(
        r#"{"overhead":{"cpu":1}}"#,
        r#"{"overhead":{"memory":"1Gi"}}"#,
        r#"{"overhead":{"cpu":1,"memory":"1Gi"}}"#,
    );
    check(
        r#"{"securityContext":{"runAsUser":1}}"#,
        r#"{"securityContext":{}}"#,
        r#"{"securityContext":{"runAsUser":1}}"#,
    );
}

#[test]
fn keyed_lists_are_merged_by_element() {
    let containers =
        r#"{"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"},{"name":"c","image":"3"}]}"#;
    let names = |merged: &str| {
        let merged = parse(merged.as_bytes()).unwrap().into_owned();
        let containers = merged
            .at(&["spec", "containers"])
            .unwrap()
            .as_array()
            .unwrap()
            .to_vec();
        let text = |container: &Value<'_>| {
            let get = |key| {
                container
                    .get(key)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned()
            };
            get("name") + &get("image")
        };
        containers.iter().map(text).collect::<Vec<_>>().join(" ")
    };
    for (patch, expected) in [
        (r#"[{"name":"b","image":"x"}]"#, "a1 bx c3"),
        (r#"[{"name":"d"}]"#, "a1 b2 c3 d"),
        (r#"[{"name":"c"},{"name":"a"}]"#, "b2 c3 a1"),
        (r#"[{"name":"c"},{"name":"d"},{"name":"a"}]"#, "b2 c3 d a1"),
        (r#"[{"name":"d"},{"name":"b"}]"#, "a1 d b2 c3"),
        (r#"[{"name":"d"},{"name":"a"}]"#, "d a1 b2 c3"),
        (r#"[{"name":"b"},{"name":"d"}]"#, "a1 b2 c3 d"),
        ("[]", "a1 b2 c3"),
        (r#"[{"image":"x"}]"#, "a1 b2 c3 x"),
    ] {
        let object = format!(r#"{{"spec":{containers}}}"#);
        let merged = run(
            "v1/Pod",
            &object,
            &format!(r#"{{"spec":{{"containers":{patch}}}}}"#),
        );
        assert_eq!(names(&merged), expected, "{patch}");
    }
}

#[test]
fn keys_have_defaults() {
    let ports = |ports: &str| format!(r#"{{"containers":[{{"name":"a","ports":{ports}}}]}}"#);
    check(
        &ports(r#"[{"containerPort":80},{"containerPort":80,"protocol":"UDP"}]"#),
        &ports(r#"[{"containerPort":80,"protocol":"TCP","name":"web"}]"#),
        &ports(
            r#"[{"containerPort":80,"name":"web","protocol":"TCP"},{"containerPort":80,"protocol":"UDP"}]"#,
        ),
    );
    check(
        &ports(r#"[{"containerPort":80,"hostPort":1}]"#),
        &ports(r#"[{"containerPort":80.0,"name":"web"}]"#),
        &ports(r#"[{"containerPort":80,"hostPort":1,"name":"web"}]"#),
    );
}

#[test]
fn repeated_elements_of_the_object_stay_unless_the_patch_has_them() {
    let env = |env: &str| format!(r#"{{"containers":[{{"env":{env},"name":"a"}}]}}"#);
    let object = env(r#"[{"name":"x","value":"1"},{"name":"y","value":"2"},{"name":"x","value":"3"}]"#);
    check(
        &object,
        &env(r#"[{"name":"y","value":"4"}]"#),
        &env(r#"[{"name":"x","value":"1"},{"name":"y","value":"4"},{"name":"x","value":"3"}]"#),
    );
    check(
        &object,
        &env(r#"[{"name":"x"}]"#),
        &env(r#"[{"name":"x"},{"name":"y","value":"2"}]"#),
    );
}

#[test]
fn sets_are_united() {
    let finalizers = |list: &str| format!(r#"{{"metadata":{{"finalizers":{list}}}}}"#);
    for (existing, patch, expected) in [
        (r#"["a","b"]"#, r#"["c"]"#, r#"["a","b","c"]"#),
        (r#"["a","b"]"#, r#"["b","a"]"#, r#"["b","a"]"#),
        (r#"["a","a"]"#, r#"["a"]"#, r#"["a"]"#),
        ("[]", r#"["a"]"#, r#"["a"]"#),
    ] {
        assert_eq!(
            run("v1/Pod", &finalizers(existing), &finalizers(patch)),
            finalizers(expected)
        );
    }
}

#[test]
fn atomic_values_are_refused() {
    let refused = "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ";
    let check = |patch: &str, places: &str| check("{}", patch, &format!("{refused}{places}"));
    check(r#"{"tolerations":[]}"#, ".spec.tolerations");
    check(r#"{"nodeSelector":{}}"#, ".spec.nodeSelector");
    check(
        r#"{"containers":[{"name":"a","args":["x"],"env":[{"name":"b","valueFrom":{"fieldRef":{}}}]}]}"#,
        ".spec.containers[0].args, .spec.containers[0].env[0].valueFrom.fieldRef",
    );
    check(
        r#"{"imagePullSecrets":[{"name":"a"}]}"#,
        ".spec.imagePullSecrets[0]",
    );
}

#[test]
fn a_patch_has_to_fit() {
    let check = |patch: &str, error: &str| {
        check(
            "{}",
            patch,
            &format!("failed to convert patch object to typed object: {error}"),
        );
    };
    check(r#"{"nope":1}"#, ".spec.nope: field not declared in schema");
    check(
        r#"{"hostNetwork":"x"}"#,
        ".spec.hostNetwork: expected boolean, got &{x}",
    );
    check(
        r#"{"nodeName":3}"#,
        ".spec.nodeName: expected string, got &value.valueUnstructured{Value:3}",
    );
    check(
        r#"{"nodeName":{"a":["x",1.5,true]}}"#,
        r#".spec.nodeName: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}{"x", 1.5, true}}}"#,
    );
    check(
        r#"{"priority":"x"}"#,
        ".spec.priority: expected numeric (int or float), got string",
    );
    check(
        r#"{"containers":{"a":"x","b":1000000.0}}"#,
        ".spec.containers: expected list, got &{map[a:x b:1e+06]}",
    );
    check(
        r#"{"securityContext":null}"#,
        ".spec.securityContext: expected map, got &{NULL_VALUE}",
    );
    check(
        r#"{"nodeName":null}"#,
        ".spec.nodeName: expected string, got &value.valueUnstructured{Value:0}",
    );
    check(
        r#"{"overhead":{"cpu":[]}}"#,
        ".spec.overhead.cpu: expected any scalar, got &{[]}",
    );
    check(
        r#"{"containers":[1]}"#,
        ".spec.containers: element 0: associative list with keys may not have non-map elements",
    );
    check(
        r#"{"containers":[{"name":"a"},{"name":"a"}]}"#,
        r#".spec.containers: duplicate entries for key [name="a"]"#,
    );
    check(
        r#"{"containers":[{"name":"a","ports":[{"protocol":"UDP","containerPort":1,"x":1}]}]}"#,
        r#".spec.containers[name="a"].ports[containerPort=1,protocol="UDP"].x: field not declared in schema"#,
    );
    check(
        r#"{"hostIPC":1,"hostPID":2}"#,
        "errors:\n  .spec.hostIPC: expected boolean, got &{1}\n  .spec.hostPID: expected boolean, got &{2}",
    );
}

#[test]
fn an_object_has_to_fit_too() {
    check(
        r#"{"mystery":1}"#,
        "{}",
        "failed to convert original object to typed object: .spec.mystery: field not declared in schema",
    );
}

#[test]
fn kind_and_version_are_ignored() {
    assert_eq!(
        run(
            "apps/v1/Deployment",
            r#"{"kind":"Deployment"}"#,
            r#"{"kind":1,"apiVersion":[],"metadata":{"name":"x"}}"#
        ),
        r#"{"kind":"Deployment","metadata":{"name":"x"}}"#
    );
}

#[test]
fn what_openapi_leaves_open_is_merged_by_what_it_is() {
    let definition = parse(
        br#"{"spec":{"group":"example.com","names":{"kind":"Thing"},"versions":[
            {"name":"v1","schema":{"openAPIV3Schema":{"type":"object","properties":{
                "open":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
                "tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
                "any":{"x-kubernetes-int-or-string":true},
                "embedded":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}
            }}}},
            {"name":"v2"}]}}"#,
    )
    .unwrap();
    let schema = MergeSchema::custom(Release::latest(), &definition).unwrap();
    let of = |version| {
        schema
            .kind(&GroupVersionKind::new("example.com", version, "Thing"))
            .unwrap()
    };
    for (object, patch, expected) in [
        (
            r#"{"open":{"a":{"b":1},"l":[1]}}"#,
            r#"{"open":{"a":{"c":2},"l":[2]}}"#,
            r#"{"open":{"a":{"b":1,"c":2},"l":[2]}}"#,
        ),
        (r#"{"tags":["a"]}"#, r#"{"tags":["b"]}"#, r#"{"tags":["a","b"]}"#),
        (r#"{"any":1}"#, r#"{"any":"50%"}"#, r#"{"any":"50%"}"#),
        (r#"{"any":1}"#, r#"{"any":{"a":1}}"#, r#"{"any":{"a":1}}"#),
        (
            r#"{"metadata":{"labels":{"a":"b"}}}"#,
            r#"{"metadata":{"labels":{"c":"d"}}}"#,
            r#"{"metadata":{"labels":{"a":"b","c":"d"}}}"#,
        ),
        (
            r#"{"embedded":{"spec":{"x":1}}}"#,
            r#"{"embedded":{"kind":"X","metadata":{"name":"y"}}}"#,
            r#"{"embedded":{"kind":"X","metadata":{"name":"y"},"spec":{"x":1}}}"#,
        ),
        (
            "{}",
            r#"{"embedded":{"metadata":{"nope":1}}}"#,
            "failed to convert patch object to typed object: .embedded.metadata.nope: field not declared in schema",
        ),
        (
            "{}",
            r#"{"nope":1}"#,
            "failed to convert patch object to typed object: .nope: field not declared in schema",
        ),
    ] {
        assert_eq!(merged(&schema, of("v1"), object, patch), expected);
    }
    assert_eq!(
        merged(&schema, of("v2"), r#"{"a":{"b":1}}"#, r#"{"a":{"c":[1]}}"#),
        r#"{"a":{"b":1,"c":[1]}}"#
    );
}

#[test]
fn the_empty_list_of_an_expression_is_null() {
    let mut object = parse(br#"{"metadata":{}}"#).unwrap();
    let schema = Release::latest().merge_schema();
    let of = schema.kind(&GroupVersionKind::new("", "v1", "Pod")).unwrap();
    let finalizers = Patch::Map(vec![("finalizers".into(), Patch::EmptyList)]);
    let patch = Patch::Map(vec![("metadata".into(), finalizers)]);
    apply(schema, of, &mut object, patch, &Progress::unwatched()).unwrap();
    assert_eq!(object.to_string(), r#"{"metadata":{"finalizers":null}}"#);
}

#[test]
fn the_null_of_a_document_takes_the_place_of_what_is_not_merged() {
    let schema = Release::latest().merge_schema();
    let of = schema.kind(&GroupVersionKind::new("", "v1", "Pod")).unwrap();
    for (spec, expected) in [
        (r#"{"nodeName":"a"}"#, r#"{"nodeName":null}"#),
        (r#"{"nodeSelector":{"a":"b"}}"#, r#"{"nodeSelector":null}"#),
        (r#"{"tolerations":[{"key":"a"}]}"#, r#"{"tolerations":null}"#),
        (r#"{"overhead":{"cpu":1}}"#, r#"{"overhead":{"cpu":1}}"#),
        (r#"{"overhead":{}}"#, r#"{"overhead":null}"#),
        (
            r#"{"containers":[{"name":"a"}]}"#,
            r#"{"containers":[{"name":"a"}]}"#,
        ),
        (r#"{"containers":[]}"#, r#"{"containers":null}"#),
    ] {
        let object = format!(r#"{{"spec":{spec}}}"#);
        let mut object = parse(object.as_bytes()).unwrap();
        let field = object
            .get("spec")
            .unwrap()
            .as_object()
            .unwrap()
            .iter()
            .next()
            .unwrap()
            .0
            .to_owned();
        let spec = Patch::Map(vec![(field.into(), Patch::Null)]);
        let patch = Patch::Map(vec![("spec".into(), spec)]);
        apply(schema, of, &mut object, patch, &Progress::unwatched()).unwrap();
        assert_eq!(object.get("spec").unwrap().to_string(), expected);
    }
}

/// However late it is told to stop, wherever the merge is.
#[test]
fn callers_interrupt() {
    let containers = |from: usize| -> String {
        let containers = (from..from + 5_000)
            .map(|at| format!(r#"{{"name":"c{at}","env":[{{"name":"A","value":"b"}}],"command":["x"]}}"#));
        containers.collect::<Vec<_>>().join(",")
    };
    let parsed = |containers: &str| {
        let text = format!(r#"{{"spec":{{"containers":[{containers}]}}}}"#);
        parse(text.as_bytes()).unwrap().into_owned()
    };
    let schema = Release::latest().merge_schema();
    let of = schema.kind(&GroupVersionKind::new("", "v1", "Pod")).unwrap();
    let object = parsed(&containers(0));
    // Half of the containers are merged, the other half comes anew.
    let patch = parsed(&containers(2_500).replace(r#","command":["x"]"#, ""));
    let asked = std::cell::Cell::new(0);
    let interrupted_at = |last: usize| {
        asked.set(0);
        let interruption = || {
            asked.set(asked.get() + 1);
            asked.get() > last
        };
        let patch = Patch::from(patch.clone());
        apply(
            schema,
            of,
            &mut object.clone(),
            patch,
            &Progress::new(&interruption),
        )
    };
    assert_eq!(interrupted_at(usize::MAX), Ok(()));
    let looks = asked.get();
    assert!(looks >= 20, "it looks {looks} times");
    for last in (0..looks).step_by(looks / 5) {
        assert_eq!(
            interrupted_at(last),
            Err(Error::Interrupted(Interrupted)),
            "at look {last}"
        );
        assert_eq!(asked.get(), last + 1, "at look {last}");
    }
}

#[test]
fn objects_with_duplicates_may_be_refused() {
    let schema = Release::latest().merge_schema();
    let of = schema.kind(&GroupVersionKind::new("", "v1", "Pod")).unwrap();
    let object = parse(br#"{"spec":{"containers":[{"name":"a"},{"name":"a"}]}}"#).unwrap();
    let patch = || Patch::from(parse(br#"{"spec":{"nodeName":"n"}}"#).unwrap());
    let progress = Progress::unwatched();
    assert!(apply(schema, of, &mut object.clone(), patch(), &progress).is_ok());
    let refusal = apply_to_unique(schema, of, &mut object.clone(), patch(), &progress).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "failed to convert original object to typed object: .spec.containers: duplicate entries for key [name=\"a\"]"
    );
}
