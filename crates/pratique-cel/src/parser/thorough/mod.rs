//! The thorough way through an expression, which says what is wrong with it.
//!
//! The reference's parser is generated from a grammar. Its messages, and where it goes on after a fault, follow
//! from the grammar and from general rules of recovery. So does this reading: a [machine] walks the
//! [grammar] as a network, [recovers](recovery) from faults by those rules, and builds a parse tree
//! that may have holes. The [conversion](convert) to a syntax tree then finds the faults that are not of grammar.
//! Every text that is well-formed gives the tree that the quick way would give.

mod convert;
mod grammar;
mod input;
mod machine;
mod make;
mod predict;
mod recovery;
mod rules;
mod tree;

use self::convert::Converter;
use self::machine::Machine;
use super::builder::Builder;
use crate::ast::ExprId;
use crate::error::Issue;
use crate::source::Source;

/// Reads a text; all faults are reported, as they are found.
pub(super) fn read(source: &Source, builder: &mut Builder<'_>) -> Result<ExprId, Vec<Issue>> {
    let mut machine = Machine::new(source);
    let Ok(root) = machine.run() else {
        return Err(machine.issues);
    };
    let mut issues = machine.issues;
    let mut converter = Converter {
        tree: &machine.tree,
        source,
        builder,
        issues: &mut issues,
    };
    let expr = converter.convert(root);
    if builder.is_full() {
        issues.push(super::limits::too_large());
    }
    if issues.is_empty() { Ok(expr) } else { Err(issues) }
}
