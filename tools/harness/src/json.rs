//! Composing JSON.

use serde_json::Value;

/// An object with additional members, which replace those of the same name.
pub fn with<'n>(mut object: Value, members: impl IntoIterator<Item = (&'n str, Value)>) -> Value {
    if let Some(all) = object.as_object_mut() {
        all.extend(
            members
                .into_iter()
                .map(|(name, member)| (name.to_owned(), member)),
        );
    }
    object
}
