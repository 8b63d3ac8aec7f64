//! A cluster of which nothing is known but that its namespaces exist.

use std::fmt;
use std::sync::Arc;

use pratique_policy::Cluster;
use pratique_schema::Release;

use super::objects::Objects;
use super::view::ClusterView;

/// A cluster where every namespace that a request is in exists, and only its name is known; nothing else of it is known
/// besides the built-in resources.
///
/// Expressions and selectors that read more of a namespace than its name are
/// [undecided](crate::policy::MissingDependency::Namespace), and so are those that read [params](crate::policy::MissingDependency::Params).
#[derive(Clone)]
pub struct AssumedNamespaces(Arc<Objects>);

impl Default for AssumedNamespaces {
    fn default() -> Self {
        AssumedNamespaces::of_release(Release::latest())
    }
}

impl AssumedNamespaces {
    /// One that serves the built-in resources of a release.
    pub fn of_release(release: &'static Release) -> Self {
        let mut objects = Objects::of_release(release);
        objects.assume_namespaces();
        objects.assume_params();
        AssumedNamespaces(Arc::new(objects))
    }
}

impl ClusterView for AssumedNamespaces {
    fn now(&self) -> Arc<dyn Cluster + Send + Sync> {
        self.0.clone()
    }
}

impl fmt::Debug for AssumedNamespaces {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("AssumedNamespaces")
    }
}

#[cfg(test)]
mod tests {
    use pratique_match::Namespace;

    use super::*;

    #[test]
    fn namespaces_exist() {
        let cluster = AssumedNamespaces::default().now();
        assert_eq!(cluster.namespace("shop"), Namespace::Named);
    }
}
