//! Objects of built-in kinds.

use pratique_json::{self as json, Progress, Value};
use pratique_schema::Release;
use pratique_typed::decode::received_in;
use pratique_typed::{convert_object, converted, settle_object};
use pratique_types::{GroupVersion, GroupVersionKind};

/// An object, in the form of its own kind: giving it that form twice is giving it once, and it can be told whether an API
/// server decodes it. Conversions to another version of its kind end, with an object or an error.
pub fn objects(input: &[u8]) {
    let Ok(object) = json::parse(input) else {
        return;
    };
    let text = |key| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let Ok(version) = GroupVersion::parse(text("apiVersion")) else {
        return;
    };
    let kind = version.with_kind(text("kind"));
    let release = Release::latest();
    if let Err(message) = received_in(release.schema(), &kind, &object) {
        assert!(!message.is_empty());
    }
    let progress = Progress::unwatched();
    let mut once = object.clone();
    settle_object(release, &kind, &mut once, &progress);
    let mut twice = once.clone();
    settle_object(release, &kind, &mut twice, &progress);
    assert_eq!(twice, once, "{object}");
    let mut checked = object.clone();
    if convert_object(release, &kind, &mut checked, &progress).is_ok() {
        assert_eq!(checked, once, "{object}");
    }
    for other in ["v1", "v2", "v1beta1", "v1beta2"] {
        let other = GroupVersionKind::new(&kind.group, other, &kind.kind);
        if let Err(error) = converted(release, &other, &once, &progress) {
            assert!(!error.to_string().is_empty());
        }
    }
}
