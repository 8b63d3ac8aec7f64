//! The objects of a page of a collection, as inputs.

use pratique_json::Value;
use pratique_kube::ListPage;
use pratique_manifest::{Location, Position};

use crate::input::{InputError, InputObject};

/// The objects of a page, each at its path, and whether it has changed since the collection began to be listed.
///
/// # Errors
/// The page cannot be read.
pub(crate) fn objects<'p>(
    page: &'p ListPage,
    collection: &str,
) -> Result<impl Iterator<Item = (InputObject<'p>, bool)>, InputError> {
    let objects = page.objects().map_err(|error| InputError::Faulty {
        place: collection.to_owned(),
        why: error.to_string(),
    })?;
    Ok(objects.into_iter().map(move |listed| {
        let input = InputObject {
            location: Location {
                file: path_of(collection, &listed.object).into(),
                document: 0,
                start: Position::default(),
                end: Position::default(),
            },
            object: listed.object,
            received: Ok(Vec::new()),
            item: 0,
            origin: None,
        };
        (input, listed.is_changed)
    }))
}

/// The path of an object in a collection: `/api/v1/namespaces/shop/pods/web`.
fn path_of(collection: &str, object: &Value<'_>) -> String {
    let text = |name| object.at(&["metadata", name]).and_then(Value::as_str);
    let name = text("name").unwrap_or_default();
    match (text("namespace"), collection.rsplit_once('/')) {
        (Some(namespace), Some((root, resource))) => {
            format!("{root}/namespaces/{namespace}/{resource}/{name}")
        }
        _ => format!("{collection}/{name}"),
    }
}
