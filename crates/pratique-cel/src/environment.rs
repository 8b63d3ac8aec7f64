//! The declarations that expressions are compiled against: variables, functions, macros and types.
//!
//! An [`Environment`] only holds declarations. The parser, the checker and the planner look names up in it, and
//! `compile` puts them together.

mod activation;
mod library;
mod provider;

use std::collections::HashMap;
use std::sync::Arc;

pub use activation::{Activation, Slot};
pub use library::Library;
pub use provider::{StructType, TypeProvider};

use crate::ast::Literal;
use crate::function::{Function, Overload};
use crate::parser::Macro;
use crate::types::Type;

/// The declarations against which expressions are compiled. Cheap to clone and to extend: what is declared
/// is shared.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    functions: Arc<FunctionTable>,
    macros: Arc<Vec<Macro>>,
    names: Arc<NameTable>,
    variables: Arc<DeclaredVariables>,
    types: Vec<Arc<dyn TypeProvider>>,
    checks_literals: bool,
    refuses_quoted_names: bool,
    is_of_cel_go_0_33: bool,
    container: Box<str>,
}

/// Variables by their places, with their types.
pub(crate) type DeclaredVariables = Vec<(Arc<str>, Type)>;

/// The place of the variable of a name.
pub(crate) fn find_slot(variables: &DeclaredVariables, name: &str) -> Option<Slot> {
    let at = variables.iter().rposition(|(variable, _)| **variable == *name)?;
    Some(Slot::new(at as u32, name))
}

/// The functions by name, and the prefixes of those with dotted names.
#[derive(Clone, Debug, Default)]
struct FunctionTable {
    by_name: HashMap<Arc<str>, Arc<Function>>,
    prefixes: Vec<Box<str>>,
}

/// The types and constants that have a name of their own, and the prefixes of dotted names.
#[derive(Clone, Debug, Default)]
struct NameTable {
    types: HashMap<Arc<str>, Type>,
    constants: HashMap<Arc<str>, Literal>,
    prefixes: Vec<Box<str>>,
}

impl Environment {
    /// An environment that knows literals only.
    pub fn new() -> Self {
        Environment::default()
    }

    /// Refuses literals that can only be wrong, as Kubernetes does: durations, timestamps, patterns, conversions of
    /// constants and format strings that would fail whenever they are evaluated, and lists and maps that mix types.
    pub fn with_literal_checks(mut self) -> Self {
        self.checks_literals = true;
        self
    }

    /// Refuses names of fields in backquotes, as Kubernetes did before 1.37.
    pub fn without_quoted_names(mut self) -> Self {
        self.refuses_quoted_names = true;
        self
    }

    /// Errors and what they cost are as cel-go 0.33 has them, in Kubernetes since 1.38: errors about names that are not declared have
    /// similar ones, and a call ends at the first operand that is an error, without being charged.
    pub fn with_cel_go_0_33(mut self) -> Self {
        self.is_of_cel_go_0_33 = true;
        self
    }

    /// Looks up names within a container first: in `a.b`, the name `x` is `a.b.x`, else `a.x`, else `x`; `.x` is only `x`.
    pub fn with_container(mut self, name: &str) -> Self {
        self.container = name.into();
        self
    }

    /// Adds functions, macros and types. Overloads of a function that is known already are added to it, after
    /// those it has; an overload that is known already is replaced.
    pub fn with_library(mut self, library: Library) -> Self {
        let functions = Arc::make_mut(&mut self.functions);
        for function in library.functions {
            functions.add(function);
        }
        if !library.names.is_empty() || !library.constants.is_empty() {
            let names = Arc::make_mut(&mut self.names);
            for (name, of) in library.names {
                add_prefix(&mut names.prefixes, &name);
                names.types.insert(name, of);
            }
            for (name, value) in library.constants {
                add_prefix(&mut names.prefixes, &name);
                names.constants.insert(name, value);
            }
        }
        Arc::make_mut(&mut self.macros).extend(library.macros);
        self.types.extend(library.types);
        self
    }

    /// Adds a function, or overloads to the function of that name: the same as a library of that function only.
    pub fn with_function(self, function: Function) -> Self {
        self.with_library(Library::from_functions(vec![function]))
    }

    /// Adds a variable. Its name may have dots; it hides an earlier one of that name.
    pub fn with_variable(mut self, name: &str, of: Type) -> Self {
        Arc::make_mut(&mut self.variables).push((name.into(), of));
        self
    }

    /// Adds types. Providers added later take precedence, so they can redeclare a type.
    pub fn with_types(mut self, types: Arc<dyn TypeProvider>) -> Self {
        self.types.push(types);
        self
    }

    /// The slot of a variable.
    pub fn slot(&self, name: &str) -> Option<Slot> {
        find_slot(&self.variables, name)
    }

    /// An activation without values for this environment's variables.
    pub fn activation<'a>(&self) -> Activation<'a> {
        Activation::new(self.variables.len())
    }

    /// The variables, shared with programs.
    pub(crate) fn variables(&self) -> &Arc<DeclaredVariables> {
        &self.variables
    }

    /// The macros, in the order in which they are tried.
    pub(crate) fn macros(&self) -> &[Macro] {
        &self.macros
    }

    /// A function by its name.
    pub fn function(&self, name: &str) -> Option<&Arc<Function>> {
        self.functions.by_name.get(name)
    }

    /// The names that an expression may use: variables, functions and macros. Operators are left out.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let is_name = |name: &&str| name.starts_with(|first: char| first.is_ascii_alphabetic());
        self.all_names().filter(is_name)
    }

    /// The same, with those that nobody can write, such as the names of operators.
    pub(crate) fn all_names(&self) -> impl Iterator<Item = &str> {
        let variables = self.variables.iter().map(|(name, _)| &**name);
        let functions = self.functions.by_name.keys().map(|name| &**name);
        let macros = self.macros.iter().map(|declared| declared.name);
        variables.chain(functions).chain(macros)
    }

    /// A variable by its name: its slot and type.
    pub fn variable(&self, name: &str) -> Option<(Slot, &Type)> {
        let slot = self.slot(name)?;
        self.variables.get(slot.index as usize).map(|(_, of)| (slot, of))
    }

    /// The name of a variable.
    pub fn variable_name(&self, slot: Slot) -> Option<&str> {
        let (name, _) = self.variables.get(slot.index as usize)?;
        Some(name)
    }

    /// The type that has `name` as an expression: `int`, `google.protobuf.Duration` …
    pub fn named_type(&self, name: &str) -> Option<&Type> {
        self.names.types.get(name)
    }

    /// The value of a named constant.
    pub fn constant(&self, name: &str) -> Option<&Literal> {
        self.names.constants.get(name)
    }

    /// The container in which names are looked up first; empty where there is none.
    pub fn container(&self) -> &str {
        &self.container
    }

    /// The result of `find` for the first of the names that `name` may stand for.
    pub(crate) fn resolve<T>(&self, name: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        if let Some(absolute) = name.strip_prefix('.') {
            return find(absolute);
        }
        let mut container = &*self.container;
        while !container.is_empty() {
            if let Some(declaration) = find(&format!("{container}.{name}")) {
                return Some(declaration);
            }
            container = container.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
        find(name)
    }

    /// Whether literals that can only be wrong are refused.
    pub(crate) fn checks_literals(&self) -> bool {
        self.checks_literals
    }

    /// Whether names in backquotes are refused.
    pub(crate) fn refuses_quoted_names(&self) -> bool {
        self.refuses_quoted_names
    }

    /// Whether errors, and what they cost, are as cel-go 0.33 has them.
    pub(crate) fn is_of_cel_go_0_33(&self) -> bool {
        self.is_of_cel_go_0_33
    }

    /// The provider of a type.
    pub fn provider(&self, type_name: &str) -> Option<&Arc<dyn TypeProvider>> {
        self.types.iter().rev().find(|types| types.has_type(type_name))
    }

    /// Whether a function may have a name that starts with `prefix` and a dot.
    pub(crate) fn has_function_namespace(&self, prefix: &str) -> bool {
        !self.container.is_empty() || self.functions.prefixes.iter().any(|known| **known == *prefix)
    }

    /// Whether a variable, a type or a constant may have a name that starts with `prefix` and a dot.
    pub(crate) fn has_namespace(&self, prefix: &str) -> bool {
        let prefixes = &self.names.prefixes;
        !self.container.is_empty()
            || prefixes.iter().any(|known| **known == *prefix)
            || self
                .variables
                .iter()
                .any(|(name, _)| provider::is_below(name, prefix))
            || self.types.iter().any(|types| types.has_namespace(prefix))
    }
}

impl FunctionTable {
    /// Adds a function, or its overloads to the function of that name.
    fn add(&mut self, function: Function) {
        add_prefix(&mut self.prefixes, &function.name);
        let Some(known) = self.by_name.get_mut(&function.name) else {
            self.by_name.insert(function.name.clone(), Arc::new(function));
            return;
        };
        let known = Arc::make_mut(known);
        let replaces =
            |overload: &Overload| known.overloads.iter().any(|existing| existing.id == overload.id);
        if function.singleton.is_some() || function.overloads.iter().any(replaces) {
            known.intrinsic = function.intrinsic;
        }
        known.singleton = function.singleton.or(known.singleton.take());
        known.cost = function.cost.or(known.cost.take());
        known.estimate = function.estimate.or(known.estimate.take());
        known.with_pattern = function.with_pattern.or(known.with_pattern.take());
        for overload in function.overloads {
            match known
                .overloads
                .iter_mut()
                .find(|existing| existing.id == overload.id)
            {
                Some(existing) => *existing = overload,
                None => known.overloads.push(overload),
            }
        }
    }
}

/// Adds the first segment of a dotted name.
fn add_prefix(prefixes: &mut Vec<Box<str>>, name: &str) {
    if let Some((prefix, _)) = name.split_once('.')
        && !prefixes.iter().any(|known| **known == *prefix)
    {
        prefixes.push(prefix.into());
    }
}
