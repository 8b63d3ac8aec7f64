//! Why there is no admission.

use pratique_manifest::{ConfigurationErrors, LoadErrors, Plugin};

/// Why there is no [`Admission`](crate::Admission).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Static manifests do not load.
    #[error(transparent)]
    Load(#[from] LoadErrors),
    /// An AdmissionConfiguration does not load, or what it names does not.
    #[error(transparent)]
    Configuration(#[from] ConfigurationErrors),
    /// There are webhooks and nothing that calls them.
    #[error(transparent)]
    NotEvaluated(#[from] NotEvaluated),
}

impl BuildError {
    /// All that is wrong with manifests, with files, lines and columns; `None` where it is something else.
    pub fn load_errors(&self) -> Option<&LoadErrors> {
        match self {
            BuildError::Load(errors) => Some(errors),
            BuildError::Configuration(refused) => Some(&refused.errors),
            BuildError::NotEvaluated(_) => None,
        }
    }
}

/// Webhooks without anything that calls them. To go on without them would let in what they were meant to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{count} objects of plugin {plugin} load, but nobody is there to call webhooks")]
pub struct NotEvaluated {
    /// The plugin that evaluates them in an API server.
    pub plugin: Plugin,
    /// How many there are.
    pub count: usize,
}
