//! Declarations that are added to an environment together.

use std::sync::Arc;

use super::provider::TypeProvider;
use crate::ast::Literal;
use crate::function::Function;
use crate::parser::Macro;
use crate::types::Type;

/// Declarations that belong together.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// Functions and operators.
    pub functions: Vec<Function>,
    /// Macros.
    pub macros: Vec<Macro>,
    /// Structured types.
    pub types: Vec<Arc<dyn TypeProvider>>,
    /// Types that have a name as an expression: `int`, `net.IP` …
    pub names: Vec<(Arc<str>, Type)>,
    /// Constants by name.
    pub constants: Vec<(Arc<str>, Literal)>,
}

impl Library {
    /// A library with nothing in it.
    pub fn new() -> Self {
        Library::default()
    }

    /// A library of functions only.
    pub fn from_functions(functions: Vec<Function>) -> Self {
        Library {
            functions,
            ..Library::default()
        }
    }

    /// Adds a type that has a name as an expression.
    pub fn naming(mut self, name: &str, of: Type) -> Self {
        self.names.push((name.into(), of));
        self
    }

    /// Adds the declarations of another library.
    pub fn and(mut self, other: Library) -> Self {
        self.functions.extend(other.functions);
        self.macros.extend(other.macros);
        self.types.extend(other.types);
        self.names.extend(other.names);
        self.constants.extend(other.constants);
        self
    }
}
