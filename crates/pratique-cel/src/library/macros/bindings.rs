//! `cel.bind`: a name for a value.
//!
//! Upstream: github.com/google/cel-go, ext/bindings.go

use super::arguments::{arguments, receiver};
use super::optional::bind;
use crate::ast::ExprId;
use crate::parser::{Expander, Macro, MacroError};

pub(super) fn macros() -> Vec<Macro> {
    vec![Macro::member("bind", 3, expand)]
}

fn expand(
    macros: &mut Expander<'_, '_>,
    target: Option<ExprId>,
    args: &[ExprId],
) -> Result<ExprId, MacroError> {
    let target = receiver(macros, target)?;
    // Of any other receiver it is a call, of a function that nobody declares.
    if macros.name(target).as_deref() != Some("cel") {
        return Ok(macros.member_call("bind", target, args));
    }
    let [variable, value, result] = arguments(macros, args)?;
    let name = macros
        .name(variable)
        .ok_or_else(|| macros.error(variable, "cel.bind() variable names must be simple identifiers"))?;
    Ok(bind(macros, name, value, result))
}

#[cfg(test)]
mod tests {
    use crate::{Environment, library};

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let environment = Environment::standard().with_library(library::bindings());
        let compiled = environment.compile(text).map(|_| "compiles".to_owned());
        let message = compiled.unwrap_or_else(|fault| fault.to_string());
        assert!(message.contains(expected), "{message}");
    }

    #[test]
    fn only_cel_binds_names() {
        check("cel.bind(x, 'a' + 'b', x + x == 'abab')", "compiles");
        check("cel.bind(x, 1, x + 'a')", "no matching overload");
        check(
            "cel.bind(1, 1, 1)",
            "cel.bind() variable names must be simple identifiers",
        );
        check("'a'.bind(x, 1, 1)", "undeclared reference to 'bind'");
    }
}
