//! `pratique check`: checks that an API server would load manifests, and lints them.

mod connect;
mod empty;
mod hashes;
mod human;
mod json;
pub(crate) mod levels;
mod plugin;
mod report;
mod stdin;
mod subject;

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use pratique::expressions::{Cache, Expressions};
use pratique_lint::{ExpressionCost, Warning};
use pratique_manifest::{LoadErrors, ManifestFile, ManifestSet, path_text};

use crate::arguments::{CheckArguments, CheckFormat};
use crate::exit::{CliError, ExitStatus};
use crate::input;
use crate::memory;
use crate::output::finding::Finding;
use crate::output::{self, problems, sarif};
use connect::Connection;
use levels::{Level, Levels};
pub(crate) use plugin::plugin_of;
use subject::{Loaded, LoadedPlugins, Subject};

/// The result for one path.
struct Checked {
    path: String,
    /// The text of an input that cannot be read again.
    text: Option<ManifestFile>,
    loaded: Result<Vec<Loaded>, Refusal>,
    warnings: Vec<Warning>,
    /// The cost of each expression, if requested.
    costs: Vec<ExpressionCost>,
    /// The webhooks that were probed.
    connections: Vec<Connection>,
}

/// Why a server would not start, and its exit code.
pub(crate) struct Refusal {
    pub(crate) errors: LoadErrors,
    pub(crate) exit_code: u8,
}

/// Checks every path; succeeds if all of them load without a denied warning.
pub(crate) fn run(arguments: &CheckArguments) -> Result<ExitStatus, CliError> {
    let levels = Levels::new(&arguments.warnings);
    let expressions = Expressions::new(Arc::new(Cache::new())).with_max_load_bytes(memory::load());
    let mut checked = Vec::new();
    for path in &arguments.paths {
        let subject = Subject::of(path, arguments.plugin)?;
        if let Subject::Stdin(stdin) = &subject {
            stdin.report();
        }
        let root = arguments.root.as_deref().unwrap_or_default();
        let loaded = subject.load(&expressions, arguments.feature_gates, root);
        let mut found = Checked::new(path, loaded, &levels, arguments);
        if let (true, Ok(plugins)) = (arguments.connect, &found.loaded) {
            found.connections = connect::connect(plugins)?;
        }
        found.text = subject.text().filter(|_| path == Path::new(input::STDIN));
        checked.push(found);
    }
    if arguments.hash_only {
        return hashes::print(&checked, arguments.output);
    }
    let passes = checked.iter().all(|checked| checked.passes(&levels));
    if !matches!(arguments.output, CheckFormat::Human | CheckFormat::Json) {
        connect::report_failures(checked.iter().flat_map(|checked| &checked.connections));
    }
    match arguments.output {
        CheckFormat::Human => output::print(&human::text(&checked, &levels))?,
        CheckFormat::Json => output::print_json(&json::Report::new(&checked, &levels))?,
        CheckFormat::Sarif => {
            let findings: Vec<_> = checked
                .iter()
                .flat_map(|checked| checked.findings(&levels))
                .collect();
            output::print_json(&sarif::Log::new(&findings, passes))?;
        }
        CheckFormat::Junit => output::print_xml(&report::junit(&checked, &levels))?,
        CheckFormat::Github => output::print_github(&report::github(&checked, &levels))?,
    }
    Ok(ExitStatus::of(passes))
}

impl Checked {
    fn new(
        path: &Path,
        loaded: Result<LoadedPlugins, Refusal>,
        levels: &Levels<'_>,
        arguments: &CheckArguments,
    ) -> Self {
        let mut warnings = Vec::new();
        let mut costs = Vec::new();
        if let (Ok(all), false) = (&loaded, arguments.hash_only) {
            let sets: Vec<&ManifestSet> = all.plugins.iter().map(|plugin| &plugin.manifests).collect();
            warnings = pratique_lint::ignored(&all.ignored);
            warnings.extend(all.unread.as_ref().map(pratique_lint::unread));
            let options = levels.options(SystemTime::now());
            let options = options.feature_gates(arguments.feature_gates);
            warnings.extend(pratique_lint::lint_with(&sets, &options));
            if arguments.explain_cost {
                costs = pratique_lint::costs(&sets);
            }
        }
        Checked {
            path: match path == Path::new(input::STDIN) {
                true => stdin::DISPLAY_NAME.to_owned(),
                false => path_text(path),
            },
            text: None,
            warnings: levels.wanted(warnings),
            costs,
            connections: Vec::new(),
            loaded: loaded.map(|all| all.plugins),
        }
    }

    fn passes(&self, levels: &Levels<'_>) -> bool {
        self.loaded.is_ok()
            && self.connections.iter().all(Connection::is_ok)
            && self
                .warnings
                .iter()
                .all(|warning| levels.of(warning.lint) != Level::Deny)
    }

    /// All errors and warnings.
    fn findings(&self, levels: &Levels<'_>) -> Vec<Finding<'_>> {
        let errors = self.loaded.as_ref().err().map(|refusal| &refusal.errors);
        let errors = errors.map(problems::findings).unwrap_or_default();
        let warnings = self.warnings.iter().map(|warning| {
            let severity = levels.severity(warning);
            Finding::of_warning(warning, severity)
        });
        errors.into_iter().chain(warnings).collect()
    }
}
