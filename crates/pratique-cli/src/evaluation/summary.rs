//! The last line of an answer: what was evaluated, and what was not.

use crate::acceptance::AcceptanceSummary;
use crate::arguments::PolicyArguments;
use crate::baseline::BaselineLevel;
use pratique_review::count_policies;
use pratique_schema::FeatureGates;

use crate::arguments::are_mutations_on;
use crate::evaluation::unbound::EvaluationScope;
use crate::input;
use crate::output::counted_nouns::{counted, first_names};
use crate::output::text::{PrintableText, text};
use crate::policies::{NAMED, OriginSets};

/// What a command evaluates.
pub(crate) struct EvaluationFacts<'a> {
    /// The policies: one set, or those that are compared.
    pub(crate) policies: Vec<EvaluatedPolicies<'a>>,
    /// Whether objects are completed as a server does.
    pub(crate) completes: bool,
    /// Whether objects of built-in kinds go through the server's own validation.
    pub(crate) validates: bool,
    /// How many built-in plugins are run.
    pub(crate) plugins: usize,
    pub(crate) calls_webhooks: bool,
    /// The release of the server with its feature gates, or those that are compared.
    pub(crate) servers: Vec<FeatureGates>,
}

/// Policies that are evaluated.
pub(crate) struct EvaluatedPolicies<'a> {
    /// What they are called beside others; empty if there are no others.
    pub(crate) label: &'static str,
    /// The names of their sources.
    pub(crate) sources: Vec<String>,
    /// The level of the built-in policies, if these are evaluated.
    pub(crate) builtin: Option<BaselineLevel>,
    pub(crate) sets: &'a OriginSets,
    /// Which of them are evaluated.
    pub(crate) scope: &'a EvaluationScope,
}

/// The names of the sources of policies: what is named and the inputs, or else the cluster or snapshot of a name, which is empty if
/// there is none.
pub(crate) fn sources_of(named: &PolicyArguments, has_input_policies: bool, state: &str) -> Vec<String> {
    let named_files = [&named.admission_control_config_file, &named.manifests];
    let mut sources: Vec<String> = named_files.into_iter().flatten().cloned().collect();
    sources.extend(input::format_paths(&named.paths.policies));
    if has_input_policies {
        sources.push("the inputs".to_owned());
    }
    if sources.is_empty() && !state.is_empty() {
        sources.push(state.to_owned());
    }
    sources
}

/// A line that says what was evaluated, and what was not.
pub(crate) struct EvaluationSummary(String);

impl EvaluationSummary {
    pub(crate) fn new(facts: &EvaluationFacts<'_>) -> Self {
        let (phases, left_out) = (facts.phases(), facts.left_out());
        EvaluationSummary(format!(
            "evaluated: {}; {}; Kubernetes {}; not evaluated: {}",
            facts.policies(),
            phases.join(", "),
            facts.releases(),
            if left_out.is_empty() {
                "nothing".to_owned()
            } else {
                left_out.join(", ")
            }
        ))
    }

    /// Adds how many kinds there were without rules to validate their objects.
    pub(crate) fn count_unvalidated(&mut self, kinds: usize) {
        if kinds > 0 {
            let kinds = counted(kinds, "kind", "kinds");
            self.0.push_str(&format!("; not validated: {kinds}"));
        }
    }

    /// Adds what is accepted of what was found.
    pub(crate) fn add_accepted(&mut self, accepted: &AcceptanceSummary) {
        let line = accepted.line();
        if !line.is_empty() {
            self.0.push_str(&format!("; {line}"));
        }
    }

    /// The line without its end.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn line(&self) -> PrintableText {
        text!("{}\n", self.0)
    }
}

impl EvaluatedPolicies<'_> {
    fn to_text(&self) -> String {
        let count = match count_policies(self.sets)
            .saturating_sub(self.scope.unbound_count() + self.scope.switched_off().count())
        {
            0 => "no policy".to_owned(),
            count => counted(count, "policy", "policies"),
        };
        let level = match self.builtin {
            Some(BaselineLevel::Baseline) => "baseline",
            Some(BaselineLevel::Restricted) => "restricted",
            None if self.sources.is_empty() => return self.labelled(&count),
            None => return self.labelled(&format!("{count} of {}", first_names(&self.sources, NAMED))),
        };
        self.labelled(&format!("Pod Security {level}, built in ({count})"))
    }

    fn labelled(&self, text: &str) -> String {
        match self.label {
            "" => text.to_owned(),
            label => format!("{label}: {text}"),
        }
    }
}

impl EvaluationFacts<'_> {
    /// The policies by their source.
    fn policies(&self) -> String {
        let policies: Vec<String> = self.policies.iter().map(EvaluatedPolicies::to_text).collect();
        policies.join(", ")
    }

    /// The releases, in order.
    fn releases(&self) -> String {
        let servers = self.servers.iter();
        let releases: Vec<String> = servers.map(|gates| gates.release().to_string()).collect();
        releases.join(" and ")
    }

    /// How many policies have no binding.
    fn unbound(&self) -> usize {
        self.policies
            .iter()
            .map(|policies| policies.scope.unbound_count())
            .sum()
    }

    /// Whether one of the servers evaluates mutating policies.
    fn evaluates_mutations(&self) -> bool {
        self.servers.iter().copied().any(are_mutations_on)
    }

    /// What is done to an object, in the order in which a server does it.
    fn phases(&self) -> Vec<String> {
        let mut phases = Vec::new();
        if self.completes {
            phases.push("defaults".to_owned());
        }
        if self.plugins > 0 {
            phases.push(counted(self.plugins, "built-in plugin", "built-in plugins"));
        }
        let policies = if self.evaluates_mutations() {
            "mutating and validating policies"
        } else {
            "validating policies"
        };
        phases.push(policies.to_owned());
        if self.calls_webhooks {
            phases.push("webhooks".to_owned());
        }
        if self.validates {
            phases.push("validation of built-in kinds".to_owned());
        }
        phases
    }

    /// What a server does besides.
    fn left_out(&self) -> Vec<String> {
        let mut left_out = Vec::new();
        if self.unbound() > 0 {
            let policies = counted(self.unbound(), "policy", "policies");
            left_out.push(format!("{policies} without a binding"));
        }
        let parts = [
            (self.completes, "defaults"),
            (self.plugins > 0, "built-in plugins"),
            (self.evaluates_mutations(), "mutating policies"),
            (self.calls_webhooks, "webhooks"),
            (self.validates, "validation of built-in kinds"),
        ];
        let parts = parts.into_iter().filter(|(is_done, _)| !is_done);
        left_out.extend(parts.map(|(_, name)| name.to_owned()));
        left_out
    }
}
