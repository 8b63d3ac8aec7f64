//! The servers of a suite's tests: one of each release that is named, with the feature gates that were given.

use std::collections::HashSet;

use pratique::manifest::{Problem, Rule};
use pratique_manifest::{Location, MappingFields};
use pratique_schema::{FeatureGates, FeatureGatesError, Release};

use crate::suite::{Case, Suite};

/// What `--feature-gates` says, for servers of whichever releases tests name.
#[derive(Clone, Debug)]
pub struct SuiteGates {
    release: &'static Release,
    written: String,
}

/// A release of which a server gets requests of a suite.
pub(crate) struct UsedRelease<'s> {
    release: &'static Release,
    /// What names it; `None` for the release of all suites.
    named_by: Option<ReleaseName<'s>>,
}

/// What names a release.
enum ReleaseName<'s> {
    Suite,
    Case(&'s Case),
}

/// Why the policies of a suite are not loaded, by the servers that refuse them.
pub(crate) struct RefusedPolicies<'s> {
    /// How many servers there are.
    servers: usize,
    refused: Vec<(UsedRelease<'s>, Vec<Problem>)>,
}

impl SuiteGates {
    /// The gates in a text as `--feature-gates` has it, and the release for what names none.
    pub fn new(release: &'static Release, written: impl Into<String>) -> Self {
        SuiteGates {
            release,
            written: written.into(),
        }
    }

    /// The release for what names none.
    pub(crate) fn release(&self) -> &'static Release {
        self.release
    }

    /// The gates of a server of a release.
    fn of_release(&self, release: &'static Release) -> Result<FeatureGates, FeatureGatesError> {
        FeatureGates::parse(release, &self.written)
    }
}

impl Default for SuiteGates {
    fn default() -> Self {
        SuiteGates::new(FeatureGates::default().release(), "")
    }
}

impl Suite {
    /// The release of the server that gets the request of a case.
    pub fn release_of(&self, case: &Case) -> &'static Release {
        self.used_release(Some(case)).release
    }

    /// The releases of the servers that get requests of the suite, each once; that of the suite first if it is one of them, or if there
    /// are no tests.
    pub(crate) fn used_releases(&self) -> Vec<UsedRelease<'_>> {
        let of_suite = self.used_release(None);
        if self.cases.is_empty() {
            return vec![of_suite];
        }
        let mut seen = HashSet::new();
        let cases = self.cases.iter().map(|case| self.used_release(Some(case)));
        let mut releases: Vec<_> = cases.filter(|used| seen.insert(used.release.version())).collect();
        releases.sort_by_key(|used| used.release != of_suite.release);
        releases
    }

    fn used_release<'s>(&self, case: Option<&'s Case>) -> UsedRelease<'s> {
        let of_case = case.and_then(|case| Some((case.input.release?, ReleaseName::Case(case))));
        let named = of_case.or_else(|| Some((self.release?, ReleaseName::Suite)));
        match named.filter(|(release, _)| *release != self.gates.release) {
            Some((release, name)) => UsedRelease {
                release,
                named_by: Some(name),
            },
            None => UsedRelease {
                release: self.gates.release,
                named_by: None,
            },
        }
    }

    /// The gates of a server.
    ///
    /// # Errors
    /// The server does not start with them.
    pub(crate) fn gates_of(&self, used: &UsedRelease<'_>) -> Result<FeatureGates, Vec<Problem>> {
        self.gates.of_release(used.release).map_err(|error| {
            let message = format!("--feature-gates: {error}");
            vec![Problem::new(Rule::InvalidField, message).at(self.name_location(used))]
        })
    }

    /// Where a release is named.
    fn name_location(&self, used: &UsedRelease<'_>) -> Location {
        let fields = MappingFields {
            tree: self.source.tree(),
            id: self.source.root(),
        };
        match used.named_by {
            None => self.source.locate(&[]),
            Some(ReleaseName::Case(case)) => case.location.clone(),
            Some(ReleaseName::Suite) => {
                let node = fields.node("kubernetesVersion").unwrap_or(fields.id);
                self.source
                    .document()
                    .location(fields.tree.nearest_span(node, &[]))
            }
        }
    }
}

impl<'s> RefusedPolicies<'s> {
    pub(crate) fn new(servers: usize) -> Self {
        RefusedPolicies {
            servers,
            refused: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, used: UsedRelease<'s>, problems: Vec<Problem>) {
        self.refused.push((used, problems));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.refused.is_empty()
    }

    /// All problems, each once. One that not every server has, or that no server of the release of all suites has, says whose it is.
    pub(crate) fn into_problems(self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Vec::new();
        let mut told: Vec<&Problem> = Vec::new();
        for (used, of_server) in &self.refused {
            for problem in of_server {
                if told.contains(&problem) {
                    continue;
                }
                told.push(problem);
                let servers = self.refused.iter();
                let count = servers.filter(|(_, others)| others.contains(problem)).count();
                problems.push(if count == self.servers && used.named_by.is_none() {
                    problem.clone()
                } else {
                    used.named(problem)
                });
            }
        }
        problems
    }
}

impl UsedRelease<'_> {
    /// A problem with the release and what names it.
    fn named(&self, problem: &Problem) -> Problem {
        let release = self.release;
        let name = match self.named_by {
            None => format!("Kubernetes {release}: "),
            Some(ReleaseName::Suite) => format!("Kubernetes {release}, which the suite names: "),
            Some(ReleaseName::Case(case)) => {
                format!("Kubernetes {release}, which the test {:?} names: ", case.name)
            }
        };
        Problem {
            message: format!("{name}{}", problem.message),
            summary: problem.summary.as_ref().map(|summary| format!("{name}{summary}")),
            ..problem.clone()
        }
    }
}
