//! What an API server does to the metadata of an object that is created, before it validates the object.

use serde_json::{Map, Value as Json};

use crate::position::Location;

/// The characters of generated names.
// Upstream: apimachinery/pkg/util/rand/rand.go, alphanums
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
/// How many of them a name has.
const RANDOM_LENGTH: usize = 5;
/// How much is kept of a `generateName`.
// Upstream: apiserver/pkg/storage/names/generate.go, MaxGeneratedNameLength
const MAX_PREFIX: usize = 63 - RANDOM_LENGTH;

/// Prepares the metadata of an object of a kind without namespaces, at a place: its namespace is dropped, and it gets a name if it
/// has a `generateName` alone. The name that a server would choose is random, this one depends on the place.
pub(crate) fn prepare(object: &mut Json, place: &Location) {
    let Some(metadata) = object.get_mut("metadata").and_then(Json::as_object_mut) else {
        return;
    };
    // Upstream: apiserver/pkg/registry/rest/meta.go, EnsureObjectNamespaceMatchesRequestNamespace
    if metadata.get("namespace").is_some_and(Json::is_string) {
        metadata.remove("namespace");
    }
    let prefix = text_member(metadata, "generateName");
    if text_member(metadata, "name").is_empty() && !prefix.is_empty() {
        let end = prefix.floor_char_boundary(MAX_PREFIX);
        let name = format!("{}{}", prefix.get(..end).unwrap_or_default(), suffix(place));
        metadata.insert("name".to_owned(), name.into());
    }
}

fn text_member<'m>(metadata: &'m Map<String, Json>, field: &str) -> &'m str {
    metadata.get(field).and_then(Json::as_str).unwrap_or_default()
}

/// The end of a generated name.
fn suffix(place: &Location) -> String {
    // FNV-1a.
    let offset = place.start.offset.to_string();
    let bytes = place.file.bytes().chain(offset.bytes());
    let mut hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash ^= hash >> 32;
    let mut suffix = String::with_capacity(RANDOM_LENGTH);
    for _ in 0..RANDOM_LENGTH {
        let index = usize::try_from(hash % ALPHABET.len() as u64).unwrap_or_default();
        suffix.push(char::from(ALPHABET.get(index).copied().unwrap_or(b'b')));
        hash /= ALPHABET.len() as u64;
    }
    suffix
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn place(offset: usize) -> Location {
        let at = crate::position::Position {
            line: 1,
            column: 1,
            offset,
        };
        Location {
            file: "a.yaml".into(),
            document: 0,
            start: at,
            end: at,
        }
    }

    #[test]
    fn metadata_is_prepared() {
        let mut object = json!({"metadata": {"name": "a", "generateName": "b-", "namespace": "c"}});
        prepare(&mut object, &place(0));
        assert_eq!(object, json!({"metadata": {"name": "a", "generateName": "b-"}}));
        let mut object = json!({"metadata": {"namespace": 1}});
        prepare(&mut object, &place(0));
        assert_eq!(
            object,
            json!({"metadata": {"namespace": 1}}),
            "validation reports it"
        );
    }

    #[test]
    fn names_are_generated() {
        let name = |prefix: &str, offset| {
            let mut object = json!({"metadata": {"generateName": prefix}});
            prepare(&mut object, &place(offset));
            object["metadata"]["name"].as_str().unwrap().to_owned()
        };
        let first = name("b-", 0);
        assert!(first.starts_with("b-") && first.len() == 7, "{first}");
        assert_eq!(first, name("b-", 0));
        assert_ne!(first, name("b-", 1));
        assert_eq!(name(&"é".repeat(40), 0).chars().count(), 29 + 5);
    }
}
