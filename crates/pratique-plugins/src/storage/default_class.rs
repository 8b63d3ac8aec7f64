//! The class among several that is the default.

use std::cmp::Reverse;
use std::sync::Arc;

use pratique_gotext::time::Timestamp;
use pratique_json::Value;

use crate::object::{annotation, name, text};

/// The newest of the classes that an annotation marks as the default, and of equally old ones the first by name.
// Upstream: pkg/volume/util/storageclass.go, GetDefaultClass
pub(super) fn default_class<'s>(
    classes: &'s [Arc<Value<'static>>],
    marks: &[&str],
) -> Option<&'s Value<'static>> {
    let is_default = |class: &Value<'_>| marks.iter().any(|mark| annotation(class, mark) == Some("true"));
    let classes = classes.iter().map(Arc::as_ref).filter(|class| is_default(class));
    classes.min_by_key(|class| (Reverse(created(class)), name(class)))
}

/// When an object was created, to compare; before everything where it does not say.
fn created(object: &Value<'_>) -> Option<Timestamp> {
    Timestamp::parse(text(object, &["metadata", "creationTimestamp"])).ok()
}
