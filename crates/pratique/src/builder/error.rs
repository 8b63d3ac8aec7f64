//! Errors of building an admission.

use pratique_manifest::{ConfigurationErrors, LoadErrors, ManifestPlugin};

/// Why an [`Admission`](crate::Admission) cannot be built. Of manifests it displays the first error, as a server stops with it;
/// `{:#}` has all of them, with their places:
///
/// ```
/// use pratique::{Admission, ManifestFile, ManifestPlugin};
///
/// let file = |path: &str| ManifestFile { path: path.into(), content: "kind: Pod\n".into() };
/// let files = [file("a.yaml"), file("b.yaml")];
/// let error = Admission::builder().files(files, ManifestPlugin::ValidatingAdmissionPolicy).build().unwrap_err();
/// assert!(error.to_string().contains("a.yaml") && !error.to_string().contains("b.yaml"), "{error}");
/// let all = format!("{error:#}");
/// assert!(all.contains("a.yaml:1:1: ") && all.contains("\nb.yaml:1:1: "), "{all}");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Static manifests do not load.
    #[error(transparent)]
    Load(#[from] LoadErrors),
    /// An AdmissionConfiguration does not load, or a file that it names does not.
    #[error(transparent)]
    Configuration(#[from] ConfigurationErrors),
    /// There are webhooks and no caller for them.
    #[error(transparent)]
    NotEvaluated(#[from] NotEvaluated),
}

impl BuildError {
    /// All errors of manifests, with files, lines and columns; `None` for other errors.
    pub fn load_errors(&self) -> Option<&LoadErrors> {
        match self {
            BuildError::Load(errors) => Some(errors),
            BuildError::Configuration(refused) => Some(&refused.errors),
            BuildError::NotEvaluated(_) => None,
        }
    }
}

/// Webhooks without a caller. Ignoring them would admit requests that they are meant to reject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{count} {} loaded for plugin {plugin}, but there is no caller of webhooks",
    if *.count == 1 { "object is" } else { "objects are" }
)]
pub struct NotEvaluated {
    /// The plugin that evaluates them in an API server.
    pub plugin: ManifestPlugin,
    /// The number of them.
    pub count: usize,
}
