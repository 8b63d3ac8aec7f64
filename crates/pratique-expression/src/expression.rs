//! A compiled expression.

use pratique_cel::{Environment, Program, Type};

use crate::declarations::ExpressionPurpose;
use crate::environments::slots;
use crate::error::ExpressionError;
use crate::identity::ExpressionIdentity;
use crate::namespace::has_path;
use crate::return_types;

/// A compiled expression with its text.
#[derive(Debug)]
pub struct Expression {
    identity: ExpressionIdentity,
    text: Box<str>,
    program: Program,
    variables_read: Option<Box<[Box<str>]>>,
}

impl Expression {
    pub(crate) fn compile(
        environment: &Environment,
        text: &str,
        usage: ExpressionPurpose,
    ) -> Result<Self, ExpressionError> {
        let checked = environment
            .parse(text)
            .and_then(|ast| environment.check_types(ast))
            .map_err(ExpressionError::Compile)?;
        return_types::check_return_type(usage, checked.result_type())?;
        let program = environment.plan(&checked).map_err(ExpressionError::Plan)?;
        let variables_read = program.fields_read(slots().variables);
        let variables_read = variables_read.map(|fields| fields.into_iter().map(Into::into).collect());
        Ok(Expression {
            identity: ExpressionIdentity::new(),
            text: text.into(),
            program,
            variables_read,
        })
    }

    pub(crate) fn identity(&self) -> ExpressionIdentity {
        self.identity
    }

    /// Its text as it was written.
    pub fn source_text(&self) -> &str {
        &self.text
    }

    /// The program that evaluates it.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The variables that it reads, by the names in it; `None` where it may read any.
    pub fn variables_read(&self) -> Option<&[Box<str>]> {
        self.variables_read.as_deref()
    }

    /// Whether it reads `authorizer` or `authorizer.requestResource`.
    pub fn asks_authorizer(&self) -> bool {
        let slots = slots();
        self.program.reads(slots.authorizer) || self.program.reads(slots.request_resource)
    }

    /// Whether it reads more of `namespaceObject` than a [named namespace](crate::named_namespace) has.
    pub fn reads_whole_namespace(&self) -> bool {
        let namespace = slots().namespace_object;
        self.program.reads(namespace) && !self.program.reads_only(namespace, has_path)
    }

    /// The type of its result.
    pub fn result_type(&self) -> &Type {
        self.program.result_type()
    }
}
