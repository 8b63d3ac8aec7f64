//! What plugins look up about an object: the objects that it names exist.

use pratique_json::{Value, parse};
use pratique_plugin::StateObjects;

/// The classes that every cluster has.
const SYSTEM_CLASSES: [(&str, i64); 2] = [
    ("system-cluster-critical", 2_000_000_000),
    ("system-node-critical", 2_000_001_000),
];
/// The value of a class that an object names.
const CLASS_VALUE: i64 = 1000;

/// The state of a cluster that has what some objects name. The last of them tells the value of its priority class, if
/// a policy set that.
pub(super) fn state_naming(objects: &[&Value<'_>], priority: Option<i64>) -> StateObjects {
    let mut state = StateObjects::whole();
    let mut insert = |text: String| {
        if let Ok(object) = parse(text.as_bytes()) {
            // It has a kind and a name.
            drop(state.insert(object.into_owned()));
        }
    };
    let metadata = objects
        .iter()
        .find_map(|object| object.at(&["metadata", "namespace"])?.as_str());
    let namespace = quoted(metadata.unwrap_or("default"));
    insert(format!(
        r#"{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":{namespace}}},"status":{{"phase":"Active"}}}}"#
    ));
    let account = |name: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"ServiceAccount","metadata":{{"name":{},"namespace":{namespace}}}}}"#,
            quoted(name)
        )
    };
    let class = |name: &str, value: i64| {
        format!(
            r#"{{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{{"name":{}}},"value":{value}}}"#,
            quoted(name)
        )
    };
    insert(account("default"));
    for object in objects {
        let named = |field| object.at(&["spec", field]).and_then(Value::as_str);
        if let Some(name) = named("serviceAccountName") {
            insert(account(name));
        }
        if let Some(name) = named("priorityClassName") {
            insert(class(name, priority.unwrap_or(CLASS_VALUE)));
        }
        if let Some(name) = named("runtimeClassName") {
            let name = quoted(name);
            insert(format!(
                r#"{{"apiVersion":"node.k8s.io/v1","kind":"RuntimeClass","metadata":{{"name":{name}}},"handler":"a"}}"#
            ));
        }
    }
    for (name, value) in SYSTEM_CLASSES {
        insert(class(name, value));
    }
    state
}

fn quoted(text: &str) -> String {
    Value::from(text.to_owned()).to_string()
}
