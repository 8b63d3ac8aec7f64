//! What the rules of containers need to know of their Pod.

use super::options::PodOptions;
use super::volumes::ValidVolumes;
use crate::node::Node;
use crate::seen_texts::SeenTexts;

/// The Pod around a container.
pub(super) struct PodContext<'c, 'p, 'v> {
    pub(super) spec: &'c Node<'p, 'v>,
    pub(super) volumes: ValidVolumes<'v>,
    /// The names of `resourceClaims`.
    pub(super) claims: SeenTexts<'v>,
    pub(super) options: PodOptions,
}
