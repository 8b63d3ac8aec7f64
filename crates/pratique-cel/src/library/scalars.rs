//! The names by which Kubernetes' declared types call simple types.

use std::sync::Arc;

use crate::environment::{Library, TypeProvider};
use crate::types::Type;

/// `duration`, `timestamp` and their like: types that have no value.
pub(crate) fn library() -> Library {
    Library {
        types: vec![Arc::new(ScalarLibrary)],
        ..Library::default()
    }
}

#[derive(Debug)]
struct ScalarLibrary;

impl TypeProvider for ScalarLibrary {
    fn has_type(&self, name: &str) -> bool {
        self.type_named(name).is_some()
    }

    fn type_named(&self, name: &str) -> Option<Type> {
        Some(match name {
            "bool" => Type::Bool,
            "bytes" => Type::Bytes,
            "double" => Type::Double,
            "duration" => Type::Duration,
            "int" => Type::Int,
            "null_type" => Type::Null,
            "string" => Type::String,
            "timestamp" => Type::Timestamp,
            "uint" => Type::Uint,
            "list" => Type::list(Type::Any),
            "map" => Type::map(Type::Any, Type::Any),
            _ => return None,
        })
    }

    fn has_namespace(&self, _: &str) -> bool {
        false
    }

    fn field(&self, type_name: &str, _: &str) -> Option<Type> {
        (type_name == "map").then_some(Type::Any)
    }
}
