//! The operations that lead from the stored objects to the inputs.

use pratique_types::Operation;

use crate::evaluation::state::ClusterState;
use crate::exit::CliError;
use crate::output;
use crate::output::text::text;
use crate::review::printer::ReviewPrinter;
use crate::review::work::InputReviewer;

/// How many objects are created, updated and deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OperationCounts {
    created: usize,
    updated: usize,
    deleted: usize,
}

impl OperationCounts {
    /// Counts the request of an object.
    pub(super) fn count(&mut self, operation: Operation) {
        match operation {
            Operation::Create => self.created += 1,
            Operation::Update => self.updated += 1,
            Operation::Delete => self.deleted += 1,
            Operation::Connect | Operation::None => {}
        }
    }

    /// Adds the counts of a later part.
    pub(super) fn add(&mut self, other: Self) {
        self.created += other.created;
        self.updated += other.updated;
        self.deleted += other.deleted;
    }
}

impl ReviewPrinter<'_> {
    /// Reviews the deletions of stored objects that no input has, and prints how many objects are created, updated and
    /// deleted. What cannot be read may have any object: then none is known to be deleted.
    pub(super) fn compare(
        &mut self,
        reviewer: &InputReviewer<'_>,
        state: &ClusterState,
    ) -> Result<(), CliError> {
        let is_complete = self.errors.count() == 0;
        if is_complete {
            reviewer.deletions(state, &mut |reviewed| self.print(reviewed))?;
        }
        let OperationCounts {
            created,
            updated,
            deleted,
        } = self.operations;
        let deletions = if is_complete {
            format!("{deleted} deleted")
        } else {
            "deletions are not reviewed, as something cannot be read".to_owned()
        };
        output::eprint(&text!(
            "compared with the stored objects: {} updated, {} created, {}\n",
            updated,
            created,
            deletions
        ));
        Ok(())
    }
}
