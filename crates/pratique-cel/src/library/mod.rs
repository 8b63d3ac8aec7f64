//! The function libraries.
//!
//! Each library is a module with one function that gives its [`Library`]: signatures, implementations and
//! costs together. [`kubernetes`] is all that a Kubernetes API server declares.

mod arguments;
pub mod authz;
mod bounds;
mod cidr;
pub(crate) mod cost;
mod format;
mod ip;
mod json_patch;
mod lists;
mod macros;
pub mod mutation;
mod optional;
mod protobuf;
mod quantity;
mod regex;
mod results;
mod scalars;
mod semver;
mod sets;
mod standard;
mod strings;
#[cfg(test)]
mod testing;
mod url;

use std::sync::Arc;

use crate::ast::Literal;
use crate::declared::TypeProvider;
use crate::environment::Environment;
use crate::function::Function;
use crate::parser::Macro;
use crate::types::Type;

pub use json_patch::library as json_patch;

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
    /// A library of functions only.
    pub fn of(functions: Vec<Function>) -> Self {
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
}

/// The environment of a Kubernetes 1.37 API server, without variables.
pub fn kubernetes() -> Environment {
    kubernetes_at(37)
}

/// The environment of an API server that keeps to what version 1.`minor` had, without variables; from 1.29 on.
pub fn kubernetes_at(minor: u32) -> Environment {
    LIBRARIES
        .iter()
        .filter(|versioned| versioned.since <= minor && versioned.until.is_none_or(|until| minor < until))
        .fold(Environment::new(), |environment, versioned| {
            environment.with_library((versioned.library)())
        })
}

/// A library with the minor versions of Kubernetes that have it.
struct Versioned {
    since: u32,
    until: Option<u32>,
    library: fn() -> Library,
}

/// In the order in which the reference adds them: it is the order of a function's overloads.
const LIBRARIES: &[Versioned] = &[
    since(0, standard::library),
    since(0, macros::standard),
    since(0, protobuf::library),
    since(0, scalars::library),
    since(0, url::library),
    since(0, regex::library),
    until(37, lists::kubernetes),
    since(27, authz::library),
    since(28, optional::library),
    since(28, macros::optional),
    since(28, quantity::library),
    since(29, strings::library),
    since(29, sets::library),
    since(30, ip::library),
    since(30, cidr::library),
    since(31, format::library),
    since(31, authz::selectors),
    since(32, macros::two_variables),
    since(33, semver::library),
    since(34, lists::extension),
    since(34, macros::lists),
    since(37, lists::kubernetes_with_includes),
];

const fn since(since: u32, library: fn() -> Library) -> Versioned {
    Versioned {
        since,
        until: None,
        library,
    }
}

const fn until(until: u32, library: fn() -> Library) -> Versioned {
    Versioned {
        since: 0,
        until: Some(until),
        library,
    }
}
