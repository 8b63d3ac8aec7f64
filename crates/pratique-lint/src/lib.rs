//! Warnings about manifests that load, but may not do what they are meant to.
//!
//! An API server takes a policy whose expressions fail on every request, without a binding, or that no request can
//! match. [`lint`] finds such problems in loaded manifests. Each warning belongs to a [lint](LintMeta), whose name
//! is stable, so that it can be disabled.
//!
//! ```
//! use pratique_manifest::{LoadOptions, Loader, ManifestFile, ManifestPlugin, UncheckedExpressions};
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
//! let options = LoadOptions::new(&UncheckedExpressions);
//! let set = Loader::for_plugin(ManifestPlugin::ValidatingAdmissionPolicy, &options).load_files(&[file]).unwrap();
//! let names: Vec<_> = pratique_lint::lint(&[&set]).iter().map(|warning| warning.lint.name).collect();
//! assert_eq!(names, ["unbound-policy", "null-object"]);
//! ```

mod analysis;
mod ca_bundle;
mod cost;
mod definition_rules;
mod definition_set;
mod expressions;
mod interruption;
mod lint;
mod lint_meta;
mod lints;
mod memory;
mod mutation_help;
mod nameless;
mod observations;
mod options;
mod pem;
mod report;
mod selectors;
mod subject;
mod trials;
mod typing;
mod undefined_resources;
mod warning;

use std::cell::Cell;

use pratique_manifest::{IgnoredPlugin, Location, ManifestSet, ObjectName, ObjectSource};
use pratique_sample::WorkBudget;

pub use pratique_sample::CustomKinds;

pub use cost::{ExpressionCost, estimate_cost, estimate_costs};
pub use definition_set::DefinitionSet;
pub use expressions::{TypedExpression, type_expressions};
pub use interruption::LintInterruption;
pub use lint_meta::LintMeta;
pub use lints::{find_lint, list_lints};
pub use memory::LintMemory;
pub use nameless::find_deleted_names;
pub use options::LintOptions;
pub use typing::CustomTypes;
pub use warning::{Warning, WarningExample};

use lint::{Lint as _, LintContext, LintSubject, PolicySubject};
use lints::LINTS;
use lints::optional_version::OptionalVersion;
use lints::replaced_object::ReplacedObject;
use report::LintReport;
use subject::{DefinitionView, ManifestView, WebhookView};

/// Lints manifests that a server loads together, one set for each plugin. The warnings are sorted by location. Lints
/// that depend on the time are skipped: see [`LintOptions::at`].
pub fn lint(sets: &[&ManifestSet]) -> Vec<Warning> {
    lint_with(sets, &LintOptions::default())
}

/// The budget for evaluating generated objects that demonstrate a warning: units of cost, and bytes.
const WORK: u64 = 64_000_000;

/// [`lint`] with options.
pub fn lint_with(sets: &[&ManifestSet], options: &LintOptions) -> Vec<Warning> {
    lint_manifests(sets, options, |_, lint| lint())
}

/// Lints policies with what stands beside them: objects of the API beside static manifests, and the definitions of custom resources,
/// whose objects the expressions of the policies may be about.
pub fn lint_policies<'o>(
    sets: &[&ManifestSet],
    mixed: impl IntoIterator<Item = (&'o ObjectName, &'o Location)>,
    definitions: &DefinitionSet,
    options: LintOptions,
) -> Vec<Warning> {
    let mut warnings = lint_mixed_origins(mixed);
    warnings.extend(lint_definitions(definitions, &options));
    let options = options.custom_kinds(definitions.custom_kinds());
    warnings.extend(lint_with(sets, &options));
    warnings
}

/// Lints manifests. `remember` gives the warnings in objects on which nothing else has an effect: those that the closure finds,
/// or that it found before.
fn lint_manifests(
    sets: &[&ManifestSet],
    options: &LintOptions,
    mut remember: impl FnMut(&[&ObjectSource], &dyn Fn() -> Vec<Warning>) -> Vec<Warning>,
) -> Vec<Warning> {
    let work = Cell::new(WorkBudget::new(WORK));
    let manifests = ManifestView::new(options.release(), sets);
    let mut report = LintReport::default();
    for policy in &manifests.policies {
        let warnings = remember(&policy.sources(), &|| {
            let subject = LintSubject::Policy(PolicySubject::new(policy, options));
            lint_subject(subject, options, &work)
        });
        report.extend(warnings.into_iter());
    }
    let configurations = manifests
        .webhooks
        .chunk_by(|a, b| a.origin.source.is_same(b.origin.source));
    for webhooks in configurations {
        let sources: Vec<&ObjectSource> = webhooks
            .first()
            .map(|webhook| webhook.origin.source)
            .into_iter()
            .collect();
        let warnings = remember(&sources, &|| {
            let lint_webhook = |webhook: &WebhookView<'_>| {
                let conditions = webhook.policy_view();
                let subject = LintSubject::Webhook(webhook, PolicySubject::new(&conditions, options));
                lint_subject(subject, options, &work)
            };
            webhooks.iter().flat_map(lint_webhook).collect()
        });
        report.extend(warnings.into_iter());
    }
    let all = LintSubject::Manifests {
        manifests: &manifests,
        sets,
    };
    report.extend(lint_cheap_subject(all, options).into_iter());
    report.finish()
}

/// Lints a subject for which no objects are searched.
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
    for lint in LINTS.iter().filter(|lint| options.is_enabled(lint.meta())) {
        // Nothing of a subject is reported whose lints were interrupted.
        if options.interruption.has_come() {
            break;
        }
        lint.run(&context, &mut report);
    }
    report.finish()
}

/// The warnings about what is evaluated, whoever evaluates it: objects that others replace, and those that only some servers have.
/// They take no time.
pub fn lint_loaded(sets: &[&ManifestSet]) -> Vec<Warning> {
    let options = LintOptions::default();
    let context = LintContext {
        subject: LintSubject::Manifests {
            manifests: &ManifestView::new(options.release(), &[]),
            sets,
        },
        options: &options,
        work: &Cell::new(WorkBudget::new(0)),
    };
    let mut report = LintReport::default();
    OptionalVersion.check(&context, &mut report);
    ReplacedObject.check(&context, &mut report);
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

/// Lints the rules of definitions of custom resources.
pub fn lint_definitions(definitions: &DefinitionSet, options: &LintOptions) -> Vec<Warning> {
    let mut report = LintReport::default();
    for (source, definition) in definitions.iter() {
        let subject = LintSubject::Definition(DefinitionView::new(source, definition));
        report.extend(lint_cheap_subject(subject, options).into_iter());
    }
    report.finish()
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
