//! Intended differences from the reference in policies.

use serde_json::Value;

/// Whether a difference is intended.
pub(super) fn is_known(ours: &Value, theirs: &Value) -> bool {
    names_another_go_map(ours, theirs) || refuses_what_crashes(ours, theirs) || shows_an_address(ours, theirs)
}

/// Messages about an error in the place of a value show where Go keeps it.
fn shows_an_address(ours: &Value, theirs: &Value) -> bool {
    const POINTER: &str = "(*types.Err)(0x";
    let [ours, text] = [ours, theirs].map(|outcome| {
        let message = outcome.pointer("/status/message");
        message.map(Value::to_string).unwrap_or_default()
    });
    let mut pieces = text.split(POINTER);
    let first = pieces.next().unwrap_or_default().to_owned();
    let rest = pieces.map(|piece| piece.split_once(')').map_or(piece, |(_, rest)| rest));
    text.contains(POINTER) && rest.fold(first, |whole, piece| whole + piece) == ours
}

/// Patches of a document that is null crash the reference, which then gives no answer. Our side denies the request.
fn refuses_what_crashes(ours: &Value, theirs: &Value) -> bool {
    theirs.get("crash").is_some() && ours["allowed"] == false
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
    fn crashes_let_nothing_in() {
        let crash = serde_json::json!({"crash": "assignment to entry in nil map"});
        let ours = |allowed| serde_json::json!({"allowed": allowed});
        assert!(is_known(&ours(false), &crash));
        assert!(!is_known(&ours(true), &crash));
    }

    #[test]
    fn addresses_are_not_shown() {
        let message = |value: &str| {
            let message = format!("got &{{Value:{value}}}: {value}");
            serde_json::json!({"status": {"message": message}})
        };
        let theirs = message("(*types.Err)(0xc000)");
        assert!(is_known(&message(""), &theirs));
        assert!(!is_known(&message("x"), &theirs));
        assert!(!is_known(&message(""), &message("")));
    }

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
