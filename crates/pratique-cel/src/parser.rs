//! From text to syntax tree.
//!
//! There are two parsers of one grammar, and they build the same trees. [`fast`] is a recursive-descent parser without
//! error messages. Where it meets an error, [`diagnostic`] parses the text again: it recovers from errors as the parser
//! that ANTLR generates for cel-go does, and reports all of them with the same messages.
//!
//! Upstream: cel-go, parser/parser.go and parser/gen/CEL.g4

mod builder;
mod comments;
mod diagnostic;
mod expand;
mod fast;
mod lexer;
mod limits;
mod literal;
mod token;

use std::sync::Arc;

use self::builder::AstBuilder;
pub use self::builder::MacroError;
pub use self::comments::comments;
pub use self::expand::{ACCUMULATOR, Expander, Macro, MacroExpansion};
use crate::ast::Ast;
use crate::error::{self, Issue};
use crate::source::Source;

/// What depends on the environment that a text is parsed for.
#[derive(Clone, Copy)]
pub(crate) struct MacroGrammar<'m> {
    pub(crate) macros: &'m [Macro],
    /// Whether names of fields in backquotes are errors.
    pub(crate) refuses_quoted_names: bool,
}

/// Parses a text. Of the issues, those that are shown come first, in order of position.
pub(crate) fn parse(source: Arc<Source>, grammar: MacroGrammar<'_>) -> Result<Ast, Vec<Issue>> {
    limits::check_size(source.as_str())?;
    let capacity = source.as_str().len() / 3 + 4;
    let mut builder = AstBuilder::new(grammar, capacity);
    let root = match fast::read(source.as_str(), &mut builder) {
        Ok(root) => root,
        Err(fast::UnsupportedText) => {
            builder = AstBuilder::new(grammar, capacity);
            diagnostic::read(&source, &mut builder).map_err(error::in_order)?
        }
    };
    Ok(Ast {
        source,
        root,
        nodes: builder.nodes,
        macro_calls: builder.macro_calls,
    })
}

#[cfg(test)]
mod tests;
