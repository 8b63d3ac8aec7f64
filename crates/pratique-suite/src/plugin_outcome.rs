//! The outcome of a request in each admission plugin.

use std::collections::BTreeMap;

use pratique::Outcome;
use serde::{Deserialize, Serialize};

use pratique_review::chain::{ReviewStep, StepEffect};

/// The outcome of a request in an admission plugin. Of several, the last in this order counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginOutcome {
    /// It did not run: it is off, has nothing to do with the operation, or comes after one that refused the request.
    Skipped,
    /// It let the request pass.
    Passed,
    /// It changed the object.
    Changed,
    /// It lacks something that the test does not give.
    Undecided,
    /// It refused the request.
    Refused,
}

impl PluginOutcome {
    /// The names of all outcomes in suites, in their order.
    pub(crate) const NAMES: &[&str] = &["skipped", "passed", "changed", "undecided", "refused"];

    /// The name in suites.
    pub fn name(self) -> &'static str {
        Self::NAMES.get(self as usize).copied().unwrap_or_default()
    }
}

/// The outcomes by plugin, of those that ran.
pub(crate) fn plugin_outcomes(steps: &[ReviewStep], outcome: &Outcome) -> BTreeMap<String, PluginOutcome> {
    let of_steps = steps.iter().map(|step| {
        let outcome = match step.did {
            StepEffect::Passed => PluginOutcome::Passed,
            StepEffect::Changed { .. } => PluginOutcome::Changed,
            StepEffect::Refused(_) => PluginOutcome::Refused,
            StepEffect::Undecided(_) => PluginOutcome::Undecided,
        };
        (step.name.as_str(), outcome)
    });
    // A policy or webhook that is undecided does not end the step of its plugin.
    let undecided = outcome.undecided.iter();
    let undecided = undecided.map(|undecided| (&*undecided.plugin, PluginOutcome::Undecided));
    let mut outcomes = BTreeMap::new();
    for (name, outcome) in of_steps.chain(undecided) {
        let current = outcomes.entry(name.to_owned()).or_insert(outcome);
        *current = outcome.max(*current);
    }
    outcomes
}
