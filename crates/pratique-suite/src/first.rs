//! A first suite for policies: an object that each of them lets pass and one that it does not, found by trying.

mod param;

use std::fmt::Write as _;
use std::path::Path;

use pratique_json::Value;
use pratique_manifest::{ManifestFile, ManifestSet, ProblemList};
use pratique_sample::{ObjectSpec, Policy, generate};
use pratique_types::Operation;

use crate::actual::ActualResult;
use crate::decision::from_name;
use crate::load::Policies;
use crate::policy_outcome::PolicyOutcome;
use crate::reader::SuiteReader;
use crate::roots::Roots;
use crate::schema::KIND;
use crate::servers::SuiteGates;
use crate::suite::{Case, CaseNodes, ClusterState, ExpectedResult, Suite, TestInput};
use pratique_review::Decision;
use pratique_state::API_VERSION;
use pratique_state::yaml;

/// How many objects are tried for each density.
const SEEDS: u64 = 24;

/// The percentages of the fields that expressions read, of which objects have values.
const DENSITIES: [u8; 4] = [100, 0, 50, 75];

/// A first suite, and how much is left to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstSuite {
    /// The text of its file.
    pub text: String,
    /// How many objects were found.
    pub found: usize,
    /// How many objects were not found: what is missing is said in comments.
    pub missing: usize,
}

/// An object that does what is wanted of it.
struct FirstSample {
    object: Value<'static>,
    /// The params, with the definition of their kind.
    params: Vec<Value<'static>>,
    actual: ActualResult,
    outcome: PolicyOutcome,
}

/// Makes a first suite for the policies of a directory, to be written to `path`, a file in it.
///
/// # Errors
/// What is wrong with the policies.
pub fn first_suite(path: &Path, roots: &Roots, gates: &SuiteGates) -> Result<FirstSuite, ProblemList> {
    let head = format!("apiVersion: {API_VERSION}\nkind: {KIND}\npolicies: [.]\nbind: true\ntests: []\n");
    let file = ManifestFile {
        path: pratique_manifest::path_text(path),
        content: head.into_bytes(),
    };
    let suites = SuiteReader::default().read(path, &file, roots)?;
    let Some(mut suite) = suites.into_iter().next() else {
        return Ok(FirstSuite {
            text: String::new(),
            found: 0,
            missing: 0,
        });
    };
    suite.gates.clone_from(gates);
    suite.bind = false;
    let is_unbound = !suite.policies()?.unbound.is_empty();
    suite.bind = true;
    let policies = suite.policies()?;
    let mut first = FirstSuite {
        text: format!(
            "# A first suite: each test says what came of it when this was written. Is that what is meant?\n\
             apiVersion: {API_VERSION}\nkind: {KIND}\n{}policies:\n- .\n{}tests:\n",
            if gates.release() == SuiteGates::default().release() {
                String::new()
            } else {
                format!("kubernetesVersion: '{}'\n", gates.release())
            },
            if is_unbound {
                "# Some policies have no binding: this evaluates them as if they had.\nbind: true\n"
            } else {
                ""
            }
        ),
        found: 0,
        missing: 0,
    };
    for (_, set) in &policies.sets {
        for (name, policy) in list_policies(set) {
            let samples = samples(&suite, (&policies, set), name, policy);
            first.add(&samples, name, policy);
        }
    }
    if first.found == 0 {
        // A list without items has to be written as one.
        first.text = first.text.replacen("\ntests:\n", "\ntests: []\n", 1);
    }
    Ok(first)
}

/// The policies of a set, with their names.
fn list_policies(set: &ManifestSet) -> Vec<(&str, Policy<'_>)> {
    let mutating = set.mutating_policies.iter().filter_map(|loaded| {
        let name = loaded.object.metadata.name.as_deref()?;
        Some((name, Policy::Mutating(&loaded.object)))
    });
    let validating = set.validating_policies.iter().filter_map(|loaded| {
        let name = loaded.object.metadata.name.as_deref()?;
        Some((name, Policy::Validating(&loaded.object)))
    });
    mutating.chain(validating).collect()
}

impl FirstSuite {
    /// Adds the tests of a policy.
    fn add(&mut self, samples: &[FirstSample], name: &str, policy: Policy<'_>) {
        let (passing, failing) = match policy {
            Policy::Mutating(_) => ("an object that it changes", "an object that it leaves as it is"),
            Policy::Validating(_) => ("an object that it lets pass", "an object that it does not"),
        };
        let (passes, fails): (&[PolicyOutcome], &[PolicyOutcome]) = match policy {
            Policy::Mutating(_) => (
                &[PolicyOutcome::Mutated],
                &[PolicyOutcome::Allowed, PolicyOutcome::Skipped],
            ),
            Policy::Validating(_) => (
                &[PolicyOutcome::Allowed],
                &[
                    PolicyOutcome::Denied,
                    PolicyOutcome::Warned,
                    PolicyOutcome::Audited,
                ],
            ),
        };
        for (description, wanted) in [(passing, passes), (failing, fails)] {
            let fits = samples.iter().filter(|sample| wanted.contains(&sample.outcome));
            // Nothing else should decide, and what is short is read.
            let best = fits.min_by_key(|sample| {
                let decided_alone = match sample.outcome {
                    PolicyOutcome::Denied => sample.actual.policy.as_deref() == Some(name),
                    _ => sample.actual.decision == Decision::Allowed,
                };
                (!decided_alone, sample.object.to_string().len())
            });
            match best {
                Some(sample) => self.write(name, description, sample),
                None => {
                    self.missing += 1;
                    let _ = writeln!(
                        self.text,
                        "# No object was found for {}: {description}: write one here.",
                        yaml::format_string(name)
                    );
                }
            }
        }
    }

    fn write(&mut self, name: &str, description: &str, sample: &FirstSample) {
        self.found += 1;
        let name = yaml::format_string(name);
        let test = yaml::format_string(&format!("{name}: {description}"));
        let decision = sample.actual.decision.as_str();
        let outcome = sample.outcome.name();
        let object = yaml::block(&sample.object, 4);
        let params = if sample.params.is_empty() {
            String::new()
        } else {
            let params = yaml::block(&Value::Array(sample.params.clone()), 4);
            format!("  cluster:\n    objects:\n{}\n", params.trim_end())
        };
        let _ = writeln!(
            self.text,
            "- name: {test}\n  object:\n{}\n{params}  expect:\n    verdict: {decision}\n    policies: {{{name}: {outcome}}}",
            object.trim_end()
        );
    }
}

/// Objects of a resource that the policy matches, and what becomes of them.
fn samples(
    suite: &Suite,
    (policies, set): (&Policies, &ManifestSet),
    name: &str,
    policy: Policy<'_>,
) -> Vec<FirstSample> {
    let release = policies.gates().release();
    let reads = policy.reads();
    let is_created = |operations: &Vec<Operation>| operations.contains(&Operation::Create);
    let served = policy.served(release).into_iter();
    let mut served =
        served.filter(|(served, operations)| served.subresource.is_empty() && is_created(operations));
    let Some((served, _)) = served.next() else {
        return Vec::new();
    };
    let mut samples = Vec::new();
    for density in DENSITIES {
        let spec = ObjectSpec {
            release,
            served,
            operation: Operation::Create,
            reads: &reads.object,
            density,
        };
        for seed in 0..SEEDS {
            let object = generate(&spec, seed);
            let params = param::params(release, set, name, policy, seed);
            samples.extend(object.and_then(|object| sample(suite, policies, name, (object, params))));
        }
    }
    samples
}

fn sample(
    suite: &Suite,
    policies: &Policies,
    name: &str,
    (object, params): (Value<'static>, Vec<Value<'static>>),
) -> Option<FirstSample> {
    let any = PolicyOutcome::NAMES.iter().filter_map(|name| from_name(name));
    let case = Case {
        name: name.to_owned(),
        location: suite.source.locate(&[]),
        expected: Some(ExpectedResult {
            policies: [(name.to_owned(), any.collect())].into(),
            ..ExpectedResult::default()
        }),
        input: TestInput {
            object: Some(object.clone()),
            cluster: ClusterState {
                objects: params.clone(),
                ..ClusterState::default()
            },
            ..TestInput::default()
        },
        nodes: CaseNodes {
            node: suite.source.root(),
            expect: None,
            shared: true,
        },
    };
    let actual = suite.test(&case, policies, None).actual.ok()?;
    let outcome = *actual.outcomes.policies.get(name)?;
    Some(FirstSample {
        object,
        params,
        actual,
        outcome,
    })
}
