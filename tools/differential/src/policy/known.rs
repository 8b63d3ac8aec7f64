//! Where policies differ from the reference on purpose.

use serde_json::Value;

/// Whether a difference is one of those that are meant to be.
pub(super) fn is_known(ours: &Value, theirs: &Value) -> bool {
    names_another_go_map(ours, theirs)
}

/// Messages about a wrong kind of value show the reference's type for objects of Go, which are structs or maps: labels
/// are a map. To us both are maps, and shown as structs.
fn names_another_go_map(ours: &Value, theirs: &Value) -> bool {
    let [map, structure] = ["reflectSchemalessTypedMap", "reflectSchemalessTypedStruct"];
    let [ours, theirs] = [ours, theirs].map(Value::to_string);
    theirs.contains(map) && theirs.replace(map, structure) == ours
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_of_go_are_shown_as_structs() {
        let shown = |name: &str| {
            let message = format!("unsupported map key type: *common.reflectSchemalessTyped{name}");
            serde_json::json!({"status": {"message": message}, "allowed": false})
        };
        assert!(is_known(&shown("Struct"), &shown("Map")));
        assert!(!is_known(&shown("List"), &shown("Map")));
        assert!(!is_known(&shown("Map"), &shown("Struct")));
    }
}
