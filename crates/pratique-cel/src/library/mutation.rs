//! The types of mutations: `Object` with all types below it (`Object.spec.template` …), and `JSONPatch`.
//!
//! The types of `Object` have any field, of any type: that a literal fits its place is left to the merge, but for
//! the [names of types](check_type_names). [`to_json`] converts the result of a mutation to JSON.
//!
//! Upstream: k8s.io/apiserver/pkg/cel/mutation/dynamic/objects.go and k8s.io/apiserver/pkg/cel/mutation/jsonpatch.go

mod go_types;
mod json;
mod object;
mod patch;
mod type_names;

use std::sync::Arc;

use self::go_types::JSON_PATCH;
pub use self::json::{NotJson, to_json};
pub use self::type_names::{TypeNameError, TypeNameErrors, check_type_names};
use crate::context::Context;
use crate::environment::Library;
use crate::environment::TypeProvider;
use crate::error::Fault;
use crate::types::Type;
use crate::value::{Evaluation, Struct, Value};

/// The types of mutations, which only mutating policies have.
pub fn library() -> Library {
    library_of(FieldData::Deep)
}

/// The same before Kubernetes 1.37.
pub fn library_before_1_37() -> Library {
    library_of(FieldData::Shallow)
}

fn library_of(field_data: FieldData) -> Library {
    Library {
        types: vec![Arc::new(MutationTypes { field_data })],
        ..Library::default()
    }
}

/// How much of the value of a field is plain data.
///
/// Upstream: k8s.io/apiserver/pkg/cel/mutation/dynamic/objects.go, convertField
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldData {
    /// Lists and maps of all sorts, and `variables`: since 1.37.
    Deep,
    /// Those that the expression made of values. Others stay what they are in Go.
    Shallow,
}

/// An object literal as it is read where it is a part of plain data: a map. `is_deep` tells whether all of it is plain data, as
/// since Kubernetes 1.37.
pub fn object_as_map<'a>(context: &Context<'a>, object: &'a dyn Struct, is_deep: bool) -> Value<'a> {
    let field_data = if is_deep {
        FieldData::Deep
    } else {
        FieldData::Shallow
    };
    field_data.plain_object(context, object)
}

/// The type of apply configurations, and the beginning of the names of the types below it.
const OBJECT: &str = "Object";

/// All the types of mutations.
#[derive(Debug)]
struct MutationTypes {
    field_data: FieldData,
}

impl TypeProvider for MutationTypes {
    fn has_type(&self, name: &str) -> bool {
        name == JSON_PATCH || is_object(name)
    }

    fn has_namespace(&self, prefix: &str) -> bool {
        is_object(prefix)
    }

    fn field(&self, type_name: &str, field: &str) -> Option<Type> {
        if is_object(type_name) {
            return Some(Type::Dyn);
        }
        (type_name == JSON_PATCH).then(|| match field {
            "op" | "path" | "from" => Type::String,
            "value" => Type::Dyn,
            // For the reference any field exists, but others have no type.
            _ => Type::named(""),
        })
    }

    fn construct<'a>(
        &self,
        context: &Context<'a>,
        type_name: &str,
        fields: &[(&'a str, Value<'a>)],
    ) -> Evaluation<'a> {
        match type_name {
            JSON_PATCH => patch::construct(context, fields),
            name if is_object(name) => Ok(object::construct(context, self.field_data, name, fields)),
            name => Err(Fault::error(format!("unknown type '{name}'"))),
        }
    }
}

fn is_object(name: &str) -> bool {
    name.strip_prefix(OBJECT)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests;
