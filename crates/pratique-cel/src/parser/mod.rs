//! From text to syntax tree.
//!
//! A text is read the quick way. Where that meets a fault, the thorough way reads the text anew and reports
//! all faults as the reference words them.

mod builder;
mod expand;
mod lexer;
mod limits;
mod literal;
mod quick;
mod thorough;
mod token;

use std::sync::Arc;

use self::builder::Builder;
pub use self::builder::MacroError;
pub use self::expand::{ACCUMULATOR, Expand, Expander, Macro};
use crate::ast::Ast;
use crate::error::{Issue, SHOWN_ISSUES};
use crate::source::Source;

/// Parses a text. The faults are those that will be shown, in order of position, and then the others.
pub(crate) fn parse(source: Arc<Source>, macros: &[Macro]) -> Result<Ast, Vec<Issue>> {
    limits::check_size(source.text())?;
    let capacity = source.text().len() / 3 + 4;
    let mut builder = Builder::new(macros, capacity);
    let root = match quick::read(source.text(), &mut builder) {
        Ok(root) => root,
        Err(quick::GivenUp) => {
            builder = Builder::new(macros, capacity);
            thorough::read(&source, &mut builder).map_err(in_order)?
        }
    };
    Ok(Ast {
        source,
        root,
        nodes: builder.nodes,
        macro_calls: builder.macro_calls,
    })
}

/// Sorts the faults that will be shown by their positions.
fn in_order(mut issues: Vec<Issue>) -> Vec<Issue> {
    let shown = issues.len().min(SHOWN_ISSUES);
    if let Some(shown) = issues.get_mut(..shown) {
        shown.sort_by_key(|issue| issue.position);
    }
    issues
}

#[cfg(test)]
mod tests;
