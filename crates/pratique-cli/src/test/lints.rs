//! Warnings about the policies under test.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::SystemTime;

use pratique_lint::{LintMemory, Warning};
use pratique_suite::Policies;

use crate::check::levels::{Level, Levels};
use crate::output;
use crate::output::excerpt::Texts;
use crate::output::finding::Finding;
use crate::output::problems::{self, Links};
use crate::style::Style;
use crate::unbound::group_warnings;

/// The warnings of all suites, each once.
pub(super) struct Lints {
    /// Several suites test the same policies.
    memory: LintMemory,
    all: Vec<Warning>,
    /// The identities of the warnings.
    seen: HashSet<(&'static str, Arc<str>, usize, String)>,
}

impl Lints {
    pub(super) fn new(levels: &Levels<'_>) -> Self {
        Lints {
            memory: LintMemory::with_options(levels.options(SystemTime::now())),
            all: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// Adds the warnings of a suite's policies.
    pub(super) fn add(&mut self, policies: &Policies, levels: &Levels<'_>) {
        let sets: Vec<_> = policies.sets.iter().map(|(_, set)| set).collect();
        let warnings = self.memory.lint(&sets);
        for warning in group_warnings(levels.without_allowed(warnings)) {
            let (place, lint) = (&warning.location, warning.lint.name);
            let key = (
                lint,
                place.file.clone(),
                place.start.offset,
                warning.message.clone(),
            );
            if self.seen.insert(key) {
                self.all.push(warning);
            }
        }
    }

    /// Whether no warning is denied.
    pub(super) fn pass(&self, levels: &Levels<'_>) -> bool {
        self.all
            .iter()
            .all(|warning| levels.of(warning.lint) != Level::Deny)
    }

    /// All of them.
    pub(super) fn findings(&self, levels: &Levels<'_>) -> Vec<Finding<'_>> {
        let finding = |warning| Finding::of_warning(warning, levels.severity(warning));
        self.all.iter().map(finding).collect()
    }

    /// Writes them to standard error.
    pub(super) fn report(&self, levels: &Levels<'_>) {
        let mut texts = Texts::default();
        output::eprint(&problems::listed(
            &self.findings(levels),
            Links::Each,
            &mut texts,
            Style::of_stderr(),
        ));
    }
}
