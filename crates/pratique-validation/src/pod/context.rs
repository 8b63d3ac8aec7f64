//! What the rules of containers need to know of their Pod.

use super::options::PodOptions;
use super::volumes::Volumes;
use crate::node::Node;
use crate::seen::Seen;

/// The Pod around a container.
pub(super) struct PodContext<'c, 'p, 'v> {
    pub(super) spec: &'c Node<'p, 'v>,
    pub(super) volumes: Volumes<'v>,
    /// The names of `resourceClaims`.
    pub(super) claims: Seen<'v>,
    pub(super) options: PodOptions,
}
