//! `apiextensions`.

use pratique_json::Object;

use crate::defaults::field::{is_absent, members};
use crate::defaults::{Context, Function};

pub(super) fn function(of: &str) -> Option<Function> {
    Some(match of {
        "CustomResourceConversion" => conversion,
        // What all versions have alike is in one place internally. `json_schema` has the rest.
        "CustomResourceDefinitionSpec" | "JSONSchemaProps" => |_, _| {},
        _ => return None,
    })
}

/// There is no webhook of which nothing is said.
fn conversion(object: &mut Object<'_>, _: &Context<'_>) {
    let webhook = members(object, "webhook");
    if is_absent(webhook, "clientConfig") && is_absent(webhook, "conversionReviewVersions") {
        object.remove("webhook");
    }
}
