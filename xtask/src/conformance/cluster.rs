//! The cluster that a case describes.

use pratique::Objects;
use serde_json::Value;

use super::fixture::json_value;

/// The `objects` of a case.
pub(super) fn of(case: &Value) -> Objects {
    let mut objects = Objects::new();
    for object in case.get("objects").and_then(Value::as_array).into_iter().flatten() {
        // What has no name is no object of a cluster; no case relies on one.
        let _ = objects.insert(json_value(object));
    }
    objects
}
