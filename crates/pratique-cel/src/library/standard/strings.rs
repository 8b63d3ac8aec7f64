//! The string functions of the standard; the other ones are an extension.

use super::{global, member};
use crate::function::Function;
use crate::types::Type;

/// Tests of substrings and regular expressions.
pub(super) fn functions() -> Vec<Function> {
    vec![contains(), ends_with(), starts_with(), matches()]
}

const TWO_STRINGS: [Type; 2] = [Type::String, Type::String];

fn contains() -> Function {
    Function::new("contains").with(member("contains_string", &TWO_STRINGS, Type::Bool))
}

fn ends_with() -> Function {
    Function::new("endsWith").with(member("ends_with_string", &TWO_STRINGS, Type::Bool))
}

fn starts_with() -> Function {
    Function::new("startsWith").with(member("starts_with_string", &TWO_STRINGS, Type::Bool))
}

fn matches() -> Function {
    Function::new("matches")
        .with(global("matches", &TWO_STRINGS, Type::Bool))
        .with(member("matches_string", &TWO_STRINGS, Type::Bool))
}
