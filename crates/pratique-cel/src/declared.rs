//! Structured types that a host declares.

use std::fmt::Debug;
use std::sync::Arc;

use crate::context::Context;
use crate::error::Fault;
use crate::types::Type;
use crate::value::{Evaluation, Value};

/// The structured types of an environment.
pub trait TypeProvider: Debug + Send + Sync {
    /// Whether `name` is a type of this provider.
    fn has_type(&self, name: &str) -> bool;

    /// The type of a field; `None` where the type has no such field.
    fn field(&self, type_name: &str, field: &str) -> Option<Type>;

    /// Makes a value from the fields of a literal `type_name{…}`.
    fn construct<'a>(
        &self,
        context: &Context<'a>,
        type_name: &str,
        fields: &[(&'a str, Value<'a>)],
    ) -> Evaluation<'a> {
        let _ = (context, fields);
        Err(Fault::error(format!("unknown type '{type_name}'")))
    }
}

/// A structured type with fixed fields.
#[derive(Clone, Debug)]
pub struct StructType {
    /// Its qualified name.
    pub name: Arc<str>,
    /// Its fields.
    pub fields: Vec<(Arc<str>, Type)>,
}

impl StructType {
    /// Declares a type.
    pub fn new(name: &str, fields: &[(&str, Type)]) -> Self {
        let fields = fields
            .iter()
            .map(|(name, of)| (Arc::from(*name), of.clone()))
            .collect();
        StructType {
            name: name.into(),
            fields,
        }
    }
}

impl TypeProvider for StructType {
    fn has_type(&self, name: &str) -> bool {
        *self.name == *name
    }

    fn field(&self, type_name: &str, field: &str) -> Option<Type> {
        let own = self.has_type(type_name);
        self.fields
            .iter()
            .find(|(name, _)| own && **name == *field)
            .map(|(_, of)| of.clone())
    }
}
