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

    /// The type that `name` stands for; `None` where it is no type of this provider.
    fn type_named(&self, name: &str) -> Option<Type> {
        self.has_type(name).then(|| Type::named(name))
    }

    /// Whether this provider may have types whose names start with `prefix` and a dot.
    fn has_namespace(&self, prefix: &str) -> bool {
        let _ = prefix;
        true
    }

    /// The type of a field; `None` where the type has no such field.
    fn field(&self, type_name: &str, field: &str) -> Option<Type>;

    /// The names of a type's fields, as far as they are known, for suggestions.
    fn field_names(&self, type_name: &str) -> Vec<Arc<str>> {
        let _ = type_name;
        Vec::new()
    }

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

    /// Declares one more field; it replaces a field of that name.
    pub fn with_field(mut self, name: &str, of: Type) -> Self {
        match self.fields.iter_mut().find(|(known, _)| **known == *name) {
            Some((_, known)) => *known = of,
            None => self.fields.push((name.into(), of)),
        }
        self
    }
}

impl TypeProvider for StructType {
    fn has_type(&self, name: &str) -> bool {
        *self.name == *name
    }

    fn has_namespace(&self, prefix: &str) -> bool {
        is_below(&self.name, prefix)
    }

    fn field(&self, type_name: &str, field: &str) -> Option<Type> {
        let is_this_type = self.has_type(type_name);
        self.fields
            .iter()
            .find(|(name, _)| is_this_type && **name == *field)
            .map(|(_, of)| of.clone())
    }

    fn field_names(&self, type_name: &str) -> Vec<Arc<str>> {
        let is_this_type = self.has_type(type_name);
        self.fields
            .iter()
            .filter(|_| is_this_type)
            .map(|(name, _)| name.clone())
            .collect()
    }
}

/// Whether a qualified name starts with `prefix` and a dot.
pub(crate) fn is_below(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix)
        .is_some_and(|rest| rest.starts_with('.'))
}
