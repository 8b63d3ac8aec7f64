//! CEL without evaluation: parsing and checking.

use std::sync::OnceLock;

use pratique_cel::estimate::UnknownSizes;
use pratique_cel::print::print;
use pratique_cel::{CompileError, Environment, Report, Type};

/// All that an API server's expressions may use, with variables of several types.
pub(crate) fn environment() -> &'static Environment {
    static ENVIRONMENT: OnceLock<Environment> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        Environment::kubernetes()
            .with_variable("object", Type::Dyn)
            .with_variable("oldObject", Type::Dyn)
            .with_variable("labels", Type::map(Type::String, Type::String))
            .with_variable("numbers", Type::list(Type::Int))
    })
}

/// Parsing: what is wrong has its place, and what is printed reads as the same expression.
pub fn parse(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    match environment().parse(text) {
        Ok(ast) => {
            let printed = print(&ast);
            let again = environment().parse(&printed).map(|ast| print(&ast));
            assert_eq!(again.as_deref().ok(), Some(&*printed), "of {text:?}");
        }
        Err(error) => assert_shown(&error, text),
    }
}

/// Checking: the type of a printed expression is that of the expression, and costs are ranges.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let environment = environment();
    let Ok(ast) = environment.parse(text) else {
        return;
    };
    let printed = print(&ast);
    match environment.check_types(ast) {
        Ok(checked) => {
            let report = Report::new(environment, &checked, &UnknownSizes);
            assert!(report.cost.min <= report.cost.max, "{text:?}");
            let again = environment
                .parse(&printed)
                .and_then(|ast| environment.check_types(ast));
            let again = again.map(|checked| checked.result_type().clone());
            assert_eq!(again.ok().as_ref(), Some(&report.result), "of {text:?}");
            // Some faults show in no other way.
            let _ = environment.plan(&checked);
        }
        Err(error) => {
            assert_shown(&error, text);
            let again = environment
                .parse(&printed)
                .and_then(|ast| environment.check_types(ast));
            assert!(again.is_err(), "{printed:?} checks, {text:?} does not");
        }
    }
}

/// An error is shown, and its places lie in the text.
fn assert_shown(error: &CompileError, text: &str) {
    assert!(!error.to_string().is_empty());
    let CompileError::Issues { issues, .. } = error else {
        return;
    };
    assert!(!issues.is_empty());
    let lines = text.split('\n').count();
    for issue in issues {
        let line = usize::try_from(issue.position.line).unwrap_or_default();
        assert!((0..=lines).contains(&line), "line {line} of {lines} of {text:?}");
    }
}
