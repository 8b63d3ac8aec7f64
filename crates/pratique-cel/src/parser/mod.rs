//! From text to syntax tree.

mod builder;
mod expand;
mod lexer;
mod literal;
mod quick;
mod token;

use std::sync::Arc;

use self::builder::Builder;
pub use self::builder::MacroError;
pub use self::expand::{ACCUMULATOR, Expand, Expander, Macro};
pub use crate::ast::Ast;
use crate::error::Issue;
use crate::source::{Position, Source};

/// How deep each rule of the grammar may nest, and how long chains of operators may be.
const MOST_DEPTH: u32 = 250;

/// Parses a text; all faults are reported, in order.
pub fn parse(source: Arc<Source>, macros: &[Macro]) -> Result<Ast, Vec<Issue>> {
    let mut builder = Builder::new(macros, source.text().len() / 3 + 4);
    match quick::read(source.text(), &mut builder) {
        Ok(root) => Ok(Ast {
            source,
            root,
            nodes: builder.nodes,
            macro_calls: builder.macro_calls,
        }),
        Err(quick::GivenUp) => Err(vec![Issue {
            position: Position::NOWHERE,
            message: "Syntax error: not understood".into(),
        }]),
    }
}
