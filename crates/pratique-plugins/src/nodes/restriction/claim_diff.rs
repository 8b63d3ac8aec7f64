//! The difference of two claims as kube-apiserver shows it: a unified diff of their internal form in JSON.

use pratique_json::Value;
use pratique_schema::Release;
use similar::TextDiff;

use crate::object::{members, text};

/// The lines around a change.
const CONTEXT: usize = 3;

/// The difference, without the fields that a node may change.
// Upstream: k8s.io/apimachinery/pkg/util/diff, Diff
pub(super) fn difference(old: &Value<'_>, new: &Value<'_>, release: &Release) -> String {
    let (old, new) = (claim(old, release).lines(), claim(new, release).lines());
    let diff = TextDiff::from_lines(&old, &new);
    diff.unified_diff().context_radius(CONTEXT).to_string()
}

/// JSON whose members keep their order.
enum OrderedJson {
    /// A text, a number, or null.
    Scalar(String),
    List(Vec<OrderedJson>),
    Map(Vec<(String, OrderedJson)>),
}

use OrderedJson::{List, Map, Scalar};

impl OrderedJson {
    fn null() -> Self {
        Scalar("null".to_owned())
    }

    /// Lines as `json.MarshalIndent` makes them with one space.
    fn lines(&self) -> String {
        let mut lines = String::new();
        self.write(0, &mut lines);
        lines.push('\n');
        lines
    }

    fn write(&self, depth: usize, lines: &mut String) {
        let next = |lines: &mut String, at: usize, depth: usize| {
            lines.push_str(if at == 0 { "\n" } else { ",\n" });
            lines.push_str(&" ".repeat(depth + 1));
        };
        let end = |lines: &mut String| {
            lines.push('\n');
            lines.push_str(&" ".repeat(depth));
        };
        match self {
            Scalar(text) => lines.push_str(text),
            List(items) if items.is_empty() => lines.push_str("[]"),
            Map(entries) if entries.is_empty() => lines.push_str("{}"),
            List(items) => {
                lines.push('[');
                for (at, item) in items.iter().enumerate() {
                    next(lines, at, depth);
                    item.write(depth + 1, lines);
                }
                end(lines);
                lines.push(']');
            }
            Map(entries) => {
                lines.push('{');
                for (at, (name, value)) in entries.iter().enumerate() {
                    next(lines, at, depth);
                    lines.push_str(&quoted(name));
                    lines.push_str(": ");
                    value.write(depth + 1, lines);
                }
                end(lines);
                lines.push('}');
            }
        }
    }
}

/// A claim: metadata as clients see them, and the rest by the names of Go's fields.
// Upstream: pkg/apis/core/types.go, PersistentVolumeClaim
fn claim(object: &Value<'_>, release: &Release) -> OrderedJson {
    let mut entries = written(at(object, &["metadata"]), &METADATA);
    entries.push(("Spec".to_owned(), Map(spec(object))));
    entries.push(("Status".to_owned(), Map(status(object, release))));
    Map(entries)
}

/// Metadata in Go's order, without the version and the managers, which are not compared.
const METADATA: [&str; 13] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
];
const OWNER: [&str; 6] = [
    "apiVersion",
    "kind",
    "name",
    "uid",
    "controller",
    "blockOwnerDeletion",
];
const SELECTOR: [&str; 2] = ["matchLabels", "matchExpressions"];
const REQUIREMENT: [&str; 3] = ["key", "operator", "values"];

/// The members of an object that are not empty, in Go's order.
fn written(object: &Value<'_>, order: &[&str]) -> Vec<(String, OrderedJson)> {
    let mut entries = Vec::new();
    for name in order {
        let Some(value) = object.get(name).filter(|value| is_written(name, value)) else {
            continue;
        };
        let items = || value.as_array().unwrap_or_default().iter();
        let value = match *name {
            "ownerReferences" => List(items().map(|owner| Map(written(owner, &OWNER))).collect()),
            "matchExpressions" => List(items().map(|item| Map(written(item, &REQUIREMENT))).collect()),
            _ => plain(value),
        };
        entries.push(((*name).to_owned(), value));
    }
    entries
}

/// Whether Go writes a member of metadata: a pointer also if its value is false or zero.
fn is_written(name: &str, value: &Value<'_>) -> bool {
    match value {
        Value::Bool(_) => true,
        Value::Int(number) => name != "generation" || *number != 0,
        other => !other.is_empty(),
    }
}

fn spec(object: &Value<'_>) -> Vec<(String, OrderedJson)> {
    let of = |name: &'static str| at(object, &["spec", name]).clone();
    let text_of = |name: &'static str| scalar(text(object, &["spec", name]));
    let selector = match members(object, &["spec", "selector"]) {
        Some(_) => Map(written(&of("selector"), &SELECTOR)),
        None => OrderedJson::null(),
    };
    let amounts = |list: &'static str| plain(at(object, &["spec", "resources", list]));
    let resources = vec![
        field("Limits", amounts("limits")),
        field("Requests", amounts("requests")),
    ];
    vec![
        field("AccessModes", plain(&of("accessModes"))),
        field("Selector", selector),
        field("Resources", Map(resources)),
        field("VolumeName", text_of("volumeName")),
        field("StorageClassName", plain(&of("storageClassName"))),
        field(
            "VolumeMode",
            scalar(or(text(object, &["spec", "volumeMode"]), "Filesystem")),
        ),
        field("DataSource", source(&of("dataSource"), false)),
        field("DataSourceRef", source(&of("dataSourceRef"), true)),
        field(
            "VolumeAttributesClassName",
            plain(&of("volumeAttributesClassName")),
        ),
    ]
}

/// The status, without the fields that a node may change, which the reference clears before it compares the claims.
fn status(object: &Value<'_>, release: &Release) -> Vec<(String, OrderedJson)> {
    let of = |name: &'static str| plain(at(object, &["status", name]));
    let modify = ["status", "modifyVolumeStatus"];
    let modified = members(object, &modify).map(|_| {
        let name = ["status", "modifyVolumeStatus", "targetVolumeAttributesClassName"];
        let status = ["status", "modifyVolumeStatus", "status"];
        Map(vec![
            field("TargetVolumeAttributesClassName", scalar(text(object, &name))),
            field("Status", scalar(text(object, &status))),
        ])
    });
    let mut fields = vec![
        field("Phase", scalar(or(text(object, &["status", "phase"]), "Pending"))),
        field("AccessModes", of("accessModes")),
        field("Capacity", OrderedJson::null()),
        field("Conditions", OrderedJson::null()),
        field("AllocatedResources", OrderedJson::null()),
        field("AllocatedResourceStatuses", OrderedJson::null()),
        field(
            "CurrentVolumeAttributesClassName",
            of("currentVolumeAttributesClassName"),
        ),
        field("ModifyVolumeStatus", modified.unwrap_or_else(OrderedJson::null)),
    ];
    // Upstream: pkg/apis/core/types.go, PersistentVolumeClaimStatus, since 1.37
    if release.at_least(1, 37) {
        fields.push(field(
            "HealthStatus",
            health(at(object, &["status", "healthStatus"])),
        ));
    }
    fields
}

// Upstream: pkg/apis/core/types.go, VolumeHealthStatus
fn health(status: &Value<'_>) -> OrderedJson {
    if status.is_null() {
        return OrderedJson::null();
    }
    let condition = |condition: &Value<'_>| {
        let fields = [("Status", "status"), ("Reason", "reason"), ("Message", "message")];
        Map(fields
            .map(|(name, member)| field(name, scalar(text(condition, &[member]))))
            .into())
    };
    let conditions = at(status, &["healthConditions"]).as_array();
    let conditions = conditions.map(|conditions| List(conditions.iter().map(condition).collect()));
    Map(vec![
        field("HealthConditions", conditions.unwrap_or_else(OrderedJson::null)),
        field("LastTransitionTime", plain(at(status, &["lastTransitionTime"]))),
    ])
}

/// The data source of a volume.
fn source(source: &Value<'_>, has_namespace: bool) -> OrderedJson {
    if source.is_null() {
        return OrderedJson::null();
    }
    let of = |name: &str| source.get(name).map_or_else(OrderedJson::null, plain);
    let mut entries = vec![
        field("APIGroup", of("apiGroup")),
        field("Kind", scalar(text(source, &["kind"]))),
        field("Name", scalar(text(source, &["name"]))),
    ];
    if has_namespace {
        entries.push(field("Namespace", of("namespace")));
    }
    Map(entries)
}

fn field(name: &str, value: OrderedJson) -> (String, OrderedJson) {
    (name.to_owned(), value)
}

fn scalar(text: &str) -> OrderedJson {
    Scalar(quoted(text))
}

/// A text, or its default where it is empty.
fn or<'t>(text: &'t str, default: &'t str) -> &'t str {
    if text.is_empty() { default } else { text }
}

/// A text as Go writes it in JSON, with characters escaped that are special in HTML and JavaScript.
fn quoted(text: &str) -> String {
    const ESCAPED: [char; 5] = ['<', '>', '&', '\u{2028}', '\u{2029}'];
    let mut out = String::new();
    for character in Value::from(text).to_string().chars() {
        if ESCAPED.contains(&character) {
            out.push_str(&format!("\\u{:04x}", u32::from(character)))
        } else {
            out.push(character)
        }
    }
    out
}

/// A value with its members in the order of their names.
fn plain(value: &Value<'_>) -> OrderedJson {
    match value {
        Value::Array(items) => List(items.iter().map(plain).collect()),
        Value::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(name, value)| (name.to_owned(), plain(value)));
            Map(entries.collect())
        }
        Value::String(text) => scalar(text),
        other => Scalar(other.to_string()),
    }
}

fn at<'a, 'v>(object: &'a Value<'v>, path: &[&str]) -> &'a Value<'v> {
    static NULL: Value<'static> = Value::Null;
    object.at(path).unwrap_or(&NULL)
}

#[cfg(test)]
mod tests {
    use pratique_json::parse;

    use super::*;

    #[test]
    fn claims_differ_line_by_line() {
        let old = parse(
            br#"{"metadata": {"name": "data", "namespace": "team", "resourceVersion": "1"},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}}"#,
        );
        let new = parse(
            br#"{"metadata": {"name": "data", "namespace": "team", "labels": {"a": "<b>"}, "finalizers": ["x"],
                "ownerReferences": [{"uid": "1", "name": "o", "kind": "K", "apiVersion": "v1"}]},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                "status": {"phase": "Bound", "modifyVolumeStatus": {"status": "Pending"}}}"#,
        );
        let expected = r#"@@ -1,6 +1,20 @@
 {
  "name": "data",
  "namespace": "team",
+ "labels": {
+  "a": "\u003cb\u003e"
+ },
+ "ownerReferences": [
+  {
+   "apiVersion": "v1",
+   "kind": "K",
+   "name": "o",
+   "uid": "1"
+  }
+ ],
+ "finalizers": [
+  "x"
+ ],
  "Spec": {
   "AccessModes": [
    "ReadWriteOnce"
@@ -27,7 +41,10 @@
   "AllocatedResources": null,
   "AllocatedResourceStatuses": null,
   "CurrentVolumeAttributesClassName": null,
-  "ModifyVolumeStatus": null,
+  "ModifyVolumeStatus": {
+   "TargetVolumeAttributesClassName": "",
+   "Status": "Pending"
+  },
   "HealthStatus": null
  }
 }
"#;
        assert_eq!(
            difference(&old.unwrap(), &new.unwrap(), Release::latest()),
            expected
        );
    }

    #[test]
    fn the_health_of_a_volume() {
        let old = parse(b"{}").unwrap();
        let new = parse(
            br#"{"status": {"healthStatus": {"healthConditions": [{"status": "Degraded", "reason": "Slow"}],
                "lastTransitionTime": "2026-01-01T00:00:00Z"}}}"#,
        );
        let expected = r#"@@ -22,6 +22,15 @@
   "AllocatedResourceStatuses": null,
   "CurrentVolumeAttributesClassName": null,
   "ModifyVolumeStatus": null,
-  "HealthStatus": null
+  "HealthStatus": {
+   "HealthConditions": [
+    {
+     "Status": "Degraded",
+     "Reason": "Slow",
+     "Message": ""
+    }
+   ],
+   "LastTransitionTime": "2026-01-01T00:00:00Z"
+  }
  }
 }
"#;
        assert_eq!(difference(&old, &new.unwrap(), Release::latest()), expected);
    }
}
