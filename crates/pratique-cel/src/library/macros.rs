//! The macros of the libraries, and their expansions.
//!
//! The expansions are part of the language as it is spoken: costs and errors are those of the expressions
//! that macros become.

mod arguments;
mod bindings;
mod lists;
mod optional;
mod standard;
mod two_variables;

use crate::environment::Library;
use crate::parser::Macro;

/// `has`, and the comprehensions of the CEL specification.
pub(super) fn standard() -> Library {
    make_library(standard::macros())
}

/// `optMap` and `optFlatMap`.
pub(super) fn optional() -> Library {
    make_library(optional::macros())
}

/// CEL's extension for comprehensions of two variables: `{'a': 1}.all(k, v, v > 0)`, `transformList`, `transformMap` …
pub fn two_variables() -> Library {
    Library {
        functions: vec![two_variables::map_insert()],
        ..make_library(two_variables::macros())
    }
}

/// CEL's extension for local names: `cel.bind(x, device.attributes['a'], x.b == x.c)`.
pub fn bindings() -> Library {
    make_library(bindings::macros())
}

/// `sortBy`.
pub(super) fn lists() -> Library {
    make_library(lists::macros())
}

fn make_library(macros: Vec<Macro>) -> Library {
    Library {
        macros,
        ..Library::default()
    }
}
