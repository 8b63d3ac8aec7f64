//! From text to syntax tree.
//!
//! A text is read the quick way. Where that meets a fault, the thorough way reads the text anew and reports
//! all faults as the reference words them.

mod builder;
mod expand;
mod lexer;
mod literal;
mod quick;
mod thorough;
mod token;

use std::sync::Arc;

use self::builder::Builder;
pub use self::builder::MacroError;
pub use self::expand::{ACCUMULATOR, Expand, Expander, Macro};
pub use crate::ast::Ast;
use crate::error::{Issue, SHOWN_ISSUES};
use crate::source::{Position, Source};

/// How deep each rule of the grammar may nest, and how long chains of operators may be.
const MOST_DEPTH: u32 = 250;

/// How many code points an expression may have.
const MOST_CODE_POINTS: usize = 100_000;

/// Parses a text. The faults are those that will be shown, in order of position, and then the others.
pub(crate) fn parse(source: Arc<Source>, macros: &[Macro]) -> Result<Ast, Vec<Issue>> {
    check_size(source.text())?;
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

fn check_size(text: &str) -> Result<(), Vec<Issue>> {
    // A code point takes a byte or more.
    if text.len() <= MOST_CODE_POINTS {
        return Ok(());
    }
    match text.chars().count() {
        0..=MOST_CODE_POINTS => Ok(()),
        size => Err(vec![Issue::new(
            Position::NOWHERE,
            format!("expression code point size exceeds limit: size: {size}, limit {MOST_CODE_POINTS}"),
        )]),
    }
}

/// The fault of an expression whose macros make too many nodes.
fn too_large() -> Issue {
    Issue::new(
        Position::NOWHERE,
        "expression is too large after the expansion of its macros",
    )
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
