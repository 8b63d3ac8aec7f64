//! Relations between types that bind no free types.
//!
//! Upstream: github.com/google/cel-go, checker/types.go, isEqualOrLessSpecific

use std::sync::Arc;

use crate::types::Type;

/// Whether everything fits a type, and the type fits everything.
pub(super) fn is_dynamic(of: &Type) -> bool {
    matches!(of, Type::Dyn | Type::Any | Type::Error)
}

/// Whether a type is decided at run time.
pub(super) fn is_dyn(of: &Type) -> bool {
    matches!(of, Type::Dyn | Type::Any)
}

/// Whether a type is a parameter, or not inferred yet.
pub(super) fn is_free(of: &Type) -> bool {
    matches!(of, Type::Free(_) | Type::Param(_))
}

/// Whether two types are the same; a wrapper is the same as the wrapped type.
pub(super) fn same(left: &Type, right: &Type) -> bool {
    match (left, right) {
        (Type::Wrapper(left), right) => same(left, right),
        (left, Type::Wrapper(right)) => same(left, right),
        (Type::List(left), Type::List(right)) => shared(left, right),
        (Type::Map(left_key, left), Type::Map(right_key, right)) => {
            shared(left_key, right_key) && shared(left, right)
        }
        (Type::Type(Some(left)), Type::Type(Some(right))) => shared(left, right),
        (Type::Opaque(left, left_params), Type::Opaque(right, right_params)) => {
            left == right && all_pairs(left_params, right_params, same)
        }
        // The nameless type is that of a field without a declared type: it equals no type.
        (Type::Struct(left), Type::Struct(right)) => left == right && !left.is_empty(),
        (left, right) => left == right,
    }
}

/// As [`same`], at once for one and the same type.
fn shared(left: &Arc<Type>, right: &Arc<Type>) -> bool {
    Arc::ptr_eq(left, right) || same(left, right)
}

/// Whether there are as many types in both lists, and each pair of them has a relation.
pub(super) fn all_pairs(
    left: &[Type],
    right: &[Type],
    mut related: impl FnMut(&Type, &Type) -> bool,
) -> bool {
    let mut pairs = left.iter().zip(right);
    left.len() == right.len() && pairs.all(|(left, right)| related(left, right))
}

/// Whether `left` is the same as `right`, or the same with dyn in the place of some of its parts.
pub(super) fn less_specific(left: &Type, right: &Type) -> bool {
    if is_dyn(left) || is_free(left) {
        return true;
    }
    if is_dyn(right) || is_free(right) {
        return false;
    }
    match (left, right) {
        (Type::List(left), Type::List(right)) => less_specific(left, right),
        (Type::Map(left_key, left), Type::Map(right_key, right)) => {
            less_specific(left_key, right_key) && less_specific(left, right)
        }
        (Type::Opaque(left, left_params), Type::Opaque(right, right_params)) => {
            left == right && all_pairs(left_params, right_params, less_specific)
        }
        (Type::Type(_), Type::Type(_)) => true,
        (left, right) => same(left, right),
    }
}

/// Whether an argument may fit a parameter, by its outermost type alone: `false` is certain.
pub(super) fn plausible(argument: &Type, parameter: &Type) -> bool {
    let (argument, parameter) = (argument.unwrapped(), parameter.unwrapped());
    match (argument, parameter) {
        (Type::Struct(argument), Type::Struct(parameter)) => argument == parameter,
        (Type::Opaque(argument, _), Type::Opaque(parameter, _)) => argument == parameter,
        (Type::Null, _) | (_, Type::Null) => true,
        (argument, parameter) => {
            std::mem::discriminant(argument) == std::mem::discriminant(parameter)
                || is_dynamic(argument)
                || is_dynamic(parameter)
                || is_free(argument)
                || is_free(parameter)
        }
    }
}

/// Whether a type is small enough to be written out.
pub(super) fn is_presentable(of: &Type) -> bool {
    count(of, 10_000) > 0
}

/// The rest of `budget` after counting the parts of a type.
fn count(of: &Type, budget: usize) -> usize {
    let Some(left) = budget.checked_sub(1).filter(|left| *left > 0) else {
        return 0;
    };
    match of {
        Type::List(inner) | Type::Wrapper(inner) | Type::Type(Some(inner)) => count(inner, left),
        Type::Map(key, value) => count(value, count(key, left)),
        Type::Opaque(_, params) => params.iter().fold(left, |left, param| count(param, left)),
        _ => left,
    }
}
