//! The result of checking one path.

use std::path::PathBuf;
use std::time::SystemTime;

use pratique_lint::{DefinitionSet, ExpressionCost, Warning};
use pratique_manifest::{ManifestFile, ManifestSet, StartedPlugin};
use pratique_review::SourceFile;
use pratique_schema::FeatureGates;

use super::connect::ProbedWebhook;
use super::levels::{WarningLevel, WarningLevels};
use super::loaded_plugin::{LoadedPlugin, LoadedPlugins, StartRefusal};
use crate::arguments::CheckArguments;
use crate::input;
use crate::output::finding::OutputFinding;
use crate::output::problems;
use crate::unbound::group_warnings;

/// The result for one path.
pub(super) struct CheckedPath {
    /// The paths that were checked together.
    pub(super) paths: Vec<String>,
    /// The same as one text.
    pub(super) path: String,
    /// Files among them that are no objects of the API.
    pub(super) sources: Vec<SourceFile>,
    /// The texts of inputs that cannot be read again.
    pub(super) texts: Vec<ManifestFile>,
    pub(super) loaded: Result<Vec<LoadedPlugin>, StartRefusal>,
    /// Plugins that are not for policies or webhooks whose configuration was read.
    pub(super) started: Vec<StartedPlugin>,
    pub(super) warnings: Vec<Warning>,
    /// The cost of each expression, if requested.
    pub(super) costs: Vec<ExpressionCost>,
    /// The webhooks that were probed.
    pub(super) connections: Vec<ProbedWebhook>,
}

impl CheckedPath {
    pub(super) fn new(
        paths: &[PathBuf],
        loaded: Result<LoadedPlugins, StartRefusal>,
        levels: &WarningLevels<'_>,
        (arguments, gates): (&CheckArguments, FeatureGates),
    ) -> Self {
        let mut warnings = Vec::new();
        let mut costs = Vec::new();
        let started = loaded.as_ref().map(|all| all.started.clone()).unwrap_or_default();
        if let (Ok(all), false) = (&loaded, arguments.hash_only) {
            let sets: Vec<&ManifestSet> = all.plugins.iter().map(|plugin| &plugin.manifests).collect();
            warnings = pratique_lint::lint_configuration(&all.ignored, all.unread.as_ref());
            let mixed = all.mixed.iter().map(|(name, location)| (name, location));
            let options = levels.options(SystemTime::now());
            let options = options.feature_gates(gates);
            let definitions = DefinitionSet::new(gates.release(), all.definitions.clone());
            warnings.extend(pratique_lint::lint_policies(&sets, mixed, &definitions, options));
            if arguments.explain_cost {
                costs = pratique_lint::estimate_costs(gates.release(), &sets);
            }
        }
        let paths = input::format_paths(paths);
        CheckedPath {
            path: paths.join(", "),
            paths,
            sources: Vec::new(),
            texts: Vec::new(),
            started,
            warnings: group_warnings(levels.without_allowed(warnings)),
            costs,
            connections: Vec::new(),
            loaded: loaded.map(|all| all.plugins),
        }
    }

    pub(super) fn passes(&self, levels: &WarningLevels<'_>) -> bool {
        self.loaded.is_ok()
            && self.connections.iter().all(ProbedWebhook::is_ok)
            && self
                .warnings
                .iter()
                .all(|warning| levels.find_level(warning.lint) != WarningLevel::Deny)
    }

    /// All errors and warnings, with the webhooks that do not respond.
    pub(super) fn findings_with_webhooks(&self, levels: &WarningLevels<'_>) -> Vec<OutputFinding<'_>> {
        let mut findings = self.findings(levels);
        findings.extend(self.connections.iter().filter_map(ProbedWebhook::finding));
        findings
    }

    /// All errors and warnings.
    pub(super) fn findings(&self, levels: &WarningLevels<'_>) -> Vec<OutputFinding<'_>> {
        let refusal = self.loaded.as_ref().err();
        let errors = refusal.map(|refusal| problems::findings(&refusal.errors, refusal.stops_server));
        let errors = errors.unwrap_or_default();
        let warnings = self.warnings.iter().map(|warning| {
            let severity = levels.severity(warning);
            OutputFinding::of_warning(warning, severity)
        });
        let findings = errors.into_iter().chain(warnings);
        findings.map(|finding| finding.about(&self.path)).collect()
    }
}
