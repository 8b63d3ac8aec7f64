//! The built-in resources that requests are about.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::GroupVersionResource;
use crate::builtin::{BuiltinResources, ServedResource};

/// Built-in resources, by names.
pub(super) struct KnownResources {
    /// By group, resource and part.
    pub(super) by_resource: HashMap<(&'static str, &'static str, &'static str), &'static ServedResource>,
    /// Those of whole objects, by group and kind.
    pub(super) by_kind: HashMap<(&'static str, &'static str), &'static ServedResource>,
}

/// Those of the latest release: in others, no resource has objects of another kind or scope.
pub(super) static KNOWN: LazyLock<KnownResources> = LazyLock::new(|| {
    let mut known = KnownResources {
        by_resource: HashMap::new(),
        by_kind: HashMap::new(),
    };
    for served in BuiltinResources::latest().served() {
        let GroupVersionResource { group, resource, .. } = &served.resource;
        let part = served.subresource.as_str();
        known.by_resource.insert((group, resource, part), served);
        if part.is_empty() {
            let kind = &served.kind;
            known.by_kind.insert((&kind.group, &kind.kind), served);
        }
    }
    known
});
