//! Expressions of manifests, compiled as an API server compiles them to validate manifests: for programs that load
//! manifests themselves, with [`load_files`](pratique_manifest::load_files) and the like.

pub use pratique_expression::Declarations;
pub use pratique_manifest::{ExpressionCache as Cache, Expressions};
