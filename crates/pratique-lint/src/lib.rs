//! Warnings about manifests that load, but may not do what they are meant to.
//!
//! An API server takes a policy whose expressions fail on every request, without a binding, or that no request can
//! match. [`lint`] finds such problems in loaded manifests. Each warning belongs to a [lint](LintMeta), whose name
//! is stable, so that it can be disabled.
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
mod ca_bundle;
mod cost;
mod expressions;
mod lint;
mod lint_meta;
mod lints;
mod memory;
mod observations;
mod options;
mod pem;
mod report;
mod selectors;
mod subject;
mod typing;
mod warning;

use std::cell::Cell;

use pratique_manifest::{IgnoredPlugin, Location, ManifestSet, ObjectName};
use pratique_sample::WorkBudget;

pub use cost::{ExpressionCost, estimate_cost, estimate_costs};
pub use expressions::{TypedExpression, type_expressions};
pub use lint_meta::LintMeta;
pub use lints::{find_lint, list_lints};
pub use memory::LintMemory;
pub use options::LintOptions;
pub use pratique_sample::CostExample;
pub use typing::CustomTypes;
pub use warning::Warning;

use lint::{LintContext, LintSubject, PolicySubject};
use lints::LINTS;
use report::LintReport;
use subject::{ManifestView, PolicyView};

/// Lints manifests that a server loads together, one set for each plugin. The warnings are sorted by location. Lints
/// that depend on the time are skipped: see [`LintOptions::at`].
pub fn lint(sets: &[&ManifestSet]) -> Vec<Warning> {
    lint_with(sets, &LintOptions::default())
}

/// The budget for evaluating generated objects that demonstrate a warning: units of cost, and bytes.
const WORK: u64 = 64_000_000;

/// [`lint`] with options.
pub fn lint_with(sets: &[&ManifestSet], options: &LintOptions) -> Vec<Warning> {
    let work = Cell::new(WorkBudget::new(WORK));
    lint_manifests(sets, options, |policy| lint_policy(policy, options, &work))
}

/// Lints manifests; `lint_policy` gives the warnings of a policy with its bindings.
fn lint_manifests(
    sets: &[&ManifestSet],
    options: &LintOptions,
    mut lint_policy: impl FnMut(&PolicyView<'_>) -> Vec<Warning>,
) -> Vec<Warning> {
    let manifests = ManifestView::new(sets);
    let mut report = LintReport::default();
    for policy in &manifests.policies {
        report.extend(lint_policy(policy).into_iter());
    }
    let mut lint_other = |subject| report.extend(lint_cheap_subject(subject, options).into_iter());
    for webhook in &manifests.webhooks {
        lint_other(LintSubject::Webhook(webhook));
    }
    lint_other(LintSubject::Manifests {
        manifests: &manifests,
        sets,
    });
    report.finish()
}

/// The warnings of a policy with its bindings, which depend on nothing else.
fn lint_policy(policy: &PolicyView<'_>, options: &LintOptions, work: &Cell<WorkBudget>) -> Vec<Warning> {
    lint_subject(LintSubject::Policy(PolicySubject::new(policy)), options, work)
}

/// Lints a subject for which no objects are generated.
fn lint_cheap_subject(subject: LintSubject<'_>, options: &LintOptions) -> Vec<Warning> {
    lint_subject(subject, options, &Cell::new(WorkBudget::new(0)))
}

fn lint_subject(subject: LintSubject<'_>, options: &LintOptions, work: &Cell<WorkBudget>) -> Vec<Warning> {
    let context = LintContext {
        subject,
        options,
        work,
    };
    let mut report = LintReport::default();
    for lint in LINTS {
        lint.run(&context, &mut report);
    }
    report.finish()
}

/// Lints an AdmissionConfiguration: entries that the server ignores, and text after its document.
pub fn lint_configuration(ignored: &[IgnoredPlugin], rest: Option<&Location>) -> Vec<Warning> {
    let entries = ignored.iter().map(LintSubject::IgnoredPlugin);
    let subjects = entries.chain(rest.map(LintSubject::ConfigurationRest));
    let options = LintOptions::default();
    subjects
        .flat_map(|subject| lint_cheap_subject(subject, &options))
        .collect()
}

/// Lints objects of the API that are beside static manifests.
pub fn lint_mixed_origins<'o>(
    objects: impl IntoIterator<Item = (&'o ObjectName, &'o Location)>,
) -> Vec<Warning> {
    let subjects = objects
        .into_iter()
        .map(|(name, location)| LintSubject::MixedObject(name, location));
    let options = LintOptions::default();
    subjects
        .flat_map(|subject| lint_cheap_subject(subject, &options))
        .collect()
}
