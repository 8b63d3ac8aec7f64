//! That operations on large objects end soon after their caller interrupts them, wherever they are.

#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

use std::cell::Cell;

use pratique_json::{Object, Progress, Value, parse};
use pratique_schema::{Release, Schema, TypeId};
use pratique_typed::ObjectPart;
use pratique_typed::decode::{self, DecodeError};
use pratique_types::GroupVersionKind;

fn kind(group: &str, version: &str, kind: &str) -> GroupVersionKind {
    GroupVersionKind::new(group, version, kind)
}

/// A Pod with so many containers; what some of their fields are is no canonical form, or unknown.
fn pod(containers: usize) -> Value<'static> {
    let containers: Vec<String> = (0..containers)
        .map(|at| {
            format!(
                r#"{{"name":"c{at}","image":"i","env":[{{"name":"A","value":"b"}},{{"name":"C","extra":1.0}}],
                    "resources":{{"limits":{{"cpu":"1000m","memory":"1024Mi"}}}},"ports":[{{"containerPort":80.0}}]}}"#
            )
        })
        .collect();
    let text = format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p"}},"spec":{{"containers":[{}]}}}}"#,
        containers.join(",")
    );
    parse(text.as_bytes()).unwrap().into_owned()
}

/// The same without unknown fields, as settled.
fn settled_pod(containers: usize) -> Value<'static> {
    let mut object = pod(containers);
    pratique_typed::settle_object(
        Release::latest(),
        &kind("", "v1", "Pod"),
        &mut object,
        &Progress::unwatched(),
    );
    object
}

fn ingress(rules: usize) -> Value<'static> {
    let backend = r#"{"serviceName":"s","servicePort":80}"#;
    let rules: Vec<String> = (0..rules)
        .map(|at| format!(r#"{{"host":"h{at}","http":{{"paths":[{{"path":"/","backend":{backend}}}]}}}}"#))
        .collect();
    let text = format!(
        r#"{{"apiVersion":"networking.k8s.io/v1beta1","kind":"Ingress","metadata":{{"name":"i"}},
            "spec":{{"rules":[{}]}}}}"#,
        rules.join(",")
    );
    parse(text.as_bytes()).unwrap().into_owned()
}

/// An operation asks many times whether to go on, and whenever it is told not to, it does no more and says so.
#[track_caller]
fn check(name: &str, operation: impl Fn(&Progress<'_>)) {
    let asked = Cell::new(0);
    let interrupted_at = |last: usize| {
        asked.set(0);
        let interruption = || {
            asked.set(asked.get() + 1);
            asked.get() > last
        };
        let progress = Progress::new(&interruption);
        operation(&progress);
        progress.outcome()
    };
    assert_eq!(interrupted_at(usize::MAX), Ok(()), "{name}");
    let looks = asked.get();
    assert!(looks >= 10, "{name} looks {looks} times");
    for last in (0..looks).step_by(looks / 5) {
        assert!(interrupted_at(last).is_err(), "{name} at look {last}");
        assert_eq!(asked.get(), last + 1, "{name} at look {last}");
    }
}

#[test]
fn objects_are_formed() {
    let of_pod = kind("", "v1", "Pod");
    let object = pod(3_000);
    check("typed", |progress| {
        let typed = pratique_typed::typed(Release::latest(), &of_pod, &object, progress);
        assert_eq!(typed.is_err(), progress.outcome().is_err());
    });
    let settled = settled_pod(3_000);
    check("typed as it is", |progress| {
        let typed = pratique_typed::typed(Release::latest(), &of_pod, &settled, progress);
        assert_eq!(typed, progress.outcome().map(|()| None));
    });
    check("settle_object", |progress| {
        pratique_typed::settle_object(Release::latest(), &of_pod, &mut object.clone(), progress);
    });
    check("convert_object", |progress| {
        let converted =
            pratique_typed::convert_object(Release::latest(), &of_pod, &mut object.clone(), progress);
        assert_eq!(converted.is_err(), progress.outcome().is_err());
    });
    let other = kind("", "v2", "Pod");
    check("named", |progress| {
        let named = pratique_typed::named(&other, &object, progress);
        assert_eq!(named.is_err(), progress.outcome().is_err());
    });
    check("reread", |progress| {
        let read = pratique_typed::reread(&object, progress);
        assert_eq!(read.is_err(), progress.outcome().is_err());
    });
}

#[test]
fn objects_are_decoded() {
    let schema = Release::latest().schema();
    let id = schema.kind(&kind("", "v1", "Pod")).unwrap();
    let object = settled_pod(3_000);
    let members = object.as_object().unwrap();
    type Decode = fn(&'static Schema, TypeId, &Object<'_>, &Progress<'_>) -> Result<(), DecodeError>;
    let all: [(&str, Decode); 3] = [
        ("strict", decode::strict),
        ("lenient", decode::lenient),
        ("convert", decode::convert),
    ];
    for (name, decode) in all {
        check(name, |progress| {
            let decoded = decode(schema, id, members, progress);
            assert_eq!(decoded, progress.outcome().map_err(DecodeError::from), "{name}");
        });
    }
}

#[test]
fn objects_are_converted() {
    let object = ingress(10_000);
    let stable = kind("networking.k8s.io", "v1", "Ingress");
    check("converted", |progress| {
        let converted = pratique_typed::converted(Release::latest(), &stable, &object, progress);
        assert_eq!(converted.is_err(), progress.outcome().is_err());
    });
}

#[test]
fn values_are_shown() {
    let of_pod = kind("", "v1", "Pod");
    let object = settled_pod(1_000);
    let Some(Value::Array(containers)) = object.at(&["spec", "containers"]) else {
        return assert!(object.is_null(), "a Pod has containers");
    };
    check("go_value", |progress| {
        let shown = pratique_typed::go_value(
            Release::latest(),
            &of_pod,
            &object,
            ObjectPart::List(containers),
            progress,
        );
        assert!(shown.is_some() || progress.outcome().is_err());
    });
}
