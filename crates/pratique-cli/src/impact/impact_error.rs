//! Why `pratique impact` ends.

/// Why `pratique impact` ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImpactError {
    /// Policies are compared with none, or revisions of none.
    #[error(
        "name with --policies, or in pratique.yaml, the policies whose revisions are compared, or that take the place of those of \
         --old"
    )]
    NoComparedPolicies,
}
