//! The order of plugins around those for policies and webhooks.

use pratique_schema::Release;
use pratique_types::admission_plugins::BUILT_IN;

/// The first plugin for policies; those from it up to [`AFTER_DYNAMIC`] are not in a
/// [`PluginChain`](crate::PluginChain).
const DYNAMIC: &str = "MutatingAdmissionPolicy";

/// The first plugin after those for policies and webhooks.
const AFTER_DYNAMIC: &str = "ResourceQuota";

/// The names of the plugins that run without flags in a server of the latest release, without those for policies and webhooks,
/// in order.
pub fn default_plugins() -> impl Iterator<Item = &'static str> {
    default_plugins_of(Release::latest())
}

/// The same for a server of another release.
pub fn default_plugins_of(release: &Release) -> impl Iterator<Item = &'static str> {
    let version = release.version();
    let on = BUILT_IN
        .iter()
        .filter(move |plugin| plugin.by_default && plugin.is_in(version));
    on.map(|plugin| plugin.name)
        .filter(|name| !(place(DYNAMIC)..place(AFTER_DYNAMIC)).contains(&place(name)))
}

/// The place of a plugin among the built-in ones; any other comes before the plugins for policies.
pub(crate) fn place(name: &str) -> usize {
    let position = BUILT_IN.iter().position(|plugin| plugin.name == name);
    position.unwrap_or_else(|| {
        let dynamic = BUILT_IN.iter().position(|plugin| plugin.name == DYNAMIC);
        dynamic.unwrap_or_default()
    })
}

/// Whether a plugin runs after those for policies and webhooks.
pub(crate) fn is_after_dynamic(name: &str) -> bool {
    place(name) >= place(AFTER_DYNAMIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dynamic_plugins_are_left_out() {
        let names: Vec<_> = default_plugins().collect();
        assert_eq!(names.len(), 21);
        assert_eq!(names.first(), Some(&"NamespaceLifecycle"));
        assert_eq!(names.last(), Some(&"ResourceQuota"));
        assert!(
            is_after_dynamic("AlwaysDeny") && !is_after_dynamic("PodSecurity") && !is_after_dynamic("Mine")
        );
    }
}
