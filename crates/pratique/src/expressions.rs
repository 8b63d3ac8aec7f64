//! Expressions of manifests, compiled as an API server compiles them to validate manifests: for programs that load
//! manifests themselves, with a [`Loader`](pratique_manifest::Loader).

pub use pratique_expression::Declarations;
pub use pratique_manifest::{ExpressionCache as Cache, Expressions};
