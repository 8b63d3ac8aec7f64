//! Warnings about the policies under test.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::SystemTime;

use pratique_lint::{LintMemory, LintOptions, Warning};
use pratique_manifest::ManifestSet;
use pratique_schema::FeatureGates;
use pratique_suite::Policies;

use crate::check::levels::{WarningLevel, WarningLevels};
use crate::output;
use crate::output::excerpt::FileTexts;
use crate::output::finding::OutputFinding;
use crate::output::problems::{self, RuleLinks};
use crate::style::StreamStyle;
use crate::unbound::group_warnings;

/// The warnings of all suites, each once.
pub(super) struct SuiteLints {
    options: LintOptions,
    /// Several suites test the same policies, perhaps for servers of several releases.
    memories: Vec<(FeatureGates, LintMemory)>,
    all: Vec<Warning>,
    /// The identities of the warnings.
    seen: HashSet<(&'static str, Arc<str>, usize, String)>,
}

impl SuiteLints {
    pub(super) fn new(levels: &WarningLevels<'_>) -> Self {
        SuiteLints {
            options: levels.options(SystemTime::now()),
            memories: Vec::new(),
            all: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// Adds the warnings of a suite's policies.
    pub(super) fn add(&mut self, policies: &Policies, levels: &WarningLevels<'_>) {
        let sets: Vec<_> = policies.sets.iter().map(|(_, set)| set).collect();
        let warnings = self.lint(policies.gates(), &sets);
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

    /// The warnings about policies of a server with these gates.
    fn lint(&mut self, gates: FeatureGates, sets: &[&ManifestSet]) -> Vec<Warning> {
        let mut memories = self.memories.iter_mut();
        if let Some((_, memory)) = memories.find(|(known, _)| *known == gates) {
            return memory.lint(sets);
        }
        let mut memory = LintMemory::with_options(self.options.clone()).feature_gates(gates);
        let warnings = memory.lint(sets);
        self.memories.push((gates, memory));
        warnings
    }

    /// Whether no warning is denied.
    pub(super) fn pass(&self, levels: &WarningLevels<'_>) -> bool {
        self.all
            .iter()
            .all(|warning| levels.find_level(warning.lint) != WarningLevel::Deny)
    }

    /// All of them.
    pub(super) fn findings(&self, levels: &WarningLevels<'_>) -> Vec<OutputFinding<'_>> {
        let finding = |warning| OutputFinding::of_warning(warning, levels.severity(warning));
        self.all.iter().map(finding).collect()
    }

    /// Writes them to standard error.
    pub(super) fn report(&self, levels: &WarningLevels<'_>) {
        let mut texts = FileTexts::default();
        output::eprint(&problems::listed(
            &self.findings(levels),
            RuleLinks::Each,
            &mut texts,
            StreamStyle::of_stderr(),
        ));
    }
}
