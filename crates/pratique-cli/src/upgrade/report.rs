//! The counts and findings of an upgrade.

use std::collections::{BTreeMap, BTreeSet};

use pratique_replay::{RequestApproximation, UnknownRequest};
use serde::Serialize;

use super::finding::{UpgradeEffect, UpgradeFinding, UpgradeRule};
use crate::output::notice::InputNotices;
use crate::replay::counters::KeyedCounters;
use crate::replay::faults::CountedFaults;

/// How many findings are kept, and how many groups of them; inputs may lead to any number.
const MAX_FINDINGS: usize = 10_000;
const MAX_GROUPS: usize = 1000;

/// What was found.
pub(super) struct UpgradeReport {
    pub(super) requests: u64,
    pub(super) same: u64,
    pub(super) not_subject: u64,
    pub(super) changed_meanwhile: u64,
    pub(super) unknown: KeyedCounters<UnknownRequest>,
    pub(super) approximations: KeyedCounters<RequestApproximation>,
    effects: KeyedCounters<UpgradeEffect>,
    groups: BTreeMap<(UpgradeEffect, UpgradeRule, String), FindingGroup>,
    /// Findings in the order of the inputs, the first of them.
    pub(super) findings: Vec<UpgradeFinding>,
    /// How many more there are.
    pub(super) more: u64,
    pub(super) faults: CountedFaults,
    pub(super) notes: BTreeSet<String>,
    pub(super) notices: InputNotices,
}

/// Findings of a rule about the same.
#[derive(Debug, Serialize)]
pub(super) struct FindingGroup {
    pub(super) rule: UpgradeRule,
    pub(super) effect: UpgradeEffect,
    pub(super) about: String,
    pub(super) count: u64,
    /// The first of them.
    pub(super) first: UpgradeFinding,
}

impl UpgradeReport {
    /// A report of nothing yet; `faults` and `notices` are those that were found and told before.
    pub(super) fn new(faults: CountedFaults, notes: BTreeSet<String>, notices: InputNotices) -> Self {
        UpgradeReport {
            requests: 0,
            same: 0,
            not_subject: 0,
            changed_meanwhile: 0,
            unknown: KeyedCounters::default(),
            approximations: KeyedCounters::default(),
            effects: KeyedCounters::default(),
            groups: BTreeMap::new(),
            findings: Vec::new(),
            more: 0,
            faults,
            notes,
            notices,
        }
    }

    pub(super) fn add(&mut self, finding: UpgradeFinding) {
        self.effects.add(finding.effect);
        let key = (finding.effect, finding.rule, finding.about.clone());
        let has_room = self.groups.len() < MAX_GROUPS;
        match self.groups.get_mut(&key) {
            Some(group) => group.count = group.count.saturating_add(1),
            None if has_room => {
                let group = FindingGroup {
                    rule: finding.rule,
                    effect: finding.effect,
                    about: finding.about.clone(),
                    count: 1,
                    first: finding.clone(),
                };
                self.groups.insert(key, group);
            }
            // It is among the findings, or among those that are only counted.
            None => {}
        }
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// How many findings there are of an effect.
    pub(super) fn count_of(&self, effect: UpgradeEffect) -> u64 {
        self.effects.count_of(&effect)
    }

    /// The groups of an effect.
    pub(super) fn groups_of(&self, effect: UpgradeEffect) -> impl Iterator<Item = &FindingGroup> {
        self.groups.values().filter(move |group| group.effect == effect)
    }

    /// All groups, the gravest first.
    pub(super) fn groups(&self) -> Vec<&FindingGroup> {
        self.groups.values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_that_are_not_kept_are_counted() {
        let mut report =
            UpgradeReport::new(CountedFaults::default(), BTreeSet::new(), InputNotices::default());
        for number in 0..MAX_FINDINGS + 2 {
            let about = format!("policy {}", number % (MAX_GROUPS + 5));
            report.add(UpgradeRule::NewlyRefused.about(about, "no"));
        }
        let count = u64::try_from(MAX_FINDINGS + 2).unwrap();
        assert_eq!(report.count_of(UpgradeEffect::Breaks), count);
        assert_eq!((report.findings.len(), report.more), (MAX_FINDINGS, 2));
        assert_eq!(report.groups().len(), MAX_GROUPS);
    }
}
