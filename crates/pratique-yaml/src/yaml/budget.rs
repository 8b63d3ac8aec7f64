//! How much of a document may come from aliases, which keeps small documents from growing without bound.

use super::SyntaxError;
use crate::position::Span;

/// The nodes that were looked at, and those of them that were reached through aliases.
#[derive(Debug, Default)]
pub(super) struct AliasBudget {
    nodes: u64,
    aliased: u64,
    depth: usize,
}

impl AliasBudget {
    /// Begins to follow an alias.
    pub(super) fn enter(&mut self) {
        self.depth += 1;
    }

    /// Has followed an alias.
    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Looks at a node.
    pub(super) fn spend(&mut self, span: Span) -> Result<(), SyntaxError> {
        self.nodes += 1;
        self.aliased += u64::from(self.depth > 0);
        let share = self.aliased as f64 / self.nodes as f64;
        if self.aliased > 100 && self.nodes > 1000 && share > allowed_share(self.nodes) {
            return Err(SyntaxError::new(
                "yaml: document contains excessive aliasing",
                span,
            ));
        }
        Ok(())
    }
}

/// 99 % of small documents, 10 % of large ones, and between these in proportion.
fn allowed_share(nodes: u64) -> f64 {
    const LOW: f64 = 400_000.0;
    const HIGH: f64 = 4_000_000.0;
    let nodes = (nodes as f64).clamp(LOW, HIGH);
    0.99 - 0.89 * ((nodes - LOW) / (HIGH - LOW))
}
