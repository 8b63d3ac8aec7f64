//! Definitions of custom resources, which are compiled once for all that is linted with them.

use std::sync::Arc;

use pratique_json::Value;
use pratique_manifest::ObjectSource;
use pratique_manifest::convert::convert;
use pratique_sample::{CustomDefinition, CustomKinds};
use pratique_schema::Release;

/// Definitions of custom resources at their places: their rules are linted, and policies are tried over their objects.
#[derive(Debug, Default)]
pub struct DefinitionSet {
    sources: Vec<ObjectSource>,
    kinds: Arc<CustomKinds>,
}

impl DefinitionSet {
    /// The definitions of these sources, for a server of a release.
    pub fn new(release: &'static Release, sources: Vec<ObjectSource>) -> Self {
        let values = sources.iter().map(|source| convert(source.tree(), source.root()));
        let values: Vec<Value<'static>> = values.collect();
        DefinitionSet {
            kinds: Arc::new(CustomKinds::new(release, &values)),
            sources,
        }
    }

    /// The kinds that they define, for [`LintOptions::custom_kinds`](crate::LintOptions::custom_kinds).
    pub fn custom_kinds(&self) -> Arc<CustomKinds> {
        Arc::clone(&self.kinds)
    }

    /// The definitions with their places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&ObjectSource, &CustomDefinition)> {
        self.sources.iter().zip(self.kinds.definitions())
    }
}
