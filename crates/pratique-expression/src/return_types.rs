//! The types that the expressions of each use may return.

use pratique_cel::Type;

use crate::declarations::Use;
use crate::error::ExpressionError;

/// Checks that the type of an expression is one that its use takes; a dynamic type is none of these.
pub(crate) fn check_return_type(usage: Use, of: &Type) -> Result<(), ExpressionError> {
    let wanted = wanted(usage);
    if wanted.is_empty() || wanted.contains(of) {
        return Ok(());
    }
    let names: Vec<String> = wanted.iter().map(Type::declared_name).collect();
    let wanted = match names.as_slice() {
        [one] => one.clone(),
        several => format!("one of [{}]", several.join(" ")),
    };
    let got = of.declared_name();
    Err(ExpressionError::Type { wanted, got })
}

/// The types that a use takes; none for any.
fn wanted(usage: Use) -> Vec<Type> {
    match usage {
        Use::MatchCondition | Use::Validation => vec![Type::Bool],
        Use::Variable => Vec::new(),
        Use::Message => vec![Type::String],
        Use::AuditAnnotation => vec![Type::String, Type::Null],
        Use::ApplyConfiguration => vec![Type::named("Object")],
        Use::JsonPatch => vec![Type::list(Type::named("JSONPatch"))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn fails(usage: Use, of: Type, expected: &str) {
        assert_eq!(check_return_type(usage, &of).unwrap_err().to_string(), expected);
    }

    #[test]
    fn types_that_do_not_fit() {
        fails(Use::Validation, Type::Dyn, "must evaluate to bool but got dyn");
        fails(
            Use::AuditAnnotation,
            Type::map(Type::String, Type::list(Type::Timestamp)),
            "must evaluate to one of [string null_type] but got map(string, list(google.protobuf.Timestamp))",
        );
        fails(
            Use::JsonPatch,
            Type::list(Type::Dyn),
            "must evaluate to list(JSONPatch) but got list(dyn)",
        );
    }

    #[test]
    fn types_that_fit() {
        assert!(check_return_type(Use::Variable, &Type::Dyn).is_ok());
        assert!(check_return_type(Use::Message, &Type::String).is_ok());
        assert!(check_return_type(Use::AuditAnnotation, &Type::Null).is_ok());
    }
}
