//! Warnings about manifests that load, but may not do what they are meant to.
//!
//! An API server takes a policy whose expressions fail on every request, without a binding, or that no request can
//! match. [`lint`] finds such problems in loaded manifests. Each warning belongs to a [`Lint`], whose name is stable,
//! so that it can be disabled.
//!
//! ```
//! use pratique_manifest::{Loader, ManifestFile, Options, Plugin, UncheckedExpressions};
//!
//! let policy = br#"
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: keep.static.k8s.io}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [DELETE]}]
//!   validations: [{expression: "object.metadata.name != 'keep'"}]
//! "#;
//! let file = ManifestFile { path: "policy.yaml".into(), content: policy.to_vec() };
//! let options = Options::new(&UncheckedExpressions);
//! let set = Loader::for_plugin(Plugin::ValidatingAdmissionPolicy, &options).load_files(&[file]).unwrap();
//! let names: Vec<_> = pratique_lint::lint(&[&set]).iter().map(|warning| warning.lint.name).collect();
//! assert_eq!(names, ["unbound-policy", "null-object"]);
//! ```

mod analysis;
mod cost;
mod evaluator;
mod expressions;
mod lint;
mod lints;
mod memory;
mod observations;
mod pem;
mod report;
mod samples;
mod selectors;
mod subject;
mod typing;
mod warning;

use std::time::SystemTime;

use pratique_manifest::{IgnoredPlugin, Location, ManifestSet, ObjectName};
use pratique_sample::Budget;
use pratique_types::FeatureGates;

pub use cost::{ExpressionCost, cost_of, costs};
pub use expressions::{TypedExpression, expressions};
pub use lint::{Lint, all, find};
pub use memory::Memory;
pub use pratique_sample::CostExample;
pub use typing::CustomTypes;
pub use warning::Warning;

use analysis::Parsed;
use observations::Observations;
use report::Report;
use subject::{Manifests, Policy};
use typing::Kinds;

/// Lints manifests that a server loads together, one set for each plugin. The warnings are sorted by location. Lints
/// that depend on the time are skipped: see [`Options::at`].
pub fn lint(sets: &[&ManifestSet]) -> Vec<Warning> {
    lint_with(sets, &Options::default())
}

/// Options of [`lint_with`]: findings that are off by default, and settings of the server.
#[derive(Clone, Debug, Default)]
pub struct Options {
    requested: Vec<&'static str>,
    now: Option<SystemTime>,
    feature_gates: FeatureGates,
}

impl Options {
    /// Enables the findings of a lint that are reported on request only.
    #[must_use]
    pub fn with_requested(mut self, lint: &Lint) -> Self {
        self.requested.push(lint.name);
        self
    }

    /// Sets the current time, against which the validity of certificates is checked.
    #[must_use]
    pub fn at(self, now: SystemTime) -> Self {
        Options {
            now: Some(now),
            ..self
        }
    }

    /// Sets the feature gates of the server.
    #[must_use]
    pub fn feature_gates(self, feature_gates: FeatureGates) -> Self {
        Options {
            feature_gates,
            ..self
        }
    }

    /// Whether the findings of a lint that are reported on request only are enabled.
    pub fn is_requested(&self, lint: &Lint) -> bool {
        self.requested.contains(&lint.name)
    }
}

/// The budget for evaluating generated objects that demonstrate a warning: units of cost, and bytes.
const WORK: u64 = 64_000_000;

/// [`lint`] with options.
pub fn lint_with(sets: &[&ManifestSet], options: &Options) -> Vec<Warning> {
    let mut work = Budget::new(WORK);
    lint_manifests(sets, options, |policy| {
        warnings_of_policy(policy, options, &mut work)
    })
}

/// Lints manifests; `of_policy` gives the warnings of a policy with its bindings.
fn lint_manifests(
    sets: &[&ManifestSet],
    options: &Options,
    mut of_policy: impl FnMut(&Policy<'_>) -> Vec<Warning>,
) -> Vec<Warning> {
    let manifests = Manifests::new(sets);
    let mut report = Report::default();
    for policy in &manifests.policies {
        report.extend(of_policy(policy).into_iter());
    }
    for webhook in &manifests.webhooks {
        lints::match_nothing::webhook(webhook, &mut report);
        lints::unknown_resource::check(&webhook.rules, &webhook.origin, &mut report);
        if options.feature_gates.excludes_virtual_resources {
            lints::excluded_resource::check(&webhook.rules, &webhook.origin, &mut report);
        }
        lints::constant_condition::webhook(webhook, &mut report);
        lints::ca_bundle::check(webhook, options.now, &mut report);
    }
    lints::webhook_timeout::check(&manifests, &mut report);
    let unread = sets.iter().flat_map(|set| &set.unread);
    report.extend(unread.map(lints::unread_text::check));
    let older = sets.iter().flat_map(|set| &set.older);
    report.extend(older.map(lints::older_version::check));
    let replaced = sets.iter().flat_map(|set| &set.replaced);
    report.extend(replaced.map(lints::replaced_object::check));
    report.finish()
}

/// Warns of the entries of an AdmissionConfiguration that the server ignores.
pub fn ignored(plugins: &[IgnoredPlugin]) -> Vec<Warning> {
    plugins.iter().map(lints::unknown_plugin::check).collect()
}

/// Warns of an object of the API that is beside static manifests.
pub fn mixed_origins(name: &ObjectName, location: &Location) -> Warning {
    lints::mixed_origins::check(name, location)
}

/// Warns of text after the document of an AdmissionConfiguration.
pub fn unread(rest: &Location) -> Warning {
    lints::unread_text::of_configuration(rest)
}

/// The warnings of a policy with its bindings, which depend on nothing else.
fn warnings_of_policy(policy: &Policy<'_>, options: &Options, work: &mut Budget) -> Vec<Warning> {
    let mut report = Report::default();
    lint_policy(policy, options, work, &mut report);
    report.finish()
}

fn lint_policy(policy: &Policy<'_>, options: &Options, work: &mut Budget, report: &mut Report) {
    lints::unbound_policy::check(policy, report);
    lints::ignored_denial::check(policy, report);
    lints::empty_binding::check(policy, report);
    lints::match_nothing::policy(policy, report);
    lints::unknown_resource::check(&policy.rules, &policy.origin, report);
    lints::excluded_resource::check(&policy.rules, &policy.origin, report);
    lints::cel_in_message::check(policy, report);
    lints::constant_condition::policy(policy, report);
    lints::null_object::check(policy, report);
    lints::atomic_field::check(policy, report);
    let parsed = Parsed::new(&policy.sites);
    let kinds = Kinds::new(&policy.rules);
    let observations = Observations::new(policy, &parsed, &kinds);
    lints::type_check::check(policy, &parsed, &kinds, &observations, report);
    lints::unguarded_field::check(policy, &parsed, &observations, report);
    lints::cost_limit::check(policy, options, work, report);
}
