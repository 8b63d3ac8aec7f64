//! What expressions may use: variables, functions, macros and types.

use std::collections::HashMap;
use std::sync::Arc;

use crate::checker::{self, Checked};
use crate::declared::TypeProvider;
use crate::error::CompileError;
use crate::function::Function;
use crate::library::Library;
use crate::parser::{self, Macro};
use crate::plan::{self, Program};
use crate::source::Source;
use crate::types::Type;
use crate::value::Value;

/// The declarations against which expressions are compiled. Cheap to clone and to extend: what is declared
/// is shared.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    functions: Arc<HashMap<Arc<str>, Arc<Function>>>,
    macros: Arc<Vec<Macro>>,
    variables: Vec<(Arc<str>, Type)>,
    types: Vec<Arc<dyn TypeProvider>>,
}

/// The place of a variable in the [`Activation`]s of its environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(pub(crate) u32);

impl Environment {
    /// An environment that knows literals only.
    pub fn new() -> Self {
        Environment::default()
    }

    /// Adds functions and macros. Overloads of a function that is known already are added to it.
    pub fn with_library(mut self, library: Library) -> Self {
        let functions = Arc::make_mut(&mut self.functions);
        for function in library.functions {
            match functions.get_mut(&function.name) {
                Some(known) => Arc::make_mut(known).overloads.extend(function.overloads),
                None => {
                    functions.insert(function.name.clone(), Arc::new(function));
                }
            }
        }
        Arc::make_mut(&mut self.macros).extend(library.macros);
        self.types.extend(library.types);
        self
    }

    /// Adds a variable.
    pub fn with_variable(mut self, name: &str, of: Type) -> Self {
        self.variables.push((name.into(), of));
        self
    }

    /// Adds types. Providers added later are asked first, so a type can be declared anew.
    pub fn with_types(mut self, types: Arc<dyn TypeProvider>) -> Self {
        self.types.push(types);
        self
    }

    /// The slot of a variable.
    pub fn slot(&self, name: &str) -> Option<Slot> {
        let at = self.variables.iter().rposition(|(own, _)| **own == *name)?;
        Some(Slot(at as u32))
    }

    /// An activation without values for this environment's variables.
    pub fn activation<'a>(&self) -> Activation<'a> {
        Activation {
            values: vec![None; self.variables.len()],
        }
    }

    /// Parses an expression: syntax and macros.
    pub fn parse(&self, text: &str) -> Result<parser::Ast, CompileError> {
        let source = Arc::new(Source::new(text));
        parser::parse(source.clone(), &self.macros).map_err(|issues| CompileError::Issues { source, issues })
    }

    /// Checks the types of a parsed expression, and its literals.
    pub fn check(&self, ast: parser::Ast) -> Result<Checked, CompileError> {
        let source = ast.source.clone();
        checker::check(self, ast).map_err(|issues| CompileError::Issues { source, issues })
    }

    /// Plans a checked expression for evaluation.
    pub fn plan(&self, checked: &Checked) -> Result<Program, CompileError> {
        plan::plan(self, checked).map_err(CompileError::Plan)
    }

    /// Parses, checks and plans an expression.
    pub fn compile(&self, text: &str) -> Result<Program, CompileError> {
        self.plan(&self.check(self.parse(text)?)?)
    }

    /// A function by its name.
    pub fn function(&self, name: &str) -> Option<&Arc<Function>> {
        self.functions.get(name)
    }

    /// A variable by its name: its slot and type.
    pub fn variable(&self, name: &str) -> Option<(Slot, &Type)> {
        let slot = self.slot(name)?;
        self.variables.get(slot.0 as usize).map(|(_, of)| (slot, of))
    }

    /// The provider of a type.
    pub fn provider(&self, type_name: &str) -> Option<&Arc<dyn TypeProvider>> {
        self.types.iter().rev().find(|types| types.has_type(type_name))
    }
}

/// The values of an environment's variables for one or more evaluations.
#[derive(Clone, Debug)]
pub struct Activation<'a> {
    values: Vec<Option<Value<'a>>>,
}

impl<'a> Activation<'a> {
    /// Sets a variable; a variable that is not set is an error where it is read (`no such attribute(s): x`).
    pub fn set(&mut self, slot: Slot, value: Value<'a>) {
        if let Some(place) = self.values.get_mut(slot.0 as usize) {
            *place = Some(value);
        }
    }

    /// The value of a variable.
    pub fn get(&self, slot: Slot) -> Option<Value<'a>> {
        self.values.get(slot.0 as usize).copied().flatten()
    }
}
