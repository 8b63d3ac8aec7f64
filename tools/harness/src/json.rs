//! JSON that is put together.

use serde_json::Value;

/// An object with these members besides, which take the place of those of the same name.
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
