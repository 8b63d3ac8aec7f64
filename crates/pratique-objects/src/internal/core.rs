//! `core/v1`.

use pratique_json::{Object, Value, base64};

use crate::defaults::core::first_of_list;
use crate::defaults::field::{is_empty, part, pointer};
use crate::defaults::{DefaultContext, DefaultFunction};

pub(super) fn function(of: &str) -> Option<DefaultFunction> {
    Some(match of {
        "NodeSpec" => |object, _| first_of_list(object, "podCIDR", "podCIDRs", None),
        "Secret" => secret,
        _ => return None,
    })
}

/// Removes annotations of an object.
pub(crate) fn drop_annotations(object: &mut Object<'_>, names: &[&str]) {
    let Some(metadata) = pointer(object, "metadata") else {
        return;
    };
    if let Some(annotations) = pointer(metadata, "annotations") {
        for name in names {
            annotations.remove(name);
        }
    }
    if is_empty(metadata, "annotations") {
        metadata.remove("annotations");
    }
}

fn secret(object: &mut Object<'_>, _: &DefaultContext<'_>) {
    let Some(Value::Object(texts)) = object.remove("stringData") else {
        return;
    };
    if texts.is_empty() {
        return;
    }
    if let Some(data) = part(object, "data") {
        for (name, value) in texts {
            let bytes = value.as_str().unwrap_or_default().as_bytes();
            data.insert(name, base64::encode(bytes));
        }
    }
}
