//! From the text of an expression to a program.

use std::sync::Arc;

use crate::ast::Ast;
use crate::checker::{self, CheckedAst};
use crate::environment::Environment;
use crate::error::CompileError;
use crate::parser::{self, MacroGrammar};
use crate::plan::{self, Program};
use crate::source::Source;
use crate::types::Type;

impl Environment {
    /// Parses an expression: syntax and macros.
    pub fn parse(&self, text: &str) -> Result<Ast, CompileError> {
        let source = Arc::new(Source::new(text));
        let grammar = MacroGrammar {
            macros: self.macros(),
            refuses_quoted_names: self.refuses_quoted_names(),
        };
        parser::parse(source.clone(), grammar).map_err(|issues| CompileError::Issues { source, issues })
    }

    /// Checks the types of a parsed expression, and its literals.
    pub fn check_types(&self, ast: Ast) -> Result<CheckedAst, CompileError> {
        let source = ast.source.clone();
        checker::check_ast(self, ast).map_err(|issues| CompileError::Issues { source, issues })
    }

    /// Finds what the names and calls of a parsed expression refer to, and refuses nothing: what has no meaning is an
    /// error where it is evaluated, if it is.
    pub fn check_loosely(&self, ast: Ast) -> CheckedAst {
        checker::check_loosely(self, ast)
    }

    /// Plans a checked expression for evaluation.
    pub fn plan(&self, checked: &CheckedAst) -> Result<Program, CompileError> {
        if checked.types.iter().any(Type::is_untyped) {
            return Err(CompileError::Untyped);
        }
        plan::plan(self, checked).map_err(CompileError::Plan)
    }

    /// Parses, checks and plans an expression.
    pub fn compile(&self, text: &str) -> Result<Program, CompileError> {
        self.plan(&self.check_types(self.parse(text)?)?)
    }
}
