//! The types that the expressions of each use may return.

use pratique_cel::Type;

use crate::declarations::ExpressionPurpose;
use crate::error::ExpressionError;

/// Checks that the type of an expression is one that its use takes; a dynamic type is none of these.
pub(crate) fn check_return_type(usage: ExpressionPurpose, of: &Type) -> Result<(), ExpressionError> {
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
fn wanted(usage: ExpressionPurpose) -> Vec<Type> {
    match usage {
        ExpressionPurpose::MatchCondition | ExpressionPurpose::Validation => vec![Type::Bool],
        ExpressionPurpose::Variable => Vec::new(),
        ExpressionPurpose::Message => vec![Type::String],
        ExpressionPurpose::AuditAnnotation => vec![Type::String, Type::Null],
        ExpressionPurpose::ApplyConfiguration => vec![Type::named("Object")],
        ExpressionPurpose::JsonPatch => vec![Type::list(Type::named("JSONPatch"))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn fails(usage: ExpressionPurpose, of: Type, expected: &str) {
        assert_eq!(check_return_type(usage, &of).unwrap_err().to_string(), expected);
    }

    #[test]
    fn types_that_do_not_fit() {
        fails(
            ExpressionPurpose::Validation,
            Type::Dyn,
            "must evaluate to bool but got dyn",
        );
        fails(
            ExpressionPurpose::AuditAnnotation,
            Type::map(Type::String, Type::list(Type::Timestamp)),
            "must evaluate to one of [string null_type] but got map(string, list(google.protobuf.Timestamp))",
        );
        fails(
            ExpressionPurpose::JsonPatch,
            Type::list(Type::Dyn),
            "must evaluate to list(JSONPatch) but got list(dyn)",
        );
    }

    #[test]
    fn types_that_fit() {
        assert!(check_return_type(ExpressionPurpose::Variable, &Type::Dyn).is_ok());
        assert!(check_return_type(ExpressionPurpose::Message, &Type::String).is_ok());
        assert!(check_return_type(ExpressionPurpose::AuditAnnotation, &Type::Null).is_ok());
    }
}
