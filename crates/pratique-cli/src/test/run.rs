//! Runs suites, and keeps of their results what reports need.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pratique_json::Value;
use pratique_manifest::{ManifestFile, Problem};
use pratique_policy::PolicyTrace;
use pratique_review::PolicyWithoutBinding;
use pratique_schema::{FeatureGates, Release};
use pratique_suite::{
    Case, CaseResult, Coverage, CoverageReport, NotEvaluated, Policies, Roots, Suite, SuiteGates,
};

use super::cluster::SuiteCluster;
use super::find::{self, SuiteFile};
use super::lints::SuiteLints;
use super::{human, update};
use crate::arguments::{TestArguments, TestFormat, report_release, report_server};
use crate::check::levels::WarningLevels;
use crate::evaluation::unbound::EvaluationScope;
use crate::exit::{CliError, ExitStatus};
use crate::explanation;
use crate::input::{FileSelection, PassedOver, format_paths};
use crate::output::counted_nouns::counted;
use crate::output::notice::InputNotice;
use crate::output::text::PrintableText;
use crate::output::{self, problems};
use crate::policies::{has_static, tell_unread_manifests};
use crate::review::steps;
use crate::style::StreamStyle;
use crate::test::test_error::TestError;

/// The results of all suites.
pub(super) struct TestRun {
    pub(super) suites: Vec<SuiteRun>,
    pub(super) coverage: Option<CoverageReport>,
    pub(super) threshold: Option<f64>,
    /// Warnings about the policies.
    pub(super) lints: SuiteLints,
    pub(super) lints_pass: bool,
    /// The files on which the results depend.
    pub(super) files: Vec<PathBuf>,
    /// Files that were passed over.
    pub(super) passed_over: PassedOver,
    /// What is told of the servers: their versions, their releases, and policies that they do not evaluate.
    pub(super) notices: Vec<InputNotice>,
    /// The servers of which that was told.
    servers: Vec<FeatureGates>,
    /// Whether a server evaluates none of the policies of a suite.
    evaluates_nothing: bool,
}

/// The results of a suite, or the problems of a file.
pub(super) struct SuiteRun {
    pub(super) name: String,
    pub(super) file: String,
    /// Problems because of which no test ran.
    pub(super) problems: Vec<Problem>,
    /// The policies that are not evaluated.
    pub(super) unbound: Vec<PolicyWithoutBinding>,
    /// Tests of another program that are not evaluated.
    pub(super) not_evaluated: Vec<NotEvaluated>,
    pub(super) cases: Vec<CaseRun>,
}

/// The result of a case, reduced to what reports need.
pub(super) struct CaseRun {
    /// The case without its objects.
    pub(super) case: Case,
    /// The release of the server.
    pub(super) release: &'static Release,
    pub(super) tested: CaseResult,
    /// The warnings of a server that decodes its objects.
    pub(super) warnings: Vec<String>,
    /// The formatted explanation of an unexpected result.
    pub(super) explained: PrintableText,
    /// The part of it that reports for servers have.
    pub(super) excerpt: PrintableText,
    pub(super) duration: Duration,
}

impl CaseRun {
    fn new(
        case: &Case,
        release: &'static Release,
        (tested, duration): (CaseResult, Duration),
        arguments: &TestArguments,
    ) -> Self {
        let mut run = CaseRun {
            case: case.outline(),
            release,
            tested,
            warnings: Vec::new(),
            explained: PrintableText::new(),
            excerpt: PrintableText::new(),
            duration,
        };
        let style = if arguments.outputs.is_written(TestFormat::Human) {
            StreamStyle::default()
        } else {
            StreamStyle::of_stdout()
        };
        if let (Ok(actual), false) = (&mut run.tested.actual, run.tested.differences.is_empty()) {
            // Shown of failures only.
            run.explained = steps::human(&actual.steps, steps::StepSelection::Acting, style);
            run.excerpt = steps::human(
                &actual.steps,
                steps::StepSelection::Acting,
                StreamStyle::default(),
            );
        }
        // Updates compare once more.
        if let (false, Ok(actual)) = (arguments.update, &mut run.tested.actual) {
            actual.steps = Vec::new();
        }
        let outputs = &arguments.outputs;
        if let Some(explanation) = &run.tested.explanation {
            if outputs.has(TestFormat::Junit) {
                run.excerpt = explanation::excerpt(explanation, StreamStyle::default());
            }
            if outputs.has(TestFormat::Human) {
                let more = human::explained(&run, explanation, style);
                run.explained.push(&more);
            }
        }
        if outputs.has(TestFormat::Json) {
            return run;
        }
        run.tested.explanation = None;
        if let (false, Ok(actual)) = (arguments.update, &mut run.tested.actual) {
            actual.object = Value::Null;
        }
        run
    }
}

/// Runs all suites.
pub(super) fn once(arguments: &TestArguments) -> Result<TestRun, CliError> {
    let mut coverage = Coverage::new();
    let mut cluster = SuiteCluster::open(arguments)?;
    let server = cluster.as_ref().and_then(SuiteCluster::server_version);
    let (release, notice) = arguments.gates.release_of_server(server);
    let gates = SuiteGates::new(release, arguments.gates.written());
    let notice = report_server(notice, arguments.outputs.is_printed(TestFormat::Human));
    let levels = WarningLevels::new(&arguments.warnings);
    let mut run = TestRun {
        suites: Vec::new(),
        coverage: None,
        threshold: arguments.coverage_threshold,
        lints: SuiteLints::new(&levels),
        lints_pass: true,
        files: Vec::new(),
        passed_over: PassedOver::default(),
        notices: notice.into_iter().collect(),
        servers: Vec::new(),
        evaluates_nothing: false,
    };
    let selection = FileSelection::new(&arguments.excluded.exclude)?;
    let of_suites = selection.clone();
    let roots = roots(arguments)?.excluding(move |directory, file| of_suites.leaves_out(directory, file));
    let suites = find::suites(&arguments.paths, &roots, &selection);
    if suites.is_err() {
        output::eprint(&selection.passed_over().to_text(arguments.verbose));
    }
    for SuiteFile { path, file, suites } in suites? {
        run.files.push(path.clone());
        match suites {
            Ok(mut suites) => {
                let all = suites.iter_mut();
                all.for_each(|suite| suite.gates.clone_from(&gates));
                run.file(
                    (&path, &file),
                    suites,
                    arguments,
                    (&mut coverage, cluster.as_mut()),
                )?;
            }
            Err(problems) => run.suites.push(SuiteRun {
                name: file.path.clone(),
                file: file.path,
                problems: problems.into(),
                unbound: Vec::new(),
                not_evaluated: Vec::new(),
                cases: Vec::new(),
            }),
        }
    }
    let idle = run
        .suites
        .iter()
        .all(|suite| suite.cases.is_empty() && suite.problems.is_empty() && suite.not_evaluated.is_empty());
    if idle {
        return Err(match arguments.filter.clone() {
            Some(filter) => CliError::Test(TestError::NoTest { filter }),
            None => CliError::Test(TestError::NothingToTest {
                paths: format_paths(&arguments.paths).join(", "),
            }),
        });
    }
    run.passed_over = selection.passed_over();
    let requested = arguments.coverage || arguments.coverage_threshold.is_some();
    run.coverage = requested.then(|| coverage.report());
    run.lints_pass = run.lints.pass(&levels);
    Ok(run)
}

/// The directories below which all suites can name files.
pub(super) fn roots(arguments: &TestArguments) -> Result<Roots, CliError> {
    let mut directories = arguments.allow_path.iter();
    let missing = directories.find_map(|path| Some((path, path.canonicalize().err()?)));
    if let Some((path, error)) = missing {
        return Err(CliError::unread(path, error));
    }
    Roots::new(arguments.allow_path.clone()).map_err(|error| CliError::unread("--allow-path", error))
}

impl TestRun {
    /// Runs the suites of a file.
    fn file(
        &mut self,
        (path, file): (&Path, &ManifestFile),
        mut suites: Vec<Suite>,
        arguments: &TestArguments,
        (coverage, mut cluster): (&mut Coverage, Option<&mut SuiteCluster>),
    ) -> Result<(), CliError> {
        let mut runs = Vec::with_capacity(suites.len());
        for suite in &mut suites {
            suite.bind |= arguments.bind;
            if let Some(cluster) = &mut cluster {
                cluster.add_policies(suite)?;
            }
            let run = self.suite(suite, arguments, (coverage, cluster.as_deref_mut()));
            runs.push(run);
        }
        if arguments.update {
            update::update(path, file, &suites, &mut runs, &roots(arguments)?)?;
        }
        self.suites.extend(runs);
        Ok(())
    }

    fn suite(
        &mut self,
        suite: &Suite,
        arguments: &TestArguments,
        (coverage, cluster): (&mut Coverage, Option<&mut SuiteCluster>),
    ) -> SuiteRun {
        let mut run = SuiteRun {
            name: suite.name.clone(),
            file: suite.file.clone(),
            problems: Vec::new(),
            unbound: Vec::new(),
            not_evaluated: suite.not_evaluated.clone(),
            cases: Vec::new(),
        };
        if suite.cases.is_empty() && !suite.not_evaluated.is_empty() {
            return run;
        }
        self.files.extend(suite.files().map(PathBuf::from));
        if cluster.is_none() {
            run.problems.extend(suite.evaluates_nothing());
        }
        if !run.problems.is_empty() {
            return run;
        }
        let mut policies = match suite.policies() {
            Ok(policies) => policies,
            Err(problems) => {
                run.problems = problems.into();
                return run;
            }
        };
        self.files.extend(policies.files.iter().cloned());
        self.tell_servers(&policies, arguments);
        if let Some(cluster) = cluster.filter(|_| !suite.is_foreign()) {
            cluster.provide(&mut policies);
        }
        run.unbound.clone_from(&policies.unbound);
        // What is made of a template has no place at which a warning could be mended.
        if !suite.makes_policies() {
            self.lints
                .add(&policies, &WarningLevels::new(&arguments.warnings));
        }
        let requested = arguments.coverage || arguments.coverage_threshold.is_some();
        let recorder = requested.then(|| coverage.recorder(&policies));
        let trace = recorder
            .as_ref()
            .map(|recorder| recorder as &(dyn PolicyTrace + Sync));
        let mut runner = suite.runner(&policies);
        for case in &suite.cases {
            if !wanted(suite, case, arguments) {
                runner.skip(case);
                continue;
            }
            let warnings = suite.decode_warnings(case, &policies);
            for message in &warnings {
                let place = problems::place(&case.location);
                let message = format!("{}: {message}", case.name);
                output::eprint(&output::warning_at(&place, &message));
            }
            let start = Instant::now();
            let tested = runner.test(case, trace);
            let duration = start.elapsed();
            run.cases.push(CaseRun {
                warnings,
                ..CaseRun::new(case, suite.release_of(case), (tested, duration), arguments)
            });
        }
        run
    }

    /// Tells of the servers that load policies what was not told yet: what is said of their releases, and which policies they do not
    /// evaluate.
    fn tell_servers(&mut self, policies: &Policies, arguments: &TestArguments) {
        let is_listed = arguments.outputs.is_printed(TestFormat::Human);
        for gates in policies.servers() {
            if !self.servers.contains(&gates) {
                self.servers.push(gates);
                self.notices.extend(report_release(gates, is_listed));
            }
            if has_static(&policies.sets) {
                tell_unread_manifests(gates);
            }
            let scope = EvaluationScope::new(&policies.sets, gates, true);
            let switched_off = scope.switched_off();
            self.evaluates_nothing |= switched_off.count() > 0 && !scope.can_deny();
            for notice in switched_off.notices() {
                if self.notices.contains(&notice) {
                    continue;
                }
                notice.tell_beside(is_listed);
                self.notices.push(notice);
            }
        }
    }

    pub(super) fn exit_status(&self) -> ExitStatus {
        let failed = |run: &SuiteRun| !run.problems.is_empty() || run.failed() > 0;
        match !self.suites.iter().any(failed) && self.covers_enough() && self.lints_pass {
            // Nothing failed, but what was not evaluated may.
            true if self.not_evaluated() > 0 || self.evaluates_nothing => ExitStatus::Undecided,
            passes => ExitStatus::from_holds(passes),
        }
    }

    /// The number of tests of other programs that are not evaluated, without those that their authors skip.
    pub(super) fn not_evaluated(&self) -> usize {
        self.left_out().filter(|test| !test.skipped).count()
    }

    /// The number of tests that their authors skip.
    pub(super) fn skipped(&self) -> usize {
        self.left_out().filter(|test| test.skipped).count()
    }

    fn left_out(&self) -> impl Iterator<Item = &NotEvaluated> {
        self.suites.iter().flat_map(|suite| &suite.not_evaluated)
    }

    /// How many tests are not evaluated, and how many are skipped, as the end of a line.
    pub(super) fn counted_rest(&self) -> String {
        let rest = [
            (self.not_evaluated(), "not evaluated"),
            (self.skipped(), "skipped"),
        ];
        let rest = rest.into_iter().filter(|(count, _)| *count > 0);
        rest.map(|(count, what)| format!(", {} {what}", counted(count, "test", "tests")))
            .collect()
    }

    /// The releases of the servers that decided, as the end of a line.
    pub(super) fn told_releases(&self) -> String {
        match release_names(self.suites.iter().flat_map(|suite| &suite.cases)).as_str() {
            "" => String::new(),
            releases => format!("; Kubernetes {releases}"),
        }
    }

    /// The number of tests that passed, and that failed.
    pub(super) fn counts(&self) -> (usize, usize) {
        let failed: usize = self.suites.iter().map(SuiteRun::failed).sum();
        let all: usize = self.suites.iter().map(|run| run.cases.len()).sum();
        (all - failed, failed)
    }

    /// The policies that are not evaluated, each once.
    pub(super) fn unbound(&self) -> Vec<&PolicyWithoutBinding> {
        let mut seen = HashSet::new();
        let all = self.suites.iter().flat_map(|suite| &suite.unbound);
        let place =
            |policy: &PolicyWithoutBinding| (policy.location.file.clone(), policy.location.start.offset);
        all.filter(|policy| seen.insert((policy.kind(), place(policy), &policy.name)))
            .collect()
    }

    pub(super) fn covers_enough(&self) -> bool {
        match (&self.coverage, self.threshold) {
            // Without points there is no coverage.
            (Some(coverage), Some(threshold)) => {
                coverage.percent().is_some_and(|percent| percent >= threshold)
            }
            _ => true,
        }
    }
}

impl SuiteRun {
    /// The releases of the servers that decided, in order.
    pub(super) fn releases(&self) -> String {
        release_names(self.cases.iter())
    }

    /// Whether its author skips all tests of it.
    pub(super) fn is_skipped(&self) -> bool {
        let mut rest = self.not_evaluated.iter();
        self.cases.is_empty() && !self.not_evaluated.is_empty() && rest.all(|test| test.skipped)
    }

    pub(super) fn failed(&self) -> usize {
        self.cases.iter().filter(|run| !run.tested.passed()).count()
    }
}

/// The releases of the servers that decided about some cases, in order.
fn release_names<'r>(cases: impl Iterator<Item = &'r CaseRun>) -> String {
    let releases: BTreeSet<String> = cases.map(|run| run.release.to_string()).collect();
    releases.into_iter().collect::<Vec<_>>().join(", ")
}

/// Whether a case matches the filter.
fn wanted(suite: &Suite, case: &Case, arguments: &TestArguments) -> bool {
    let Some(filter) = &arguments.filter else {
        return true;
    };
    let name = format!("{} / {}", suite.name, case.name);
    name.to_lowercase().contains(&filter.to_lowercase())
}
