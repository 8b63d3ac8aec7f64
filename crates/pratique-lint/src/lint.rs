//! What a lint is: its name, and its check of one subject.

use std::cell::{Cell, OnceCell};

use pratique_manifest::{IgnoredPlugin, Location, ManifestSet, ObjectName};
use pratique_sample::WorkBudget;

use crate::analysis::ParsedExpressions;
use crate::lint_meta::LintMeta;
use crate::observations::PolicyObservations;
use crate::options::LintOptions;
use crate::report::LintReport;
use crate::subject::{DefinitionView, ExpressionGroup, ManifestView, PolicyView, WebhookView};
use crate::trials::PolicyTrials;
use crate::typing::MatchedKinds;

/// A lint. Each has a module of its own in [`lints`](crate::lints), whose documentation says what it finds, why that is a
/// problem, and shows an example: `docs/warnings.md` is written from these.
pub(crate) trait Lint {
    /// Its name and summary.
    const META: &'static LintMeta;

    /// Reports what it finds in a subject; nothing in a subject of another kind than its own.
    fn check(&self, context: &LintContext<'_>, report: &mut LintReport);
}

/// A [`Lint`] of any type.
pub(crate) trait AnyLint: Sync {
    /// Its name and summary.
    fn meta(&self) -> &'static LintMeta;

    /// Runs its [check](Lint::check).
    fn run(&self, context: &LintContext<'_>, report: &mut LintReport);
}

impl<L: Lint + Sync> AnyLint for L {
    fn meta(&self) -> &'static LintMeta {
        Self::META
    }

    fn run(&self, context: &LintContext<'_>, report: &mut LintReport) {
        self.check(context, report);
    }
}

/// What a lint looks at.
pub(crate) struct LintContext<'c> {
    pub(crate) subject: LintSubject<'c>,
    pub(crate) options: &'c LintOptions,
    /// What is left of the work for generated objects.
    pub(crate) work: &'c Cell<WorkBudget>,
}

/// The subject of a check: lints are run for each of these alone.
pub(crate) enum LintSubject<'c> {
    /// A policy with its bindings, on which nothing else has an effect.
    Policy(PolicySubject<'c>),
    /// A webhook, with its match conditions as those of a policy.
    Webhook(&'c WebhookView<'c>, PolicySubject<'c>),
    /// All manifests of a server, for what is found in several of them together, or about their files.
    Manifests {
        manifests: &'c ManifestView<'c>,
        sets: &'c [&'c ManifestSet],
    },
    /// A definition of a custom resource, whose rules are expressions.
    Definition(DefinitionView<'c>),
    /// An entry of an AdmissionConfiguration that the server ignores.
    IgnoredPlugin(&'c IgnoredPlugin),
    /// Text after the document of an AdmissionConfiguration.
    ConfigurationRest(&'c Location),
    /// An object of the API that is beside static manifests.
    MixedObject(&'c ObjectName, &'c Location),
}

/// A policy, and what is known of its expressions, which is found out once and when a lint asks for it.
pub(crate) struct PolicySubject<'c> {
    pub(crate) policy: &'c PolicyView<'c>,
    options: &'c LintOptions,
    parsed: OnceCell<ParsedExpressions>,
    kinds: OnceCell<MatchedKinds>,
    observations: OnceCell<PolicyObservations>,
    trials: OnceCell<PolicyTrials>,
}

impl<'c> LintContext<'c> {
    /// The policy, if the subject is one.
    pub(crate) fn policy(&self) -> Option<&PolicySubject<'c>> {
        match &self.subject {
            LintSubject::Policy(subject) => Some(subject),
            _ => None,
        }
    }

    /// The policy, or a webhook with match conditions, which are evaluated as those of a policy.
    pub(crate) fn evaluated(&self) -> Option<&PolicySubject<'c>> {
        match &self.subject {
            LintSubject::Policy(subject) => Some(subject),
            LintSubject::Webhook(_, subject) => {
                Some(subject).filter(|subject| !subject.policy.sites.is_empty())
            }
            _ => None,
        }
    }

    /// The definition of a custom resource, if the subject is one.
    pub(crate) fn definition(&self) -> Option<&DefinitionView<'c>> {
        match &self.subject {
            LintSubject::Definition(definition) => Some(definition),
            _ => None,
        }
    }

    /// The webhook, if the subject is one.
    pub(crate) fn webhook(&self) -> Option<&'c WebhookView<'c>> {
        match &self.subject {
            LintSubject::Webhook(webhook, _) => Some(webhook),
            _ => None,
        }
    }

    /// The sets of manifests, if the subject is all of them.
    pub(crate) fn manifest_sets(&self) -> &'c [&'c ManifestSet] {
        match self.subject {
            LintSubject::Manifests { sets, .. } => sets,
            _ => &[],
        }
    }

    /// Expressions and rules, if the subject is a policy or a webhook.
    pub(crate) fn expression_group(&self) -> Option<ExpressionGroup<'c, 'c>> {
        match &self.subject {
            LintSubject::Policy(subject) => Some(subject.policy.expression_group()),
            LintSubject::Webhook(webhook, _) => Some(webhook.expression_group()),
            _ => None,
        }
    }
}

impl<'c> PolicySubject<'c> {
    pub(crate) fn new(policy: &'c PolicyView<'c>, options: &'c LintOptions) -> Self {
        PolicySubject {
            policy,
            options,
            parsed: OnceCell::new(),
            kinds: OnceCell::new(),
            observations: OnceCell::new(),
            trials: OnceCell::new(),
        }
    }

    /// The syntax trees of its expressions.
    pub(crate) fn parsed(&self) -> &ParsedExpressions {
        self.parsed
            .get_or_init(|| ParsedExpressions::new(&self.policy.sites))
    }

    /// The kinds that its rules match.
    pub(crate) fn kinds(&self) -> &MatchedKinds {
        self.kinds
            .get_or_init(|| MatchedKinds::new(self.policy.release, &self.policy.rules))
    }

    /// What its mutations do with generated objects of these kinds; nothing of a validating policy.
    pub(crate) fn trials(&self) -> &PolicyTrials {
        self.trials
            .get_or_init(|| PolicyTrials::new(self.policy, self.parsed(), self.kinds(), self.options))
    }

    /// What its expressions do with generated objects of these kinds.
    pub(crate) fn observations(&self) -> &PolicyObservations {
        self.observations
            .get_or_init(|| PolicyObservations::new(self.policy, self.parsed(), self.kinds(), self.options))
    }
}
