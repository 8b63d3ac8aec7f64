//! The expressions of one policy, which share its variables.

use std::sync::Arc;

use pratique_cel::{Environment, StructType, Type};

use crate::cache::{Cache, CompileKey};
use crate::declarations::{Declarations, ExpressionPurpose};
use crate::environments::{environment_of, with_variables_type};
use crate::error::ExpressionError;
use crate::expression::Expression;
use crate::types::VARIABLES_TYPE;

/// Compiles the expressions of one policy. Variables come first, each seen by those after it.
#[derive(Debug)]
pub struct Composition<'c> {
    cache: &'c Cache,
    minor: u32,
    variables: Vec<(Arc<str>, Type)>,
}

impl<'c> Composition<'c> {
    /// Begins a stored policy: its expressions may use everything of the server's release.
    pub fn new(cache: &'c Cache) -> Self {
        Self::at(cache, cache.release().version().1)
    }

    /// Begins a policy to be validated: its expressions may use everything of version 1.`minor`. An API server takes
    /// the version before its own, so that it can be rolled back.
    pub fn at(cache: &'c Cache, minor: u32) -> Self {
        Composition {
            cache,
            minor,
            variables: Vec::new(),
        }
    }

    /// Compiles what follows for version 1.`minor`, with the variables so far.
    pub fn set_minor(&mut self, minor: u32) {
        self.minor = minor;
    }

    /// Compiles a variable and declares it, as `dyn` if it does not compile. A name that is declared again means the
    /// later variable.
    pub fn variable(
        &mut self,
        name: &str,
        text: &str,
        declarations: Declarations,
    ) -> Result<Arc<Expression>, ExpressionError> {
        let result = self.compile(text, ExpressionPurpose::Variable, declarations);
        let of = result
            .as_ref()
            .map_or(Type::Dyn, |expression| declared_type(expression.result_type()));
        self.variables.retain(|(variable, _)| **variable != *name);
        self.variables.push((name.into(), of));
        result
    }

    /// Compiles an expression.
    pub fn compile(
        &self,
        text: &str,
        usage: ExpressionPurpose,
        declarations: Declarations,
    ) -> Result<Arc<Expression>, ExpressionError> {
        let key = CompileKey {
            text: text.to_owned(),
            usage,
            declarations,
            minor: self.minor,
            variables: self.visible_variables(text, declarations),
        };
        self.cache.get_or_compile(key, || {
            Expression::compile(&self.environment(declarations), text, usage)
        })
    }

    /// The expressions in use, of which these are some.
    pub fn cache(&self) -> &'c Cache {
        self.cache
    }

    /// What an expression is compiled in, with the variables so far.
    pub fn environment(&self, declarations: Declarations) -> Environment {
        let release = self.cache.release().version().1;
        let environment = environment_of(release, declarations, self.minor);
        if declarations.variables {
            with_variables_type(environment, self.variables_type())
        } else {
            environment
        }
    }

    /// The variables that an expression can see: none, if its text does not name `variables`.
    fn visible_variables(&self, text: &str, declarations: Declarations) -> Vec<(Arc<str>, Type)> {
        if !declarations.variables || !text.contains("variables") {
            return Vec::new();
        }
        self.variables.clone()
    }

    fn variables_type(&self) -> StructType {
        StructType {
            name: VARIABLES_TYPE.into(),
            fields: self.variables.clone(),
        }
    }
}

/// The type that a variable is declared with: only scalars, lists and maps keep theirs.
// Upstream: plugin/cel/composition.go, convertCelTypeToDeclType
pub fn declared_type(of: &Type) -> Type {
    match of {
        Type::Any
        | Type::Bool
        | Type::Bytes
        | Type::Double
        | Type::Duration
        | Type::Int
        | Type::Null
        | Type::String
        | Type::Timestamp
        | Type::Uint => of.clone(),
        Type::List(element) => Type::list(declared_type(element)),
        Type::Map(key, value) => Type::map(declared_type(key), declared_type(value)),
        _ => Type::Dyn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Declarations = Declarations {
        params: false,
        authorizer: false,
        patch_types: false,
        variables: true,
    };

    #[test]
    fn equal_expressions_are_compiled_once() {
        let cache = Cache::new();
        let compile =
            |policy: &Composition<'_>, text: &str| policy.compile(text, ExpressionPurpose::Validation, PLAIN);
        let (one, other) = (Composition::new(&cache), Composition::new(&cache));
        let (Ok(first), Ok(second)) = (compile(&one, "true"), compile(&other, "true")) else {
            // The engine refuses the expression; its own tests tell why.
            return;
        };
        assert!(Arc::ptr_eq(&first, &second));
    }

    #[test]
    fn declared_types() {
        let quantity = Type::named("kubernetes.Quantity");
        assert_eq!(declared_type(&quantity), Type::Dyn);
        assert_eq!(declared_type(&Type::list(quantity)), Type::list(Type::Dyn));
        assert_eq!(
            declared_type(&Type::map(Type::String, Type::Int)),
            Type::map(Type::String, Type::Int)
        );
    }
}
