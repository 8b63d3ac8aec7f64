//! The built-in resources that requests are about.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::builtin::{BuiltinResources, ServedResource};
use crate::{GroupVersionKind, GroupVersionResource};

/// What is known of built-in resources, by names.
pub(super) struct KnownResources {
    /// The kinds of the objects that requests carry, by group, resource and part.
    pub(super) carried: HashMap<(&'static str, &'static str, &'static str), &'static GroupVersionKind>,
    /// The resources of whole objects, by group and kind.
    pub(super) whole: HashMap<(&'static str, &'static str), &'static ServedResource>,
    /// Whether objects belong to namespaces, by group and resource.
    pub(super) namespaced: HashMap<(&'static str, &'static str), bool>,
}

/// Those of the latest release: in others, no resource has objects of another kind or scope.
pub(super) static KNOWN: LazyLock<KnownResources> = LazyLock::new(|| {
    let mut known = KnownResources {
        carried: HashMap::new(),
        whole: HashMap::new(),
        namespaced: HashMap::new(),
    };
    for served in BuiltinResources::latest().served() {
        let GroupVersionResource { group, resource, .. } = &served.resource;
        let (group, resource, part) = (group.as_str(), resource.as_str(), served.subresource.as_str());
        known.carried.insert((group, resource, part), &served.kind);
        known.namespaced.insert((group, resource), served.namespaced);
        if part.is_empty() {
            let kind = &served.kind;
            known
                .whole
                .insert((kind.group.as_str(), kind.kind.as_str()), served);
        }
    }
    known
});
