//! Functions of lists: those of Kubernetes, and CEL's extension.

mod compare;
mod extension;
mod kubernetes;
mod sort;

use crate::types::Type;

pub(super) use extension::library as extension;
pub(super) use kubernetes::library as kubernetes;
pub use kubernetes::library_with_includes as kubernetes_with_includes;

/// The types whose values have an order, with the names that Kubernetes has for them, in the order of overloads.
fn comparable() -> [(&'static str, Type); 8] {
    [
        ("int", Type::Int),
        ("uint", Type::Uint),
        ("double", Type::Double),
        ("bool", Type::Bool),
        ("duration", Type::Duration),
        ("timestamp", Type::Timestamp),
        ("string", Type::String),
        ("bytes", Type::Bytes),
    ]
}
