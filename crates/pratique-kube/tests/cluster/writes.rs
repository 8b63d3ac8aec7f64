//! Objects of a program are applied, found by their labels, and removed.

use pratique::types::{GroupVersionKind, GroupVersionResource};
use pratique_kube::{ObjectName, WriteError, WrittenKind};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::server::FakeServer;

const ALL: &str = "/apis/example.com/v1/reports";
const OF_SHOP: &str = "/apis/example.com/v1/namespaces/shop/reports";

fn reports() -> WrittenKind {
    WrittenKind {
        resource: GroupVersionResource::new("example.com", "v1", "reports"),
        kind: GroupVersionKind::new("example.com", "v1", "Report"),
    }
}

fn named(namespace: Option<&str>, name: &str) -> ObjectName {
    ObjectName {
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
    }
}

fn report(name: &str, by: &str) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Report", "metadata": {"name": name, "labels": {"by": by}}})
}

#[test]
fn objects_are_applied_and_removed() {
    // Clients are made within a runtime, and wait outside of it.
    let runtime = Runtime::new().unwrap();
    let _entered = runtime.enter();
    let server = FakeServer::default();
    let writer = server.api().writer();
    writer
        .apply(&reports(), &named(Some("shop"), "a"), report("a", "us"), "tests")
        .unwrap();
    writer
        .apply(&reports(), &named(None, "b"), report("b", "us"), "tests")
        .unwrap();
    assert_eq!(
        (server.names(OF_SHOP), server.names(ALL)),
        (vec!["a".to_owned()], vec!["b".to_owned()])
    );
    server.put(ALL, report("c", "others"));
    let found = writer.labelled(&reports(), "by=us").unwrap();
    assert_eq!(found, [named(None, "b")]);
    writer.delete(&reports(), &named(None, "b")).unwrap();
    assert_eq!(server.names(ALL), ["c"]);
    // What is not there is removed already.
    writer.delete(&reports(), &named(Some("shop"), "none")).unwrap();
}

#[test]
fn a_kind_that_is_not_served_is_reported() {
    let runtime = Runtime::new().unwrap();
    let _entered = runtime.enter();
    let server = FakeServer::default();
    server.lack(ALL);
    let writer = server.api().writer();
    let error = writer
        .apply(&reports(), &named(None, "b"), report("b", "us"), "tests")
        .unwrap_err();
    assert!(matches!(error, WriteError::NotFound { .. }), "{error:?}");
    let error = writer.labelled(&reports(), "by=us").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server could not find the requested resource"
    );
}
