//! Functions of lists: those of Kubernetes, and CEL's extension.

mod compare;
mod extension;
mod kubernetes;
mod sort;

pub(super) use extension::{costs_since_1_38, library as extension, makes_result};
pub(super) use kubernetes::library as kubernetes;
pub use kubernetes::library_with_includes as kubernetes_with_includes;
