//! The function libraries.
//!
//! Each library is a module with one function that gives its [`Library`]: signatures, implementations and
//! costs together. [`kubernetes`] is all that a Kubernetes API server declares.

mod optional;
mod standard;

use std::sync::Arc;

use crate::declared::TypeProvider;
use crate::environment::Environment;
use crate::function::Function;
use crate::parser::Macro;

/// Declarations that belong together.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// Functions and operators.
    pub functions: Vec<Function>,
    /// Macros.
    pub macros: Vec<Macro>,
    /// Structured types.
    pub types: Vec<Arc<dyn TypeProvider>>,
}

impl Library {
    /// A library of functions only.
    pub fn of(functions: Vec<Function>) -> Self {
        Library {
            functions,
            ..Library::default()
        }
    }
}

/// The environment of a Kubernetes 1.37 API server, without variables.
pub fn kubernetes() -> Environment {
    Environment::new()
        .with_library(standard::library())
        .with_library(optional::library())
}
